//! Windows that move over images.

use super::error::TapeError;
use super::pooling::Windows;
use super::shape::Shape;

/// Surroundings of an image where a window reaches beyond it: nothing for pooling, and zeros for a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Padding {
    /// The window stays within the image.
    #[default]
    Valid,
    /// There are `⌈size / stride⌉` places for the window, as in Keras and TensorFlow: as much padding as that takes, half
    /// of it on each side, and an odd one at the end.
    Same,
    /// Explicit padding, the same on every side as in PyTorch.
    Explicit {
        /// Rows above, and as many below.
        rows: usize,
        /// Columns to the left, and as many to the right.
        columns: usize,
    },
}

/// A window that moves over an image, for convolution and pooling. Pairs are `[vertical, horizontal]`.
///
/// ```
/// use marquardt::nn::{Padding, Shape, Tape, Window};
///
/// let mut tape = Tape::<f64>::new();
/// let x = tape.input(3 * 8 * 6);
/// let x = tape.reshape(x, Shape::Image { channels: 3, height: 8, width: 6 })?;
/// let window = Window::new([3, 2])
///     .with_strides([2, 2])
///     .with_padding(Padding::Explicit { rows: 1, columns: 0 });
/// let y = tape.max_pooling2d(x, window)?;
/// assert_eq!(y.shape(), Shape::Image { channels: 3, height: 4, width: 3 });
/// # Ok::<(), marquardt::nn::TapeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Window {
    pub(crate) size: [usize; 2],
    strides: [usize; 2],
    padding: Padding,
    dilation: [usize; 2],
}

impl Window {
    /// A window of this size that moves pixel by pixel, and stays within the image.
    pub fn new(size: [usize; 2]) -> Self {
        Window { size, strides: [1, 1], padding: Padding::Valid, dilation: [1, 1] }
    }

    /// Sets the strides of the window.
    pub fn with_strides(mut self, strides: [usize; 2]) -> Self {
        self.strides = strides;
        self
    }

    /// Surroundings of the image.
    pub fn with_padding(mut self, padding: Padding) -> Self {
        self.padding = padding;
        self
    }

    /// Sets the distance between the pixels that it sees; default 1, for neighbours.
    pub fn with_dilation(mut self, dilation: [usize; 2]) -> Self {
        self.dilation = dilation;
        self
    }

    /// The places that it takes on an image.
    pub(crate) fn on(&self, operation: &'static str, image: Shape) -> Result<Placement, TapeError> {
        let Shape::Image { channels, height, width } = image else {
            return Err(TapeError::NotAnImage { operation, found: image });
        };
        for (setting, values) in [("kernel", self.size), ("stride", self.strides), ("dilation", self.dilation)] {
            if values.contains(&0) {
                return Err(TapeError::Setting { of: operation, setting, requirement: "at least 1", value: 0.0 });
            }
        }
        let padding = match self.padding {
            Padding::Explicit { rows, columns } => Some([rows, columns]),
            Padding::Valid => Some([0, 0]),
            Padding::Same => None,
        };
        let axis = |k: usize, pixels: usize| {
            WindowAxis::new(pixels, self.size[k], self.strides[k], padding.map(|padding| padding[k]), self.dilation[k])
        };
        let span = |k: usize| (self.size[k] - 1).saturating_mul(self.dilation[k]).saturating_add(1);
        let too_large = || TapeError::Window { operation, span: [span(0), span(1)], found: image };
        let [vertical, horizontal] = [axis(0, height), axis(1, width)];
        let placement = Placement {
            channels,
            vertical: vertical.ok_or_else(too_large)?,
            horizontal: horizontal.ok_or_else(too_large)?,
        };
        let numbers = [channels, self.size[0], self.size[1], placement.vertical.count, placement.horizontal.count];
        let numbers = numbers.iter().try_fold(1_usize, |product, &factor| product.checked_mul(factor));
        if numbers.is_none_or(|numbers| numbers >= Windows::MOST) {
            return Err(TapeError::TooLarge { operation, found: image });
        }
        Ok(placement)
    }

    /// Refuses a padding that leaves a window without a pixel.
    pub(crate) fn check_pooling(&self, operation: &'static str) -> Result<(), TapeError> {
        match self.padding {
            Padding::Explicit { rows, columns } if rows >= self.size[0] || columns >= self.size[1] => {
                let value = if rows >= self.size[0] { rows } else { columns };
                let requirement = "less than the size of the window";
                Err(TapeError::Setting { of: operation, setting: "padding", requirement, value: value as f64 })
            }
            _ => Ok(()),
        }
    }
}

/// The places of a window along one direction.
#[derive(Debug, Clone, Copy)]
struct WindowAxis {
    pixels: usize,
    size: usize,
    stride: usize,
    before: usize,
    dilation: usize,
    /// Number of places.
    count: usize,
}

impl WindowAxis {
    /// `None` when the window does not fit into the image and its padding. Without a padding there is as much as is needed
    /// for a place at every stride.
    fn new(pixels: usize, size: usize, stride: usize, padding: Option<usize>, dilation: usize) -> Option<Self> {
        let extent = (size - 1).checked_mul(dilation)?.checked_add(1)?;
        let (before, count) = match padding {
            Some(padding) => {
                let free = padding.checked_mul(2)?.checked_add(pixels)?.checked_sub(extent)?;
                (padding, free / stride + 1)
            }
            None => {
                let count = pixels.div_ceil(stride);
                let needed = (count.checked_sub(1)? * stride).checked_add(extent)?;
                (needed.saturating_sub(pixels) / 2, count)
            }
        };
        Some(WindowAxis { pixels, size, stride, before, dilation, count })
    }

    /// The pixel that the window sees with its `tap` at a place; `None` in the padding.
    fn pixel(&self, place: usize, tap: usize) -> Option<usize> {
        let pixel = (place * self.stride + tap * self.dilation).checked_sub(self.before)?;
        (pixel < self.pixels).then_some(pixel)
    }
}

/// The places of a window on an image.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placement {
    channels: usize,
    vertical: WindowAxis,
    horizontal: WindowAxis,
}

impl Placement {
    /// Number of places.
    pub(crate) fn count(&self) -> usize {
        self.vertical.count * self.horizontal.count
    }

    /// Entries that the window sees at a place.
    pub(crate) fn seen(&self) -> usize {
        self.channels * self.vertical.size * self.horizontal.size
    }

    /// An image with a pixel for each place.
    pub(crate) fn image(&self, channels: usize) -> Shape {
        Shape::Image { channels, height: self.vertical.count, width: self.horizontal.count }
    }

    /// Place after place, all that the window sees there, channel after channel.
    pub(crate) fn patches(&self) -> Windows {
        let all = 0..self.channels;
        let numbers = self.places().flat_map(|place| all.clone().flat_map(move |channel| self.seen_at(channel, place)));
        Windows::new(numbers, 1)
    }

    /// Windows of a pooling: channel after channel, and place after place, the indices that the window covers.
    pub(crate) fn pools(&self) -> Windows {
        let numbers =
            (0..self.channels).flat_map(|channel| self.places().flat_map(move |place| self.seen_at(channel, place)));
        Windows::new(numbers, self.vertical.size * self.horizontal.size)
    }

    fn places(&self) -> impl Iterator<Item = [usize; 2]> + '_ {
        (0..self.vertical.count).flat_map(|row| (0..self.horizontal.count).map(move |column| [row, column]))
    }

    /// Returns the indices in a sample's row of the entries of a channel that the window sees; `None` in the padding.
    fn seen_at(&self, channel: usize, [row, column]: [usize; 2]) -> impl Iterator<Item = Option<usize>> + '_ {
        let Placement { vertical, horizontal, .. } = self;
        (0..vertical.size).flat_map(move |down| {
            (0..horizontal.size).map(move |right| {
                let (y, x) = (vertical.pixel(row, down)?, horizontal.pixel(column, right)?);
                Some((channel * vertical.pixels + y) * horizontal.pixels + x)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every place of a window at which it fits, tried one after the other.
    #[test]
    fn places_are_those_where_the_window_fits() {
        for (pixels, size, stride, padding, dilation) in
            [(5, 2, 1, 0, 1), (5, 2, 3, 0, 1), (6, 3, 2, 2, 1), (4, 2, 1, 1, 3), (1, 1, 4, 0, 1), (3, 5, 2, 1, 1)]
        {
            let axis = WindowAxis::new(pixels, size, stride, Some(padding), dilation).unwrap();
            let last = |place: usize| place * stride + (size - 1) * dilation;
            let fitting = (0..).take_while(|&place| last(place) < pixels + 2 * padding).count();
            assert_eq!(axis.count, fitting);
            for (place, tap) in (0..fitting).flat_map(|place| (0..size).map(move |tap| (place, tap))) {
                let pixel = (place * stride + tap * dilation) as i64 - padding as i64;
                let expected = usize::try_from(pixel).ok().filter(|&pixel| pixel < pixels);
                assert_eq!(axis.pixel(place, tap), expected);
            }
        }
        assert!(WindowAxis::new(3, 4, 1, Some(0), 1).is_none());
        assert!(WindowAxis::new(3, 2, 1, Some(1), 5).is_none());
        assert!(WindowAxis::new(3, usize::MAX, 1, Some(1), 2).is_none());
    }

    #[test]
    fn same_padding_has_a_place_for_every_stride() {
        for (pixels, size, stride, count, before) in
            [(5, 3, 1, 5, 1), (5, 2, 1, 5, 0), (5, 3, 2, 3, 1), (6, 3, 2, 3, 0), (6, 1, 4, 2, 0), (3, 7, 1, 3, 3)]
        {
            let axis = WindowAxis::new(pixels, size, stride, None, 1).unwrap();
            assert_eq!((axis.count, axis.before), (count, before), "{pixels} pixels, {size}, {stride}");
        }
    }
}
