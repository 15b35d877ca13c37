//! Adjoints kept apart for each sample: rows of a Jacobian.

use std::ops::Range;

use super::columns::put_multiple;
use super::forward::row_number;
use super::positions::{SharedProducts, SharedRows};
use super::reverse::Sink;
use crate::kernels::simd::{self, Kernel};
use crate::nn::arithmetic::put;
use crate::real::Real;
use crate::variables::Variable;

/// Wanted columns of the Jacobian, side by side.
#[derive(Debug, Clone, Default)]
pub(crate) struct WantedColumns {
    /// Number of columns.
    count: usize,
    pieces: Vec<Piece>,
    /// The pieces of each variable.
    of_variable: Vec<Range<usize>>,
}

/// Neighbouring numbers of one variable that are neighbours among the wanted columns.
#[derive(Debug, Clone)]
struct Piece {
    /// Range in the variable.
    numbers: Range<usize>,
    /// First column among the wanted ones.
    column: usize,
}

impl WantedColumns {
    /// Numbers of the flat vector, in ascending ranges.
    pub(crate) fn set(&mut self, variables: impl Iterator<Item = Variable>, columns: &[Range<usize>]) {
        self.pieces.clear();
        self.of_variable.clear();
        let (mut columns, mut column) = (columns.iter().cloned().peekable(), 0);
        for variable in variables {
            let range = variable.range();
            let first = self.pieces.len();
            while let Some(wanted) = columns.peek_mut() {
                let (start, end) = (wanted.start.max(range.start), wanted.end.min(range.end));
                if start < end {
                    self.pieces.push(Piece { numbers: start - range.start..end - range.start, column });
                    column += end - start;
                }
                if wanted.end > range.end {
                    break;
                }
                columns.next();
            }
            self.of_variable.push(first..self.pieces.len());
        }
        self.count = column;
    }

    /// Number of wanted columns.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns true if columns of this variable are wanted.
    pub(crate) fn include(&self, variable: Variable) -> bool {
        !self.of_variable[variable.index()].is_empty()
    }
}

/// Writes rows of a Jacobian, one for each sample.
pub(crate) struct JacobianRows<'a, T> {
    columns: &'a WantedColumns,
    /// Numbers from the first sample's row on; a sample's row starts `stride` after that of the one before.
    rows: &'a mut [T],
    stride: usize,
    /// For each variable, true if its columns have been written.
    written: &'a mut Vec<bool>,
}

impl<'a, T: Real> JacobianRows<'a, T> {
    /// Rows `row`, `row + group`, … of a matrix with the wanted columns.
    pub(crate) fn new(
        columns: &'a WantedColumns,
        matrix: &'a mut [T],
        row: usize,
        group: usize,
        written: &'a mut Vec<bool>,
    ) -> Self {
        written.clear();
        written.resize(columns.of_variable.len(), false);
        JacobianRows { columns, rows: &mut matrix[row * columns.count..], stride: group * columns.count, written }
    }

    /// Fills the columns of the variables that no adjoint has reached.
    pub(crate) fn finish(mut self) {
        for index in 0..self.written.len() {
            if !self.written[index] {
                self.clear(index);
            }
        }
    }

    /// Zeros in a variable's columns.
    fn clear(&mut self, index: usize) {
        for Piece { numbers, column } in &self.columns.pieces[self.columns.of_variable[index].clone()] {
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
        let written = std::mem::replace(&mut self.written[variable.index()], true);
        (&self.columns.pieces[self.columns.of_variable[variable.index()].clone()], written)
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
            let (rows, stride) = (&mut *self.rows, self.stride);
            if positions == 1 {
                simd::run(OuterProducts { rows, stride, piece, add, delta, m, x, n });
            } else {
                let (rows, numbers) = (&mut rows[piece.column..], piece.numbers.clone());
                simd::run(SharedProducts { rows, stride, numbers, add, positions, delta, m, x, n });
            }
        }
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
                        put(
                            &mut row[column..column + end - start],
                            true,
                            delta[start - place..end - place].iter().copied(),
                        );
                    }
                }
            }
        }
    }
}

/// Products that give, for every sample, a piece of `δ ⊗ x`, the derivatives of `δᵀWx` by `W`.
struct OuterProducts<'a, T> {
    rows: &'a mut [T],
    stride: usize,
    piece: &'a Piece,
    add: bool,
    /// Rows of `m` numbers.
    delta: &'a [T],
    m: usize,
    /// Rows of `n` numbers.
    x: &'a [T],
    n: usize,
}

impl<T: Real> Kernel for OuterProducts<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        if self.piece.numbers == (0..self.m * self.n) {
            // Loops whose length the compiler knows run in whole registers.
            match self.n {
                2 => return self.narrow::<2>(),
                3 => return self.narrow::<3>(),
                4 => return self.narrow::<4>(),
                5 => return self.narrow::<5>(),
                _ => {}
            }
        }
        let OuterProducts { rows, stride, piece, add, delta, m, x, n } = self;
        let Range { start, end } = piece.numbers;
        // The first and the last row of the weight may be wanted in part.
        let (first, skipped) = (start / n, start % n);
        let head = if skipped > 0 { (n - skipped).min(end - start) } else { 0 };
        let samples = rows.chunks_mut(stride).zip(delta.chunks_exact(m).zip(x.chunks_exact(n)));
        for (row, (delta, x)) in samples {
            let to = &mut row[piece.column..piece.column + end - start];
            if n == 1 {
                put_or_add(to, add, x[0], &delta[start..end]);
                continue;
            }
            let (mut to, mut delta) = (to, &delta[first..]);
            if head > 0 {
                let (now, later) = to.split_at_mut(head);
                put_or_add(now, add, delta[0], &x[skipped..skipped + head]);
                (to, delta) = (later, &delta[1..]);
            }
            for (to, &delta) in to.chunks_mut(n).zip(delta) {
                put_or_add(to, add, delta, &x[..to.len()]);
            }
        }
    }
}

impl<T: Real> OuterProducts<'_, T> {
    /// All of `δ ⊗ x`, for rows of `N` numbers of `x`.
    #[inline(always)]
    fn narrow<const N: usize>(self) {
        let OuterProducts { rows, stride, piece, add, delta, m, x, .. } = self;
        for ((row, delta), x) in rows.chunks_mut(stride).zip(delta.chunks_exact(m)).zip(x.as_chunks::<N>().0) {
            let to = row[piece.column..piece.column + m * N].as_chunks_mut::<N>().0;
            for (to, &delta) in to.iter_mut().zip(delta) {
                for k in 0..N {
                    to[k] = if add { to[k] + delta * x[k] } else { delta * x[k] };
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
    /// Rows of `m` numbers.
    delta: &'a [T],
    m: usize,
}

impl<T: Real> Kernel for Copies<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let Copies { rows, stride, piece, add, delta, m } = self;
        for (row, delta) in rows.chunks_mut(stride).zip(delta.chunks_exact(m)) {
            let to = &mut row[piece.column..piece.column + piece.numbers.len()];
            put_or_add(to, add, T::ONE, &delta[piece.numbers.clone()]);
        }
    }
}

/// `to = factor · x`, or `to += factor · x`.
#[inline(always)]
fn put_or_add<T: Real>(to: &mut [T], add: bool, factor: T, x: &[T]) {
    if add {
        put(to, true, x.iter().map(|&x| factor * x));
    } else {
        put_multiple(to, factor, x);
    }
}
