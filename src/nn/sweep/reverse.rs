//! The reverse sweep: adjoints.

use super::columns::{ColumnRange, repeat, row_sums, transfer};
use super::outer_products::LayerUse;
use super::workspace::{NodeLayout, Values};
use super::{BatchTile, Workspace};
use crate::kernels::Factor;
use crate::nn::arithmetic::{Operand, put};
use crate::nn::chain_rule;
use crate::nn::tape::{Node, Operation, TapeRecord};
use crate::real::Real;
use crate::variables::Variable;

/// Adjoints at the places where variables are used.
///
/// Blocks have a row for each sample, or as many rows for each as there are positions that share the variable, sample after
/// sample.
pub(crate) trait Sink<T> {
    /// Returns true if derivatives by this variable are wanted.
    fn wants(&self, _variable: Variable) -> bool {
        true
    }

    /// Takes the adjoint `delta` of a product `x Wᵀ`. The weight comes with the rows and columns that it was used with, which
    /// may differ from its shape.
    fn product(&mut self, weight: Variable, delta: &[T], x: &[T]);

    /// Returns true if the products of the dense layer with this index, in one position, are formed after the sweep, from the adjoints and
    /// values that it leaves.
    fn postpones(&mut self, _layer: usize) -> bool {
        false
    }

    /// Takes the adjoints of a variable that was used as the same row for every sample, or for every position.
    fn row(&mut self, variable: Variable, delta: &[T]);

    /// Takes the adjoints `delta` of rows of a table that were looked up by `numbers`, sample after sample.
    fn look_up(&mut self, table: Variable, numbers: &[T], delta: &[T]);
}

/// Sink of a sweep for the adjoints of nodes alone.
pub(crate) struct Nowhere;

impl<T> Sink<T> for Nowhere {
    fn wants(&self, _: Variable) -> bool {
        false
    }

    fn product(&mut self, _: Variable, _: &[T], _: &[T]) {}

    fn row(&mut self, _: Variable, _: &[T]) {}

    fn look_up(&mut self, _: Variable, _: &[T], _: &[T]) {}
}

/// Returns true if the reverse sweep through an operation works for several adjoints of each sample at once.
pub(crate) fn takes_stacks<T>(operation: &Operation<T>) -> bool {
    !matches!(operation, Operation::Pool { .. })
}

/// Adjoints of the nodes before the current one.
struct NodeAdjoints<'a, T> {
    layout: &'a NodeLayout,
    entries: &'a mut [T],
    reached: &'a mut [bool],
    needed: &'a [bool],
    count: usize,
    stack: usize,
}

impl<T: Real> NodeAdjoints<'_, T> {
    /// Has a contribution written to the adjoint of a node, or added to it where `write` is given true, if it is needed.
    fn pass(&mut self, node: Node, write: impl FnOnce(&mut [T], bool)) {
        let index = node.index();
        if self.needed[index] {
            let add = std::mem::replace(&mut self.reached[index], true);
            write(&mut self.entries[self.layout.stacked_block(index, self.count, self.stack)], add);
        }
    }

    /// Has a contribution added to the adjoint of a node, if it is needed.
    fn pass_sum(&mut self, node: Node, add_to: impl FnOnce(&mut [T])) {
        self.pass(node, |adjoint, add| {
            if !add {
                adjoint.fill(T::ZERO);
            }
            add_to(adjoint);
        });
    }
}

/// One of the adjoints in a stack, of each node.
struct PartOfStack<'w, 'a, T> {
    adjoints: &'w mut NodeAdjoints<'a, T>,
    part: usize,
}

impl<T: Real> chain_rule::AdjointLookup<T> for PartOfStack<'_, '_, T> {
    fn of(&mut self, node: Node) -> Option<(&mut [T], bool)> {
        let NodeAdjoints { layout, entries, reached, needed, count, stack } = &mut *self.adjoints;
        let block = layout.stacked_block(node.index(), *count, *stack);
        let size = block.len() / *stack;
        let start = block.start + self.part * size;
        needed[node.index()].then(|| (&mut entries[start..start + size], reached[node.index()]))
    }
}

impl<T: Real> Workspace<T> {
    /// The weight of a dense layer in one position, and how it is used, after a reverse sweep.
    pub(super) fn layer<'w>(&'w self, tile: &'w BatchTile<'w, T>, index: usize) -> Option<(Variable, LayerUse<'w, T>)> {
        let TapeRecord { ref operation, width, .. } = tile.tape.records()[index];
        let Operation::Dense { x, weight, positions: 1, .. } = *operation else { return None };
        let delta = &self.derivatives[self.layout.stacked_block(index, tile.rows.len(), self.stack)];
        Some((weight.with_rows(width), LayerUse { delta, x: self.value(tile, x) }))
    }

    /// Takes the adjoints from the seeds back to the variables, and leaves those of the needed nodes readable. Needs the
    /// values of a forward sweep. A stack of adjoints goes back [`Nowhere`], through operations that take stacks.
    pub(crate) fn reverse<S: Sink<T>>(&mut self, tile: &BatchTile<'_, T>, needed: &[bool], sink: &mut S) {
        let Workspace { layout, value_layout, uniform, values, derivatives, stack, reached, scratch, .. } = self;
        let values = values.current();
        let value = Values { tile, layout: value_layout, uniform, entries: values };
        let (count, stack) = (tile.rows.len(), *stack);
        for (index, record) in tile.tape.records().iter().enumerate().rev() {
            if !(reached[index] && needed[index]) {
                continue;
            }
            let (before, delta) = layout.split(derivatives, index, count, stack);
            give(record, index, &value, delta, sink);
            let adjoints = NodeAdjoints { layout, entries: before, reached, needed, count, stack };
            pass_back(record, &value, &values[value_layout.block(index, count)], delta, adjoints, scratch);
        }
    }
}

/// Gives the adjoint of a node to the variables that it is computed from.
fn give<T: Real, S: Sink<T>>(record: &TapeRecord<T>, index: usize, value: &Values<'_, T>, delta: &[T], sink: &mut S) {
    match record.operation {
        Operation::Variable(variable) if sink.wants(variable) => sink.row(variable, delta),
        Operation::Dense { x, weight, bias, positions } => {
            let weight = weight.with_rows(record.width / positions);
            if sink.wants(weight) && !(positions == 1 && sink.postpones(index)) {
                sink.product(weight, delta, value.of(x));
            }
            if let Some(bias) = bias.filter(|&bias| sink.wants(bias)) {
                sink.row(bias, delta);
            }
        }
        Operation::Embedding { x, table } if sink.wants(table) => sink.look_up(table, value.of(x), delta),
        _ => {}
    }
}

/// Passes the adjoint of a node, with the value `y`, back to the nodes that it is computed from.
fn pass_back<T: Real>(
    &TapeRecord { ref operation, width, .. }: &TapeRecord<T>,
    value: &Values<'_, T>,
    y: &[T],
    delta: &[T],
    mut adjoints: NodeAdjoints<'_, T>,
    scratch: &mut [T],
) {
    match *operation {
        Operation::Input(_) | Operation::Constant(_) | Operation::Mask { .. } => {}
        Operation::Variable(_) | Operation::Embedding { .. } => {}
        Operation::Dense { x, weight, positions, .. } => adjoints.pass(x, |adjoint, add| {
            let (weight, numbers) = (weight.with_rows(width / positions), &value.tile.x[weight.range()]);
            T::multiply(adjoint, add, Factor::Plain(delta), numbers, weight.rows(), weight.columns());
        }),
        Operation::Apply { function, x } => adjoints.pass(x, |adjoint, add| {
            for (adjoint, delta) in adjoint.chunks_exact_mut(y.len()).zip(delta.chunks_exact(y.len())) {
                if add {
                    let product = &mut scratch[..delta.len()];
                    function.times_derivative(value.of(x), y, delta, product);
                    put(adjoint, true, product.iter().copied());
                } else {
                    function.times_derivative(value.of(x), y, delta, adjoint);
                }
            }
        }),
        Operation::Arithmetic { kind, a, b } => {
            for (side, node) in [(Operand::Left, a), (Operand::Right, b)] {
                adjoints.pass(node, |adjoint, add| {
                    for (adjoint, delta) in adjoint.chunks_exact_mut(y.len()).zip(delta.chunks_exact(y.len())) {
                        kind.times_derivative(side, value.of(a), value.of(b), y, delta, adjoint, add);
                    }
                });
            }
        }
        Operation::ChainRule(ref rule) => {
            for (part, delta) in delta.chunks_exact(width * adjoints.count).enumerate() {
                rule.reverse(&|node| value.of(node), delta, &mut PartOfStack { adjoints: &mut adjoints, part });
            }
            rule.parts().for_each(|(node, _)| adjoints.reached[node.index()] |= adjoints.needed[node.index()]);
        }
        Operation::Concat(ref nodes) => {
            let mut from = ColumnRange { width, start: 0 };
            for &node in nodes {
                let to = ColumnRange { width: node.width(), start: 0 };
                adjoints.pass(node, |adjoint, add| transfer(delta, from, adjoint, to, node.width(), add));
                from.start += node.width();
            }
        }
        Operation::Slice { x, start } => adjoints.pass_sum(x, |adjoint| {
            let (from, to) = (ColumnRange { width, start: 0 }, ColumnRange { width: x.width(), start });
            transfer(delta, from, adjoint, to, width, true);
        }),
        Operation::RowSum(x) => adjoints.pass(x, |adjoint, add| repeat(delta, adjoint, x.width(), add)),
        Operation::Repeat(x) => adjoints.pass(x, |adjoint, add| row_sums(delta, width, adjoint, add)),
        Operation::Product { a, b, sizes } => {
            let (a_values, b_values) = (value.of(a), value.of(b));
            adjoints.pass(a, |adjoint, add| {
                for (adjoint, delta) in adjoint.chunks_exact_mut(a_values.len()).zip(delta.chunks_exact(y.len())) {
                    sizes.reverse_left(delta, b_values, adjoint, add);
                }
            });
            adjoints.pass(b, |adjoint, add| {
                for (adjoint, delta) in adjoint.chunks_exact_mut(b_values.len()).zip(delta.chunks_exact(y.len())) {
                    sizes.reverse_right(delta, a_values, adjoint, add);
                }
            });
        }
        Operation::Pool { kind, x, ref windows } => adjoints.pass_sum(x, |adjoint| {
            kind.add_reverse(windows, value.of(x), delta, x.width(), adjoint);
        }),
    }
}
