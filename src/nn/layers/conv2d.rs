//! The convolutional layer.

use super::{Layer, NetworkError, Recorder};
use crate::nn::{Initializer, Node, Padding, TapeError, Window};
use crate::real::Real;

/// Convolution of an image with filters: every pixel of the result is a dense layer of the pixels in a window of the image.
///
/// Images have their channels first; see [`Shape`](crate::nn::Shape). The variables are `weight`, of the shape
/// `[filters, channels, height, width]`, and `bias`, of the shape `[filters]`, as in PyTorch and candle. Unless said
/// otherwise, weights start from [`Initializer::GlorotUniform`] with the fans of one pixel, `channels · height · width` and
/// `filters · height · width`, and biases from zero, as in Keras.
///
/// ```
/// use marquardt::Variables;
/// use marquardt::nn::{Conv2D, Recording, Padding, Sequential, Shape};
///
/// let first = Conv2D::new(8, [3, 3]).with_padding(Padding::Same);
/// let second = Conv2D::new(16, [3, 3]).with_strides([2, 2]).without_bias();
///
/// let mut variables = Variables::<f64>::new();
/// let layers = Sequential::image(1, 12, 12).push(first).relu().push(second);
/// let Recording { output, .. } = layers.build(&mut variables, 0)?;
/// assert_eq!(output.shape(), Shape::Image { channels: 16, height: 5, width: 5 });
/// let named: Vec<_> = variables
///     .iter()
///     .map(|variable| (variables.name(variable), variables.shape(variable)))
///     .collect();
/// assert_eq!(
///     named,
///     [("0.weight", &[8, 1, 3, 3][..]), ("0.bias", &[8]), ("2.weight", &[16, 8, 3, 3])]
/// );
/// # Ok::<(), marquardt::nn::NetworkError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conv2D {
    filters: usize,
    window: Window,
    initializer: Initializer,
    bias: Option<Initializer>,
}

impl Conv2D {
    /// Creates a layer with `filters` filters of this height and width, with a stride of one and no padding.
    pub fn new(filters: usize, kernel: [usize; 2]) -> Self {
        let (initializer, bias) = (Initializer::default(), Some(Initializer::Zeros));
        Conv2D { filters, window: Window::new(kernel), initializer, bias }
    }

    /// Sets the strides of the filters, down and to the right; default 1.
    pub fn with_strides(mut self, strides: [usize; 2]) -> Self {
        self.window = self.window.with_strides(strides);
        self
    }

    /// The zeros around the image.
    pub fn with_padding(mut self, padding: Padding) -> Self {
        self.window = self.window.with_padding(padding);
        self
    }

    /// Sets the distance between the pixels that a filter sees, down and to the right; default 1, for neighbours.
    pub fn with_dilation(mut self, dilation: [usize; 2]) -> Self {
        self.window = self.window.with_dilation(dilation);
        self
    }

    /// Initializer of the weights.
    pub fn with_initializer(mut self, initializer: Initializer) -> Self {
        self.initializer = initializer;
        self
    }

    /// Initializer of the biases. The fans are the layer's, as for the weights.
    pub fn with_bias_initializer(mut self, initializer: Initializer) -> Self {
        self.bias = Some(initializer);
        self
    }

    /// No biases.
    pub fn without_bias(mut self) -> Self {
        self.bias = None;
        self
    }
}

impl<T: Real> Layer<T> for Conv2D {
    fn kind(&self) -> &'static str {
        "conv2d"
    }

    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
        let operation = "conv2d";
        if self.filters == 0 {
            return Err(TapeError::Empty { operation }.into());
        }
        // Before there are any weights for a window that makes no sense.
        let placement = self.window.on(operation, x.shape())?;
        let (filters, [height, width]) = (self.filters, self.window.size);
        let (fan_in, fan_out) = (placement.seen(), filters * height * width);
        let shape = [filters, fan_in / (height * width), height, width];
        let weight = recorder.variable("weight", &shape, fan_in, fan_out, self.initializer)?;
        let bias = self.bias.map(|start| recorder.variable("bias", &[filters], fan_in, fan_out, start)).transpose()?;
        Ok(recorder.tape().conv2d(x, weight, bias, self.window)?)
    }
}
