//! Dense layers.

use burn::config::Config;
use burn::module::Initializer;
use burn::nn::LinearLayout;
use burn::tensor::module::linear;
use burn::tensor::{Device, Tensor};
use marquardt::nn::RecordedLayer;

use crate::layer::recorded_layer;
use crate::recorder::{self, Input, Layout};

/// Configuration of a [`Linear`] that is recorded; the fields are those of burn's
/// [`LinearConfig`](burn::nn::LinearConfig).
#[derive(Config, Debug)]
pub struct LinearConfig {
    /// Numbers that go in.
    pub d_input: usize,
    /// Numbers that come out.
    pub d_output: usize,
    /// True for a layer with a bias; default `true`.
    #[config(default = true)]
    pub bias: bool,
    /// Distribution of the first weights; default as burn's, Kaiming's uniform.
    #[config(default = "Initializer::KaimingUniform { gain: 1.0 / 3.0_f64.sqrt(), fan_out_only: false }")]
    pub initializer: Initializer,
    /// Layout in which the weight is stored in memory; default by rows.
    #[config(default = "LinearLayout::Row")]
    pub layout: LinearLayout,
}

impl LinearConfig {
    /// A layer with random weights.
    pub fn init(&self, device: &Device) -> Linear {
        let plain = burn::nn::LinearConfig::new(self.d_input, self.d_output).with_bias(self.bias);
        plain.with_initializer(self.initializer.clone()).with_layout(self.layout).init(device).into()
    }
}

recorded_layer! {
    /// burn's [`Linear`](burn::nn::Linear), recorded: `y = x W + b`, for rows of any number of leading dimensions, of which the first
    /// is that of the samples.
    Linear(burn::nn::Linear)
}

impl Linear {
    /// Computes the same as burn's [`Linear::forward`](burn::nn::Linear::forward).
    ///
    /// # Panics
    ///
    /// As burn's, where the last dimension of `input` is not that of the weight.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let [inputs, outputs] = self.weight.dims();
        let shape = input.dims();
        if shape[D - 1] != inputs {
            return self.0.forward(input);
        }
        let bias = self.bias.as_ref();
        let rows = shape[..D - 1].iter().product();
        let Some(found) = recorder::find((&self.weight, Layout::Transposed), bias, rows, &shape) else {
            return self.0.forward(input);
        };
        let layer = RecordedLayer::Dense {
            weight: found.weight,
            bias: found.bias,
            inputs,
            outputs,
            positions: found.positions,
        };
        let record = Input::Rows(Box::new(input.clone().inner()));
        let weight = recorder::constant(&self.weight);
        let bias = bias.map(recorder::constant);
        if input.is_tracked() {
            recorder::tap_sum(layer, record, linear(input, weight, None), bias.map(Tensor::unsqueeze))
        } else {
            recorder::tap(layer, record, linear(input, weight, bias))
        }
    }
}

/// Returns true if a parameter of this name in a module of this type is the weight of a dense layer, which is stored
/// with a row for each input.
pub(crate) fn is_weight(name: &str, container: &str) -> bool {
    name == "weight" && container == "Struct:Linear"
}
