//! Pooling layers.

use super::{Layer, NetworkError, Recorder};
use crate::nn::{Node, Padding, Shape, Window};
use crate::real::Real;

macro_rules! pooling {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $method:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name {
            window: Window,
        }

        impl $name {
            /// A window of this height and width, which moves by as much.
            pub fn new(size: [usize; 2]) -> Self {
                $name { window: Window::new(size).with_strides(size) }
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

        impl<T: Real> Layer<T> for $name {
            fn kind(&self) -> &'static str {
                $kind
            }

            fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
                Ok(recorder.tape().$method(x, self.window)?)
            }
        }
    };
}

pooling! {
    /// Mean of each channel of an image over a window. What is beyond the image does not count, as in Keras; in PyTorch that is
    /// `count_include_pad=False`.
    AveragePooling2D, "average pooling", average_pooling2d
}

pooling! {
    /// The largest entry that a window sees of each channel of an image. What is beyond the image does not count. Of several
    /// that are the largest the first has a derivative, as in PyTorch.
    MaxPooling2D, "max pooling", max_pooling2d
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
            Shape::Row { .. } => [1, 1],
        };
        let mean = recorder.tape().average_pooling2d(x, Window::new(size))?;
        Ok(recorder.tape().flatten(mean))
    }
}
