//! The part of the second derivative of the cost that Gauss–Newton leaves out.

use crate::kernels::vector::dot;
use crate::real::Real;
use crate::storage::Storage;

/// Trials whose gain ratio is off by more than [`UNFAITHFUL`] before the curvature is learnt.
pub(crate) const DOUBTFUL: usize = 12;

/// A gain ratio further from one than this speaks against the linear model.
const UNFAITHFUL: f64 = 0.25;

/// Ratio of the prediction errors of the two models from which the other model is taken.
const BETTER: f64 = 1.5;

/// The linear model has foretold the reduction of the cost.
#[inline]
pub(crate) fn is_faithful<T: Real>(predicted: T, actual: T) -> bool {
    (actual / predicted - T::ONE).abs() <= T::from_f64(UNFAITHFUL)
}

/// The curvature that Gauss–Newton leaves out, where trials ask for it.
pub(super) struct Curvature<T: Real, S: Storage<T>> {
    /// The estimate; `None` until a step teaches it.
    estimate: Option<SecantMatrix<T, S>>,
    /// The estimate is part of the linear system.
    is_used: bool,
    /// Trials that the linear model has not foretold.
    doubtful: usize,
}

impl<T: Real, S: Storage<T>> Default for Curvature<T, S> {
    fn default() -> Self {
        Curvature { estimate: None, is_used: false, doubtful: 0 }
    }
}

impl<T: Real, S: Storage<T>> Curvature<T, S> {
    /// The estimate that is part of the linear system.
    #[inline]
    pub(super) fn in_use(&self) -> Option<&SecantMatrix<T, S>> {
        self.estimate.as_ref().filter(|_| self.is_used)
    }

    /// The estimate for `n` parameters, to be updated.
    pub(super) fn estimate(&mut self, n: usize) -> &mut SecantMatrix<T, S> {
        self.estimate.get_or_insert_with(|| SecantMatrix::new(n))
    }

    /// Takes the estimate into the linear system.
    #[cfg(test)]
    pub(super) fn use_estimate(&mut self) {
        self.is_used = true;
    }

    /// Takes the estimate out of the linear system; returns true if it was part of it.
    pub(super) fn leave_out(&mut self) -> bool {
        std::mem::take(&mut self.is_used) && self.estimate.is_some()
    }

    /// Chooses the model for the next step by the one that has foretold the trial better. Returns true if trials are so doubtful that the
    /// estimate is to be updated.
    #[inline]
    pub(super) fn weigh(&mut self, step: &[T], predicted: T, actual: T) -> bool {
        if !is_faithful(predicted, actual) {
            self.doubtful = self.doubtful.saturating_add(1);
        }
        if self.doubtful < DOUBTFUL {
            return false;
        }
        if let (Some(estimate), true) = (&self.estimate, actual.is_finite()) {
            let more = T::from_f64(0.5) * estimate.quadratic_form(step);
            // The reductions predicted by the model in use, and by the other.
            let other = if self.is_used { predicted + more } else { predicted - more };
            let (error, other_error) = ((actual - predicted).abs(), (actual - other).abs());
            self.is_used ^= error > T::from_f64(BETTER) * other_error;
        }
        true
    }
}

/// An approximation `S` of `Σ r_i ∇²r_i` by the structured secant update of Dennis, Gay & Welsch 1981, *An adaptive nonlinear
/// least-squares algorithm* (NL2SOL).
///
/// Where residuals are large and curved, `JᵀJ` is far from the second derivative of the cost, and `JᵀJ + S` is closer with
/// each step. It takes `n²` numbers, and `O(n²)` flops a step.
pub(super) struct SecantMatrix<T: Real, S: Storage<T>> {
    /// `S`, all of it.
    matrix: S::Matrix,
    /// `Sδ`, and then the part of the secant condition that it misses.
    product: S::Vector,
    /// The change `y` of the gradient, and the part `z` of it that `JᵀJδ` leaves.
    pub(super) change: [S::Vector; 2],
}

impl<T: Real, S: Storage<T>> SecantMatrix<T, S> {
    /// No curvature for `n` parameters.
    fn new(n: usize) -> Self {
        SecantMatrix { matrix: S::matrix(n), product: S::vector(n), change: [S::vector(n), S::vector(n)] }
    }

    /// Row `i` of `S`.
    #[inline]
    pub(super) fn row(&self, i: usize) -> &[T] {
        let n = self.product.as_ref().len();
        &self.matrix.as_ref()[i * n..(i + 1) * n]
    }

    /// `vᵀSv`.
    pub(super) fn quadratic_form(&self, v: &[T]) -> T {
        v.iter().enumerate().fold(T::ZERO, |sum, (i, &vi)| sum + vi * dot(self.row(i), v))
    }

    /// Learns from a step `δ` that made the [`change`](Self::change): from then on `Sδ = z`. A matrix that is too large along the
    /// step is shrunk first.
    pub(super) fn update(&mut self, step: &[T]) {
        for i in 0..step.len() {
            let product = dot(self.row(i), step);
            self.product.as_mut()[i] = product;
        }
        let [y, z] = self.change.each_ref().map(|change| change.as_ref());
        let along = dot(step, y);
        if !(along > T::ZERO) {
            return;
        }
        let (wanted, found) = (dot(step, z).abs(), dot(step, self.product.as_ref()).abs());
        let size = if found > wanted { wanted / found } else { T::ONE };
        let missing = self.product.as_mut();
        for (product, &z) in missing.iter_mut().zip(z) {
            *product = z - size * *product;
        }
        let share = dot(step, missing) / (along * along);
        let n = step.len();
        for (i, row) in self.matrix.as_mut().chunks_exact_mut(n).enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                let missing = missing[i] * y[j] + y[i] * missing[j];
                *entry = size * *entry + missing / along - share * y[i] * y[j];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Dynamic;

    #[test]
    fn a_step_teaches_what_the_gauss_newton_model_leaves_out() {
        let mut curvature = SecantMatrix::<f64, Dynamic>::new(2);
        curvature.change = [vec![1.0, 2.0], vec![0.0, 0.0]];
        curvature.update(&[1.0, 1.0]);
        assert_eq!(curvature.quadratic_form(&[1.0, 1.0]), 0.0, "nothing was left out");
        curvature.change = [vec![1.0, 2.0], vec![0.5, -0.25]];
        curvature.update(&[1.0, 1.0]);
        let product = [0, 1].map(|i| dot(curvature.row(i), &[1.0, 1.0]));
        assert!((product[0] - 0.5).abs() < 1e-15 && (product[1] + 0.25).abs() < 1e-15, "Sδ = {product:?}");
        assert_eq!(curvature.row(0)[1], curvature.row(1)[0], "S is symmetric");
    }
}
