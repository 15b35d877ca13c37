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
}

/// The looked-up rows of a batch, in order, with their sensitivities.
#[derive(Clone, Copy)]
pub(super) struct LookUps<'a, T> {
    pub(super) tables: &'a [TableUse],
    pub(super) look_ups: &'a [LookUp],
    pub(super) kept: &'a Kept<T>,
}

impl<'a, T: Real> LookUps<'a, T> {
    /// The sensitivities of the residuals of a look-up's sample.
    fn rows(&self, of: LookUp) -> impl Iterator<Item = &'a [T]> + Clone {
        let table = self.tables[of.of];
        let (width, size) = (table.width(), self.kept.group * table.width());
        let sample = &self.kept.sensitivities(table.sensitivities, width)[of.sample * size..(of.sample + 1) * size];
        let columns = of.start..of.start + table.columns;
        sample.chunks_exact(width).map(move |row| &row[columns.clone()])
    }

    /// The columns of the table row of a look-up, among those that are wanted.
    fn columns(&self, of: LookUp) -> Range<usize> {
        of.column..of.column + self.tables[of.of].columns
    }

    /// Adds to the lower triangle of `JJᵀ`: the products of sensitivities of the same row.
    pub(super) fn add_row_gram(&self, gram: &mut [T]) {
        let (group, stride) = (self.kept.group, self.kept.residuals());
        for_pairs(self.look_ups, |left, right| {
            let rows = &mut gram[left.sample * group * stride..(left.sample + 1) * group * stride];
            for (row, a) in rows.chunks_exact_mut(stride).zip(self.rows(left)) {
                let entries = row[right.sample * group..].iter_mut();
                entries.zip(self.rows(right)).for_each(|(entry, b)| *entry += dot(a, b));
            }
        });
    }

    /// Adds to the blocks of every sample's residuals with each other.
    pub(super) fn add_row_gram_blocks(&self, blocks: &mut [T]) {
        let (group, size) = (self.kept.group, self.kept.group * self.kept.group);
        for look_ups in self.look_ups.chunk_by(|a, b| a.sample == b.sample) {
            for_pairs(look_ups, |left, right| {
                let block = &mut blocks[left.sample * size..(left.sample + 1) * size];
                for (row, a) in block.chunks_exact_mut(group).zip(self.rows(left)) {
                    row.iter_mut().zip(self.rows(right)).for_each(|(entry, b)| *entry += dot(a, b));
                }
            });
        }
    }

    /// Adds `Jv`.
    pub(super) fn add_product(&self, v: &[T], product: &mut [T]) {
        for &look_up in self.look_ups {
            let v = &v[self.columns(look_up)];
            let entries = product[look_up.sample * self.kept.group..].iter_mut();
            entries.zip(self.rows(look_up)).for_each(|(entry, row)| *entry += dot(row, v));
        }
    }

    /// Adds `Jᵀu`.
    pub(super) fn add_transposed_product(&self, u: &[T], product: &mut [T]) {
        for &look_up in self.look_ups {
            let sums = &mut product[self.columns(look_up)];
            let rows = u[look_up.sample * self.kept.group..].iter().zip(self.rows(look_up));
            rows.for_each(|(&u, row)| add_scaled(sums, u, row));
        }
    }

    /// Adds to rows of the Jacobian, those of some residuals, with `count` columns.
    pub(super) fn add_rows(&self, residuals: Range<usize>, jacobian: &mut [T], count: usize) {
        for &look_up in self.look_ups {
            let of_sample = (look_up.sample * self.kept.group..).zip(self.rows(look_up));
            for (residual, entries) in of_sample.filter(|(residual, _)| residuals.contains(residual)) {
                let row = &mut jacobian[(residual - residuals.start) * count..];
                add_scaled(&mut row[self.columns(look_up)], T::ONE, entries);
            }
        }
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

/// Cost of [`LookUps::add_row_gram`], for numbers that are spread evenly over the rows of a table.
pub(super) fn row_gram_work(tables: &[TableUse], samples: usize, group: usize) -> Work {
    let of_table = |tables: &[TableUse]| {
        let numbers: usize = tables.iter().map(|table| table.numbers).sum();
        let pairs = 0.5 * (samples as f64 * numbers as f64).powi(2) / tables[0].rows.max(1) as f64;
        Work::elementwise(pairs * (group as f64).powi(2) * tables[0].columns as f64, 2.0, 2.0)
    };
    tables.chunk_by(|a, b| a.table == b.table).map(of_table).sum()
}

/// Cost of [`LookUps::add_product`] or [`LookUps::add_transposed_product`].
pub(super) fn product_work(tables: &[TableUse], samples: usize, group: usize) -> Work {
    let numbers: usize = tables.iter().map(|table| table.width()).sum();
    Work::elementwise(samples as f64 * group as f64 * numbers as f64, 2.0, 2.0)
}
