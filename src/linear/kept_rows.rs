//! Rows of a Jacobian of blocks that are kept beside their sums.

use std::ops::Range;

use crate::lists::Lists;
use crate::real::Real;

/// Residuals and rows of residual blocks that follow each other.
#[derive(Debug, Clone)]
pub(super) struct KeptRows<T> {
    /// The residual blocks.
    blocks: Range<usize>,
    residuals: Lists<T>,
    /// Rows of each: the columns of its blocks side by side.
    values: Lists<T>,
}

impl<T: Real> KeptRows<T> {
    /// No rows yet.
    pub(super) fn new(blocks: Range<usize>) -> Self {
        KeptRows { blocks, residuals: Lists::new(), values: Lists::new() }
    }

    /// Forgets all rows.
    pub(super) fn clear(&mut self) {
        self.residuals.clear();
        self.values.clear();
    }

    /// Appends the rows of the next residual block.
    pub(super) fn push(&mut self, r: &[T], jacobian: &[T]) {
        self.residuals.push(r);
        self.values.push(jacobian);
    }

    /// Residuals and rows of residual block `k` of those that these parts have.
    pub(super) fn find(parts: &[Self], k: usize) -> (&[T], &[T]) {
        let part = &parts[parts.partition_point(|part| part.blocks.end <= k)];
        let place = k - part.blocks.start;
        (part.residuals.of(place), part.values.of(place))
    }
}
