//! Losses, gradients, activations and weights against PyTorch's, which `tests/reference/generate.py` wrote down.

use marquardt::Variables;
use marquardt::nn::{
    BinaryCrossentropy, CategoricalCrossentropy, Function, Huber, LogCosh, Loss, MeanAbsoluteError, MeanSquaredError,
    Network, Poisson, Recording, Reduction, Sequential, SparseCategoricalCrossentropy, Tape, Targets,
};
use marquardt::problem::Objective;
use marquardt::variables::Gradients;
use ndarray::Array2;

use crate::reference::{Reference, assert_equal, weights};

const ROWS: usize = 7;

/// The sum of all outputs.
#[derive(Debug)]
struct Total;

impl Loss<f64> for Total {
    fn name(&self) -> &'static str {
        "total"
    }

    fn targets(&self) -> Targets {
        Targets::None
    }

    fn reduction(&self) -> Reduction {
        Reduction::Sum
    }

    fn values(&self, outputs: &[f64], width: usize, _targets: &[f64], losses: &mut [f64]) {
        for (loss, outputs) in losses.iter_mut().zip(outputs.chunks_exact(width)) {
            *loss = outputs.iter().sum();
        }
    }

    fn gradients(&self, _outputs: &[f64], _width: usize, _targets: &[f64], gradients: &mut [f64]) {
        gradients.fill(1.0);
    }
}

fn layers() -> Sequential<f64> {
    Sequential::new(3).dense(5).tanh().dense(4).silu().dense(2)
}

fn inputs() -> Array2<f64> {
    Array2::from_shape_fn((ROWS, 3), |(row, column)| (0.9 * row as f64 + 1.1 * column as f64).cos())
}

#[test]
fn losses_and_gradients_are_pytorchs() {
    let reference = Reference::read("networks.csv");
    fn check(reference: &Reference, case: &str, loss: impl Loss<f64> + 'static, targets: &Array2<f64>) {
        let mut variables = Variables::new();
        let mut network = layers().compile(&mut variables, 0, loss).unwrap();
        weights(&mut variables);
        network.batch(&[inputs().view()], &[targets.view()]).unwrap();
        let mut gradients = Gradients::new(&variables);
        let value = network.loss_and_gradient(variables.values(), &mut gradients).unwrap();
        assert_equal(case, &[value], reference.of(case, "loss"));
        assert_equal(case, gradients.flat_mut().iter(), reference.of(case, "gradient"));
        assert_equal(case, &[network.loss(variables.values()).unwrap()], reference.of(case, "loss"));
    }
    let values = Array2::from_shape_fn((ROWS, 2), |(row, column)| (0.4 * row as f64 + column as f64).sin());
    check(&reference, "mse", MeanSquaredError, &values);
    check(&reference, "huber", Huber::default(), &values);
    check(&reference, "huber_small", Huber::new(0.3).unwrap(), &values);
    check(&reference, "l1", MeanAbsoluteError, &values);
    check(&reference, "log_cosh", LogCosh, &values);
    let binary = Array2::from_shape_fn((ROWS, 2), |(row, column)| ((row >> column) % 2) as f64);
    check(&reference, "bce_logits", BinaryCrossentropy, &binary);
    let labels = Array2::from_shape_fn((ROWS, 1), |(row, _)| (row % 2) as f64);
    check(&reference, "ce", SparseCategoricalCrossentropy, &labels);
    let classes = Array2::from_shape_fn((ROWS, 2), |(row, class)| if row % 2 == class { 1.0 } else { 0.0 });
    check(&reference, "ce", CategoricalCrossentropy, &classes);
    let counts = Array2::from_shape_fn((ROWS, 2), |(row, column)| ((row + 2 * column) % 4) as f64);
    check(&reference, "poisson_nll", Poisson, &counts);
}

#[test]
fn activations_and_their_derivatives_are_pytorchs() {
    let reference = Reference::read("networks.csv");
    let points = Array2::from_shape_fn((17, 1), |(i, _)| -3.0 + 0.37 * i as f64);
    for (name, function) in [
        ("relu", Function::Relu),
        ("leaky_relu", Function::LeakyRelu { slope: 0.01 }),
        ("elu", Function::Elu { alpha: 1.0 }),
        ("softplus", Function::Softplus),
        ("silu", Function::Silu),
        ("gelu", Function::Gelu),
        ("gelu_tanh", Function::GeluTanh),
        ("tanh", Function::Tanh),
        ("sigmoid", Function::Sigmoid),
    ] {
        let variables = Variables::new();
        let mut tape = Tape::new();
        let x = tape.input(1);
        let y = tape.apply(function, x);
        let mut network = Network::new(tape, &variables).unwrap().with_loss(y, Total).unwrap();
        let values = network.predict(&variables, &[points.view()], y).unwrap();
        assert_equal(name, &values, reference.of("activations", name));
        network.batch(&[points.view()], &[]).unwrap();
        let derivatives = network.gradient_of(&variables, x).unwrap();
        assert_equal(name, &derivatives, reference.of("activations", &format!("{name}_derivative")));
    }
}

#[test]
fn outputs_are_pytorchs() {
    let reference = Reference::read("networks.csv");
    let mut variables = Variables::new();
    let Recording { tape, output, .. } = layers().build(&mut variables, 0).unwrap();
    weights(&mut variables);
    let mut network = Network::new(tape, &variables).unwrap();
    let outputs = network.predict(&variables, &[inputs().view()], output).unwrap();
    assert_equal("outputs", &outputs, reference.of("outputs", "y"));
}

#[cfg(feature = "safetensors")]
#[test]
fn weights_come_from_pytorchs_file() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference/torch_mlp.safetensors");
    let mut expected = Variables::new();
    layers().build(&mut expected, 0).unwrap();
    weights(&mut expected);

    let mut variables = Variables::new();
    let Recording { tape, output, .. } = layers().build(&mut variables, 1).unwrap();
    assert!(variables.load_safetensors(path).unwrap().is_empty());
    assert_equal("weights", variables.values(), expected.values());
    let mut network = Network::new(tape, &variables).unwrap();
    let outputs = network.predict(&variables, &[inputs().view()], output).unwrap();
    assert_equal("outputs", &outputs, Reference::read("networks.csv").of("outputs", "y"));
}
