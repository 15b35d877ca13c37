//! The memory of the sweeps.

use std::ops::Range;

use super::Masks;
use super::uniform::{UniformValues, is_uniform};
use super::values::ForwardValues;
use crate::nn::batch::Batch;
use crate::nn::tape::{Node, Operation, Tape, TapeRecord};
use crate::real::Real;

/// Bytes of values and adjoints in one tile.
const TILE_BYTES: usize = 192 * 1024;

/// Least number of rows of the matrix products of a tile.
const FEWEST_ROWS: usize = 64;

/// Least number of samples in a tile, as the last layers of a network of images are dense.
const FEWEST_SAMPLES: usize = 8;

/// Largest number of bytes of a tile of more than one sample.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// A tile of a batch's rows, and the point at which the tape is evaluated there.
#[derive(Clone)]
pub(crate) struct BatchTile<'a, T> {
    pub(crate) tape: &'a Tape<T>,
    /// All variables.
    pub(crate) x: &'a [T],
    pub(crate) batch: &'a Batch<T>,
    pub(crate) rows: Range<usize>,
    /// Dropout masks; nothing in evaluation mode.
    pub(crate) masks: Option<Masks>,
}

/// Values of the nodes, and their adjoints or tangents, for a tile of rows.
#[derive(Debug, Clone)]
pub(crate) struct Workspace<T> {
    /// Layout of derivatives.
    pub(super) layout: NodeLayout,
    /// Layout of values, without those that are read elsewhere: inputs, and values that all samples share.
    pub(super) value_layout: NodeLayout,
    pub(super) uniform: UniformValues<T>,
    pub(super) values: ForwardValues<T>,
    /// Adjoints after a reverse sweep, tangents after a tangent sweep.
    pub(super) derivatives: Vec<T>,
    /// Number of adjoints of each node in a stack, and the one that is seeded next.
    pub(super) stack: usize,
    part: usize,
    /// For each node, true if its derivatives have been written.
    pub(super) reached: Vec<bool>,
    /// Second derivatives after a curvature sweep; empty before the first.
    pub(super) curvatures: Vec<T>,
    /// For each node, true if its second derivatives have been written.
    pub(super) has_curvature: Vec<bool>,
    /// For each node, true if a curvature sweep needs its tangents.
    pub(super) needs_tangent: Vec<bool>,
    /// Workspace for one block.
    pub(super) scratch: Vec<T>,
    /// Twice the direction of a curvature sweep.
    pub(super) doubled: Vec<T>,
}

/// Layout of the nodes' blocks. A block holds a row for each sample of a tile.
#[derive(Debug, Clone)]
pub(super) struct NodeLayout {
    /// Rows in a tile at most.
    pub(super) rows: usize,
    /// Entries in a row before each node's, and in the whole row.
    offsets: Vec<usize>,
}

impl NodeLayout {
    fn new<T: Real>(records: &[TapeRecord<T>]) -> Self {
        let is_computed = |record: &&TapeRecord<T>| !matches!(record.operation, Operation::Input(_));
        let computed: usize = records.iter().filter(is_computed).map(|record| record.width).sum();
        let row_bytes = computed.max(1).saturating_mul(2 * size_of::<T>());
        // A convolution's products have a row for each position.
        let positions = |record: &TapeRecord<T>| match record.operation {
            Operation::Dense { positions, .. } => positions,
            _ => 1,
        };
        let positions = records.iter().map(positions).max().unwrap_or(1);
        let fewest = FEWEST_ROWS.div_ceil(positions).max(FEWEST_SAMPLES);
        let rows = (TILE_BYTES / row_bytes / 8 * 8).clamp(fewest, 512);
        Self::without(rows.min(MOST_BYTES / row_bytes).max(1), records, |_| false)
    }

    /// A layout for tiles of `rows` rows, in which some nodes have no block.
    fn without<T>(rows: usize, records: &[TapeRecord<T>], is_left_out: impl Fn(&TapeRecord<T>) -> bool) -> Self {
        let mut offsets = vec![0];
        for record in records {
            offsets.push(offsets[offsets.len() - 1] + if is_left_out(record) { 0 } else { record.width });
        }
        NodeLayout { rows, offsets }
    }

    /// Entries in the whole row.
    fn width(&self) -> usize {
        self.offsets[self.offsets.len() - 1]
    }

    /// Returns the range of a node's block, in a tile of `count` rows.
    #[inline]
    pub(super) fn block(&self, index: usize, count: usize) -> Range<usize> {
        self.stacked_block(index, count, 1)
    }

    /// Returns the range of a node's blocks when there are several of each, one after the other.
    #[inline]
    pub(super) fn stacked_block(&self, index: usize, count: usize, stack: usize) -> Range<usize> {
        let (start, end) = (self.offsets[index], self.offsets[index + 1]);
        start * count * stack..end * count * stack
    }

    /// The blocks before a node's, and its own; `stack` of each.
    pub(super) fn split<'a, T>(
        &self,
        entries: &'a mut [T],
        index: usize,
        count: usize,
        stack: usize,
    ) -> (&'a mut [T], &'a mut [T]) {
        let Range { start, end } = self.stacked_block(index, count, stack);
        let (before, rest) = entries.split_at_mut(start);
        (before, &mut rest[..end - start])
    }
}

/// Read access to values.
#[derive(Clone, Copy)]
pub(super) struct Values<'a, T> {
    pub(super) tile: &'a BatchTile<'a, T>,
    pub(super) layout: &'a NodeLayout,
    pub(super) uniform: &'a UniformValues<T>,
    pub(super) entries: &'a [T],
}

impl<'a, T: Real> Values<'a, T> {
    /// The value of a node; inputs are read where they are.
    #[inline]
    pub(super) fn of(&self, node: Node) -> &'a [T] {
        match self.tile.tape.records()[node.index()].operation {
            Operation::Input(index) => self.tile.batch.input(index, &self.tile.rows, node.width()),
            _ => {
                let count = self.tile.rows.len();
                let shared = self.uniform.of(node.index(), count * node.width());
                shared.unwrap_or_else(|| &self.entries[self.layout.block(node.index(), count)])
            }
        }
    }

    /// The row that is the value of a constant at every sample; `None` for other nodes.
    #[inline]
    pub(super) fn constant(&self, node: Node) -> Option<&'a [T]> {
        match &self.tile.tape.records()[node.index()].operation {
            Operation::Constant(row) => Some(row),
            _ => None,
        }
    }
}

/// Rows in a tile at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TileSize(usize);

impl TileSize {
    /// Cuts rows into tiles of about the same size.
    pub(crate) fn tiles(self, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let count = rows.len().div_ceil(self.0).max(1);
        let size = rows.len().div_ceil(count).max(1);
        let end = rows.end;
        rows.step_by(size).map(move |first| first..end.min(first + size))
    }
}

impl<T: Real> Workspace<T> {
    /// Workspace for a tape's nodes.
    pub(crate) fn new(tape: &Tape<T>) -> Self {
        let layout = NodeLayout::new(tape.records());
        let is_elsewhere = |record: &TapeRecord<T>| {
            matches!(record.operation, Operation::Input(_)) || is_uniform(tape.records(), record)
        };
        let value_layout = NodeLayout::without(layout.rows, tape.records(), is_elsewhere);
        let numbers = layout.rows * layout.width();
        let widest = tape.records().iter().map(|record| record.width).max().unwrap_or(0);
        Workspace {
            uniform: UniformValues::new(tape.records(), layout.rows),
            values: ForwardValues::new(layout.rows, value_layout.width()),
            derivatives: vec![T::ZERO; numbers],
            stack: 1,
            part: 0,
            reached: vec![false; tape.records().len()],
            curvatures: Vec::new(),
            has_curvature: vec![false; tape.records().len()],
            needs_tangent: vec![false; tape.records().len()],
            scratch: vec![T::ZERO; layout.rows * widest],
            doubled: Vec::new(),
            layout,
            value_layout,
        }
    }

    /// Reserves memory for second derivatives.
    pub(crate) fn reserve_curvatures(&mut self) {
        self.curvatures.resize(self.derivatives.len(), T::ZERO);
    }

    /// Forgets the values that were kept, and reserves memory for those of another batch at points of `parameters` parameters.
    pub(crate) fn bind(&mut self, rows: usize, parameters: usize) {
        self.values.prepare(rows, parameters);
    }

    /// Rows in a tile at most.
    pub(crate) fn tile_rows(&self) -> usize {
        self.layout.rows
    }

    /// Rule by which rows are cut into tiles.
    pub(crate) fn tile_size(&self) -> TileSize {
        TileSize(self.layout.rows)
    }

    /// Cuts rows into tiles of about the same size.
    pub(crate) fn tiles(&self, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<T> {
        self.tile_size().tiles(rows)
    }

    /// A node's value, after a forward sweep.
    pub(crate) fn value<'a>(&'a self, tile: &'a BatchTile<'a, T>, node: Node) -> &'a [T] {
        Values { tile, layout: &self.value_layout, uniform: &self.uniform, entries: self.values.current() }.of(node)
    }

    /// A node's adjoint after a reverse sweep, or tangent after a tangent sweep; `None` where it is zero. Those of a stack
    /// come one after the other.
    pub(crate) fn derivative(&self, tile: &BatchTile<'_, T>, node: Node) -> Option<&[T]> {
        let block = self.layout.stacked_block(node.index(), tile.rows.len(), self.stack);
        self.reached[node.index()].then(|| &self.derivatives[block])
    }

    /// A node's second derivative after a curvature sweep; `None` where it is zero.
    pub(crate) fn second_derivative(&self, tile: &BatchTile<'_, T>, node: Node) -> Option<&[T]> {
        self.has_curvature[node.index()].then(|| &self.curvatures[self.layout.block(node.index(), tile.rows.len())])
    }

    /// Forgets adjoints and tangents.
    pub(crate) fn clear_derivatives(&mut self) {
        self.start_part(0, 1);
    }

    /// Reserves memory for stacks of adjoints with this number of rows.
    pub(crate) fn reserve_stacks(&mut self, rows: usize) {
        let numbers = self.layout.width() * rows;
        self.derivatives.resize(numbers.max(self.derivatives.len()), T::ZERO);
    }

    /// Forgets which nodes' adjoints have been written, and has the next one seeded as this part of a stack: several adjoints
    /// of the same nodes, which one reverse sweep takes back together. Needs [`reserve_stacks`](Self::reserve_stacks).
    pub(crate) fn start_part(&mut self, part: usize, stack: usize) {
        (self.part, self.stack) = (part, stack);
        self.reached.fill(false);
    }

    /// Returns the destination of the adjoint of a node from which a reverse sweep starts, and true if it is to be added to what
    /// is there.
    pub(crate) fn seed(&mut self, tile: &BatchTile<'_, T>, node: Node) -> (&mut [T], bool) {
        let add = std::mem::replace(&mut self.reached[node.index()], true);
        let Range { start, end } = self.layout.stacked_block(node.index(), tile.rows.len(), self.stack);
        let size = (end - start) / self.stack;
        (&mut self.derivatives[start + self.part * size..start + (self.part + 1) * size], add)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::Array4;

    use super::*;
    use crate::nn::{Shape, Window};
    use crate::variables::Variables;

    /// Rows in a tile of a convolution with one filter on square images.
    fn rows(side: usize) -> usize {
        let mut variables = Variables::new();
        let weight = variables.add("w", Array4::<f64>::zeros((1, 1, 3, 3)).view()).unwrap();
        let mut tape = Tape::<f64>::new();
        let x = tape.input(side * side);
        let x = tape.reshape(x, Shape::Image { channels: 1, height: side, width: side }).unwrap();
        tape.conv2d(x, weight, None, Window::new([3, 3])).unwrap();
        NodeLayout::new(tape.records()).rows
    }

    #[test]
    fn tiles_of_images_fit_into_memory() {
        assert_eq!(rows(4), 304, "4 · 10 numbers fit the cache");
        assert_eq!(rows(30), 8, "784 · 10 numbers do not, but the products are large");
        assert_eq!(rows(502), 1, "250,000 · 10 numbers take 40 megabytes");
    }

    #[test]
    fn tiles_of_rows_have_enough_of_them() {
        let mut tape = Tape::<f64>::new();
        let x = tape.input(20_000);
        tape.tanh(x);
        assert_eq!(NodeLayout::new(tape.records()).rows, 64);
    }
}
