//! Problems that the suites share: networks with data, and objectives that misbehave on demand.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::nn::{MeanSquaredError, Network, Sequential};
use marquardt::optim::{DampedStep, Optimizer, OptimizerError, StepReport};
use marquardt::problem::{Capabilities, NotLeastSquares, Objective};
use marquardt::variables::Gradients;
use marquardt::{EvaluationError, LeastSquares, Variables};
use nalgebra::{DMatrix, DVector};
use ndarray::{Array1, Array2};
use rand_distr::{Distribution, StandardNormal};

/// Inputs and targets, and the loop's way to them.
pub struct Data {
    pub x: Array2<f64>,
    pub y: Array2<f64>,
}

impl Data {
    /// Normally distributed inputs, and targets of one column.
    pub fn new(rows: usize, inputs: usize, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut normal = |columns| {
            Array2::from_shape_simple_fn((rows, columns), || {
                let number: f64 = StandardNormal.sample(&mut random);
                number
            })
        };
        Data { x: normal(inputs), y: normal(1) }
    }

    /// Binds all rows.
    pub fn bind<'n>(&self, network: &'n mut Network<f64>) -> &'n mut Network<f64> {
        network.batch(&[self.x.view()], &[self.y.view()]).unwrap()
    }

    /// Binds some rows.
    pub fn bind_rows<'n>(&self, network: &'n mut Network<f64>, rows: &[usize]) -> &'n mut Network<f64> {
        network.batch_rows(&[self.x.view()], &[self.y.view()], rows).unwrap()
    }

    /// Binds all rows, with a weight for each.
    pub fn bind_weighted<'n>(&self, network: &'n mut Network<f64>, weights: &[f64]) -> &'n mut Network<f64> {
        network.weighted_batch(&[self.x.view()], &[self.y.view()], weights).unwrap()
    }

    /// Some rows by themselves.
    pub fn select(&self, rows: &[usize]) -> Data {
        let axis = ndarray::Axis(0);
        Data { x: self.x.select(axis, rows), y: self.y.select(axis, rows) }
    }
}

/// A network that is linear in its variables, with the mean squared error.
pub fn linear(inputs: usize) -> (Network<f64>, Variables<f64>) {
    let mut variables = Variables::new();
    let network = Sequential::new(inputs).dense(1).compile(&mut variables, 1, MeanSquaredError).unwrap();
    (network, variables)
}

/// `inputs – hidden – 1` with tanh, with the mean squared error.
pub fn curved(inputs: usize, hidden: usize) -> (Network<f64>, Variables<f64>) {
    let mut variables = Variables::new();
    let layers = Sequential::new(inputs).dense(hidden).tanh().dense(1);
    let network = layers.compile(&mut variables, 1, MeanSquaredError).unwrap();
    (network, variables)
}

/// What only Levenberg–Marquardt reports.
pub fn damped(report: &StepReport<f64>) -> DampedStep<f64> {
    report.damped.expect("a damped step")
}

/// Equal to the last bit, the sign of zero included.
#[track_caller]
pub fn assert_same_bits(a: &[f64], b: &[f64], what: &str) {
    let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(a), bits(b), "{what}");
}

/// A slot of all variables, in their order.
pub fn slot(optimizer: &dyn Optimizer<f64>, variables: &Variables<f64>, name: &str) -> Vec<f64> {
    let of = |variable| optimizer.slot(variable, name).unwrap().iter().copied().collect::<Vec<_>>();
    variables.iter().flat_map(of).collect()
}

/// Residuals and Jacobian of what is bound.
pub fn linearized(problem: &mut dyn LeastSquares<f64>, x: &[f64]) -> (DVector<f64>, DMatrix<f64>) {
    let (m, n) = (problem.residual_count(), problem.parameter_count());
    let (mut r, mut jacobian) = (vec![0.0; m], vec![0.0; m * n]);
    problem.linearize(x, 0, &mut r, &mut jacobian).unwrap();
    (DVector::from(r), DMatrix::from_row_slice(m, n, &jacobian))
}

pub fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

pub fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// What becomes of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spoilt {
    /// It is as it should be.
    Nothing,
    /// The residuals are a hundred times as large.
    Large,
    /// The last residual is NaN.
    NotFinite,
    /// There is none.
    Refused,
}

/// `r = A x − y`, whose evaluations can be spoilt.
#[derive(Debug, Clone)]
pub struct Affine {
    a: Array2<f64>,
    y: Vec<f64>,
    /// What becomes of the Jacobian.
    jacobian: Spoilt,
    /// What becomes of so many trials, counted from now.
    pub trials: (usize, Spoilt),
}

impl Affine {
    /// Random `A` and `y`, and variables `a` and `b` that share the columns.
    pub fn new(rows: usize, columns: usize, seed: u64) -> (Self, Variables<f64>) {
        let Data { x, y } = Data::new(rows, columns, seed);
        let y = y.into_raw_vec_and_offset().0;
        let mut variables = Variables::new();
        let start = Array1::from_shape_fn(columns, |j| 0.5 + 0.1 * j as f64);
        variables.add("a", start.slice(ndarray::s![..2])).unwrap();
        variables.add("b", start.slice(ndarray::s![2..])).unwrap();
        (Affine { a: x, y, jacobian: Spoilt::Nothing, trials: (0, Spoilt::Nothing) }, variables)
    }

    /// The same with the next trials spoilt.
    pub fn spoil(&self, trials: usize, spoilt: Spoilt) -> Self {
        Affine { trials: (trials, spoilt), ..self.clone() }
    }

    /// The same with the Jacobian spoilt.
    pub fn spoil_jacobian(&self, spoilt: Spoilt) -> Self {
        Affine { jacobian: spoilt, ..self.clone() }
    }

    fn evaluate(&self, x: &[f64], first: usize, r: &mut [f64]) {
        let rows = self.a.outer_iter().zip(&self.y).skip(first);
        for (r, (row, y)) in r.iter_mut().zip(rows) {
            *r = row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>() - y;
        }
    }
}

fn spoil(r: &mut [f64], spoilt: Spoilt) -> Result<(), EvaluationError> {
    match spoilt {
        Spoilt::Nothing => {}
        Spoilt::Large => r.iter_mut().for_each(|r| *r *= 100.0),
        Spoilt::NotFinite => r[r.len() - 1] = f64::NAN,
        Spoilt::Refused => return Err("the oven is off".into()),
    }
    Ok(())
}

impl LeastSquares<f64> for Affine {
    fn parameter_count(&self) -> usize {
        self.a.ncols()
    }

    fn residual_count(&self) -> usize {
        self.a.nrows()
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        self.evaluate(x, first, r);
        if self.trials.0 > 0 {
            // One tile holds all rows of these problems.
            self.trials.0 -= 1;
            spoil(r, self.trials.1)?;
        }
        Ok(())
    }

    fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) -> Result<(), EvaluationError> {
        self.evaluate(x, first, r);
        for (j, row) in j.chunks_exact_mut(x.len()).zip(self.a.outer_iter().skip(first)) {
            j.iter_mut().zip(row).for_each(|(j, &a)| *j = a);
        }
        spoil(j, self.jacobian)
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<f64> {
        self
    }
}

impl Capabilities<f64> for Affine {
    /// Zero, so that acceleration needs no residuals.
    fn second_directional_derivative(
        &mut self,
        _x: &[f64],
        _v: &[f64],
        _first: usize,
        second: &mut [f64],
    ) -> Result<bool, EvaluationError> {
        second.fill(0.0);
        Ok(true)
    }
}

impl Objective<f64> for Affine {
    fn loss(&mut self, x: &[f64]) -> Result<f64, EvaluationError> {
        let mut r = vec![0.0; self.y.len()];
        self.evaluate(x, 0, &mut r);
        Ok(0.5 * r.iter().map(|r| r * r).sum::<f64>())
    }

    fn loss_and_gradient(&mut self, x: &[f64], gradients: &mut Gradients<f64>) -> Result<f64, EvaluationError> {
        let (r, jacobian) = linearized(self, x);
        gradients.clear();
        gradients.flat_mut().copy_from_slice((jacobian.transpose() * r).as_slice());
        self.loss(x)
    }

    fn least_squares(&mut self) -> Result<&mut dyn LeastSquares<f64>, NotLeastSquares> {
        Ok(self)
    }
}

/// Everything that a step may change.
#[derive(Debug, PartialEq)]
pub struct Snapshot {
    values: Vec<u64>,
    /// In words, in which NaN is NaN.
    state: String,
}

impl Snapshot {
    pub fn of(optimizer: &dyn Optimizer<f64>, variables: &Variables<f64>) -> Self {
        Snapshot {
            values: variables.values().iter().map(|v| v.to_bits()).collect(),
            state: format!("{:?}", optimizer.state()),
        }
    }
}

/// Makes a step that must fail, and must change nothing.
#[track_caller]
pub fn refused(
    optimizer: &mut dyn Optimizer<f64>,
    batch: &mut dyn Objective<f64>,
    variables: &mut Variables<f64>,
) -> OptimizerError {
    let before = Snapshot::of(optimizer, variables);
    let error = optimizer.step(batch, variables).expect_err("the step is refused");
    assert_eq!(Snapshot::of(optimizer, variables), before, "{error}");
    error
}
