//! Products of matrices, in tiles of sums that stay in registers.

use std::ops::Range;

use super::array::array_of;
use super::vectors::{Vector, VectorKernel, Vectors};
use crate::real::Real;

/// Terms summed in registers before they are added to the product.
const DEPTH: usize = 256;

/// Rows packed at once, whose left factor stays in the second-level cache.
const ROWS: usize = 96;

/// Columns packed at once, counted in registers.
const REGISTERS: usize = 48;

/// Largest number of bytes in a row of a factor that is read in place.
const SHORT_ROW: usize = 1024;

/// Rows and columns of a block that is transposed in registers.
const BLOCK: usize = 4;

/// Number of terms from which the target of a tile is prefetched during summation.
const PREFETCHED: usize = 32;

/// Alignment of copies, in bytes: that of cache lines.
const LINE: usize = 64;

/// A factor: a row-major matrix, or the transpose of one. Rows of the former begin `stride` entries after each other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matrix<'a, T> {
    pub(super) entries: &'a [T],
    pub(super) stride: usize,
    pub(super) transposed: bool,
}

/// `C = AB` or `C += AB`, where `A` is `m × depth` and `B` is `depth × n`.
///
/// An entry is a sum in the order of its terms, [`DEPTH`] of them at a time, whatever the sizes of the matrices are. Tiles of
/// entries are summed in registers; `A` is broadcast entry by entry, and rows of `B` are loaded by whole registers. Large or transposed
/// factors are packed in the order in which they are read (Goto & van de Geijn 2008).
pub(super) struct MatrixProduct<'a, T> {
    pub(super) c: &'a mut [T],
    /// Distance of the rows of `C`.
    pub(super) stride: usize,
    /// `m`, `depth` and `n`.
    pub(super) shape: [usize; 3],
    pub(super) accumulate: bool,
    /// If only the lower triangle of a matrix is asked for: the row of that matrix which is the first of `C`. The upper triangle then
    /// holds arbitrary entries.
    pub(super) lower: Option<usize>,
    pub(super) a: Matrix<'a, T>,
    pub(super) b: Matrix<'a, T>,
}

/// Computes a product on this thread, which keeps scratch memory for packed factors, less than 1 MiB.
pub(super) fn multiply_in_tiles<T: Vectors>(product: MatrixProduct<'_, T>) {
    T::with_scratch(|scratch| T::run_in_vectors(TiledProduct { product, scratch }));
}

struct TiledProduct<'a, T> {
    product: MatrixProduct<'a, T>,
    scratch: &'a mut Vec<T>,
}

impl<T: Real> VectorKernel<T> for TiledProduct<'_, T> {
    #[inline(always)]
    fn run<V: Vector<T>, const TALL: usize, const SHORT: usize, const WIDE: usize>(self) {
        let Self { product, scratch } = self;
        let MatrixProduct { c, stride, shape: [m, depth, n], accumulate, lower, a, b } = product;
        if depth == 0 && !accumulate {
            c.chunks_mut(stride).take(m).for_each(|row| row[..n].fill(T::ZERO));
        }
        let in_registers = n.div_ceil(V::LANES).min(REGISTERS);
        let deep = depth.min(DEPTH);
        let of_a = (deep * m.next_multiple_of(TALL).min(ROWS)).next_multiple_of(LINE);
        let needed = of_a + deep * in_registers * V::LANES + LINE;
        if scratch.len() < needed {
            scratch.resize(needed, T::ZERO);
        }
        let aligned = scratch.as_ptr().align_offset(LINE).min(LINE);
        let (packed_a, packed_b) = scratch[aligned..].split_at_mut(of_a);
        let packs_a = n > 24 * V::LANES && (!a.transposed || a.stride * size_of::<T>() > SHORT_ROW);
        let packs_b = b.transposed || m > 4 * TALL;

        for first in (0..depth).step_by(DEPTH) {
            let terms = first..depth.min(first + DEPTH);
            let deep = terms.len();
            for block in (0..n).step_by(REGISTERS * V::LANES) {
                let columns = block..n.min(block + REGISTERS * V::LANES);
                if packs_b {
                    b.pack_panels::<V, WIDE>(terms.clone(), columns.clone(), packed_b);
                }
                let first_row = lower.map_or(0, |offset| block.saturating_sub(offset) / TALL * TALL);
                for top in (first_row..m).step_by(ROWS) {
                    let rows = top..m.min(top + ROWS);
                    if packs_a {
                        a.pack_tiles::<V, TALL>(terms.clone(), rows.clone(), packed_a);
                    }
                    for panel in panels::<T, V, WIDE>(columns.clone()) {
                        let left = panel.columns.start;
                        let width = panel.registers * V::LANES;
                        let wide = if packs_b {
                            Wide { entries: &packed_b[deep * (left - block)..][..deep * width], step: width }
                        } else {
                            Wide { entries: &b.entries[first * b.stride + left..], step: b.stride }
                        };
                        let above = lower.map_or(0, |offset| left.saturating_sub(offset + top) / TALL * TALL);
                        for top in (rows.start + above..rows.end).step_by(TALL) {
                            let tall = if packs_a {
                                let entries = &packed_a[deep * (top - rows.start)..][..deep * TALL];
                                Tall::Columns { entries, step: TALL }
                            } else {
                                a.tall(first, top, m)
                            };
                            let count = rows.end.min(top + TALL) - top;
                            let accumulate = accumulate || first > 0;
                            let c = &mut c[top * stride + left..];
                            let below = lower.map(|offset| (offset + top + count).saturating_sub(left));
                            let columns = panel.columns.len().min(below.unwrap_or(usize::MAX));
                            if columns == 0 {
                                continue;
                            }
                            let to = To { c, stride, rows: count, columns, accumulate };
                            to.fill::<V, TALL, SHORT, WIDE>(columns.div_ceil(V::LANES), tall, wide, deep);
                        }
                    }
                }
            }
        }
    }
}

impl<'a, T: Real> Matrix<'a, T> {
    /// Packs these rows and columns of a right factor, panel after panel.
    #[inline(always)]
    fn pack_panels<V: Vector<T>, const WIDE: usize>(
        self,
        terms: Range<usize>,
        columns: Range<usize>,
        packed: &mut [T],
    ) {
        let (deep, block) = (terms.len(), columns.start);
        for panel in panels::<T, V, WIDE>(columns) {
            let width = panel.registers * V::LANES;
            let to = &mut packed[deep * (panel.columns.start - block)..][..deep * width];
            copy::<T, V>(self.transposed, self, terms.clone(), panel.columns, width, to);
        }
    }

    /// Packs these rows and columns of a left factor, tile after tile.
    #[inline(always)]
    fn pack_tiles<V: Vector<T>, const TALL: usize>(self, terms: Range<usize>, rows: Range<usize>, packed: &mut [T]) {
        for (top, to) in rows.clone().step_by(TALL).zip(packed.chunks_mut(terms.len() * TALL)) {
            copy::<T, V>(!self.transposed, self, terms.clone(), top..rows.end.min(top + TALL), TALL, to);
        }
    }

    /// The part of a left factor of `m` rows from row `top` and column `first` on, in place.
    #[inline(always)]
    fn tall(self, first: usize, top: usize, m: usize) -> Tall<'a, T> {
        let Matrix { entries, stride, transposed } = self;
        if transposed {
            Tall::Columns { entries: &entries[first * stride + top..], step: stride }
        } else {
            Tall::Rows { entries: &entries[top * stride + first..], stride, last: m - 1 - top }
        }
    }
}

/// Columns whose sums stay in registers.
struct ColumnPanel {
    columns: Range<usize>,
    registers: usize,
}

/// Divides columns into panels of `WIDE` registers; four registers become two panels of two instead of three and one.
#[inline(always)]
fn panels<T, V: Vector<T>, const WIDE: usize>(mut columns: Range<usize>) -> impl Iterator<Item = ColumnPanel> {
    std::iter::from_fn(move || {
        let registers = match columns.len().div_ceil(V::LANES) {
            0 => return None,
            4 => 2,
            more => more.min(WIDE),
        };
        let start = columns.start;
        columns.start = columns.end.min(start + registers * V::LANES);
        Some(ColumnPanel { columns: start..columns.start, registers })
    })
}

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
struct Wide<'a, T> {
    entries: &'a [T],
    step: usize,
}

/// A part of the left factor.
#[derive(Clone, Copy)]
enum Tall<'a, T> {
    /// Its rows; the last one stands for missing rows behind it.
    Rows { entries: &'a [T], stride: usize, last: usize },
    /// Its columns, which may be followed by other entries, as in [`Wide`].
    Columns { entries: &'a [T], step: usize },
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
struct To<'a, T> {
    c: &'a mut [T],
    stride: usize,
    rows: usize,
    columns: usize,
    accumulate: bool,
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
    fn fill<V: Vector<T>, const TALL: usize, const SHORT: usize, const WIDE: usize>(
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

/// Packs these rows and columns of a matrix, with rows padded to `width` by zeros. If the part lies `across`, its rows are columns of
/// the stored matrix.
#[inline(always)]
fn copy<T: Real, V: Vector<T>>(
    across: bool,
    matrix: Matrix<'_, T>,
    rows: Range<usize>,
    columns: Range<usize>,
    width: usize,
    to: &mut [T],
) {
    let Matrix { entries, stride, .. } = matrix;
    let count = columns.len();
    if !across {
        for (k, to) in rows.zip(to.chunks_exact_mut(width)) {
            let row = &entries[k * stride + columns.start..][..count];
            if width.is_multiple_of(V::LANES) {
                for (to, part) in to.chunks_exact_mut(V::LANES).zip(row.chunks(V::LANES)) {
                    let part = if part.len() == V::LANES { V::load(part) } else { V::load_few(part) };
                    part.store(to);
                }
            } else {
                for (j, to) in to.iter_mut().enumerate() {
                    *to = row.get(j).copied().unwrap_or(T::ZERO);
                }
            }
        }
        return;
    }
    let deep = rows.len();
    let row = |j: usize| &entries[(columns.start + j) * stride + rows.start..][..deep];
    let whole = count - count % BLOCK;
    for j in (0..whole).step_by(BLOCK) {
        let from: [(&[[T; BLOCK]], &[T]); BLOCK] = array_of(|q| row(j + q).as_chunks());
        for (k, to) in to[..deep / BLOCK * BLOCK * width].chunks_exact_mut(BLOCK * width).enumerate() {
            let block: [[T; BLOCK]; BLOCK] = array_of(|p| from[p].0[k]);
            for q in 0..BLOCK {
                if let Some(to) = to[q * width + j..].first_chunk_mut::<BLOCK>() {
                    *to = array_of(|p| block[p][q]);
                }
            }
        }
        for k in deep / BLOCK * BLOCK..deep {
            for p in 0..BLOCK {
                to[k * width + j + p] = from[p].1[k % BLOCK];
            }
        }
    }
    for j in whole..count {
        to[j..].iter_mut().step_by(width).zip(row(j)).for_each(|(to, &from)| *to = from);
    }
    for j in count..width {
        to[j..].iter_mut().step_by(width).for_each(|to| *to = T::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernels::registers::tests::in_all;

    /// A number for each place, and a small whole one, so that sums are exact in every order.
    fn entries<T: Real>(count: usize, seed: usize) -> Vec<T> {
        (0..count).map(|k| T::from_f64(((k * 7 + k / 11 + seed * 5) % 13) as f64 - 6.0)).collect()
    }

    /// A matrix whose rows are `gap` entries longer than they need be.
    struct Stored<T> {
        entries: Vec<T>,
        stride: usize,
        transposed: bool,
    }

    impl<T: Real> Stored<T> {
        fn new(rows: usize, columns: usize, transposed: bool, gap: usize, seed: usize) -> Self {
            let [long, stride] = if transposed { [columns, rows + gap] } else { [rows, columns + gap] };
            // Nothing follows the last row.
            Stored { entries: entries((long * stride).saturating_sub(gap), seed), stride, transposed }
        }

        fn view(&self) -> Matrix<'_, T> {
            Matrix { entries: &self.entries, stride: self.stride, transposed: self.transposed }
        }

        fn entry(&self, i: usize, k: usize) -> T {
            self.entries[if self.transposed { k * self.stride + i } else { i * self.stride + k }]
        }
    }

    /// Compares a product with sums term by term, and all around it with what was there before.
    fn agrees<T: Vectors>(shape: [usize; 3], transposed: [bool; 2], accumulate: bool, lower: bool, gap: usize) {
        let [m, depth, n] = shape;
        let a = Stored::<T>::new(m, depth, transposed[0], gap, 1);
        let b = Stored::<T>::new(depth, n, transposed[1], gap, 2);
        let stride = n + gap;
        let before: Vec<T> = entries(m * stride + gap, 3);
        let mut c = before.clone();
        let lower_from = lower.then_some(0);
        multiply_in_tiles(MatrixProduct {
            c: &mut c,
            stride,
            shape,
            accumulate,
            lower: lower_from,
            a: a.view(),
            b: b.view(),
        });
        for (at, (&c, &before)) in c.iter().zip(&before).enumerate() {
            let (i, j) = (at / stride, at % stride);
            if i == m || j >= n {
                assert_eq!(c, before, "{shape:?}, {transposed:?}: touched ({i}, {j})");
            } else if !lower || j <= i {
                let sum: T = (0..depth).map(|k| a.entry(i, k) * b.entry(k, j)).sum();
                let expected = if accumulate { before + sum } else { sum };
                assert_eq!(c, expected, "{shape:?}, {transposed:?}, {accumulate}, {lower}, {gap}: ({i}, {j})");
            }
        }
    }

    fn agrees_in_all_ways<T: Vectors>(shape: [usize; 3], gap: usize) {
        for transposed in [[false, false], [false, true], [true, false], [true, true]] {
            for accumulate in [false, true] {
                agrees::<T>(shape, transposed, accumulate, false, gap);
                if shape[0] == shape[2] {
                    agrees::<T>(shape, transposed, accumulate, true, gap);
                }
            }
        }
    }

    #[test]
    fn products_of_odd_sizes_agree() {
        in_all(|| {
            for m in [1, 3, 4, 5, 8, 9, 13] {
                for depth in [0, 1, 2, 7] {
                    for n in [1, 3, 4, 5, 8, 9, 13, 17, 25, 33, 50] {
                        agrees_in_all_ways::<f64>([m, depth, n], 3);
                        agrees_in_all_ways::<f32>([m, depth, n], 0);
                    }
                }
            }
        });
    }

    /// More rows, terms and columns than blocks have.
    #[test]
    fn products_of_several_blocks_agree() {
        in_all(|| {
            for shape in [[ROWS + 5, 9, 41], [37, DEPTH + 3, 21], [35, 3, 16 * REGISTERS + 7], [131, DEPTH + 1, 131]] {
                agrees::<f64>(shape, [false, true], true, shape[0] == shape[2], 1);
                agrees::<f32>(shape, [true, false], false, shape[0] == shape[2], 200);
                agrees::<f32>(shape, [false, false], true, false, 300);
            }
        });
    }

    proptest! {
        #[test]
        fn products_of_any_shape_agree(
            (m, depth, n) in (1..60_usize, 0..40_usize, 1..110_usize),
            (across, along) in (any::<bool>(), any::<bool>()),
            accumulate in any::<bool>(),
            gap in 0..9_usize,
        ) {
            in_all(|| {
                agrees::<f64>([m, depth, n], [across, along], accumulate, false, gap);
                agrees::<f32>([n, depth, n], [across, along], accumulate, true, gap);
            });
        }
    }

    /// Sums are taken in the same order wherever an entry stands, so that a batch may be cut anywhere.
    #[test]
    fn an_entry_does_not_depend_on_the_size() {
        let wave = |count: usize| (0..count).map(|k| (k as f64 * 0.37).sin()).collect::<Vec<_>>();
        in_all(|| {
            let [m, depth, n] = [45, 300, 61];
            let (a, b) = (wave(m * depth), wave(depth * n));
            let product = |from: usize, rows: usize, columns: usize| {
                let mut c = vec![0.0; rows * columns];
                let a = Matrix { entries: &a[from * depth..], stride: depth, transposed: false };
                let b = Matrix { entries: &b, stride: n, transposed: false };
                let shape = [rows, depth, columns];
                multiply_in_tiles(MatrixProduct {
                    c: &mut c,
                    stride: columns,
                    shape,
                    accumulate: false,
                    lower: None,
                    a,
                    b,
                });
                c
            };
            let whole = product(0, m, n);
            for (from, rows, columns) in [(0, 7, 3), (20, 1, 61), (3, 42, 30), (44, 1, 1)] {
                let part = product(from, rows, columns);
                for (i, row) in part.chunks_exact(columns).enumerate() {
                    assert_eq!(row, &whole[(from + i) * n..][..columns]);
                }
            }
        });
    }

    /// Entries read beyond the end of a row must not count.
    #[test]
    fn numbers_that_are_not_finite_stay_in_their_rows_and_columns() {
        in_all(|| {
            let [m, depth, n] = [5, 12, 6];
            let (mut a, mut b) = (entries::<f64>(m * depth, 1), entries::<f64>(depth * n, 2));
            a[2 * depth + 3] = f64::NAN;
            b[4 * n + 1] = f64::NAN;
            let mut c = vec![0.0; m * n];
            let [a, b] = [(&a, depth), (&b, n)].map(|(a, stride)| Matrix { entries: a, stride, transposed: false });
            multiply_in_tiles(MatrixProduct {
                c: &mut c,
                stride: n,
                shape: [m, depth, n],
                accumulate: false,
                lower: None,
                a,
                b,
            });
            for (at, c) in c.iter().enumerate() {
                assert_eq!(c.is_nan(), at / n == 2 || at % n == 1, "{at}");
            }
        });
    }
}
