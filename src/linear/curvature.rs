//! The part of the second derivative of the cost that Gauss–Newton leaves out.

use super::shape::Shape;
use crate::kernels::vector::dot;
use crate::real::Real;

/// An approximation `S` of `Σ r_i ∇²r_i` by the structured secant update of Dennis, Gay & Welsch 1981, *An adaptive nonlinear
/// least-squares algorithm* (NL2SOL).
///
/// Where residuals are large and curved, `JᵀJ` is far from the second derivative of the cost, and `JᵀJ + S` is closer with
/// each step. It takes `n²` numbers, and `O(n²)` flops a step.
pub(crate) struct Curvature<T: Real, S: Shape<T>> {
    /// `S`, all of it.
    matrix: S::Matrix,
    /// `Sδ`, and then the part of the secant condition that it misses.
    product: S::Vector,
    /// The change `y` of the gradient, and the part `z` of it that `JᵀJδ` leaves.
    pub(super) change: [S::Vector; 2],
    /// `S` joins the linear system.
    pub(super) is_used: bool,
}

impl<T: Real, S: Shape<T>> Curvature<T, S> {
    /// No curvature for `n` parameters.
    pub(super) fn new(n: usize) -> Self {
        Curvature { matrix: S::matrix(n), product: S::vector(n), change: [S::vector(n), S::vector(n)], is_used: false }
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
    use crate::linear::shape::Dynamic;

    #[test]
    fn a_step_teaches_what_the_gauss_newton_model_leaves_out() {
        let mut curvature = Curvature::<f64, Dynamic>::new(2);
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
