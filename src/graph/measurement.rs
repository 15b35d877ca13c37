//! Measurements with an information matrix.

use crate::number::Number;
use crate::scalar::Scalar;

/// A measurement with its information matrix, `$residuals` rows, and its error at some blocks.
macro_rules! measurement {
    (
        $(#[$documentation:meta])*
        $name:ident of $measured:ty: $residuals:literal residuals of ($($block:ty),+);
        |$this:ident, $blocks:ident| $error:expr
    ) => {
        $(#[$documentation])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name<T> {
            measured: $measured,
            root: [[T; $residuals]; $residuals],
        }

        impl<T: $crate::real::Real> $name<T> {
            /// The measurement, with its information matrix: the inverse of its covariance.
            ///
            /// # Errors
            ///
            /// [`GraphError`](crate::graph::GraphError) for a matrix that is not finite, not symmetric or not positive definite.
            pub fn new(measured: $measured, information: [[T; $residuals]; $residuals]) -> Result<Self, $crate::graph::GraphError> {
                Ok($name { measured, root: $crate::graph::information::root_of(information)? })
            }

            /// The measurement, with an information matrix that was rounded: eigenvalues that are zero or negative by at most 0.02, in
            /// the units in which the diagonal is one, count as zero.
            ///
            /// # Errors
            ///
            /// [`GraphError`](crate::graph::GraphError) for a matrix that is not finite, not symmetric or not positive semi-definite.
            pub fn with_rounded_information(
                measured: $measured,
                information: [[T; $residuals]; $residuals],
            ) -> Result<Self, $crate::graph::GraphError> {
                Ok($name { measured, root: $crate::graph::information::rounded_root_of(information)? })
            }
        }

        impl<T: $crate::real::Real> $crate::graph::CostFunction<T> for $name<T> {
            type Blocks = ($($block,)+);

            fn residual_count(&self) -> usize {
                $residuals
            }

            #[inline]
            fn evaluate<S: $crate::scalar::Scalar<Real = T>>(&self, $blocks: &[&[S]], r: &mut [S]) -> $crate::problem::Evaluated {
                let $this = self;
                $crate::graph::measurement::multiply(&self.root, $error, r);
                Ok(())
            }
        }
    };
}

pub(super) use measurement;

/// `r = Lv` for an upper triangle `L`; zeros are skipped.
#[inline(always)]
pub(super) fn multiply<S: Scalar, const N: usize>(root: &[[S::Real; N]; N], v: [S; N], r: &mut [S]) {
    for (i, (r, row)) in r.iter_mut().zip(root).enumerate() {
        *r = v[i] * row[i];
        for j in i + 1..N {
            if row[j] != <S::Real as Number>::from_f64(0.0) {
                *r += v[j] * row[j];
            }
        }
    }
}
