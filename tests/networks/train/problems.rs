//! Small problems.

use marquardt::Variables;
use marquardt::nn::{MeanSquaredError, Network, Sequential};
use marquardt::optim::Optimizer;
use ndarray::{Array2, ArrayView2};

/// What makes an optimizer.
pub type Make = fn() -> Box<dyn Optimizer<f64>>;

/// Data of two inputs and one target.
pub struct Data {
    pub x: Array2<f64>,
    pub y: Array2<f64>,
}

impl Data {
    pub fn new(rows: usize) -> Self {
        let x = Array2::from_shape_fn((rows, 2), |(i, k)| ((3 * i + 7 * k) as f64).sin());
        let y = Array2::from_shape_fn((rows, 1), |(i, _)| (2.0 * x[[i, 0]]).sin() * x[[i, 1]] + 0.1 * (i as f64).cos());
        Data { x, y }
    }

    pub fn inputs(&self) -> [ArrayView2<'_, f64>; 1] {
        [self.x.view()]
    }

    pub fn targets(&self) -> [ArrayView2<'_, f64>; 1] {
        [self.y.view()]
    }
}

/// A network of 21 numbers, with dropout of this rate.
pub fn network(dropout: f64) -> (Network<f64>, Variables<f64>) {
    let mut variables = Variables::new();
    let layers = Sequential::new(2).dense(5).tanh().dropout(dropout).dense(1);
    let network = layers.compile(&mut variables, 3, MeanSquaredError).unwrap();
    (network, variables)
}
