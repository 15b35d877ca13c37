//! Rows of a Jacobian of blocks that are kept beside their sums.

use std::ops::Range;

use crate::real::Real;

/// Residuals and rows of residual blocks that follow each other.
#[derive(Debug, Clone)]
pub(super) struct KeptRows<T> {
    /// The residual blocks.
    blocks: Range<usize>,
    /// Residuals of each, one behind the other.
    residuals: Vec<T>,
    /// Rows of each, one behind the other: the columns of its blocks side by side.
    values: Vec<T>,
    /// Ends of its residuals and of its rows.
    ends: Vec<(usize, usize)>,
}

impl<T: Real> KeptRows<T> {
    /// No rows yet.
    pub(super) fn new(blocks: Range<usize>) -> Self {
        KeptRows { blocks, residuals: Vec::new(), values: Vec::new(), ends: vec![(0, 0)] }
    }

    /// Forgets all rows.
    pub(super) fn clear(&mut self) {
        self.residuals.clear();
        self.values.clear();
        self.ends.truncate(1);
    }

    /// Appends the rows of the next residual block.
    pub(super) fn push(&mut self, r: &[T], jacobian: &[T]) {
        self.residuals.extend_from_slice(r);
        self.values.extend_from_slice(jacobian);
        self.ends.push((self.residuals.len(), self.values.len()));
    }

    /// Residuals and rows of residual block `k` of those that these parts have.
    pub(super) fn find(parts: &[Self], k: usize) -> (&[T], &[T]) {
        let part = &parts[parts.partition_point(|part| part.blocks.end <= k)];
        let place = k - part.blocks.start;
        let ((r, row), (end_r, end_row)) = (part.ends[place], part.ends[place + 1]);
        (&part.residuals[r..end_r], &part.values[row..end_row])
    }
}
