//! Generalised Gauss–Newton: what Levenberg–Marquardt sees of losses that are no sums of squares, on random networks.

use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::nn::{
    BinaryCrossentropy, CategoricalCrossentropy, GaussNewton, HalfSumOfSquares, Huber, LogCosh, Loss,
    MeanAbsoluteError, MeanSquaredError, Network, Node, Poisson, Reduction, Sequential, SparseCategoricalCrossentropy,
    Targets,
};
use marquardt::optim::Optimizer;
use marquardt::problem::{Capabilities, JacobianProducts, NotLeastSquares, Objective};
use marquardt::solver::Acceleration;
use marquardt::variables::Gradients;
use marquardt::{EvaluationError, LeastSquares, LevenbergMarquardt, Variables};
use ndarray::{Array1, Array2};
use proptest::prelude::*;

use crate::common::cost_of;
use crate::random::{Built, Recipe, build, recipes};

/// A loss, and its second derivative with respect to the outputs of a sample.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Binary,
    Categorical,
    Sparse,
    Counts,
    Squares,
}

const KINDS: [Kind; 5] = [Kind::Binary, Kind::Categorical, Kind::Sparse, Kind::Counts, Kind::Squares];

impl Kind {
    fn add(self, network: Network<f64>, output: Node, weight: f64) -> Network<f64> {
        match self {
            Kind::Binary => network.with_weighted_loss(output, BinaryCrossentropy, weight),
            Kind::Categorical => network.with_weighted_loss(output, CategoricalCrossentropy, weight),
            Kind::Sparse => network.with_weighted_loss(output, Summed(SparseCategoricalCrossentropy), weight),
            Kind::Counts => network.with_weighted_loss(output, Poisson, weight),
            Kind::Squares => network.with_weighted_loss(output, MeanSquaredError, weight),
        }
        .unwrap()
    }

    /// Numbers that could be targets.
    fn targets(self, rows: usize, width: usize, phase: f64) -> Array2<f64> {
        let wave = |i: usize, k: usize| (phase + 1.3 * i as f64 + 0.7 * k as f64).sin();
        match self {
            Kind::Binary => Array2::from_shape_fn((rows, width), |(i, k)| (0.5 + wave(i, k)).clamp(0.0, 1.0)),
            // They need not sum to one.
            Kind::Categorical => Array2::from_shape_fn((rows, width), |(i, k)| wave(i, k).max(0.0)),
            Kind::Sparse => Array2::from_shape_fn((rows, 1), |(i, _)| ((7 * i + width / 2) % width) as f64),
            Kind::Counts => Array2::from_shape_fn((rows, width), |(i, k)| (3.0 * wave(i, k).max(0.0)).floor()),
            Kind::Squares => Array2::from_shape_fn((rows, width), |(i, k)| wave(i, k)),
        }
    }

    /// The second derivative of a sample's share in the loss, before its weight.
    fn hessian(self, outputs: &[f64], targets: &[f64], rows: usize) -> Array2<f64> {
        let width = outputs.len();
        let share = 1.0 / (rows * width) as f64;
        let diagonal =
            |f: fn(f64) -> f64| Array2::from_diag(&outputs.iter().map(|&z| share * f(z)).collect::<Array1<f64>>());
        let softmax = |factor: f64| {
            let total: f64 = outputs.iter().map(|z| z.exp()).sum();
            let p: Vec<f64> = outputs.iter().map(|z| z.exp() / total).collect();
            Array2::from_shape_fn((width, width), |(i, j)| factor * p[i] * (f64::from(u8::from(i == j)) - p[j]))
        };
        match self {
            Kind::Binary => diagonal(|z| 1.0 / ((1.0 + z.exp()) * (1.0 + (-z).exp()))),
            Kind::Categorical => softmax(targets.iter().sum::<f64>() / rows as f64),
            Kind::Sparse => softmax(1.0),
            Kind::Counts => diagonal(f64::exp),
            Kind::Squares => diagonal(|_| 2.0),
        }
    }
}

/// A loss whose samples are summed.
#[derive(Debug)]
struct Summed<L>(L);

impl<L: Loss<f64>> Loss<f64> for Summed<L> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn targets(&self) -> Targets {
        self.0.targets()
    }

    fn reduction(&self) -> Reduction {
        Reduction::Sum
    }

    fn values(&self, outputs: &[f64], width: usize, targets: &[f64], losses: &mut [f64]) {
        self.0.values(outputs, width, targets, losses);
    }

    fn gradients(&self, outputs: &[f64], width: usize, targets: &[f64], gradients: &mut [f64]) {
        self.0.gradients(outputs, width, targets, gradients);
    }

    fn least_squares(&self) -> Option<&dyn GaussNewton<f64>> {
        self.0.least_squares()
    }
}

/// Some outputs of a random network with losses of these kinds, bound to data.
struct Terms {
    built: Built,
    kinds: Vec<(Kind, Node, f64)>,
    targets: Vec<Array2<f64>>,
}

impl Terms {
    fn new(recipe: &Recipe, kinds: &[(usize, usize)]) -> Self {
        let mut built = build(recipe);
        let outputs: Vec<Node> = built.nodes.iter().copied().skip(2).filter(|node| node.width() < 8).collect();
        let kinds: Vec<(Kind, Node, f64)> = kinds
            .iter()
            .enumerate()
            .map(|(term, &(kind, node))| (KINDS[kind], outputs[node % outputs.len()], 0.5 + term as f64))
            .collect();
        built.network = kinds
            .iter()
            .fold(plain(&built, recipe), |network, &(kind, output, weight)| kind.add(network, output, weight));
        let rows = recipe.rows;
        let targets: Vec<Array2<f64>> =
            kinds.iter().map(|&(kind, output, weight)| kind.targets(rows, output.width(), weight)).collect();
        let inputs = built.inputs.each_ref().map(|input| input.view());
        let views: Vec<_> = targets.iter().map(|target| target.view()).collect();
        built.network.weighted_batch(&inputs, &views, &built.weights).unwrap();
        Terms { built, kinds, targets }
    }

    /// The outputs of a term, and their Jacobian: as the residuals of half their sum of squares.
    fn output(&self, recipe: &Recipe, output: Node) -> (Vec<f64>, Vec<f64>) {
        let mut network = plain(&self.built, recipe).with_loss(output, HalfSumOfSquares).unwrap();
        network.batch(&self.built.inputs.each_ref().map(|input| input.view()), &[]).unwrap();
        linearize(&mut network, self.built.variables.values())
    }

    /// Returns true if the outputs differ from row to row, dropout aside. A loss of variables alone counts once for a batch.
    fn are_of_samples(&self, recipe: &Recipe) -> bool {
        let mut network = plain(&self.built, recipe);
        let inputs = self.built.inputs.each_ref().map(|input| input.view());
        recipe.rows == 1
            || self.kinds.iter().all(|&(_, node, _)| {
                let outputs = network.predict(&self.built.variables, &inputs, node).unwrap();
                outputs.rows().into_iter().any(|row| row != outputs.row(0))
            })
    }

    /// The generalised Gauss–Newton matrix.
    fn curvature(&self, recipe: &Recipe) -> Vec<f64> {
        let n = self.built.variables.values().len();
        let mut curvature = vec![0.0; n * n];
        for (&(kind, node, weight), targets) in self.kinds.iter().zip(&self.targets) {
            let width = node.width();
            let (outputs, jacobian) = self.output(recipe, node);
            let samples = outputs.chunks_exact(width).zip(jacobian.chunks_exact(width * n));
            for (row, (outputs, jacobian)) in samples.enumerate() {
                let hessian = kind.hessian(outputs, &targets.row(row).to_vec(), recipe.rows);
                let weight = weight * self.built.weights[row];
                for i in 0..width {
                    for j in 0..width {
                        let factor = weight * hessian[[i, j]];
                        for a in 0..n {
                            for b in 0..n {
                                curvature[a * n + b] += factor * jacobian[i * n + a] * jacobian[j * n + b];
                            }
                        }
                    }
                }
            }
        }
        curvature
    }
}

/// The tape of a random network, without its losses; its dropout is that of the first batch.
fn plain(built: &Built, recipe: &Recipe) -> Network<f64> {
    Network::new(built.network.tape().clone(), &built.variables).unwrap().with_seed(recipe.seed)
}

/// Residuals and Jacobian of all rows.
fn linearize(network: &mut Network<f64>, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let m = network.residual_count();
    let (mut r, mut jacobian) = (vec![f64::NAN; m], vec![f64::NAN; m * x.len()]);
    network.linearize(x, 0, &mut r, &mut jacobian).unwrap();
    (r, jacobian)
}

fn assert_close(found: &[f64], expected: &[f64]) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1.0_f64, |scale, e| scale.max(e.abs()));
    for (k, (f, e)) in found.iter().zip(expected).enumerate() {
        prop_assert!((f - e).abs() <= 1e-12 * scale, "number {}: {} instead of {}", k, f, e);
    }
    Ok(())
}

/// `Jᵀ` times columns of as many numbers as there are rows, side by side.
fn transposed_times(jacobian: &[f64], n: usize, columns: &[f64]) -> Vec<f64> {
    let width = columns.len() * n / jacobian.len();
    let mut product = vec![0.0; n * width];
    for (row, u) in jacobian.chunks_exact(n).zip(columns.chunks_exact(width)) {
        for (product, &j) in product.chunks_exact_mut(width).zip(row) {
            product.iter_mut().zip(u).for_each(|(product, u)| *product += j * u);
        }
    }
    product
}

fn terms() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0..KINDS.len(), any::<usize>()), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_jacobian_squared_is_the_second_derivative(recipe in recipes(1..6), kinds in terms()) {
        let mut terms = Terms::new(&recipe, &kinds);
        prop_assume!(terms.are_of_samples(&recipe));
        let x = terms.built.variables.values().to_vec();
        let network = &mut terms.built.network;
        let (r, jacobian) = linearize(network, &x);
        let cost = cost_of(network, 0, &r);
        let mut gradients = Gradients::new(&terms.built.variables);
        let loss = network.loss_and_gradient(&x, &mut gradients).unwrap();
        prop_assert!((cost - loss).abs() <= 1e-13 * (1.0 + loss.abs()), "cost {} and loss {}", cost, loss);
        assert_close(&transposed_times(&jacobian, x.len(), &r), gradients.flat_mut())?;
        assert_close(&transposed_times(&jacobian, x.len(), &jacobian), &terms.curvature(&recipe))?;
    }

    #[test]
    fn products_are_those_of_the_jacobian(recipe in recipes(1..6), kinds in terms()) {
        let mut terms = Terms::new(&recipe, &kinds);
        let x = terms.built.variables.values().to_vec();
        let network = &mut terms.built.network;
        let (r, jacobian) = linearize(network, &x);
        let (m, n) = (r.len(), x.len());
        let v: Vec<f64> = (0..n).map(|k| (k as f64).sin()).collect();
        let u: Vec<f64> = (0..m).map(|i| (i as f64).cos()).collect();
        let (mut jv, mut jtu) = (vec![f64::NAN; m], vec![f64::NAN; n]);
        network.jacobian_vector(&x, &v, &mut jv).unwrap();
        network.jacobian_transposed_vector(&x, &u, &mut jtu).unwrap();
        let times_v: Vec<f64> = jacobian.chunks_exact(n).map(|row| row.iter().zip(&v).map(|(j, v)| j * v).sum()).collect();
        assert_close(&jv, &times_v)?;
        assert_close(&jtu, &transposed_times(&jacobian, n, &u))?;

        // The roots are held when residuals bend, so that their square bends as the outputs do.
        let (mut second, mut again, mut product) = (vec![f64::NAN; m], vec![f64::NAN; m], vec![0.0; n]);
        prop_assert!(network.second_directional_derivative(&x, &v, 0, &mut second).unwrap());
        prop_assert!(network.second_derivative_product(&x, &v, 0, &mut again, &mut product).unwrap());
        prop_assert_eq!(&again, &second);
        assert_close(&product, &transposed_times(&jacobian, n, &second))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// Batches of more rows than a tile has, taken whole and in blocks that fit no tile.
    #[test]
    fn tiles_do_not_matter(recipe in recipes(520..560), kinds in terms()) {
        let mut terms = Terms::new(&recipe, &kinds);
        let x = terms.built.variables.values().to_vec();
        let network = &mut terms.built.network;
        let (r, jacobian) = linearize(network, &x);
        let (n, block) = (x.len(), 37 * network.row_group());
        let (mut rows, mut blocks, mut cost) = (Vec::new(), Vec::new(), 0.0);
        for first in (0..r.len()).step_by(block) {
            let count = block.min(r.len() - first);
            let (mut r, mut jacobian) = (vec![f64::NAN; count], vec![f64::NAN; count * n]);
            network.linearize(&x, first, &mut r, &mut jacobian).unwrap();
            cost += cost_of(network, first, &r);
            rows.extend(r);
            blocks.extend(jacobian);
        }
        assert_close(&rows, &r)?;
        assert_close(&blocks, &jacobian)?;
        assert_close(&[cost], &[network.loss(&x).unwrap()])?;
    }
}

#[test]
fn levenberg_marquardt_knows_which_losses_it_can_take() {
    fn face(loss: impl Loss<f64> + 'static) -> Result<(), String> {
        let mut network = Sequential::new(1).dense(2).compile(&mut Variables::new(), 0, loss).unwrap();
        network.least_squares().map(|_| ()).map_err(|error| error.loss)
    }
    for accepted in [
        face(MeanSquaredError),
        face(Huber::default()),
        face(LogCosh),
        face(HalfSumOfSquares),
        face(BinaryCrossentropy),
        face(CategoricalCrossentropy),
        face(SparseCategoricalCrossentropy),
        face(Poisson),
    ] {
        assert_eq!(accepted, Ok(()));
    }
    assert_eq!(face(MeanAbsoluteError), Err("mean absolute error".to_owned()));
}

/// A network that does not know the second derivative of its residuals along a step.
struct WithoutCurvature(Network<f64>);

impl LeastSquares<f64> for WithoutCurvature {
    fn parameter_count(&self) -> usize {
        self.0.parameter_count()
    }

    fn residual_count(&self) -> usize {
        self.0.residual_count()
    }

    fn row_group(&self) -> usize {
        self.0.row_group()
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        self.0.residuals(x, first, r)
    }

    fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) -> Result<(), EvaluationError> {
        self.0.linearize(x, first, r, j)
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<f64> {
        self
    }
}

impl Capabilities<f64> for WithoutCurvature {
    fn cost_of(&mut self, first: usize, r: &[f64]) -> Option<f64> {
        self.0.cost_of(first, r)
    }

    fn products(&mut self) -> Option<&mut dyn JacobianProducts<f64>> {
        self.0.products()
    }
}

impl Objective<f64> for WithoutCurvature {
    fn loss(&mut self, x: &[f64]) -> Result<f64, EvaluationError> {
        self.0.loss(x)
    }

    fn loss_and_gradient(&mut self, x: &[f64], gradients: &mut Gradients<f64>) -> Result<f64, EvaluationError> {
        self.0.loss_and_gradient(x, gradients)
    }

    fn least_squares(&mut self) -> Result<&mut dyn LeastSquares<f64>, NotLeastSquares> {
        Ok(self)
    }
}

/// Three arms of a spiral: 90 points in the plane, and their arms.
fn spirals() -> (Array2<f64>, Array2<f64>) {
    let place = |i: usize| {
        let (arm, share) = (i % 3, (i / 3) as f64 / 30.0);
        let angle = 4.0 * share + std::f64::consts::TAU * arm as f64 / 3.0;
        [share * angle.cos(), share * angle.sin()]
    };
    let x = Array2::from_shape_fn((90, 2), |(i, j)| place(i)[j]);
    (x, Array2::from_shape_fn((90, 1), |(i, _)| (i % 3) as f64))
}

/// The losses after steps on the spirals by cross-entropy.
fn losses_of_steps(acceleration: Acceleration, form: LinearForm) -> Vec<f64> {
    let mut variables = Variables::new();
    let layers = Sequential::new(2).dense(8).tanh().dense(3);
    let mut network = layers.compile(&mut variables, 1, SparseCategoricalCrossentropy).unwrap();
    let (x, y) = spirals();
    network.batch(&[x.view()], &[y.view()]).unwrap();
    let mut problem = WithoutCurvature(network);
    let optimizer = LevenbergMarquardt::new().with_acceleration(acceleration);
    let mut optimizer = optimizer.with_linear_solver(LinearSolver::Always(form));
    (0..10).map(|_| optimizer.step(&mut problem, &mut variables).unwrap().loss_after.unwrap()).collect()
}

/// The rows of a cross-entropy stand for a loss, and their derivative is not the Jacobian: a difference of them would send steps
/// astray. Three spirals were at 8.5e-1 after 30 steps with it, and at 1.7e-9 without.
#[test]
fn residuals_that_stand_for_a_loss_are_not_differenced() {
    for form in [LinearForm::Cholesky, LinearForm::FactoredDual] {
        let plain = losses_of_steps(Acceleration::Never, form);
        assert!(plain[9] < 0.9 * plain[0], "{plain:?}");
        assert_eq!(losses_of_steps(Acceleration::Always, form), plain, "{form}");
    }
}
