//! Convolutions over images.

use burn::config::Config;
use burn::module::{Initializer, Param};
use burn::nn::PaddingConfig2d;
use burn::tensor::{Device, Tensor};
use marquardt::nn::RecordedLayer;

use crate::layer::recorded_layer;
use crate::patches::Patches;
use crate::recorder::{self, Input, Layout};

/// Configuration of a [`Conv2d`] that is recorded; the fields are those of burn's
/// [`Conv2dConfig`](burn::nn::conv::Conv2dConfig).
#[derive(Config, Debug)]
pub struct Conv2dConfig {
    /// Channels that go in, and channels that come out.
    pub channels: [usize; 2],
    /// Height and width of the kernel.
    pub kernel_size: [usize; 2],
    /// Steps of the kernel; default 1.
    #[config(default = "[1, 1]")]
    pub stride: [usize; 2],
    /// Distances of the pixels under the kernel; default 1.
    #[config(default = "[1, 1]")]
    pub dilation: [usize; 2],
    /// Groups of channels that are apart from each other; default 1.
    #[config(default = "1")]
    pub groups: usize,
    /// Zeros around the image; default none.
    #[config(default = "PaddingConfig2d::Valid")]
    pub padding: PaddingConfig2d,
    /// True for a layer with a bias; default `true`.
    #[config(default = true)]
    pub bias: bool,
    /// Distribution of the first weights; default as burn's, Kaiming's uniform.
    #[config(default = "Initializer::KaimingUniform { gain: 1.0 / 3.0_f64.sqrt(), fan_out_only: false }")]
    pub initializer: Initializer,
}

impl Conv2dConfig {
    /// A layer with random weights.
    ///
    /// # Panics
    ///
    /// As burn's, where the groups do not divide the channels.
    pub fn init(&self, device: &Device) -> Conv2d {
        let plain = burn::nn::conv::Conv2dConfig::new(self.channels, self.kernel_size);
        let plain = plain.with_stride(self.stride).with_dilation(self.dilation).with_groups(self.groups);
        let plain = plain.with_padding(self.padding.clone()).with_bias(self.bias);
        plain.with_initializer(self.initializer.clone()).init(device).into()
    }
}

recorded_layer! {
    /// burn's [`Conv2d`](burn::nn::conv::Conv2d), recorded: a dense layer on the patches of an image, of each group of channels.
    Conv2d(burn::nn::conv::Conv2d)
}

impl Conv2d {
    /// Computes the same as burn's [`Conv2d::forward`](burn::nn::conv::Conv2d::forward).
    ///
    /// # Panics
    ///
    /// As burn's, where the channels of `input` are not those of the weight.
    pub fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        let shape = input.dims();
        let bias = self.bias.as_ref();
        let Some(found) = recorder::find((&self.weight, Layout::AsStored), bias, shape[0], &shape) else {
            return self.0.forward(input);
        };
        let mut plain = self.0.clone();
        plain.weight = Param::initialized(self.weight.id, recorder::constant(&self.weight));
        plain.bias = None;
        let image = input.clone().inner();
        let output = plain.forward(input);
        let [_, channels, height, width] = output.dims();
        let patches = Patches::new(&plain, &shape, [height, width]);
        let (inputs, outputs) = (patches.width(), channels / plain.groups);
        let layers = (0..plain.groups).map(|group| {
            let layer = RecordedLayer::Dense {
                weight: found.weight + group * outputs * inputs,
                bias: found.bias.map(|bias| bias + group * outputs),
                inputs,
                outputs,
                positions: found.positions * height * width,
            };
            (layer, Input::Image { image: Box::new(image.clone()), patches, group })
        });
        let bias = bias.map(|bias| recorder::constant(bias).reshape([1, channels, 1, 1]));
        recorder::tap_layers(layers.collect(), output, bias)
    }
}
