//! Pooling layers.

use super::{Layer, NetworkError, Recorder};
use crate::nn::{Node, Padding, Shape, Window};
use crate::real::Real;

/// Mean of each channel of an image over a window. What is beyond the image does not count, as in Keras; in PyTorch that is
/// `count_include_pad=False`.
pub type AveragePooling2D = Pooling2D<false>;

/// The largest entry that a window sees of each channel of an image. What is beyond the image does not count. Of several
/// that are the largest the first has a derivative, as in PyTorch.
pub type MaxPooling2D = Pooling2D<true>;

/// Pooling of an image: [`MaxPooling2D`] or [`AveragePooling2D`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pooling2D<const MAXIMUM: bool> {
    window: Window,
}

impl<const MAXIMUM: bool> Pooling2D<MAXIMUM> {
    /// A window of this height and width, which moves by as much.
    pub fn new(size: [usize; 2]) -> Self {
        Pooling2D { window: Window::new(size).with_strides(size) }
    }

    /// Sets the strides of the window, down and to the right; default the size of the window.
    pub fn with_strides(mut self, strides: [usize; 2]) -> Self {
        self.window = self.window.with_strides(strides);
        self
    }

    /// Sets the padding, the pixels beyond the image that the window may reach.
    pub fn with_padding(mut self, padding: Padding) -> Self {
        self.window = self.window.with_padding(padding);
        self
    }
}

impl<T: Real, const MAXIMUM: bool> Layer<T> for Pooling2D<MAXIMUM> {
    fn kind(&self) -> &'static str {
        if MAXIMUM { "max pooling" } else { "average pooling" }
    }

    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
        let (tape, window) = (recorder.tape(), self.window);
        Ok(if MAXIMUM { tape.max_pooling2d(x, window)? } else { tape.average_pooling2d(x, window)? })
    }
}

/// The mean of each channel of an image: a row with an entry for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GlobalAveragePooling2D;

impl<T: Real> Layer<T> for GlobalAveragePooling2D {
    fn kind(&self) -> &'static str {
        "global average pooling"
    }

    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
        let size = match x.shape() {
            Shape::Image { height, width, .. } => [height, width],
            Shape::Row { .. } | Shape::Sequence { .. } => [1, 1],
        };
        let mean = recorder.tape().average_pooling2d(x, Window::new(size))?;
        Ok(recorder.tape().flatten(mean))
    }
}
