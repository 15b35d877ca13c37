//! Dense products and factorisations over one float type: small ones of our own, large ones by faer.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::ldlt::factor::{LdltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par, Spec};

use super::cholesky::{self, BlockedCholesky};
use super::gram::{FewProducts, Products, RowsTimes};
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
    ($float:ident) => {
        impl Kernels for $float {
            #[inline]
            fn add_products(gram: &mut [$float], gradient: &mut [$float], rows: &[$float], r: &[$float]) {
                let n = gradient.len();
                if n > MANY_COLUMNS {
                    simd::run(RowsTimes { gradient, rows, r });
                    let gram = MatMut::from_row_major_slice_mut(gram, n, n);
                    let rows = MatRef::from_row_major_slice(rows, r.len(), n);
                    return lower_product(gram, Accum::Add, rows.transpose(), rows);
                }
                let products = Products { gram, gradient, rows, r };
                match n {
                    // Too little to do for the wide registers to be worth a call.
                    1 => FewProducts::<$float, 1>(products).run::<1, false>(),
                    2 => FewProducts::<$float, 2>(products).run::<1, false>(),
                    3 => FewProducts::<$float, 3>(products).run::<1, false>(),
                    4 => simd::run(FewProducts::<$float, 4>(products)),
                    5 => simd::run(FewProducts::<$float, 5>(products)),
                    6 => simd::run(FewProducts::<$float, 6>(products)),
                    7 => simd::run(FewProducts::<$float, 7>(products)),
                    _ => simd::run(products),
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
                let m = c.len() / n;
                let a = match a {
                    Factor::Plain(a) => MatRef::from_row_major_slice(a, m, depth),
                    Factor::Transposed(a) => MatRef::from_row_major_slice(a, depth, m).transpose(),
                };
                let accumulate = if accumulate { Accum::Add } else { Accum::Replace };
                let c = MatMut::from_row_major_slice_mut(c, m, n);
                matmul(c, accumulate, a, MatRef::from_row_major_slice(b, depth, n), 1.0, Par::Seq);
                simd::clear_upper_halves();
            }

            fn row_gram(gram: &mut [$float], rows: &[$float], n: usize) {
                let m = rows.len() / n;
                let gram = MatMut::from_row_major_slice_mut(gram, m, m);
                let rows = MatRef::from_row_major_slice(rows, m, n);
                lower_product(gram, Accum::Replace, rows, rows.transpose());
            }

            #[inline]
            fn cholesky(a: &mut [$float], inverse_pivots: &mut [$float], scratch: &mut Scratch<$float>) -> bool {
                let n = inverse_pivots.len();
                if n <= SMALL_SYSTEM {
                    return plain_cholesky(a, inverse_pivots);
                }
                if n <= BLOCKED_SYSTEM {
                    scratch.blocked.resize(scratch.blocked.len().max(cholesky::room(n)), 0.0);
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
                let memory = scratch.faer.get_or_insert_with(|| {
                    MemBuffer::new(cholesky_in_place_scratch::<$float>(n, Par::Seq, Spec::default()))
                });
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

float_kernels!(f32);
float_kernels!(f64);

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
