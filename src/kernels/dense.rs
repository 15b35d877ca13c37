//! Dense products and factorisations over one float type: by faer, where it was not measured slower than our own.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::ldlt::factor::{LdltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par, Spec};

use super::cholesky::{self, BlockedCholesky};
use super::gram::{FewProducts, Products};
use super::product::{Outer, RowDots, RowsTimes};
use super::simd::{self, Kernel};
use super::triangular::{cholesky as plain_cholesky, is_sound};
use crate::Real;

/// Up to this size a plain factorisation is faster than a blocked one.
const SMALL_SYSTEM: usize = 12;

/// Up to this size our blocked factorisation is faster than faer's.
const BLOCKED_SYSTEM: usize = 160;

/// From here on faer's blocking of the cache outweighs our keeping sums in registers.
const MANY_COLUMNS: usize = 160;

/// Scratch memory of factorisations, kept between calls.
pub struct Scratch<T> {
    blocked: Vec<T>,
    faer: Option<MemBuffer>,
    /// The size of the system that faer's memory is for.
    faer_size: usize,
}

impl<T> Default for Scratch<T> {
    fn default() -> Self {
        Scratch { blocked: Vec::new(), faer: None, faer_size: 0 }
    }
}

/// The left factor of a product.
#[derive(Debug, Clone, Copy)]
pub enum Factor<'a, T> {
    /// As it is: row-major, `m` rows of `depth` numbers.
    Plain(&'a [T]),
    /// Transposed: row-major, `depth` rows of `m` numbers.
    Transposed(&'a [T]),
}

/// Dense products and factorisations over one float type. Matrices are row-major slices; symmetric ones are given by
/// their lower triangle.
pub trait Kernels: Sized {
    /// `gram += JᵀJ` and `gradient += Jᵀr` for rows of as many numbers as the gradient has.
    fn add_products(gram: &mut [Self], gradient: &mut [Self], rows: &[Self], r: &[Self]);
    /// `C = AB`, or `C += AB`, where `c` has rows of `n` numbers, and `b` has `depth` rows of `n` numbers.
    fn multiply(c: &mut [Self], accumulate: bool, a: Factor<'_, Self>, b: &[Self], depth: usize, n: usize);
    /// `C = ABᵀ`, or `C += ABᵀ`, where `c` has rows of `n` numbers, and `a` and `b` have rows of `depth` numbers, `b` so
    /// many as `c` has columns.
    fn multiply_transposed(c: &mut [Self], accumulate: bool, a: &[Self], b: &[Self], depth: usize, n: usize);
    /// `gram = JJᵀ` for rows of `n` numbers.
    fn row_gram(gram: &mut [Self], rows: &[Self], n: usize);
    /// `A = LDLᵀ`: overwrites the strict lower triangle of `a` with the unit triangle `L`, and fills `inverse_pivots` with
    /// `D⁻¹`; `false` when a pivot is not sound.
    fn cholesky(a: &mut [Self], inverse_pivots: &mut [Self], scratch: &mut Scratch<Self>) -> bool;
    /// The singular values of a square matrix, largest first, and its right singular vectors, one a row; `None` when
    /// they do not converge.
    fn singular_values(a: &[Self], n: usize) -> Option<(Vec<Self>, Vec<Self>)>;
}

macro_rules! float_kernels {
    ($float:ident, $wide:literal) => {
        impl Kernels for $float {
            #[inline]
            fn add_products(gram: &mut [$float], gradient: &mut [$float], rows: &[$float], r: &[$float]) {
                let n = gradient.len();
                if n > MANY_COLUMNS {
                    simd::run(RowsTimes { y: gradient, accumulate: true, rows, x: r });
                    let gram = MatMut::from_row_major_slice_mut(gram, n, n);
                    let rows = MatRef::from_row_major_slice(rows, r.len(), n);
                    return lower_product(gram, Accum::Add, rows.transpose(), rows);
                }
                macro_rules! few {
                    ($n:literal) => {
                        FewProducts::<$float, $n>(Products { gram, gradient, rows, r })
                    };
                }
                match n {
                    // Too little to do for the wide registers to be worth a call.
                    1 => few!(1).run::<1, false>(),
                    2 => few!(2).run::<1, false>(),
                    3 => few!(3).run::<1, false>(),
                    4 => simd::run(few!(4)),
                    5 => simd::run(few!(5)),
                    6 => simd::run(few!(6)),
                    7 => simd::run(few!(7)),
                    _ if n < $wide => simd::run(Products::<$float, 8> { gram, gradient, rows, r }),
                    _ => simd::run(Products::<$float, $wide> { gram, gradient, rows, r }),
                }
            }

            fn multiply(
                c: &mut [$float],
                accumulate: bool,
                a: Factor<'_, $float>,
                b: &[$float],
                depth: usize,
                n: usize,
            ) {
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
                    Factor::Transposed(a) if m > 1 => {
                        let a = MatRef::from_row_major_slice(a, depth, m).transpose();
                        product(c, accumulate, a, MatRef::from_row_major_slice(b, depth, n));
                    }
                    Factor::Plain(a) | Factor::Transposed(a) => {
                        let a = MatRef::from_row_major_slice(a, m, depth);
                        product(c, accumulate, a, MatRef::from_row_major_slice(b, depth, n));
                    }
                }
            }

            fn multiply_transposed(
                c: &mut [$float],
                accumulate: bool,
                a: &[$float],
                b: &[$float],
                depth: usize,
                n: usize,
            ) {
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
                let b = MatRef::from_row_major_slice(b, n, depth).transpose();
                product(c, accumulate, MatRef::from_row_major_slice(a, m, depth), b);
            }

            fn row_gram(gram: &mut [$float], rows: &[$float], n: usize) {
                let m = rows.len() / n;
                let gram = MatMut::from_row_major_slice_mut(gram, m, m);
                let rows = MatRef::from_row_major_slice(rows, m, n);
                lower_product(gram, Accum::Replace, rows, rows.transpose());
            }

            #[inline(always)]
            fn cholesky(a: &mut [$float], inverse_pivots: &mut [$float], scratch: &mut Scratch<$float>) -> bool {
                if inverse_pivots.len() <= SMALL_SYSTEM {
                    plain_cholesky(a, inverse_pivots)
                } else {
                    blocked_cholesky(a, inverse_pivots, scratch)
                }
            }

            fn singular_values(a: &[$float], n: usize) -> Option<(Vec<$float>, Vec<$float>)> {
                let svd = MatRef::from_row_major_slice(a, n, n).svd().ok();
                simd::clear_upper_halves();
                let svd = svd?;
                let values = svd.S().column_vector().iter().copied().collect();
                let vectors = (0..n).flat_map(|k| svd.V().col(k).iter().copied()).collect();
                Some((values, vectors))
            }
        }
    };
}

// Numbers that the widest registers hold.
float_kernels!(f32, 16);
float_kernels!(f64, 8);

/// The Cholesky factorisation of systems that are not small: our own, or faer's.
fn blocked_cholesky<T: faer::traits::RealField + Real>(
    a: &mut [T],
    inverse_pivots: &mut [T],
    scratch: &mut Scratch<T>,
) -> bool {
    let n = inverse_pivots.len();
    if n <= BLOCKED_SYSTEM {
        scratch.blocked.resize(scratch.blocked.len().max(cholesky::room(n)), T::ZERO);
        let (columns, mut sound) = (scratch.blocked.as_mut_slice(), false);
        simd::run(BlockedCholesky { a, inverse_pivots, columns, sound: &mut sound });
        return sound;
    }
    let diagonal = inverse_pivots;
    for (diagonal, &a) in diagonal.iter_mut().zip(a.iter().step_by(n + 1)) {
        *diagonal = a;
    }
    if n > scratch.faer_size {
        (scratch.faer, scratch.faer_size) = (None, n);
    }
    let memory = scratch
        .faer
        .get_or_insert_with(|| MemBuffer::new(cholesky_in_place_scratch::<T>(n, Par::Seq, Spec::default())));
    let matrix = MatMut::from_row_major_slice_mut(a, n, n);
    let as_it_is = LdltRegularization::default();
    let outcome = cholesky_in_place(matrix, as_it_is, Par::Seq, MemStack::new(memory), Spec::default());
    simd::clear_upper_halves();
    let pivots = a.iter().step_by(n + 1);
    outcome.is_ok()
        && diagonal.iter_mut().zip(pivots).all(|(diagonal, &pivot)| {
            let sound = is_sound(pivot, *diagonal);
            *diagonal = pivot.recip();
            sound
        })
}

/// `C = AB` or `C += AB`, by faer.
fn product<T: faer::traits::ComplexField + Real>(c: &mut [T], accumulate: bool, a: MatRef<'_, T>, b: MatRef<'_, T>) {
    let c = MatMut::from_row_major_slice_mut(c, a.nrows(), b.ncols());
    let accumulate = if accumulate { Accum::Add } else { Accum::Replace };
    matmul(c, accumulate, a, b, T::ONE, Par::Seq);
    simd::clear_upper_halves();
}

/// The lower triangle of `lhs · rhs`, known to be symmetric, by faer.
fn lower_product<T: faer::traits::ComplexField + Real>(
    product: MatMut<'_, T>,
    accumulate: Accum,
    lhs: MatRef<'_, T>,
    rhs: MatRef<'_, T>,
) {
    let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
    triangular::matmul(product, lower, accumulate, lhs, full, rhs, full, T::ONE, Par::Seq);
    simd::clear_upper_halves();
}
