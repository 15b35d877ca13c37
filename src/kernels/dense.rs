//! Dense products and factorisations over one float type.

use std::ops::Range;

use super::cholesky::{self, CholeskyPanel};
use super::gram::{FewProducts, GramProducts, NarrowProducts};
use super::gram_tiles::GramTiles;
use super::large_product::multiply;
use super::matrix_product::{Matrix, MatrixProduct};
use super::product::{Outer, RowDots, RowsTimes};
use super::reflections::Reflections;
use super::simd::{self, Kernel};
use super::singular_values::singular_values;
use super::substitution::{BackwardSubstitution, ForwardSubstitution};
use super::triangular::{SMALL_SYSTEM, cholesky as plain_cholesky};
use super::vectors::Vectors;

/// Rows of up to three columns whose products are summed in line.
const FEW_ROWS: usize = 32;

/// Rows of `Lᵀ` in a panel.
const PANEL: usize = 64;

/// Rows up to which the rest of the matrix is one panel.
const LAST_PANEL: usize = 144;

/// Number of unknowns from which the products of four panels are subtracted together, instead of two: the matrix exceeds the caches.
const MANY_UNKNOWNS: usize = 600;

/// Bytes in a row of a system up to which registers of 256 bits factorise it as fast as the widest.
const SHORT_SYSTEM: usize = 512;

/// Bytes in a row up to which reflections in registers of 256 bits are as fast as in the widest.
const SHORT_REFLECTED: usize = 256;

/// Number of unknowns in single precision up to which registers of 128 bits are the fastest: in wider ones a block has too few
/// independent sums to hide the latency of additions.
const SHORT_ROWS: usize = 40;

/// Number of columns from which blocking for the cache is faster than keeping all sums in registers.
const MANY_COLUMNS: usize = 100;

/// Scratch memory of factorisations, kept between calls.
#[derive(Default)]
pub struct Scratch<T>(Vec<T>);

/// The left factor of a product.
#[derive(Debug, Clone, Copy)]
pub enum Factor<'a, T> {
    /// Plain storage: row-major, `m` rows of `depth` entries.
    Plain(&'a [T]),
    /// Transposed: row-major, `depth` rows of `m` entries.
    Transposed(&'a [T]),
}

/// Dense products and factorisations over one float type. Matrices are row-major slices; symmetric ones are given by
/// their lower triangle.
///
/// Methods that are not inlined are compiled in this crate alone, and not again in each crate that calls it.
pub trait Kernels: Sized {
    /// `gram += JᵀJ` and `gradient += Jᵀr` for rows of as many entries as the gradient has.
    fn add_products(gram: &mut [Self], gradient: &mut [Self], rows: &[Self], r: &[Self]);
    /// `C = AB`, or `C += AB`, where `c` has rows of `n` entries, and `b` has `depth` rows of `n` entries.
    fn multiply(c: &mut [Self], accumulate: bool, a: Factor<'_, Self>, b: &[Self], depth: usize, n: usize);
    /// `C = AB` for a part of a matrix: `c` has rows of `n` entries, `a` rows of `depth` entries, and `B` is the first `depth` rows and
    /// `n` columns of a matrix with rows of `stride` entries.
    fn multiply_by_part(c: &mut [Self], a: &[Self], b: &[Self], stride: usize, depth: usize, n: usize);
    /// `C = ABᵀ`, or `C += ABᵀ`, where `c` has rows of `n` entries, and `a` and `b` have rows of `depth` entries, `b` as
    /// many as `c` has columns.
    fn multiply_transposed(c: &mut [Self], accumulate: bool, a: &[Self], b: &[Self], depth: usize, n: usize);
    /// `gram = JJᵀ` for rows of `n` entries.
    fn row_gram(gram: &mut [Self], rows: &[Self], n: usize);
    /// [`add_products`](Self::add_products) for more than one column, by a call.
    fn add_many_products(gram: &mut [Self], gradient: &mut [Self], rows: &[Self], r: &[Self]);
    /// `A = LDLᵀ`: overwrites the strict upper triangle of `a` with `Lᵀ`, where `L` is unit triangular, and fills
    /// `inverse_pivots` with `D⁻¹`; `false` when a pivot is not sound. The lower triangle is spoilt.
    fn cholesky(a: &mut [Self], inverse_pivots: &mut [Self], scratch: &mut Scratch<Self>) -> bool;
    /// [`cholesky`](Self::cholesky) for more than [`SMALL_SYSTEM`] unknowns.
    fn large_cholesky(a: &mut [Self], inverse_pivots: &mut [Self], scratch: &mut Scratch<Self>) -> bool;
    /// Solves `Lx = b` in place, given `Lᵀ` above the diagonal of `factor`, for more than [`SMALL_SYSTEM`] unknowns.
    fn substitute_forward(factor: &[Self], b: &mut [Self]);
    /// Solves `Lᵀx = b` in place, given as in [`substitute_forward`](Self::substitute_forward).
    fn substitute_backward(factor: &[Self], b: &mut [Self]);
    /// Absorbs rows `[J r]` into an upper triangle and its right-hand side by many reflections at once; see [`Reflections`].
    fn reflect_rows(triangle: &mut [Self], rotated: &mut [Self], jacobian: &mut [Self], r: &mut [Self]);
    /// The singular values of a square matrix, largest first, and its right singular vectors, one a row; `None` when
    /// they do not converge.
    fn singular_values(a: &[Self], n: usize) -> Option<(Vec<Self>, Vec<Self>)>;
}

macro_rules! float_kernels {
    ($float:ident, $wide:literal, $run_eight:path) => {
        impl Kernels for $float {
            #[inline]
            fn add_products(gram: &mut [Self], gradient: &mut [Self], rows: &[Self], r: &[Self]) {
                macro_rules! few {
                    ($n:literal) => {
                        FewProducts::<$float, $n>(GramProducts { gram, gradient, rows, r }).run::<1, false>()
                    };
                }
                // A call would take longer than the sums.
                match gradient.len() {
                    1 => few!(1),
                    2 if r.len() < FEW_ROWS => few!(2),
                    3 if r.len() < FEW_ROWS => few!(3),
                    _ => Self::add_many_products(gram, gradient, rows, r),
                }
            }

            fn add_many_products(gram: &mut [Self], gradient: &mut [Self], rows: &[Self], r: &[Self]) {
                let n = gradient.len();
                if n > MANY_COLUMNS {
                    simd::run(RowsTimes { y: gradient, accumulate: true, rows, x: r });
                    let [a, b] = [true, false].map(|transposed| Matrix { entries: rows, stride: n, transposed });
                    let shape = [n, r.len(), n];
                    return multiply(MatrixProduct { c: gram, stride: n, shape, accumulate: true, lower: Some(0), a, b });
                }
                macro_rules! narrow {
                    ($run:path: $top:literal, $near:literal, $below:literal, $registers:literal) => {
                        $run(NarrowProducts::<$float, $top, $near, $below, $registers>(GramProducts {
                            gram,
                            gradient,
                            rows,
                            r,
                        }))
                    };
                }
                match n {
                    // The widest registers are of no use to rows of few entries.
                    2 => NarrowProducts::<$float, 2, 2, 0, 2>(GramProducts { gram, gradient, rows, r }).run::<1, false>(),
                    3 => narrow!(simd::run_in_256_bits: 3, 4, 0, 4),
                    4 => narrow!(simd::run_in_256_bits: 4, 4, 0, 4),
                    5 => narrow!(simd::run_in_256_bits: 4, 4, 1, 8),
                    6 => narrow!(simd::run_in_256_bits: 4, 4, 2, 8),
                    7 => narrow!($run_eight: 4, 4, 3, 8),
                    8 => narrow!($run_eight: 4, 4, 4, 8),
                    _ => Self::run_in_vectors(GramTiles(GramProducts { gram, gradient, rows, r })),
                }
            }

            fn multiply(c: &mut [Self], accumulate: bool, a: Factor<'_, Self>, b: &[Self], depth: usize, n: usize) {
                if c.is_empty() {
                    return;
                }
                let m = c.len() / n;
                match a {
                    Factor::Plain(a) | Factor::Transposed(a) if depth == 1 => {
                        simd::run(Outer { c, accumulate, a, b });
                    }
                    Factor::Plain(x) | Factor::Transposed(x) if m == 1 && n > 1 => {
                        simd::run(RowsTimes { y: c, accumulate, rows: b, x });
                    }
                    Factor::Transposed(rows) if n == 1 && m > 1 => {
                        simd::run(RowsTimes { y: c, accumulate, rows, x: b });
                    }
                    Factor::Plain(rows) if n == 1 && depth > 0 => {
                        simd::run(RowDots { y: c, accumulate, rows, x: b });
                    }
                    _ => {
                        let a = match a {
                            Factor::Plain(entries) => Matrix { entries, stride: depth, transposed: false },
                            Factor::Transposed(entries) => Matrix { entries, stride: m, transposed: true },
                        };
                        let b = Matrix { entries: b, stride: n, transposed: false };
                        multiply(MatrixProduct { c, stride: n, shape: [m, depth, n], accumulate, lower: None, a, b });
                    }
                }
            }

            fn multiply_by_part(c: &mut [Self], a: &[Self], b: &[Self], stride: usize, depth: usize, n: usize) {
                let shape = [c.len() / n.max(1), depth, n];
                let a = Matrix { entries: a, stride: depth, transposed: false };
                let b = Matrix { entries: b, stride, transposed: false };
                multiply(MatrixProduct { c, stride: n, shape, accumulate: false, lower: None, a, b });
            }

            fn multiply_transposed(c: &mut [Self], accumulate: bool, a: &[Self], b: &[Self], depth: usize, n: usize) {
                if c.is_empty() {
                    return;
                }
                if depth == 1 {
                    return simd::run(Outer { c, accumulate, a, b });
                }
                if n == 1 && depth > 0 {
                    return simd::run(RowDots { y: c, accumulate, rows: a, x: b });
                }
                let m = c.len() / n;
                let a = Matrix { entries: a, stride: depth, transposed: false };
                let b = Matrix { entries: b, stride: depth, transposed: true };
                multiply(MatrixProduct { c, stride: n, shape: [m, depth, n], accumulate, lower: None, a, b });
            }

            fn row_gram(gram: &mut [Self], rows: &[Self], n: usize) {
                let m = rows.len() / n;
                let [a, b] = [false, true].map(|transposed| Matrix { entries: rows, stride: n, transposed });
                multiply(MatrixProduct { c: gram, stride: m, shape: [m, n, m], accumulate: false, lower: Some(0), a, b });
            }

            #[inline(always)]
            fn cholesky(a: &mut [Self], inverse_pivots: &mut [Self], scratch: &mut Scratch<Self>) -> bool {
                if inverse_pivots.len() <= SMALL_SYSTEM {
                    plain_cholesky(a, inverse_pivots)
                } else {
                    Self::large_cholesky(a, inverse_pivots, scratch)
                }
            }

            fn large_cholesky(a: &mut [Self], inverse_pivots: &mut [Self], scratch: &mut Scratch<Self>) -> bool {
                blocked_cholesky(a, inverse_pivots, scratch)
            }

            fn substitute_forward(factor: &[Self], b: &mut [Self]) {
                simd::run(ForwardSubstitution { factor, b });
            }

            fn substitute_backward(factor: &[Self], b: &mut [Self]) {
                simd::run(BackwardSubstitution { factor, b });
            }

            fn reflect_rows(triangle: &mut [Self], rotated: &mut [Self], jacobian: &mut [Self], r: &mut [Self]) {
                let few = size_of_val(rotated) <= SHORT_REFLECTED;
                let reflections = Reflections::<$float, $wide> { triangle, rotated, jacobian, r };
                if few { simd::run_in_256_bits(reflections) } else { simd::run(reflections) }
            }

            fn singular_values(a: &[Self], n: usize) -> Option<(Vec<Self>, Vec<Self>)> {
                singular_values(a, n)
            }
        }
    };
}

// Entries that the widest registers hold, and the registers for rows of eight.
float_kernels!(f32, 16, simd::run_in_256_bits);
float_kernels!(f64, 8, simd::run);

/// The Cholesky factorisation of systems that are not small, a [`CholeskyPanel`] of `Lᵀ` at a time. The products of a few panels are subtracted
/// together, a [`MatrixProduct`] from the rest of the matrix, and before from each of these panels, of the ones above it.
fn blocked_cholesky<T: Vectors>(a: &mut [T], inverse_pivots: &mut [T], scratch: &mut Scratch<T>) -> bool {
    let n = inverse_pivots.len();
    let pivots = inverse_pivots;
    for (pivot, &diagonal) in pivots.iter_mut().zip(a.iter().step_by(n + 1)) {
        *pivot = diagonal;
    }
    drop_negligible(a, pivots, scratch);
    let together = if n < MANY_UNKNOWNS { 2 * PANEL } else { 4 * PANEL };
    // First row whose products have been subtracted from the following panels alone, and not yet from the rest.
    let mut first = 0;
    let mut end = 0;
    while end < n {
        let start = end;
        end = if n < start + LAST_PANEL { n } else { start + PANEL };
        let (rows, of_panel) = (start..end, cholesky::scratch_len(end - start));
        let needed = of_panel + (end - first) * (n - first);
        scratch.0.resize(scratch.0.len().max(needed), T::ZERO);
        let (scaled, work) = scratch.0[..needed].split_at_mut(needed - of_panel);
        if start > first {
            subtract_products(a, n, scaled, first..start, end);
        }
        let mut sound = false;
        let panel = CholeskyPanel { a, pivots, rows: rows.clone(), work, sound: &mut sound };
        match n {
            _ if n > SHORT_SYSTEM / size_of::<T>() => simd::run(panel),
            _ if n > SHORT_ROWS || size_of::<T>() == size_of::<f64>() => simd::run_in_256_bits(panel),
            _ => simd::run_portable(panel),
        }
        if !sound {
            return false;
        }
        if end == n {
            break;
        }
        let scaled_rows = scaled.chunks_exact_mut(n - first).skip(start - first);
        for ((scaled, row), &pivot) in scaled_rows.zip(a.chunks_exact(n).skip(start)).zip(&pivots[rows]) {
            for (scaled, &l) in scaled[end - first..].iter_mut().zip(&row[end..]) {
                *scaled = -(l * pivot);
            }
        }
        if end - first >= together {
            subtract_products(a, n, scaled, first..end, n);
            first = end;
        }
    }
    for pivot in pivots {
        *pivot = pivot.recip();
    }
    true
}

/// Sets entries off the diagonal to zero that are less than `ε² √(aᵢᵢ aⱼⱼ)`: no pivot can feel them, and their products may be subnormal.
fn drop_negligible<T: Vectors>(a: &mut [T], diagonal: &[T], scratch: &mut Scratch<T>) {
    let n = diagonal.len();
    scratch.0.resize(scratch.0.len().max(n), T::ZERO);
    let sizes = &mut scratch.0[..n];
    for (size, &diagonal) in sizes.iter_mut().zip(diagonal) {
        *size = T::EPSILON * diagonal.sqrt();
    }
    for (i, row) in a.chunks_exact_mut(n).enumerate() {
        let of_row = sizes[i];
        for (entry, &size) in row[..i].iter_mut().zip(&*sizes) {
            *entry = entry.abs().select_less(of_row * size, T::ZERO, *entry);
        }
    }
}

/// Subtracts the products of these rows of `Lᵀ` from the columns below them, up to `end`. `scaled` holds the rows times `−D`, from column
/// `start` on.
fn subtract_products<T: Vectors>(a: &mut [T], n: usize, scaled: &[T], rows: Range<usize>, end: usize) {
    let Range { start, end: top } = rows;
    let (above, below) = a.split_at_mut(top * n);
    let a = Matrix { entries: &above[start * n + top..], stride: n, transposed: true };
    let b = Matrix { entries: &scaled[top - start..], stride: n - start, transposed: false };
    let (c, shape) = (&mut below[top..], [n - top, top - start, end - top]);
    multiply(MatrixProduct { c, stride: n, shape, accumulate: true, lower: (end == n).then_some(0), a, b });
}
