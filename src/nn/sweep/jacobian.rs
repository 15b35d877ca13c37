//! Adjoints kept apart for each sample: rows of a Jacobian.

use std::ops::Range;

use super::forward::row_number;
use super::outer_products::{LayerUse, MOST_USES, OuterProducts};
use super::positions::{SharedProducts, SharedRows};
use super::reverse::Sink;
use super::{BatchTile, Workspace};
use crate::kernels::simd::{self, Kernel};
use crate::lists::Lists;
use crate::nn::arithmetic::put;
use crate::real::Real;
use crate::variables::Variable;

/// Wanted columns of the Jacobian, side by side.
#[derive(Debug, Clone, Default)]
pub(crate) struct WantedColumns {
    /// Number of columns.
    count: usize,
    /// Pieces of each variable.
    pieces: Lists<Piece>,
}

/// Neighbouring entries of one variable that are neighbours among the wanted columns.
#[derive(Debug, Clone)]
struct Piece {
    /// Range in the variable.
    numbers: Range<usize>,
    /// First column among the wanted ones.
    column: usize,
}

impl WantedColumns {
    /// Entries of the flat vector, in ascending ranges.
    pub(crate) fn set(&mut self, variables: impl Iterator<Item = Variable>, columns: &[Range<usize>]) {
        self.pieces.clear();
        let (mut columns, mut column) = (columns.iter().cloned().peekable(), 0);
        for variable in variables {
            let range = variable.range();
            while let Some(wanted) = columns.peek_mut() {
                let (start, end) = (wanted.start.max(range.start), wanted.end.min(range.end));
                if start < end {
                    self.pieces.items.push(Piece { numbers: start - range.start..end - range.start, column });
                    column += end - start;
                }
                if wanted.end > range.end {
                    break;
                }
                columns.next();
            }
            self.pieces.end();
        }
        self.count = column;
    }

    /// Number of wanted columns.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns true if columns of this variable are wanted.
    pub(crate) fn include(&self, variable: Variable) -> bool {
        !self.pieces.of(variable.index()).is_empty()
    }
}

/// Memory of the rows of a Jacobian while they are written.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowProgress {
    /// For each variable, true if its columns have been written.
    written: Vec<bool>,
    /// Nodes of dense layers whose products are summed at the end.
    layers: Vec<usize>,
}

/// Writes rows of a Jacobian, one for each sample.
pub(crate) struct JacobianRows<'a, T> {
    columns: &'a WantedColumns,
    /// Entries from the first sample's row on; a sample's row starts `stride` after that of the one before.
    rows: &'a mut [T],
    stride: usize,
    progress: &'a mut RowProgress,
}

impl<'a, T: Real> JacobianRows<'a, T> {
    /// Rows `row`, `row + group`, … of a matrix with the wanted columns.
    pub(crate) fn new(
        columns: &'a WantedColumns,
        matrix: &'a mut [T],
        row: usize,
        group: usize,
        progress: &'a mut RowProgress,
    ) -> Self {
        progress.written.clear();
        progress.written.resize(columns.pieces.len(), false);
        progress.layers.clear();
        JacobianRows { columns, rows: &mut matrix[row * columns.count..], stride: group * columns.count, progress }
    }

    /// Sums the products of dense layers after the reverse sweep, and fills the columns of the variables that no adjoint has reached.
    pub(crate) fn finish(mut self, workspace: &Workspace<T>, tile: &BatchTile<'_, T>) {
        let layers = std::mem::take(&mut self.progress.layers);
        for (place, &index) in layers.iter().enumerate() {
            let Some((weight, _)) = workspace.layer(tile, index) else { continue };
            let same = |&other: &usize| workspace.layer(tile, other).filter(|(other, _)| *other == weight);
            if layers[..place].iter().any(|other| same(other).is_some()) {
                continue;
            }
            // A weight that is used several times is written once, for a few uses at a time.
            let mut uses = layers[place..].iter().filter_map(same).map(|(_, uses)| uses).peekable();
            while uses.peek().is_some() {
                let (mut few, mut count) = ([LayerUse { delta: &[], x: &[] }; MOST_USES], 0);
                for (to, next) in few.iter_mut().zip(&mut uses) {
                    *to = next;
                    count += 1;
                }
                self.sum_products(weight, &few[..count]);
            }
        }
        self.progress.layers = layers;
        for index in 0..self.progress.written.len() {
            if !self.progress.written[index] {
                self.clear(index);
            }
        }
    }

    /// Writes the products of the uses of a weight, or adds them to what has been written.
    fn sum_products(&mut self, weight: Variable, uses: &[LayerUse<'_, T>]) {
        let (pieces, add) = self.begin(weight);
        let (m, n) = (weight.rows(), weight.columns());
        for Piece { numbers, column } in pieces {
            let (rows, numbers) = (&mut self.rows[*column..], numbers.clone());
            simd::run(OuterProducts { rows, stride: self.stride, numbers, add, uses, m, n });
        }
    }

    /// Zeros in a variable's columns.
    fn clear(&mut self, index: usize) {
        for Piece { numbers, column } in self.columns.pieces.of(index) {
            for row in self.rows.chunks_mut(self.stride) {
                row[*column..*column + numbers.len()].fill(T::ZERO);
            }
        }
    }

    /// Number of rows of `m` adjoints that belong to each sample.
    fn positions(&self, delta: &[T], m: usize) -> usize {
        delta.len() / (m * self.rows.len().div_ceil(self.stride))
    }

    /// The pieces of a variable, and whether they have been written before.
    fn begin(&mut self, variable: Variable) -> (&'a [Piece], bool) {
        let written = std::mem::replace(&mut self.progress.written[variable.index()], true);
        (self.columns.pieces.of(variable.index()), written)
    }
}

impl<T: Real> Sink<T> for JacobianRows<'_, T> {
    fn wants(&self, variable: Variable) -> bool {
        self.columns.include(variable)
    }

    fn product(&mut self, weight: Variable, delta: &[T], x: &[T]) {
        let (pieces, add) = self.begin(weight);
        let (m, n) = (weight.rows(), weight.columns());
        let positions = self.positions(delta, m);
        for piece in pieces {
            let (rows, stride, numbers) = (&mut self.rows[piece.column..], self.stride, piece.numbers.clone());
            simd::run(SharedProducts { rows, stride, numbers, add, positions, delta, m, x, n });
        }
    }

    fn postpones(&mut self, layer: usize) -> bool {
        self.progress.layers.push(layer);
        true
    }

    fn row(&mut self, variable: Variable, delta: &[T]) {
        let (pieces, add) = self.begin(variable);
        let m = variable.len();
        let positions = self.positions(delta, m);
        for piece in pieces {
            let (rows, stride) = (&mut *self.rows, self.stride);
            if positions == 1 {
                simd::run(Copies { rows, stride, piece, add, delta, m });
            } else {
                let (rows, numbers) = (&mut rows[piece.column..], piece.numbers.clone());
                simd::run(SharedRows { rows, stride, numbers, add, positions, delta, m });
            }
        }
    }

    fn look_up(&mut self, table: Variable, numbers: &[T], delta: &[T]) {
        let (pieces, add) = self.begin(table);
        if !add {
            self.clear(table.index());
        }
        let columns = table.columns();
        for piece in pieces {
            let samples = self.rows.chunks_mut(self.stride);
            let per_sample = numbers.len() / samples.len();
            let samples = samples.zip(numbers.chunks_exact(per_sample).zip(delta.chunks_exact(per_sample * columns)));
            for (row, (numbers, delta)) in samples {
                for (&number, delta) in numbers.iter().zip(delta.chunks_exact(columns)) {
                    let place = row_number(number) * columns;
                    let start = piece.numbers.start.max(place);
                    let end = piece.numbers.end.min(place + columns);
                    if start < end {
                        let column = piece.column + start - piece.numbers.start;
                        let delta = &delta[start - place..end - place];
                        put(&mut row[column..column + end - start], true, delta.iter().copied());
                    }
                }
            }
        }
    }
}

/// Copies that give, for every sample, a piece of `δ`.
struct Copies<'a, T> {
    rows: &'a mut [T],
    stride: usize,
    piece: &'a Piece,
    add: bool,
    /// Rows of `m` entries.
    delta: &'a [T],
    m: usize,
}

impl<T: Real> Kernel for Copies<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Copies { rows, stride, piece, add, delta, m } = self;
        for (row, delta) in rows.chunks_mut(stride).zip(delta.chunks_exact(m)) {
            let to = &mut row[piece.column..piece.column + piece.numbers.len()];
            put(to, add, delta[piece.numbers.clone()].iter().copied());
        }
    }
}
