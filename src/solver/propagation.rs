//! Covariance of functions of the parameters, by their derivatives.

use ndarray::{Array2, ArrayView2};

use super::Covariance;
use crate::Real;

impl<T: Real> Covariance<T> {
    /// Takes the residuals for ones of unit variance.
    pub(crate) fn absolute(self) -> Self {
        Covariance { absolute: true, ..self.with_variance(Some(T::ONE)) }
    }

    /// Takes the residuals for ones of this variance; `None` where it cannot be judged.
    pub(crate) fn with_variance(self, variance: Option<T>) -> Self {
        Covariance { variance, ..self }
    }

    /// Does not count so many of the residuals, which are zero whatever the parameters.
    pub(crate) fn without_residuals(self, count: usize) -> Self {
        Covariance { degrees_of_freedom: self.degrees_of_freedom - count, ..self }
    }

    /// The covariance of functions of the parameters whose derivatives are the rows of `derivatives`:
    /// `Φ C Φᵀ`. What depends on an undetermined parameter is undetermined.
    pub(crate) fn propagated<'n>(self, derivatives: &[T], names: impl Iterator<Item = &'n str>) -> Self {
        let n = self.unscaled.nrows();
        let count = derivatives.len() / n;
        let is_undetermined: Vec<bool> = derivatives
            .chunks_exact(n)
            .map(|row| {
                row.iter()
                    .zip(self.unscaled.diag())
                    .any(|(&slope, &variance)| slope != T::ZERO && variance == T::INFINITY)
            })
            .collect();
        let finite = self.unscaled.mapv(|c| if c.is_finite() { c } else { T::ZERO });
        let rows = ArrayView2::from_shape((count, n), derivatives).expect("rows of as many derivatives");
        let mut unscaled: Array2<T> = Array2::from_shape_fn((count, count), |(i, j)| {
            // The same sum for (i, j) as for (j, i).
            let (i, j) = (i.max(j), i.min(j));
            let mut sum = T::ZERO;
            for k in 0..n {
                for l in 0..n {
                    sum += rows[[i, k]] * finite[[k, l]] * rows[[j, l]];
                }
            }
            // Rounding does not make a variance negative.
            if i == j { sum.max(T::ZERO) } else { sum }
        });
        for i in (0..count).filter(|&i| is_undetermined[i]) {
            unscaled.row_mut(i).fill(T::ZERO);
            unscaled.column_mut(i).fill(T::ZERO);
            unscaled[[i, i]] = T::INFINITY;
        }
        let named = names.zip(is_undetermined).filter(|(_, is_undetermined)| *is_undetermined);
        Covariance { unscaled, undetermined: named.map(|(name, _)| name.to_owned()).collect(), ..self }
    }
}
