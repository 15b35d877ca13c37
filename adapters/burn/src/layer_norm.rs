//! Normalisation of a sample's numbers.

use burn::config::Config;
use burn::module::Param;
use burn::tensor::{Device, Tensor};
use marquardt::nn::RecordedLayer;

use crate::layer::recorded_layer;
use crate::recorder::{self, Input, Layout};

/// Configuration of a [`LayerNorm`] that is recorded; the fields are those of burn's
/// [`LayerNormConfig`](burn::nn::LayerNormConfig).
#[derive(Config, Debug)]
pub struct LayerNormConfig {
    /// Numbers that are normalised together.
    pub d_model: usize,
    /// Added to the variance; default 1e-5.
    #[config(default = 1e-5)]
    pub epsilon: f64,
    /// True for a layer with a shift beside the scale; default `true`.
    #[config(default = true)]
    pub bias: bool,
}

impl LayerNormConfig {
    /// A layer with a scale of ones and a shift of zeros.
    pub fn init(&self, device: &Device) -> LayerNorm {
        let plain = burn::nn::LayerNormConfig::new(self.d_model);
        plain.with_epsilon(self.epsilon).with_bias(self.bias).init(device).into()
    }
}

recorded_layer! {
    /// burn's [`LayerNorm`](burn::nn::LayerNorm), recorded: its scale and its shift.
    LayerNorm(burn::nn::LayerNorm)
}

impl LayerNorm {
    /// Computes the same as burn's [`LayerNorm::forward`](burn::nn::LayerNorm::forward).
    ///
    /// # Panics
    ///
    /// As burn's, where the last dimension of `input` is not that of the scale.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let [width] = self.gamma.dims();
        let shape = input.dims();
        if shape[D - 1] != width {
            return self.0.forward(input);
        }
        let beta = self.beta.as_ref();
        let rows = shape[..D - 1].iter().product();
        let Some(found) = recorder::find((&self.gamma, Layout::AsStored), beta, rows, &shape) else {
            return self.0.forward(input);
        };
        let layer =
            RecordedLayer::Scale { weight: Some(found.weight), bias: found.bias, width, positions: found.positions };
        let gamma = recorder::constant(&self.gamma);
        // The same layer with a scale of ones and no shift.
        let mut plain = self.0.clone();
        plain.gamma = Param::initialized(self.gamma.id, gamma.ones_like());
        plain.beta = None;
        let normal = plain.forward(input);
        let record = Input::Rows(Box::new(normal.clone().inner()));
        let scaled = normal * gamma.unsqueeze();
        recorder::tap_sum(layer, record, scaled, beta.map(|beta| recorder::constant(beta).unsqueeze()))
    }
}
