//! Dense layers.

use candle_core::{Module, Result, Tensor};
use candle_nn::VarBuilder;
use marquardt::nn::RecordedLayer;

use crate::recorder;

/// candle's [`Linear`](candle_nn::Linear), recorded: `y = x Wᵀ + b`, for rows of any number of leading dimensions, of which the
/// first is that of the samples.
#[derive(Clone, Debug)]
pub struct Linear(candle_nn::Linear);

impl Linear {
    /// A layer with this weight, of `outputs × inputs`, and bias.
    pub fn new(weight: Tensor, bias: Option<Tensor>) -> Self {
        Linear(candle_nn::Linear::new(weight, bias))
    }

    /// The weight.
    pub fn weight(&self) -> &Tensor {
        self.0.weight()
    }

    /// The bias.
    pub fn bias(&self) -> Option<&Tensor> {
        self.0.bias()
    }
}

impl Module for Linear {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (outputs, inputs) = self.weight().dims2()?;
        let rows = x.elem_count() / inputs.max(1);
        let Some(found) = recorder::places(self.weight(), self.bias(), rows, x.dims()) else {
            return self.0.forward(x);
        };
        let plain = candle_nn::Linear::new(self.weight().detach(), self.bias().map(Tensor::detach));
        let positions = found.positions;
        let layer = RecordedLayer::Dense { weight: found.weight, bias: found.bias, inputs, outputs, positions };
        found.tap_affine(layer, x, &plain)
    }
}

/// Creates candle's [`linear`](candle_nn::linear()), recorded.
///
/// # Errors
///
/// As candle's.
pub fn linear(inputs: usize, outputs: usize, vb: VarBuilder) -> Result<Linear> {
    candle_nn::linear(inputs, outputs, vb).map(Linear)
}

/// Creates candle's [`linear_no_bias`](candle_nn::linear_no_bias()), recorded.
///
/// # Errors
///
/// As candle's.
pub fn linear_no_bias(inputs: usize, outputs: usize, vb: VarBuilder) -> Result<Linear> {
    candle_nn::linear_no_bias(inputs, outputs, vb).map(Linear)
}

/// Creates candle's [`linear_b`](candle_nn::linear_b()), recorded.
///
/// # Errors
///
/// As candle's.
pub fn linear_b(inputs: usize, outputs: usize, bias: bool, vb: VarBuilder) -> Result<Linear> {
    candle_nn::linear_b(inputs, outputs, bias, vb).map(Linear)
}
