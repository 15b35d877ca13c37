//! The tangent sweep: how the values change along a direction.

use super::affine::{affine, affine_of_one};
use super::columns::{ColumnRange, broadcast, repeat, row_sums, transfer};
use super::forward::look_up;
use super::workspace::{NodeLayout, Values};
use super::{BatchTile, Workspace};
use crate::nn::arithmetic::Operand;
use crate::nn::tape::{Node, Operation, TapeRecord};
use crate::real::Real;

/// Derivatives of the nodes before the current one along a direction.
#[derive(Clone, Copy)]
pub(super) struct NodeTangents<'a, T> {
    pub(super) layout: &'a NodeLayout,
    pub(super) entries: &'a [T],
    pub(super) reached: &'a [bool],
    pub(super) count: usize,
}

impl<'a, T: Real> NodeTangents<'a, T> {
    /// A node's derivative; `None` where it is zero.
    pub(super) fn of(&self, node: Node) -> Option<&'a [T]> {
        self.at(node.index())
    }

    /// The derivative of the node of this index; `None` where it is zero.
    pub(super) fn at(&self, index: usize) -> Option<&'a [T]> {
        self.reached[index].then(|| &self.entries[self.layout.block(index, self.count)])
    }

    /// Passes the derivative of an argument on by `write`; `false` where it is zero.
    fn pass(&self, node: Node, write: impl FnOnce(&[T])) -> bool {
        self.of(node).map(write).is_some()
    }
}

impl<T: Real> Workspace<T> {
    /// Computes the tangents of the wanted nodes along a direction of the variables. Needs the values of a forward sweep.
    pub(crate) fn tangent(&mut self, tile: &BatchTile<'_, T>, wanted: &[bool], direction: &[T]) {
        let Workspace { layout, value_layout, uniform, values, derivatives, reached, .. } = self;
        let values = values.current();
        let value = Values { tile, layout: value_layout, uniform, entries: values };
        let count = tile.rows.len();
        reached.fill(false);
        for (index, record) in tile.tape.records().iter().enumerate() {
            if wanted[index] {
                let (before, dy) = layout.split(derivatives, index, count, 1);
                let tangent = NodeTangents { layout, entries: before, reached, count };
                let y = &values[value_layout.block(index, count)];
                reached[index] = propagate(record, &value, tangent, Some(direction), y, dy);
            }
        }
    }
}

/// Writes a node's derivative, which is linear in those of its arguments and in the direction of the variables; without a
/// direction the variables stand still. Returns `false` where it is zero, and nothing was written.
pub(super) fn propagate<T: Real>(
    TapeRecord { operation, width, .. }: &TapeRecord<T>,
    value: &Values<'_, T>,
    tangent: NodeTangents<'_, T>,
    direction: Option<&[T]>,
    y: &[T],
    dy: &mut [T],
) -> bool {
    let width = *width;
    match *operation {
        Operation::Input(_) | Operation::Constant(_) | Operation::Mask { .. } => false,
        Operation::Variable(variable) => {
            direction.map(|direction| broadcast(&direction[variable.range()], dy)).is_some()
        }
        Operation::Dense { x, weight, bias, positions } => {
            let columns = x.width() / positions;
            if let Some(direction) = direction {
                let (weight, bias) = (&direction[weight.range()], bias.map(|bias| &direction[bias.range()]));
                match value.constant(x) {
                    Some(row) => affine_of_one(row, weight, columns, bias, dy, width),
                    None => affine(value.of(x), weight, columns, bias, dy, false),
                }
            }
            let (weight, add) = (&value.tile.x[weight.range()], direction.is_some());
            tangent.pass(x, |dx| affine(dx, weight, columns, None, dy, add)) || add
        }
        Operation::Apply { function, x } => tangent.pass(x, |dx| function.times_derivative(value.of(x), y, dx, dy)),
        Operation::Arithmetic { kind, a, b } => {
            let (a_values, b_values) = (value.of(a), value.of(b));
            let mut pass = |side, d: &[T], add| kind.times_derivative(side, a_values, b_values, y, d, dy, add);
            let left = tangent.pass(a, |d| pass(Operand::Left, d, false));
            tangent.pass(b, |d| pass(Operand::Right, d, left)) || left
        }
        Operation::Product { a, b, sizes } => {
            let left = tangent.pass(a, |da| sizes.forward(da, value.of(b), dy, false));
            tangent.pass(b, |db| sizes.forward(value.of(a), db, dy, left)) || left
        }
        Operation::ChainRule(ref rule) => rule.tangent(&|node| value.of(node), &|node| tangent.of(node), dy),
        Operation::Concat(ref nodes) => {
            let mut to = ColumnRange { width, start: 0 };
            dy.fill(T::ZERO);
            for &node in nodes {
                if let Some(d) = tangent.of(node) {
                    transfer(d, ColumnRange { width: node.width(), start: 0 }, dy, to, node.width(), false);
                }
                to.start += node.width();
            }
            true
        }
        Operation::Slice { x, start } => tangent.pass(x, |dx| {
            let (from, to) = (ColumnRange { width: x.width(), start }, ColumnRange { width, start: 0 });
            transfer(dx, from, dy, to, width, false);
        }),
        Operation::RowSum(x) => tangent.pass(x, |dx| row_sums(dx, x.width(), dy, false)),
        Operation::Repeat(x) => tangent.pass(x, |dx| repeat(dx, dy, width, false)),
        Operation::Pool { kind, x, ref windows } => {
            tangent.pass(x, |dx| kind.forward(windows, value.of(x), dx, x.width(), dy))
        }
        Operation::Embedding { x, table } => {
            let pass = |direction: &[T]| look_up(&direction[table.range()], table.columns(), value.of(x), dy);
            direction.map(pass).is_some()
        }
    }
}
