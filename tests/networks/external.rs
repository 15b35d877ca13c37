//! Models of another library against the same network of this crate.

use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::nn::{
    External, ExternalModel, Loss, MeanSquaredError, ModelError, Network, RecordedLayer, Sequential,
    SparseCategoricalCrossentropy,
};
use marquardt::optim::{Adam, KroneckerLevenbergMarquardt, KroneckerStep, Optimizer, OptimizerError};
use marquardt::solver::Acceleration;
use marquardt::{EvaluationError, LeastSquares, LevenbergMarquardt, Real, Variables};
use ndarray::Array2;

/// Dense layers with tanh between them, by hand; samples one after the other.
struct Perceptron<T> {
    sizes: Vec<usize>,
    samples: usize,
    x: Vec<T>,
    layers: Vec<RecordedLayer>,
    /// Inputs of every layer, and the outputs, at the point of pulls.
    values: Vec<Vec<T>>,
    weights: Vec<T>,
    evaluations: usize,
    /// Adds the outputs of the sample before to those of each.
    mixes: bool,
    /// Adds this many times the first weight to all outputs, outside of the layers.
    leak: T,
}

impl<T: Real> Perceptron<T> {
    fn new(sizes: &[usize], x: &Array2<T>) -> Self {
        let mut layers = Vec::new();
        let mut start = 0;
        for size in sizes.windows(2) {
            let (inputs, outputs) = (size[0], size[1]);
            let bias = Some(start + inputs * outputs);
            layers.push(RecordedLayer::Dense { weight: start, bias, inputs, outputs, positions: 1 });
            start += (inputs + 1) * outputs;
        }
        Perceptron {
            sizes: sizes.to_vec(),
            samples: x.nrows(),
            x: x.iter().copied().collect(),
            layers,
            values: Vec::new(),
            weights: Vec::new(),
            evaluations: 0,
            mixes: false,
            leak: T::ZERO,
        }
    }

    fn forward(&mut self, weights: &[T]) -> Vec<Vec<T>> {
        self.evaluations += 1;
        let mut values = vec![self.x.clone()];
        let mut start = 0;
        let last = self.sizes.len() - 2;
        for (layer, size) in self.sizes.windows(2).enumerate() {
            let (inputs, outputs) = (size[0], size[1]);
            let (weight, bias) = weights[start..start + (inputs + 1) * outputs].split_at(inputs * outputs);
            start += (inputs + 1) * outputs;
            let mut next = Vec::new();
            for row in values[layer].chunks_exact(inputs) {
                for (weight, &bias) in weight.chunks_exact(inputs).zip(bias) {
                    let sum = weight.iter().zip(row).fold(bias, |sum, (&w, &x)| sum + w * x);
                    next.push(if layer == last { sum } else { sum.tanh() });
                }
            }
            values.push(next);
        }
        let outputs = values.last_mut().unwrap();
        outputs.iter_mut().for_each(|output| *output += self.leak * weights[0]);
        if self.mixes {
            let width = self.sizes[last + 1];
            for i in (width..outputs.len()).rev() {
                let before = outputs[i - width];
                outputs[i] += before;
            }
        }
        values
    }

    /// Sensitivities of every layer, the last one first.
    fn back(&self, cotangents: &[T]) -> Vec<Vec<T>> {
        let mut deltas = vec![cotangents.to_vec()];
        let width = self.sizes[self.sizes.len() - 1];
        if self.mixes {
            (0..cotangents.len() - width).for_each(|i| deltas[0][i] += cotangents[i + width]);
        }
        let mut end = self.weights.len();
        for layer in (1..self.sizes.len() - 1).rev() {
            let (inputs, outputs) = (self.sizes[layer], self.sizes[layer + 1]);
            end -= (inputs + 1) * outputs;
            let weight = &self.weights[end..end + inputs * outputs];
            let mut before = vec![T::ZERO; self.samples * inputs];
            let rows = before.chunks_exact_mut(inputs).zip(self.values[layer].chunks_exact(inputs));
            for ((before, values), delta) in rows.zip(deltas[deltas.len() - 1].chunks_exact(outputs)) {
                for (weight, &delta) in weight.chunks_exact(inputs).zip(delta) {
                    before.iter_mut().zip(weight).for_each(|(before, &w)| *before += w * delta);
                }
                before.iter_mut().zip(values).for_each(|(before, &y)| *before *= T::ONE - y * y);
            }
            deltas.push(before);
        }
        deltas
    }
}

impl<T: Real> ExternalModel<T> for Perceptron<T> {
    fn parameter_count(&self) -> usize {
        self.sizes.windows(2).map(|size| (size[0] + 1) * size[1]).sum()
    }

    fn outputs(&mut self, x: &[T], outputs: &mut [T]) -> Result<(), EvaluationError> {
        outputs.copy_from_slice(self.forward(x).last().unwrap());
        Ok(())
    }

    fn linearize(&mut self, x: &[T], outputs: &mut [T]) -> Result<(), EvaluationError> {
        self.values = self.forward(x);
        self.weights = x.to_vec();
        outputs.copy_from_slice(self.values.last().unwrap());
        Ok(())
    }

    fn pull(&mut self, cotangents: &[T], gradient: &mut [T]) -> Result<(), EvaluationError> {
        let mut end = gradient.len();
        for (layer, deltas) in (0..self.sizes.len() - 1).rev().zip(self.back(cotangents)) {
            let (inputs, outputs) = (self.sizes[layer], self.sizes[layer + 1]);
            end -= (inputs + 1) * outputs;
            let (weight, bias) = gradient[end..end + (inputs + 1) * outputs].split_at_mut(inputs * outputs);
            weight.fill(T::ZERO);
            bias.fill(T::ZERO);
            for (values, deltas) in self.values[layer].chunks_exact(inputs).zip(deltas.chunks_exact(outputs)) {
                for ((weight, bias), &delta) in weight.chunks_exact_mut(inputs).zip(&mut *bias).zip(deltas) {
                    weight.iter_mut().zip(values).for_each(|(w, &value)| *w += delta * value);
                    *bias += delta;
                }
            }
        }
        gradient[0] += self.leak * cotangents.iter().copied().sum::<T>();
        Ok(())
    }

    fn layers(&self) -> &[RecordedLayer] {
        &self.layers
    }

    fn inputs(&mut self, layer: usize, inputs: &mut [T]) -> Result<(), EvaluationError> {
        inputs.copy_from_slice(&self.values[layer]);
        Ok(())
    }

    fn sensitivities(&mut self, cotangents: &[T], keep: &mut dyn FnMut(usize, &[T])) -> Result<(), EvaluationError> {
        let last = self.sizes.len() - 2;
        self.back(cotangents).iter().enumerate().for_each(|(i, deltas)| keep(last - i, deltas));
        Ok(())
    }
}

fn wave<T: Real>(count: usize, phase: f64) -> Vec<T> {
    (0..count).map(|k| T::from_f64((k as f64 * 0.7 + phase).sin())).collect()
}

/// A network, its variables, and its batch.
fn network<T: Real>(
    sizes: &[usize],
    samples: usize,
    loss: impl Loss<T> + 'static,
) -> (Network<T>, Variables<T>, Array2<T>) {
    let mut variables = Variables::new();
    let mut layers = Sequential::new(sizes[0]);
    for (layer, &size) in sizes[1..].iter().enumerate() {
        layers = layers.dense(size);
        if layer + 2 < sizes.len() {
            layers = layers.tanh();
        }
    }
    let network = layers.compile(&mut variables, 7, loss).unwrap();
    let x = Array2::from_shape_vec((samples, sizes[0]), wave(samples * sizes[0], 0.3)).unwrap();
    (network, variables, x)
}

fn labels<T: Real>(samples: usize, classes: usize) -> Array2<T> {
    Array2::from_shape_fn((samples, 1), |(i, _)| T::from_f64(((3 * i + i / 2) % classes) as f64))
}

fn values<T: Real>(samples: usize, width: usize) -> Array2<T> {
    Array2::from_shape_vec((samples, width), wave(samples * width, 1.1)).unwrap()
}

/// The largest difference is at most so many times `scale`.
#[track_caller]
fn assert_close<T: Real>(found: &[T], expected: &[T], tolerance: f64, scale: f64, what: &str) {
    let error = found.iter().zip(expected).fold(0.0_f64, |error, (a, b)| error.max((a.to_f64() - b.to_f64()).abs()));
    assert!(error <= tolerance * scale, "{what}: {error:e} of {scale:e}");
}

/// The largest size of some numbers.
fn size<T: Real>(numbers: &[T]) -> f64 {
    numbers.iter().fold(0.0_f64, |size, number| size.max(number.to_f64().abs()))
}

/// Residuals, J, Jv, Jᵀu and JJᵀ.
fn products<T: Real, P: LeastSquares<T> + ?Sized>(problem: &mut P, x: &[T]) -> [Vec<T>; 5] {
    let (m, n) = (problem.residual_count(), x.len());
    let mut found = [m, m * n, m, n, m * m].map(|count| vec![T::ZERO; count]);
    let [r, jacobian, product, transposed, gram] = &mut found;
    problem.linearize(x, 0, r, jacobian).unwrap();
    let products = problem.capabilities().products().unwrap();
    products.linearize_products(x, std::slice::from_ref(&(0..n)), r).unwrap();
    products.multiply(&wave(n, 0.1), product).unwrap();
    products.multiply_transposed(&wave(m, 0.2), transposed).unwrap();
    products.row_gram(gram).unwrap();
    gram.chunks_exact_mut(m).enumerate().for_each(|(i, row)| row[i + 1..].fill(T::ZERO));
    found
}

fn agree<T: Real>(
    sizes: &[usize],
    loss: fn() -> Box<dyn Loss<T>>,
    targets: fn(usize, usize) -> Array2<T>,
    tolerance: f64,
) {
    let (samples, width) = (9, sizes[sizes.len() - 1]);
    let (mut network, variables, x) = network(sizes, samples, Boxed(loss()));
    let targets = targets(samples, width);
    network.batch(&[x.view()], &[targets.view()]).unwrap();
    let at = variables.values().to_vec();
    let mut model = Perceptron::new(sizes, &x);
    let mut external = External::new(Boxed(loss()));
    let mut batch = external.bind(&mut model, (&at, width), targets.view(), None).unwrap();
    assert!(batch.is_recorded());
    let names = ["r", "J", "Jv", "Jᵀu", "JJᵀ"];
    let (found, expected) = (products(&mut batch, &at), products(&mut network, &at));
    // Sums are as large as their terms, whatever cancels.
    let (m, n, largest) = (samples * width, at.len(), size(&expected[1]));
    let scales =
        [size(&expected[0]), largest, largest * (n as f64).sqrt(), largest * m as f64, largest * largest * n as f64];
    for (((found, expected), name), scale) in found.iter().zip(&expected).zip(names).zip(scales) {
        assert_close(found, expected, tolerance, scale, name);
    }
}

/// A loss behind a pointer.
#[derive(Debug)]
struct Boxed<T>(Box<dyn Loss<T>>);

impl<T: Real> Loss<T> for Boxed<T> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn targets(&self) -> marquardt::nn::Targets {
        self.0.targets()
    }

    fn values(&self, outputs: &[T], width: usize, targets: &[T], losses: &mut [T]) {
        self.0.values(outputs, width, targets, losses);
    }

    fn gradients(&self, outputs: &[T], width: usize, targets: &[T], gradients: &mut [T]) {
        self.0.gradients(outputs, width, targets, gradients);
    }

    fn least_squares(&self) -> Option<&dyn marquardt::nn::GaussNewton<T>> {
        self.0.least_squares()
    }
}

#[test]
fn derivatives_are_those_of_the_network() {
    for sizes in [&[3, 8, 8, 2][..], &[2, 20, 20, 3], &[1, 5, 1], &[4, 1], &[2, 2]] {
        agree::<f64>(sizes, || Box::new(MeanSquaredError), values, 1e-14);
        agree::<f32>(sizes, || Box::new(MeanSquaredError), values, 1e-6);
        agree::<f64>(sizes, || Box::new(SparseCategoricalCrossentropy), labels, 1e-14);
        agree::<f32>(sizes, || Box::new(SparseCategoricalCrossentropy), labels, 1e-6);
    }
}

/// The losses of steps, and the variables after them.
fn steps(optimizer: &mut dyn Optimizer<f64>, recorded: bool, external: bool) -> (Vec<f64>, Vec<f64>) {
    let sizes = [2, 12, 3];
    let (mut network, mut variables, x) = network(&sizes, 20, SparseCategoricalCrossentropy);
    let targets = labels(20, 3);
    let mut model = Perceptron::new(&sizes, &x);
    if !recorded {
        model.layers.clear();
    }
    let mut loss = External::new(SparseCategoricalCrossentropy);
    let mut losses = Vec::new();
    for _ in 0..12 {
        let report = if external {
            let at = variables.values().to_vec();
            let mut batch = loss.bind(&mut model, (&at, 3), targets.view(), None).unwrap();
            optimizer.step(&mut batch, &mut variables).unwrap()
        } else {
            let batch = network.batch(&[x.view()], &[targets.view()]).unwrap();
            optimizer.step(batch, &mut variables).unwrap()
        };
        losses.push(report.loss);
    }
    (losses, variables.values().to_vec())
}

#[test]
fn steps_are_those_of_the_network() {
    let forms = [LinearForm::FactoredDual, LinearForm::Dual, LinearForm::Cholesky, LinearForm::ConjugateGradients];
    for form in forms {
        let optimizer = || {
            // The network's second derivatives are exact, and the model's a difference.
            let optimizer = LevenbergMarquardt::new().with_acceleration(marquardt::solver::Acceleration::Never);
            optimizer.with_linear_solver(LinearSolver::Always(form))
        };
        let (found, _) = steps(&mut optimizer(), true, true);
        let (expected, _) = steps(&mut optimizer(), true, false);
        assert_close(&found, &expected, 1e-6, size(&expected), &form.to_string());
    }
    // With acceleration, nearly so.
    let (found, _) = steps(&mut LevenbergMarquardt::new(), true, true);
    let (expected, _) = steps(&mut LevenbergMarquardt::new(), true, false);
    assert!(found[11] < 2.0 * expected[11] + 1e-3, "{found:?}, {expected:?}");
    for recorded in [false, true] {
        let (found, x) = steps(&mut Adam::new(0.03), recorded, true);
        let (expected, own_x) = steps(&mut Adam::new(0.03), recorded, false);
        assert_close(&found, &expected, 1e-12, size(&expected), "Adam's losses");
        assert_close(&x, &own_x, 1e-12, size(&own_x), "Adam's variables");
    }
}

/// Factors are of all samples of a model.
#[test]
fn steps_with_kronecker_factors_are_those_of_the_network() {
    for step in [KroneckerStep::Averaged, KroneckerStep::Quadratic] {
        let optimizer = || KroneckerLevenbergMarquardt::new().with_step(step).with_factor_share(1.0);
        let (found, x) = steps(&mut optimizer(), true, true);
        let (expected, own_x) = steps(&mut optimizer(), true, false);
        assert_close(&found, &expected, 1e-9, size(&expected), "losses");
        assert_close(&x, &own_x, 1e-8, size(&own_x), "variables");
    }
    let (_, mut variables, x) = network::<f64>(&[2, 6, 2], 7, MeanSquaredError);
    let (targets, at) = (values(7, 2), variables.values().to_vec());
    let mut model = Perceptron::new(&[2, 6, 2], &x);
    model.layers.clear();
    let mut external = External::new(MeanSquaredError);
    let mut batch = external.bind(&mut model, (&at, 2), targets.view(), None).unwrap();
    let error = KroneckerLevenbergMarquardt::new().step(&mut batch, &mut variables).unwrap_err();
    assert!(matches!(error, OptimizerError::NotKroneckerFactored(_)), "{error}");
}

#[test]
fn models_that_record_nothing_train_by_products() {
    let mut optimizer = LevenbergMarquardt::new();
    let (losses, _) = steps(&mut optimizer, false, true);
    let (exact, _) = steps(&mut LevenbergMarquardt::new(), true, true);
    assert!(losses[11] < 0.9 * losses[0], "{losses:?}, exact {exact:?}");
}

/// What a model does outside of its layers is not in their factors.
#[test]
fn parameters_that_act_outside_of_their_layers_are_noticed() {
    let (_, variables, x) = network(&[2, 6, 2], 7, MeanSquaredError);
    let targets = values(7, 2);
    let at = variables.values().to_vec();
    let mut model = Perceptron::new(&[2, 6, 2], &x);
    let mut external = External::new(MeanSquaredError);
    assert!(external.bind(&mut model, (&at, 2), targets.view(), None).unwrap().is_recorded());
    let mut external = External::new(MeanSquaredError);
    model.leak = 0.3;
    assert!(!external.bind(&mut model, (&at, 2), targets.view(), None).unwrap().is_recorded());
    // Nor does a layer that is missing go unnoticed.
    let mut external = External::new(MeanSquaredError);
    model.leak = 0.0;
    model.layers.pop();
    assert!(!external.bind(&mut model, (&at, 2), targets.view(), None).unwrap().is_recorded());
}

#[test]
fn bad_input_is_refused_by_name() {
    let (_, variables, x) = network(&[2, 6, 2], 7, MeanSquaredError);
    let at = variables.values().to_vec();
    let mut model = Perceptron::new(&[2, 6, 2], &x);
    let mut external = External::new(MeanSquaredError);
    let mut refused = |model: &mut Perceptron<f64>, at: &[f64], targets: Array2<f64>| {
        let Err(error) = external.bind(model, (at, 2), targets.view(), None) else { panic!("not refused") };
        error.to_string()
    };
    assert!(refused(&mut model, &at, values(7, 3)).contains("target 0 must have 2 columns"));
    assert!(refused(&mut model, &at, values(0, 2)).contains("no rows"));
    assert!(refused(&mut model, &at[1..], values(7, 2)).contains("32 parameters"));
    let mut targets = values(7, 2);
    targets[[3, 1]] = f64::NAN;
    assert!(refused(&mut model, &at, targets).contains("row 4, column 2"));
    model.mixes = true;
    let message = refused(&mut model, &at, values(7, 2));
    assert_eq!(message, ModelError::MixedSamples { parameter: "x[18]".to_owned() }.to_string());
    model.mixes = false;
    let mut infinite = at.clone();
    infinite[at.len() - 1] = f64::INFINITY;
    let message = refused(&mut model, &infinite, values(7, 2));
    let value = f64::INFINITY;
    assert_eq!(message, ModelError::NonFiniteOutput { sample: 0, output: 1, value }.to_string());
    // The model is as it was to the next batch.
    assert!(external.bind(&mut model, (&at, 2), values(7, 2).view(), None).unwrap().is_recorded());
}

/// `√p₀ x + p₁`, which has no value where `p₀` is negative.
struct Root {
    x: Vec<f64>,
    at: Vec<f64>,
    has_left: bool,
}

impl ExternalModel<f64> for Root {
    fn parameter_count(&self) -> usize {
        2
    }

    fn outputs(&mut self, p: &[f64], outputs: &mut [f64]) -> Result<(), EvaluationError> {
        self.has_left |= p[0] < 0.0;
        outputs.iter_mut().zip(&self.x).for_each(|(output, x)| *output = p[0].sqrt() * x + p[1]);
        Ok(())
    }

    fn linearize(&mut self, p: &[f64], outputs: &mut [f64]) -> Result<(), EvaluationError> {
        self.at = p.to_vec();
        self.outputs(p, outputs)
    }

    fn pull(&mut self, cotangents: &[f64], gradient: &mut [f64]) -> Result<(), EvaluationError> {
        let slope = 0.5 / self.at[0].sqrt();
        gradient[0] = cotangents.iter().zip(&self.x).map(|(c, x)| c * x * slope).sum();
        gradient[1] = cotangents.iter().sum();
        Ok(())
    }
}

/// A symmetric difference looks behind the point, too, where the model may end.
#[test]
fn steps_at_the_edge_of_a_model_are_plain() {
    let x: Vec<f64> = (0..20).map(|i| f64::from(i) * 0.1).collect();
    let y = Array2::from_shape_fn((20, 1), |(i, _)| 1.5 * x[i] + 0.3);
    let mut model = Root { x, at: Vec::new(), has_left: false };
    let mut variables = Variables::new();
    variables.add("p", ndarray::arr1(&[1e-9, 0.0]).view()).unwrap();
    let mut loss = External::new(MeanSquaredError);
    let mut optimizer = LevenbergMarquardt::new().with_acceleration(Acceleration::Always);
    let mut last = f64::INFINITY;
    for step in 0..60 {
        let start = variables.values().to_vec();
        let mut batch = loss.bind(&mut model, (&start, 1), y.view(), None).unwrap();
        let report = optimizer.step(&mut batch, &mut variables).unwrap();
        assert!(report.loss.is_finite() && report.loss <= last, "step {step}: {report:?}");
        last = report.loss;
    }
    assert!(model.has_left, "the edge was not met");
    assert!(last < 1e-12, "{last} {:?}", variables.values());
}
