//! Tables that rows are looked up in: a row of `J` has the sensitivities where the looked-up rows are, and zeros
//! elsewhere.

use std::ops::Range;

use super::kept::Kept;
use super::plan::TableUse;
use crate::kernels::vector::{add_scaled, dot};
use crate::nn::sweep::row_number;
use crate::problem::Work;
use crate::real::Real;

/// A row of a table that a sample has looked up.
#[derive(Debug, Clone, Copy)]
pub(super) struct LookUp {
    /// The first of the table row's columns, among those that are wanted.
    column: usize,
    sample: usize,
    /// Index of the use it belongs to; `start` is the place of its sensitivities in a row of that use.
    of: usize,
    start: usize,
}

/// Lists the row numbers of samples, from the `first` on, for one of the uses.
pub(super) fn list_numbers<T: Real>(
    table: &TableUse,
    of: usize,
    first: usize,
    numbers: &[T],
    look_ups: &mut Vec<LookUp>,
) {
    for (sample, numbers) in (first..).zip(numbers.chunks_exact(table.numbers)) {
        let places = (0..).step_by(table.columns);
        look_ups.extend(numbers.iter().zip(places).map(|(&number, start)| {
            let column = table.table + row_number(number) * table.columns;
            LookUp { column, sample, of, start }
        }));
    }
}

/// Puts look-ups of the same row side by side, in the order of their samples.
pub(super) fn sort(look_ups: &mut [LookUp]) {
    look_ups.sort_unstable_by_key(|look_up| (look_up.column, look_up.sample));
}

impl LookUp {
    /// Puts the row number where it is among those of its use, which begin with the sample `first`.
    pub(super) fn write<T: Real>(&self, tables: &[TableUse], first: usize, of: usize, numbers: &mut [T]) {
        if self.of == of {
            let table = tables[of];
            let row = (self.column - table.table) / table.columns;
            numbers[(self.sample - first) * table.numbers + self.start / table.columns] = T::from_f64(row as f64);
        }
    }

    /// Number of columns of the row.
    fn width(&self, tables: &[TableUse]) -> usize {
        tables[self.of].columns
    }

    /// The sensitivities of the sample's residuals.
    fn rows<'a, T: Real>(&self, tables: &[TableUse], kept: &'a Kept<T>) -> impl Iterator<Item = &'a [T]> + Clone {
        let table = tables[self.of];
        let width = table.width();
        let numbers = kept.sensitivities(table.sensitivities, width);
        let sample = &numbers[self.sample * kept.group * width..(self.sample + 1) * kept.group * width];
        let columns = self.start..self.start + table.columns;
        sample.chunks_exact(width).map(move |row| &row[columns.clone()])
    }
}

/// Adds to the lower triangle of `JJᵀ`: the products of sensitivities of the same row.
pub(super) fn add_row_gram<T: Real>(tables: &[TableUse], look_ups: &[LookUp], kept: &Kept<T>, gram: &mut [T]) {
    let stride = kept.residuals();
    for_pairs(look_ups, |left, right| {
        let rows = &mut gram[left.sample * kept.group * stride..(left.sample + 1) * kept.group * stride];
        for (row, a) in rows.chunks_exact_mut(stride).zip(left.rows(tables, kept)) {
            let numbers = row[right.sample * kept.group..].iter_mut();
            numbers.zip(right.rows(tables, kept)).for_each(|(number, b)| *number += dot(a, b));
        }
    });
}

/// Adds to the blocks of every sample's residuals with each other.
pub(super) fn add_row_gram_blocks<T: Real>(tables: &[TableUse], look_ups: &[LookUp], kept: &Kept<T>, blocks: &mut [T]) {
    let (group, size) = (kept.group, kept.group * kept.group);
    for look_ups in look_ups.chunk_by(|a, b| a.sample == b.sample) {
        for_pairs(look_ups, |left, right| {
            let block = &mut blocks[left.sample * size..(left.sample + 1) * size];
            for (row, a) in block.chunks_exact_mut(group).zip(left.rows(tables, kept)) {
                row.iter_mut().zip(right.rows(tables, kept)).for_each(|(number, b)| *number += dot(a, b));
            }
        });
    }
}

/// Pairs of look-ups of the same row: the left one's sample is not before the right one's, and where it is the same, the
/// pair comes both ways round.
fn for_pairs(look_ups: &[LookUp], mut pair: impl FnMut(LookUp, LookUp)) {
    for of_row in look_ups.chunk_by(|a, b| a.column == b.column) {
        let mut end = 0;
        for of_sample in of_row.chunk_by(|a, b| a.sample == b.sample) {
            end += of_sample.len();
            for &left in of_sample {
                of_row[..end].iter().for_each(|&right| pair(left, right));
            }
        }
    }
}

/// Adds `Jv`.
pub(super) fn add_product<T: Real>(
    tables: &[TableUse],
    look_ups: &[LookUp],
    kept: &Kept<T>,
    v: &[T],
    product: &mut [T],
) {
    for look_up in look_ups {
        let v = &v[look_up.column..look_up.column + look_up.width(tables)];
        let numbers = product[look_up.sample * kept.group..].iter_mut();
        numbers.zip(look_up.rows(tables, kept)).for_each(|(number, row)| *number += dot(row, v));
    }
}

/// Adds `Jᵀu`.
pub(super) fn add_transposed_product<T: Real>(
    tables: &[TableUse],
    look_ups: &[LookUp],
    kept: &Kept<T>,
    u: &[T],
    product: &mut [T],
) {
    for look_up in look_ups {
        let sums = &mut product[look_up.column..look_up.column + look_up.width(tables)];
        let rows = u[look_up.sample * kept.group..].iter().zip(look_up.rows(tables, kept));
        rows.for_each(|(&u, row)| add_scaled(sums, u, row));
    }
}

/// Adds to rows of the Jacobian, those of some residuals, with `count` columns.
pub(super) fn add_rows<T: Real>(
    tables: &[TableUse],
    look_ups: &[LookUp],
    kept: &Kept<T>,
    residuals: Range<usize>,
    (jacobian, count): (&mut [T], usize),
) {
    for look_up in look_ups {
        let of_sample = (look_up.sample * kept.group..).zip(look_up.rows(tables, kept));
        for (residual, numbers) in of_sample.filter(|(residual, _)| residuals.contains(residual)) {
            let row = &mut jacobian[(residual - residuals.start) * count..][look_up.column..];
            add_scaled(&mut row[..numbers.len()], T::ONE, numbers);
        }
    }
}

/// Cost of [`add_row_gram`], for numbers that are spread evenly over the rows of a table.
pub(super) fn row_gram_work(tables: &[TableUse], samples: usize, group: usize) -> Work {
    let of_table = |tables: &[TableUse]| {
        let numbers: usize = tables.iter().map(|table| table.numbers).sum();
        let pairs = 0.5 * (samples as f64 * numbers as f64).powi(2) / tables[0].rows.max(1) as f64;
        Work::elementwise(pairs * (group as f64).powi(2) * tables[0].columns as f64, 2.0, 2.0)
    };
    tables.chunk_by(|a, b| a.table == b.table).map(of_table).sum()
}

/// Cost of [`add_product`] or [`add_transposed_product`].
pub(super) fn product_work(tables: &[TableUse], samples: usize, group: usize) -> Work {
    let numbers: usize = tables.iter().map(|table| table.width()).sum();
    Work::elementwise(samples as f64 * group as f64 * numbers as f64, 2.0, 2.0)
}
