//! A robust loss as the rows of a least-squares problem.

use super::RobustLoss;
use crate::number::Number;
use crate::real::Real;

/// Lower bound of the curvature of the loss, relative to its slope `ρ′`: smaller and negative curvatures are raised to it.
///
/// Measured on ten NIST models with 30 % gross outliers, from both starts, under all losses: against the weights `ρ′` of
/// iterative reweighting it takes 16 % fewer iterations, finds the lowest of the minima found in 379 of 420 fits and not
/// in 360, and leaves smaller gradients; less than this share overshoots.
pub(super) const LEAST_CURVATURE: f64 = 0.5;

/// A residual under a robust loss, as generalised Gauss–Newton sees it: multiplied by `root`, a row `J_i` of the Jacobian
/// gives the gradient `ρ′ r J_i` with the residual here, exactly, and the curvature `root² J_iᵀJ_i`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RobustRow<N> {
    /// The residual under the loss.
    pub(crate) residual: N,
    /// Factor of its derivatives.
    pub(crate) root: N,
    /// Cost of the residual, `½C²ρ((r/C)²)`.
    pub(crate) cost: N,
}

impl<N: Number> RobustRow<N> {
    /// The residual `r` under a loss with the scale `C`, given [`by_residual`] there.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn of_loss(r: N, scale: N, [rho, slope, curvature]: [N; 3]) -> Self {
        Self::of_derivatives(r, slope, curvature, N::from_f64(0.5) * scale * scale * rho)
    }

    /// The residual `r` under a loss with this value there, with this second derivative, and with the first derivative
    /// `slope · r`.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn of_derivatives(r: N, slope: N, curvature: N, cost: N) -> Self {
        let (zero, one, infinity) = (N::from_f64(0.0), N::from_f64(1.0), N::from_f64(f64::INFINITY));
        let curvature = (N::from_f64(LEAST_CURVATURE) * slope).max(curvature);
        let (root, has_weight) = (curvature.sqrt(), curvature.min(slope));
        let residual = zero.select_less(has_weight, slope / root * r, zero);
        let root = zero.select_less(has_weight, root, zero);
        // A residual that is not finite is not treated as an outlier.
        let size = r.abs();
        RobustRow {
            residual: size.select_less(infinity, residual, r),
            root: size.select_less(infinity, root, one),
            cost: size.select_less(infinity, cost, r * r),
        }
    }
}

impl<T: Real> RobustRow<T> {
    /// The residual `r` under the loss with the scale `C`.
    #[inline]
    pub(crate) fn new<L: RobustLoss<T> + ?Sized>(loss: &L, scale: T, r: T) -> Self {
        Self::of_loss(r, scale, loss_at(loss, scale, r))
    }

    /// Puts derivatives of the residual under the loss; whatever has no weight becomes zero, infinity included.
    pub(crate) fn scale(&self, derivatives: &mut [T]) {
        if self.root == T::ZERO {
            derivatives.fill(T::ZERO);
        } else {
            derivatives.iter_mut().for_each(|derivative| *derivative *= self.root);
        }
    }
}

/// `ρ` at `z = (r/C)²`, its slope `ρ′`, and the second derivative of `½C²ρ(z)` by `r`, `ρ′ + 2zρ″` (Triggs et al. 2000,
/// §4.3).
#[inline]
pub(crate) fn loss_at<T: Real, L: RobustLoss<T> + ?Sized>(loss: &L, scale: T, r: T) -> [T; 3] {
    let z = scaled_square(scale, r);
    by_residual(z, loss.rho(z))
}

/// `(r/C)²`.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(crate) fn scaled_square<N: Number>(scale: N, r: N) -> N {
    let scaled = r / scale;
    scaled * scaled
}

/// [`loss_at`], given `ρ` and its derivatives at `z`.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(crate) fn by_residual<N: Number>(z: N, [rho, slope, bend]: [N; 3]) -> [N; 3] {
    [rho, slope, slope + N::from_f64(2.0) * z * bend]
}

/// Puts residuals, and their rows of the Jacobian if there are any, under the loss; returns the true cost.
pub(super) fn robust_rows<T: Real, L: RobustLoss<T> + ?Sized>(
    loss: &L,
    scale: T,
    r: &mut [T],
    jacobian: &mut [T],
) -> T {
    let columns = jacobian.len() / r.len().max(1);
    let mut cost = T::ZERO;
    for (i, r) in r.iter_mut().enumerate() {
        let row = RobustRow::new(loss, scale, *r);
        *r = row.residual;
        cost += row.cost;
        row.scale(&mut jacobian[i * columns..(i + 1) * columns]);
    }
    cost
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::problem::Loss;

    proptest! {
        #[test]
        fn the_gradient_is_the_slope_of_the_cost(r in -30.0..30.0_f64, scale in 0.1..5.0_f64, a in -2.0..2.0_f64) {
            for &loss in Loss::ALL {
                let h = 1e-6 * (1.0 + r.abs());
                let cost = |r: f64| RobustRow::new(&loss, scale, r).cost;
                let slope = (cost(r + h) - cost(r - h)) / (2.0 * h);
                let (mut pseudo, mut row) = ([r], [a]);
                prop_assert_eq!(robust_rows(&loss, scale, &mut pseudo, &mut row), cost(r));
                let gradient = row[0] * pseudo[0];
                prop_assert!((gradient - a * slope).abs() <= 1e-7 * (1.0 + r.abs()), "{loss}: {gradient}, {}", a * slope);
                prop_assert!(row[0] * row[0] <= a * a, "no outlier weighs more than a good residual");
            }
        }
    }

    #[test]
    fn what_cannot_be_evaluated_is_no_outlier() {
        for &loss in Loss::ALL {
            for r in [f64::NAN, f64::INFINITY] {
                let row = RobustRow::new(&loss, 1.0, r);
                assert!(!row.residual.is_finite() && !row.cost.is_finite(), "{loss}: {row:?}");
            }
        }
    }

    /// Tests residuals down to where the weights underflow.
    #[test]
    fn the_wildest_residuals_stay_finite() {
        for &loss in Loss::ALL {
            for exponent in 0..150 {
                let row = RobustRow::new(&loss, 1.0, 10.0_f64.powi(exponent));
                assert!(row.residual.is_finite() && row.root.is_finite() && row.cost.is_finite(), "{loss}: {row:?}");
                let row = RobustRow::new(&loss, 1.0, 10.0_f32.powi(exponent / 8));
                assert!(row.residual.is_finite() && row.root.is_finite() && row.cost.is_finite(), "{loss}: {row:?}");
            }
        }
    }

    #[test]
    fn what_has_no_weight_is_zero() {
        let (mut r, mut jacobian) = ([7.0, 0.0], [f64::INFINITY, 1.0, 2.0, 3.0]);
        let cost = robust_rows(&Loss::Tukey, 2.0, &mut r, &mut jacobian);
        assert_eq!((r, jacobian), ([0.0; 2], [0.0, 0.0, 2.0, 3.0]));
        assert!((cost - 4.0 / 6.0).abs() < 1e-15);
    }
}
