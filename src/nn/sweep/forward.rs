//! The forward sweep: values.

use super::affine::affine;
use super::columns::{ColumnRange, broadcast, repeat, row_sums, transfer};
use super::uniform::UniformValues;
use super::workspace::{NodeLayout, Values};
use super::{BatchTile, Workspace};
use crate::nn::tape::{Operation, TapeRecord};
use crate::real::Real;

impl<T: Real> Workspace<T> {
    /// Computes the values of the wanted nodes for a tile.
    pub(crate) fn forward(&mut self, tile: &BatchTile<'_, T>, wanted: &[bool]) {
        self.uniform.compute(tile.tape.records(), tile.x, self.layout.rows);
        sweep(&self.value_layout, &self.uniform, tile, wanted, self.values.passing());
    }

    /// Runs [`forward`](Self::forward) for a tile of the bound batch. Values at the same point as those kept last are found
    /// instead of computed; others take their place if they are to be kept.
    pub(crate) fn forward_once(&mut self, tile: &BatchTile<'_, T>, wanted: &[bool], keep: bool) {
        self.uniform.compute(tile.tape.records(), tile.x, self.layout.rows);
        if self.values.recall(tile.x, &tile.rows) {
            return;
        }
        let values = if keep { self.values.keep(tile.x, &tile.rows) } else { self.values.passing() };
        sweep(&self.value_layout, &self.uniform, tile, wanted, values);
    }
}

/// Computes the values of the wanted nodes.
fn sweep<T: Real>(
    layout: &NodeLayout,
    uniform: &UniformValues<T>,
    tile: &BatchTile<'_, T>,
    wanted: &[bool],
    values: &mut [T],
) {
    for (index, TapeRecord { operation, width, .. }) in tile.tape.records().iter().enumerate() {
        if !wanted[index] || uniform.of(index, 0).is_some() {
            continue;
        }
        let (before, y) = layout.split(values, index, tile.rows.len(), 1);
        let value = Values { tile, layout, uniform, entries: &*before };
        match *operation {
            Operation::Input(_) => {}
            Operation::Constant(ref row) => broadcast(row, y),
            Operation::Variable(variable) => broadcast(&tile.x[variable.range()], y),
            Operation::Mask { rate } => match tile.masks {
                Some(masks) => masks.fill(index, tile.batch.places(&tile.rows), *width, rate, y),
                None => y.fill(T::ONE),
            },
            Operation::Dense { x, weight, bias, positions } => {
                let bias = bias.map(|bias| &tile.x[bias.range()]);
                affine(value.of(x), &tile.x[weight.range()], x.width() / positions, bias, y, false);
            }
            Operation::Apply { function, x } => function.forward(value.of(x), y),
            Operation::Arithmetic { kind, a, b } => kind.forward(value.of(a), value.of(b), y),
            Operation::ChainRule(ref rule) => rule.forward(&|node| value.of(node), y),
            Operation::Concat(ref nodes) => {
                let mut to = ColumnRange { width: *width, start: 0 };
                for &node in nodes {
                    let from = ColumnRange { width: node.width(), start: 0 };
                    transfer(value.of(node), from, y, to, node.width(), false);
                    to.start += node.width();
                }
            }
            Operation::Slice { x, start } => {
                let (from, to) = (ColumnRange { width: x.width(), start }, ColumnRange { width: *width, start: 0 });
                transfer(value.of(x), from, y, to, *width, false);
            }
            Operation::RowSum(x) => row_sums(value.of(x), x.width(), y, false),
            Operation::Repeat(x) => repeat(value.of(x), y, *width, false),
            Operation::Pool { kind, x, ref windows } => {
                let values = value.of(x);
                kind.forward(windows, values, values, x.width(), y);
            }
            Operation::Product { a, b, sizes } => sizes.forward(value.of(a), value.of(b), y, false),
            Operation::Embedding { x, table } => {
                look_up(&tile.x[table.range()], table.columns(), value.of(x), y);
            }
        }
    }
}

/// Copies rows of a table by their numbers.
pub(super) fn look_up<T: Real>(table: &[T], columns: usize, numbers: &[T], to: &mut [T]) {
    for (&number, to) in numbers.iter().zip(to.chunks_exact_mut(columns)) {
        to.copy_from_slice(&table[row_number(number) * columns..][..columns]);
    }
}

/// The row number that a checked input holds.
pub(crate) fn row_number<T: Real>(number: T) -> usize {
    number.to_f64() as usize
}
