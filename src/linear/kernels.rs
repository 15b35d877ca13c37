//! The dense kernels: small ones of our own, large ones by faer.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltRegularization, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, MatMut, MatRef, Par, Spec};
use pulp::Arch;

use super::triangular::cholesky;
use super::upper_halves;
use crate::Real;

/// Up to this size an unblocked factorisation is faster than a blocked one.
const SMALL_SYSTEM: usize = 32;

/// Scratch memory of a factorisation, kept between calls.
#[derive(Default)]
pub struct Scratch(Option<MemBuffer>);

/// Dense products and factorisations over one float type. Matrices are row-major slices; symmetric ones are given by
/// their lower triangle.
pub trait Kernels: Sized {
    /// `gram += JᵀJ` for rows of `n` numbers.
    fn add_gram(gram: &mut [Self], rows: &[Self], n: usize);
    /// `gram = JJᵀ` for rows of `n` numbers.
    fn row_gram(gram: &mut [Self], rows: &[Self], n: usize);
    /// Overwrites the lower triangle with its Cholesky factor; `false` when a pivot is not positive.
    fn cholesky(a: &mut [Self], n: usize, scratch: &mut Scratch) -> bool;
    /// The singular values of a square matrix, largest first, and its right singular vectors, one a row; `None` when
    /// they do not converge.
    fn singular_values(a: &[Self], n: usize) -> Option<(Vec<Self>, Vec<Self>)>;
}

macro_rules! float_kernels {
    ($float:ident) => {
        impl Kernels for $float {
            #[inline]
            fn add_gram(gram: &mut [$float], rows: &[$float], n: usize) {
                match n {
                    1 => add_gram_unrolled::<$float, 1>(gram, rows),
                    2 => add_gram_unrolled::<$float, 2>(gram, rows),
                    3 => add_gram_unrolled::<$float, 3>(gram, rows),
                    4 => add_gram_vectorised::<$float, 4>(gram, rows),
                    5 => add_gram_vectorised::<$float, 5>(gram, rows),
                    6 => add_gram_vectorised::<$float, 6>(gram, rows),
                    7 => add_gram_vectorised::<$float, 7>(gram, rows),
                    8 => add_gram_vectorised::<$float, 8>(gram, rows),
                    9 => add_gram_vectorised::<$float, 9>(gram, rows),
                    10 => add_gram_vectorised::<$float, 10>(gram, rows),
                    11 => add_gram_vectorised::<$float, 11>(gram, rows),
                    12 => add_gram_vectorised::<$float, 12>(gram, rows),
                    _ => {
                        let gram = MatMut::from_row_major_slice_mut(gram, n, n);
                        let rows = MatRef::from_row_major_slice(rows, rows.len() / n, n);
                        lower_product(gram, Accum::Add, rows.transpose(), rows);
                    }
                }
            }

            fn row_gram(gram: &mut [$float], rows: &[$float], n: usize) {
                let m = rows.len() / n;
                let gram = MatMut::from_row_major_slice_mut(gram, m, m);
                let rows = MatRef::from_row_major_slice(rows, m, n);
                lower_product(gram, Accum::Replace, rows, rows.transpose());
            }

            #[inline]
            fn cholesky(a: &mut [$float], n: usize, scratch: &mut Scratch) -> bool {
                if n <= SMALL_SYSTEM {
                    return cholesky(a, n);
                }
                let memory = scratch.0.get_or_insert_with(|| {
                    MemBuffer::new(cholesky_in_place_scratch::<$float>(n, Par::Seq, Spec::default()))
                });
                let a = MatMut::from_row_major_slice_mut(a, n, n);
                let no_shift = LltRegularization::default();
                let outcome = cholesky_in_place(a, no_shift, Par::Seq, MemStack::new(memory), Spec::default());
                upper_halves::clear();
                outcome.is_ok()
            }

            fn singular_values(a: &[$float], n: usize) -> Option<(Vec<$float>, Vec<$float>)> {
                let svd = MatRef::from_row_major_slice(a, n, n).svd().ok();
                upper_halves::clear();
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
    upper_halves::clear();
}

/// `gram += JᵀJ` in the instructions the crate is compiled for: for rows so narrow that wider registers stay empty.
#[inline]
fn add_gram_unrolled<T: Real, const N: usize>(gram: &mut [T], rows: &[T]) {
    let mut sums = [[T::ZERO; N]; N];
    for row in rows.as_chunks::<N>().0 {
        for i in 0..N {
            for k in 0..=i {
                sums[i][k] += row[i] * row[k];
            }
        }
    }
    for i in 0..N {
        for k in 0..=i {
            gram[i * N + k] += sums[i][k];
        }
    }
}

/// `gram += JᵀJ` in the widest vector instructions of the machine, with all sums in registers.
fn add_gram_vectorised<T: Real, const N: usize>(gram: &mut [T], rows: &[T]) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let mut sums = [[T::ZERO; N]; N];
            for row in rows.as_chunks::<N>().0 {
                for i in 0..N {
                    for k in 0..N {
                        sums[i][k] += row[i] * row[k];
                    }
                }
            }
            for (gram, sum) in gram.iter_mut().zip(sums.as_flattened()) {
                *gram += *sum;
            }
        },
    );
}
