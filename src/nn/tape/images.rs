//! Images: shapes, convolution and pooling.

use super::{Node, Operation, Tape};
use crate::nn::pooling::{Pooling, Windows};
use crate::nn::{Shape, TapeError, Window};
use crate::real::Real;
use crate::variables::Variable;

impl<T: Real> Tape<T> {
    /// Gives the entries another shape; nothing is recorded.
    ///
    /// # Errors
    ///
    /// [`TapeError::Reshape`].
    pub fn reshape(&self, x: Node, shape: Shape) -> Result<Node, TapeError> {
        self.check("reshape", x)?;
        if shape.numbers() != x.width() {
            return Err(TapeError::Reshape { expected: shape, found: x.shape });
        }
        Ok(Node { shape, ..x })
    }

    /// Arranges the entries in a row; nothing is recorded.
    pub fn flatten(&self, x: Node) -> Node {
        Node { shape: Shape::Row { width: x.width() }, ..x }
    }

    /// Convolution: every pixel of the result is a dense layer of the pixels in a window of the image, with zeros in the padding.
    /// As in all frameworks, the filters are not turned around.
    ///
    /// The weight has the shape `[filters, channels, height, width]`, as in PyTorch and candle.
    ///
    /// ```
    /// use marquardt::Variables;
    /// use marquardt::nn::{Shape, Tape, Window};
    /// use ndarray::{Array1, Array4};
    ///
    /// let mut variables = Variables::<f64>::new();
    /// let weight = variables.add("weight", Array4::ones((8, 3, 5, 5)).view())?;
    /// let bias = variables.add("bias", Array1::zeros(8).view())?;
    ///
    /// let mut tape = Tape::<f64>::new();
    /// let x = tape.input(3 * 12 * 12);
    /// let x = tape.reshape(x, Shape::Image { channels: 3, height: 12, width: 12 })?;
    /// let y = tape.conv2d(x, weight, Some(bias), Window::new([5, 5]))?;
    /// assert_eq!(y.shape(), Shape::Image { channels: 8, height: 8, width: 8 });
    ///
    /// let refused = tape.conv2d(x, weight, None, Window::new([5, 15])).unwrap_err();
    /// let message = "conv2d: a window of 5 × 15 pixels does not fit into an image \
    ///     of 3 × 12 × 12 (channels × height × width)";
    /// assert_eq!(refused.to_string(), message);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TapeError::NotAnImage`]; [`TapeError::Setting`] or [`TapeError::Window`] for a window that makes no sense or does
    /// not fit; [`TapeError::Filters`] or [`TapeError::Bias`] for variables that do not go with it.
    pub fn conv2d(
        &mut self,
        x: Node,
        weight: Variable,
        bias: Option<Variable>,
        window: Window,
    ) -> Result<Node, TapeError> {
        let operation = "conv2d";
        self.check(operation, x)?;
        let placement = window.on(operation, x.shape)?;
        let (positions, seen) = (placement.count(), placement.seen());
        let filters = weight.len() / seen;
        if filters == 0 || filters * seen != weight.len() || weight.columns() != window.size[1] {
            let (rows, columns, [height, width]) = (weight.rows(), weight.columns(), window.size);
            let filter = [seen / (height * width), height, width];
            return Err(TapeError::Filters { operation, rows, columns, filter });
        }
        if let Some(found) = bias.map(|bias| bias.len()).filter(|&found| found != filters) {
            return Err(TapeError::Bias { operation, expected: filters, found });
        }
        let patches = self.pool(Pooling::Take, x, placement.patches(), Shape::Row { width: positions * seen });
        let image = placement.image(filters);
        let product = self.record(Operation::Dense { x: patches, weight, bias, positions }, image);
        if positions == 1 || filters == 1 {
            return Ok(product);
        }
        // A product has its filters last.
        Ok(self.pool(Pooling::Take, product, Windows::transpose(positions, filters), image))
    }

    /// Mean of each channel over the window; padding does not count.
    ///
    /// # Errors
    ///
    /// [`TapeError::NotAnImage`]; [`TapeError::Setting`] or [`TapeError::Window`] for a window that makes no sense or does
    /// not fit.
    pub fn average_pooling2d(&mut self, x: Node, window: Window) -> Result<Node, TapeError> {
        self.pool_image(Pooling::Average, x, window)
    }

    /// The largest entry that the window sees of each channel; padding does not count. Of several that are the largest the
    /// first has a derivative.
    ///
    /// # Errors
    ///
    /// [`TapeError::NotAnImage`]; [`TapeError::Setting`] or [`TapeError::Window`] for a window that makes no sense or does
    /// not fit.
    pub fn max_pooling2d(&mut self, x: Node, window: Window) -> Result<Node, TapeError> {
        self.pool_image(Pooling::Maximum, x, window)
    }

    fn pool_image(&mut self, kind: Pooling, x: Node, window: Window) -> Result<Node, TapeError> {
        let operation = kind.name();
        self.check(operation, x)?;
        let placement = window.on(operation, x.shape)?;
        window.check_pooling(operation)?;
        let Shape::Image { channels, .. } = x.shape else { unreachable!("a window is on images only") };
        Ok(self.pool(kind, x, placement.pools(), placement.image(channels)))
    }

    pub(super) fn pool(&mut self, kind: Pooling, x: Node, windows: Windows, shape: Shape) -> Node {
        self.record(Operation::Pool { kind, x, windows }, shape)
    }
}
