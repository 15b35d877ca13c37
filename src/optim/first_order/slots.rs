//! The slots of one variable.

use std::array;
use std::ops::Range;

/// The slots of one variable, or of some rows of it.
#[derive(Debug)]
pub struct Slots<'a, T> {
    flat: &'a mut [Vec<T>],
    range: Range<usize>,
}

impl<'a, T> Slots<'a, T> {
    /// The slots in one range of the flat vector.
    pub(super) fn new(flat: &'a mut [Vec<T>], range: Range<usize>) -> Self {
        Slots { flat, range }
    }

    /// Number of slots.
    pub fn len(&self) -> usize {
        self.flat.len()
    }

    /// Returns true if there are no slots.
    pub fn is_empty(&self) -> bool {
        self.flat.is_empty()
    }

    /// The first `N` slots, in the order in which the rule lists them: `let [m, v] = slots.take();`.
    ///
    /// # Panics
    ///
    /// When there are not as many.
    #[inline]
    pub fn take<const N: usize>(self) -> [&'a mut [T]; N] {
        let Slots { flat, range } = self;
        let mut slots = flat.iter_mut();
        array::from_fn(|_| &mut slots.next().expect("as many slots as the rule lists")[range.clone()])
    }

    /// Returns the slots of a part of the variable, such as a row.
    #[inline]
    pub fn part(&mut self, part: Range<usize>) -> Slots<'_, T> {
        let range = self.range.start + part.start..self.range.start + part.end;
        Slots { flat: self.flat, range }
    }
}
