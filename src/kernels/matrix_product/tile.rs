//! A tile of a product, whose sums stay in registers.

use super::packing::Matrix;
use crate::kernels::array::array_of;
use crate::kernels::vectors::Vector;
use crate::real::Real;

/// Number of terms from which the target of a tile is prefetched during summation.
const PREFETCHED: usize = 32;

/// Most entries of a row that a tile reads.
const WIDEST: usize = 3 * 16;

/// The first entries of a row or column; zeros where the matrix ends before.
#[inline(always)]
fn padded<T: Real, const COUNT: usize>(entries: &[T]) -> [T; COUNT] {
    let mut padded = [T::ZERO; COUNT];
    padded.iter_mut().zip(entries).for_each(|(padded, &number)| *padded = number);
    padded
}

/// Rows of a part of the right factor. A row may be followed by other entries; they enter only those sums that are not stored.
#[derive(Clone, Copy)]
pub(super) struct Wide<'a, T> {
    pub(super) entries: &'a [T],
    pub(super) step: usize,
}

/// A part of the left factor.
#[derive(Clone, Copy)]
pub(super) enum Tall<'a, T> {
    /// Its rows; the last one stands for missing rows behind it.
    Rows { entries: &'a [T], stride: usize, last: usize },
    /// Its columns, which may be followed by other entries, as in [`Wide`].
    Columns { entries: &'a [T], step: usize },
}

impl<'a, T: Real> Tall<'a, T> {
    /// The part of a left factor of `m` rows from row `top` and column `first` on, in place.
    #[inline(always)]
    pub(super) fn of(matrix: Matrix<'a, T>, first: usize, top: usize, m: usize) -> Self {
        let Matrix { entries, stride, transposed } = matrix;
        if transposed {
            Tall::Columns { entries: &entries[first * stride + top..], step: stride }
        } else {
            Tall::Rows { entries: &entries[top * stride + first..], stride, last: m - 1 - top }
        }
    }
}

/// The sums of a tile.
#[inline(always)]
fn sums<T: Real, V: Vector<T>, const TALL: usize, const WIDE: usize>(
    tall: Tall<'_, T>,
    wide: Wide<'_, T>,
    deep: usize,
) -> [[V; WIDE]; TALL] {
    let mut sums = [[V::splat(T::ZERO); WIDE]; TALL];
    let Wide { entries: mut wide, step: wide_step } = wide;
    let mut done = 0;
    match tall {
        Tall::Rows { entries, stride, last } => {
            let rows: [&[T]; TALL] = array_of(|i| &entries[i.min(last) * stride..][..deep]);
            for k in 0..deep {
                let Some(row) = wide.get(..WIDE * V::LANES) else { break };
                add_products(&mut sums, &array_of(|i| rows[i][k]), row);
                done += 1;
                wide = wide.get(wide_step..).unwrap_or_default();
            }
            for k in done..deep {
                add_products(&mut sums, &array_of(|i| rows[i][k]), &padded::<T, WIDEST>(wide));
                wide = wide.get(wide_step..).unwrap_or_default();
            }
        }
        Tall::Columns { entries: mut tall, step } => {
            while done < deep
                && let (Some(row), Some(column)) = (wide.get(..WIDE * V::LANES), tall.first_chunk())
            {
                add_products(&mut sums, column, row);
                done += 1;
                wide = wide.get(wide_step..).unwrap_or_default();
                tall = tall.get(step..).unwrap_or_default();
            }
            while done < deep {
                add_products(&mut sums, &padded(tall), &padded::<T, WIDEST>(wide));
                done += 1;
                wide = wide.get(wide_step..).unwrap_or_default();
                tall = tall.get(step..).unwrap_or_default();
            }
        }
    }
    sums
}

/// Adds the products of a column with a row.
#[inline(always)]
fn add_products<T: Real, V: Vector<T>, const TALL: usize, const WIDE: usize>(
    sums: &mut [[V; WIDE]; TALL],
    column: &[T; TALL],
    row: &[T],
) {
    let row: [V; WIDE] = array_of(|w| V::load(&row[w * V::LANES..]));
    for i in 0..TALL {
        let factor = V::splat(column[i]);
        for w in 0..WIDE {
            sums[i][w] = factor.mul_add(row[w], sums[i][w]);
        }
    }
}

/// Target of a tile in the product.
pub(super) struct To<'a, T> {
    pub(super) c: &'a mut [T],
    pub(super) stride: usize,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) accumulate: bool,
}

impl<T: Real> To<'_, T> {
    /// Prefetches the target into the first-level cache.
    #[inline(always)]
    fn prefetch<V: Vector<T>>(&self) {
        for i in 0..self.rows {
            for part in self.c[i * self.stride..][..self.columns].chunks(V::LANES) {
                V::prefetch(part);
            }
        }
    }

    /// Stores the sums of a tile of one to three registers, or adds them: of `SHORT` rows where these are enough.
    #[inline(always)]
    pub(super) fn fill<V: Vector<T>, const TALL: usize, const SHORT: usize, const WIDE: usize>(
        self,
        registers: usize,
        tall: Tall<'_, T>,
        wide: Wide<'_, T>,
        deep: usize,
    ) {
        if deep >= PREFETCHED {
            self.prefetch::<V>();
        }
        macro_rules! tile {
            ($wide:literal) => {
                if TALL != SHORT && self.rows <= SHORT {
                    self.put(sums::<T, V, SHORT, $wide>(tall, wide, deep));
                } else {
                    self.put(sums::<T, V, TALL, $wide>(tall, wide, deep));
                }
            };
        }
        match registers {
            1 => tile!(1),
            3 if WIDE == 3 => tile!(3),
            _ => tile!(2),
        }
    }

    #[inline(always)]
    fn put<V: Vector<T>, const TALL: usize, const WIDE: usize>(self, sums: [[V; WIDE]; TALL]) {
        for i in 0..TALL {
            if i >= self.rows {
                break;
            }
            let row = &mut self.c[i * self.stride..][..self.columns];
            for w in 0..WIDE {
                let part = &mut row[w * V::LANES..];
                if part.len() >= V::LANES {
                    let sum = if self.accumulate { V::load(part).add(sums[i][w]) } else { sums[i][w] };
                    sum.store(part);
                } else {
                    let sum = if self.accumulate { V::load_few(part).add(sums[i][w]) } else { sums[i][w] };
                    sum.store_few(part);
                }
            }
        }
    }
}
