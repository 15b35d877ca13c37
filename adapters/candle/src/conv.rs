//! Convolutions, as dense layers of patches.

use candle_core::{Module, Result, Tensor};
use candle_nn::{Conv1dConfig, Conv2dConfig, VarBuilder};
use marquardt::nn::RecordedLayer;

use crate::recorder;

/// candle's [`Conv1d`](candle_nn::Conv1d), recorded, with any stride, padding, dilation and groups.
///
/// Its outputs are candle's but for rounding. Gradients by its weight are right, which on the processor those of candle 0.11.1's are
/// not.
#[derive(Clone, Debug)]
pub struct Conv1d(candle_nn::Conv1d);

/// candle's [`Conv2d`](candle_nn::Conv2d), recorded, with any stride, padding, dilation and groups.
///
/// In a step it is computed as a dense layer of patches, and so its outputs are candle's but for rounding; so are gradients there, also
/// for images that are not square and strides that leave a rest, for which candle 0.11.1 has none.
#[derive(Clone, Debug)]
pub struct Conv2d(candle_nn::Conv2d);

/// A convolution along the rows and columns of images.
struct Geometry {
    kernel: [usize; 2],
    padding: [usize; 2],
    stride: [usize; 2],
    dilation: [usize; 2],
    groups: usize,
}

impl Geometry {
    /// Rows and columns of the output for an image of this size; `None` where the kernel does not fit.
    fn outputs(&self, size: [usize; 2]) -> Option<[usize; 2]> {
        let along = |axis: usize| {
            let span = self.dilation[axis] * self.kernel[axis].checked_sub(1)? + 1;
            let room = (size[axis] + 2 * self.padding[axis]).checked_sub(span)?;
            Some(room.checked_div(self.stride[axis])? + 1)
        };
        Some([along(0)?, along(1)?])
    }

    /// Pixels of the padded image, row after row, that the kernel covers at each position.
    fn pixels(&self, size: [usize; 2], outputs: [usize; 2]) -> Vec<u32> {
        let columns = size[1] + 2 * self.padding[1];
        let mut pixels = Vec::with_capacity(outputs.iter().chain(&self.kernel).product());
        for position in (0..outputs[0]).flat_map(|row| (0..outputs[1]).map(move |column| [row, column])) {
            let [row, column] = [0, 1].map(|axis| position[axis] * self.stride[axis]);
            for tap in 0..self.kernel[0] {
                let start = (row + tap * self.dilation[0]) * columns + column;
                pixels.extend((0..self.kernel[1]).map(|tap| (start + tap * self.dilation[1]) as u32));
            }
        }
        pixels
    }

    /// The convolution of images of `samples × channels × rows × columns`, recorded where a pass is; `None` where candle should say what
    /// does not fit.
    fn convolve(&self, x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Option<Tensor>> {
        let (Ok((images, channels, rows, columns)), &[outputs, inputs, ..]) = (x.dims4(), weight.dims()) else {
            return Ok(None);
        };
        let fits = channels == inputs * self.groups && outputs.is_multiple_of(self.groups.max(1));
        let Some([high, wide]) = self.outputs([rows, columns]).filter(|_| fits) else { return Ok(None) };
        let (positions, taps) = (high * wide, self.kernel[0] * self.kernel[1]);
        let found = recorder::places(weight, bias, images * positions, x.dims());
        let pixels = Tensor::from_vec(self.pixels([rows, columns], [high, wide]), positions * taps, x.device())?;
        let padded = x.pad_with_zeros(2, self.padding[0], self.padding[0])?;
        let padded = padded.pad_with_zeros(3, self.padding[1], self.padding[1])?;
        let patches = padded.flatten_from(2)?.contiguous()?.index_select(&pixels, 2)?;
        let patches = patches.reshape((images, channels, positions, taps))?.transpose(1, 2)?;
        let of_layer = |of: &Tensor| if found.is_some() { of.detach() } else { of.clone() };
        let weight = of_layer(weight).reshape((outputs, inputs * taps))?;
        let bias = bias.map(of_layer);
        // Each group is a layer of its own, with a part of the weight.
        let (of_group, inputs) = (outputs / self.groups, inputs * taps);
        let mut parts = Vec::with_capacity(self.groups);
        for group in 0..self.groups {
            let x = patches.narrow(2, group * inputs / taps, inputs / taps)?.contiguous()?;
            let x = x.reshape((images, positions, inputs))?;
            let first = group * of_group;
            let bias = bias.as_ref().map(|bias| bias.narrow(0, first, of_group)).transpose()?;
            let affine = candle_nn::Linear::new(weight.narrow(0, first, of_group)?.contiguous()?, bias);
            let Some(found) = &found else {
                parts.push(affine.forward(&x)?);
                continue;
            };
            let layer = RecordedLayer::Dense {
                weight: found.weight + first * inputs,
                bias: found.bias.map(|bias| bias + first),
                inputs,
                outputs: of_group,
                positions: found.positions,
            };
            parts.push(found.tap_affine(layer, &x, &affine)?);
        }
        let y = if parts.len() == 1 { parts.swap_remove(0) } else { Tensor::cat(&parts, 2)? };
        Ok(Some(y.transpose(1, 2)?.contiguous()?.reshape((images, outputs, high, wide))?))
    }
}

impl Conv2d {
    /// A layer with this weight, of `outputs × inputs / groups × rows × columns`, and bias.
    pub fn new(weight: Tensor, bias: Option<Tensor>, config: Conv2dConfig) -> Self {
        Conv2d(candle_nn::Conv2d::new(weight, bias, config))
    }

    /// Stride, padding, dilation and groups.
    pub fn config(&self) -> &Conv2dConfig {
        self.0.config()
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

impl Module for Conv2d {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let &Conv2dConfig { padding, stride, dilation, groups, .. } = self.config();
        let kernel = self.weight().dims4().map_or([0, 0], |(_, _, rows, columns)| [rows, columns]);
        let geometry = Geometry { kernel, padding: [padding; 2], stride: [stride; 2], dilation: [dilation; 2], groups };
        if recorder::is_in_step()
            && let Some(y) = geometry.convolve(x, self.weight(), self.bias())?
        {
            return Ok(y);
        }
        self.0.forward(x)
    }
}

impl Conv1d {
    /// A layer with this weight, of `outputs × inputs / groups × taps`, and bias.
    pub fn new(weight: Tensor, bias: Option<Tensor>, config: Conv1dConfig) -> Self {
        Conv1d(candle_nn::Conv1d::new(weight, bias, config))
    }

    /// Stride, padding, dilation and groups.
    pub fn config(&self) -> &Conv1dConfig {
        self.0.config()
    }

    /// The weight.
    pub fn weight(&self) -> &Tensor {
        self.0.weight()
    }

    /// The bias.
    pub fn bias(&self) -> Option<&Tensor> {
        self.0.bias()
    }

    /// Convolves as for images of one row. On the processor candle 0.11.1 reads the wrong numbers where it computes the
    /// gradient of a `conv1d` by its weight (huggingface/candle#3836), and so it is not candle's outside of steps
    /// either.
    fn convolve(&self, x: &Tensor) -> Result<Option<Tensor>> {
        let &Conv1dConfig { padding, stride, dilation, groups, .. } = self.config();
        let (3, Ok((_, _, taps))) = (x.rank(), self.weight().dims3()) else { return Ok(None) };
        let geometry =
            Geometry { kernel: [1, taps], padding: [0, padding], stride: [1, stride], dilation: [1, dilation], groups };
        let y = geometry.convolve(&x.unsqueeze(2)?, self.weight(), self.bias())?;
        y.map(|y| y.squeeze(2)).transpose()
    }
}

impl Module for Conv1d {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        match self.convolve(x)? {
            Some(y) => Ok(y),
            None => self.0.forward(x),
        }
    }
}

/// Creates candle's [`conv1d`](candle_nn::conv1d()), recorded.
///
/// # Errors
///
/// As candle's.
pub fn conv1d(inputs: usize, outputs: usize, taps: usize, config: Conv1dConfig, vb: VarBuilder) -> Result<Conv1d> {
    candle_nn::conv1d(inputs, outputs, taps, config, vb).map(Conv1d)
}

/// Creates candle's [`conv1d_no_bias`](candle_nn::conv1d_no_bias()), recorded.
///
/// # Errors
///
/// As candle's.
pub fn conv1d_no_bias(
    inputs: usize,
    outputs: usize,
    taps: usize,
    config: Conv1dConfig,
    vb: VarBuilder,
) -> Result<Conv1d> {
    candle_nn::conv1d_no_bias(inputs, outputs, taps, config, vb).map(Conv1d)
}

/// Creates candle's [`conv2d`](candle_nn::conv2d()), recorded.
///
/// # Errors
///
/// As candle's.
pub fn conv2d(inputs: usize, outputs: usize, size: usize, config: Conv2dConfig, vb: VarBuilder) -> Result<Conv2d> {
    candle_nn::conv2d(inputs, outputs, size, config, vb).map(Conv2d)
}

/// Creates candle's [`conv2d_no_bias`](candle_nn::conv2d_no_bias()), recorded.
///
/// # Errors
///
/// As candle's.
pub fn conv2d_no_bias(
    inputs: usize,
    outputs: usize,
    size: usize,
    config: Conv2dConfig,
    vb: VarBuilder,
) -> Result<Conv2d> {
    candle_nn::conv2d_no_bias(inputs, outputs, size, config, vb).map(Conv2d)
}
