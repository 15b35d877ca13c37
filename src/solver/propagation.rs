//! Covariance of functions of the parameters, by their derivatives.

use ndarray::{Array2, ArrayView1, ArrayView2};

use super::Covariance;
use super::covariance::square;
use crate::kernels::vector::safe_norm;
use crate::real::Real;

impl<T: Real> Covariance<T> {
    /// The covariance that is this matrix, `variance` times `(JᵀJ)⁻¹`. Parameters of infinite variance are undetermined. `None` if another
    /// entry is not finite.
    pub(crate) fn of_matrix<'n>(
        matrix: ArrayView2<'_, T>,
        names: impl Iterator<Item = &'n str>,
        variance: T,
        sum_of_squares: T,
        degrees_of_freedom: usize,
    ) -> Option<Self> {
        let (n, variances) = (matrix.nrows(), matrix.diag());
        let named = names.zip(variances.iter().map(|&variance| variance == T::INFINITY));
        let unknown = Covariance::unknown(named, sum_of_squares, degrees_of_freedom);
        let error = |j: usize| if unknown.is_undetermined[j] { T::ZERO } else { variances[j].sqrt() };
        let correlation = |((i, j), &entry): ((usize, usize), &T)| match (error(i), error(j)) {
            (first, second) if first == T::ZERO || second == T::ZERO => T::ZERO,
            (first, second) => entry / first / second,
        };
        // Right singular vectors of a symmetric matrix are its eigenvectors.
        let (values, vectors) = T::singular_values(&matrix.indexed_iter().map(correlation).collect::<Vec<_>>(), n)?;
        let deviation = if variance > T::ZERO { variance.sqrt() } else { T::ONE };
        let root = Array2::from_shape_fn((n, n), |(j, k)| error(j) / deviation * values[k].sqrt() * vectors[k * n + j]);
        let unscaled = square(&root, &unknown.is_undetermined);
        Some(Covariance { root, unscaled, variance: Some(variance), ..unknown })
    }

    /// Takes the residuals for ones of unit variance.
    pub(crate) fn absolute(self) -> Self {
        Covariance { absolute: true, ..self.with_variance(Some(T::ONE)) }
    }

    /// Sets the variance of the residuals; `None` where it cannot be estimated.
    pub(crate) fn with_variance(self, variance: Option<T>) -> Self {
        Covariance { variance, ..self }
    }

    /// Subtracts the work of `count` residuals, which are zero whatever the parameters.
    pub(crate) fn without_residuals(self, count: usize) -> Self {
        Covariance { degrees_of_freedom: self.degrees_of_freedom - count, ..self }
    }

    /// The covariance of functions of the parameters whose derivatives are the rows of `derivatives`:
    /// `Φ C Φᵀ`. What depends on an undetermined parameter is undetermined.
    pub(crate) fn propagated<'n>(self, derivatives: &[T], names: impl Iterator<Item = &'n str>) -> Self {
        let n = self.unscaled.nrows();
        let count = derivatives.len() / n;
        let is_undetermined: Vec<bool> = derivatives.chunks_exact(n).map(|row| self.leaves_open(row)).collect();
        let rows = ArrayView2::from_shape((count, n), derivatives).expect("rows of as many derivatives");
        let mut root = Array2::from_shape_fn((count, self.root.ncols()), |(i, k)| {
            rows.row(i).iter().zip(self.root.column(k)).fold(T::ZERO, |sum, (&slope, &root)| sum + slope * root)
        });
        for i in (0..count).filter(|&i| is_undetermined[i]) {
            root.row_mut(i).fill(T::ZERO);
        }
        let unscaled = square(&root, &is_undetermined);
        let named = names.zip(&is_undetermined).filter(|(_, is_undetermined)| **is_undetermined);
        let undetermined = named.map(|(name, _)| name.to_owned()).collect();
        Covariance { root, unscaled, undetermined, is_undetermined, ..self }
    }

    /// The standard error of a function of the parameters with this gradient; infinite where it depends on undetermined
    /// parameters, or the noise is not known.
    pub(crate) fn error_along(&self, gradient: &[T]) -> T {
        if self.leaves_open(gradient) {
            return T::INFINITY;
        }
        let along = |root: ArrayView1<'_, T>| gradient.iter().zip(root).fold(T::ZERO, |sum, (&g, &f)| sum + g * f);
        self.scaled_by_noise(safe_norm(self.root.columns().into_iter().map(along)))
    }

    /// Returns true if a function of the parameters with this gradient depends on undetermined ones.
    fn leaves_open(&self, gradient: &[T]) -> bool {
        gradient.iter().zip(&self.is_undetermined).any(|(&slope, &is_undetermined)| slope != T::ZERO && is_undetermined)
    }
}
