//! Products of matrices, in tiles of sums that stay in registers.

mod packing;
mod tile;

pub(super) use self::packing::Matrix;
use self::packing::panels;
use self::tile::{Tall, To, Wide};
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

/// Alignment of copies, in bytes: that of cache lines.
const LINE: usize = 64;

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
                                Tall::of(a, first, top, m)
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
