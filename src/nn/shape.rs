//! Shapes of a sample's entries.

use std::fmt;

/// Arrangement of the entries that a node has for each sample.
///
/// Images have their channels first, as in PyTorch and candle: a sample's row holds one channel after the other, each row
/// by row. Flattening an image moves no entry.
///
/// ```
/// use marquardt::nn::Shape;
///
/// let shape = Shape::Image { channels: 3, height: 4, width: 5 };
/// assert_eq!(shape.numbers(), 60);
/// assert_eq!(shape.to_string(), "an image of 3 × 4 × 5 (channels × height × width)");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// Entries in a row.
    Row {
        /// Number of columns.
        width: usize,
    },
    /// Entries in an image.
    Image {
        /// Entries in a pixel.
        channels: usize,
        /// Rows of pixels.
        height: usize,
        /// Columns of pixels.
        width: usize,
    },
    /// Entries in a sequence: those of one step after those of the step before, as in Keras.
    Sequence {
        /// Number of steps.
        steps: usize,
        /// Entries at each step.
        features: usize,
    },
}

impl Shape {
    /// Number of numbers of a sample. More than a [`usize`] holds count as its largest value, which no node has.
    pub fn numbers(self) -> usize {
        match self {
            Shape::Row { width } => width,
            Shape::Image { channels, height, width } => channels.saturating_mul(height).saturating_mul(width),
            Shape::Sequence { steps, features } => steps.saturating_mul(features),
        }
    }

    /// The shape of two nodes combined entry by entry, which have as many of them; `None` when they are images or
    /// sequences of different shapes.
    pub(crate) fn common(self, other: Shape) -> Option<Shape> {
        match (self, other) {
            (shape, Shape::Row { .. }) | (Shape::Row { .. }, shape) => Some(shape),
            _ => (self == other).then_some(self),
        }
    }

    /// The shape of two nodes side by side: images of one size stay an image, of all their channels.
    pub(crate) fn beside(self, other: Shape) -> Shape {
        match (self, other) {
            (Shape::Image { channels, height, width }, Shape::Image { channels: more, height: h, width: w })
                if (height, width) == (h, w) =>
            {
                Shape::Image { channels: channels + more, height, width }
            }
            _ => Shape::Row { width: self.numbers() + other.numbers() },
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Row { width } => write!(f, "a row of {width}"),
            Shape::Image { channels, height, width } => {
                write!(f, "an image of {channels} × {height} × {width} (channels × height × width)")
            }
            Shape::Sequence { steps, features } => write!(f, "a sequence of {steps} × {features} (steps × features)"),
        }
    }
}
