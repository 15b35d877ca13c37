//! Values that are the same for all samples: layers of constants, as derivatives of a network's first layer by an input are.

use super::affine::affine_of_one;
use super::values::is_same;
use crate::nn::tape::{Operation, TapeRecord};
use crate::real::Real;

/// Returns true if all samples have the same value of a node.
pub(super) fn is_uniform<T>(records: &[TapeRecord<T>], record: &TapeRecord<T>) -> bool {
    match record.operation {
        Operation::Dense { x, positions: 1, .. } => matches!(records[x.index()].operation, Operation::Constant(_)),
        _ => false,
    }
}

/// Blocks of the nodes whose values are the same for all samples. They are computed once for a point, and not again for each tile.
#[derive(Debug, Clone)]
pub(super) struct UniformValues<T> {
    /// For each node, its first entry; `None` for other nodes.
    places: Vec<Option<usize>>,
    entries: Vec<T>,
    /// The point that they belong to; empty before the first.
    x: Vec<T>,
}

impl<T: Real> UniformValues<T> {
    /// Workspace for blocks of `rows` samples.
    pub(super) fn new(records: &[TapeRecord<T>], rows: usize) -> Self {
        let mut total = 0;
        let places = records.iter().map(|record| {
            let size = if is_uniform(records, record) { rows * record.width } else { return None };
            total += size;
            Some(total - size)
        });
        UniformValues { places: places.collect(), entries: vec![T::ZERO; total], x: Vec::new() }
    }

    /// The values of a node for `count` entries; `None` for other nodes.
    #[inline]
    pub(super) fn of(&self, index: usize, count: usize) -> Option<&[T]> {
        self.places[index].map(|place| &self.entries[place..place + count])
    }

    /// Computes the values at `x` for blocks of `rows` samples, unless they are those of the last point.
    pub(super) fn compute(&mut self, records: &[TapeRecord<T>], x: &[T], rows: usize) {
        if self.entries.is_empty() || is_same(&self.x, x) {
            return;
        }
        for (TapeRecord { operation, width, .. }, &place) in records.iter().zip(&self.places) {
            let (Operation::Dense { x: input, weight, bias, .. }, Some(place)) = (operation, place) else { continue };
            let Operation::Constant(row) = &records[input.index()].operation else { continue };
            let (bias, y) = (bias.map(|bias| &x[bias.range()]), &mut self.entries[place..place + rows * width]);
            affine_of_one(row, &x[weight.range()], row.len(), bias, y, *width);
        }
        self.x.clear();
        self.x.extend_from_slice(x);
    }
}
