//! A robust loss of the length of several residuals together.

use super::robust_row::LEAST_CURVATURE;
use super::{RobustLoss, loss_at};
use crate::real::Real;

/// Residuals that share a loss, `½C²ρ(‖r‖²/C²)`, as generalised Gauss–Newton sees them (Triggs et al. 2000, §4.3).
///
/// Across `r` the second derivative is `ρ′`; along `r` it is `ρ′ + 2zρ″`, of which at least a half of `ρ′` is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RobustBlock<T> {
    /// Cost of the residuals.
    cost: T,
    /// Factor of the residuals.
    residual: T,
    /// Factor `√ρ′` of the derivatives.
    root: T,
    /// Share `α/‖r‖²` of their part along `r` that is taken away.
    share: T,
}

impl<T: Real> RobustBlock<T> {
    /// The residuals `r` under the loss with the scale `C`.
    #[inline]
    pub(crate) fn new<L: RobustLoss<T> + ?Sized>(loss: &L, scale: T, r: &[T]) -> Self {
        let squares = r.iter().fold(T::ZERO, |sum, &r| sum + r * r);
        if !squares.is_finite() {
            // A model that cannot be evaluated is no outlier.
            return RobustBlock { cost: squares, residual: T::ONE, root: T::ONE, share: T::ZERO };
        }
        let [rho, slope, curvature] = loss_at(loss, scale, squares.sqrt());
        let cost = T::from_f64(0.5) * scale * scale * rho;
        if slope == T::ZERO || squares == T::ZERO {
            let root = slope.sqrt();
            return RobustBlock { cost, residual: root, root, share: T::ZERO };
        }
        // (1 − α)² of the derivative along r.
        let kept = (curvature / slope).max(T::from_f64(LEAST_CURVATURE)).sqrt();
        let root = slope.sqrt();
        RobustBlock { cost, residual: root / kept, root, share: (T::ONE - kept) / squares }
    }

    /// Puts the residuals, and their rows of the Jacobian, under the loss; returns the cost.
    pub(crate) fn apply(&self, r: &mut [T], jacobian: &mut [T]) -> T {
        let width = jacobian.len() / r.len().max(1);
        for column in 0..width {
            let along = r.iter().zip(jacobian.iter().skip(column).step_by(width)).map(|(&r, &j)| r * j).sum::<T>();
            for (row, &r) in r.iter().enumerate() {
                let entry = &mut jacobian[row * width + column];
                *entry = if self.root == T::ZERO { T::ZERO } else { self.root * (*entry - self.share * along * r) };
            }
        }
        r.iter_mut().for_each(|r| *r *= self.residual);
        self.cost
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::problem::Loss;

    proptest! {
        #[test]
        fn the_gradient_is_the_slope_of_the_cost(
            r in prop::array::uniform3(-20.0..20.0_f64),
            scale in 0.1..5.0_f64,
            a in prop::array::uniform3(-2.0..2.0_f64),
        ) {
            for &loss in Loss::ALL {
                let moved = |t: f64| [0, 1, 2].map(|i| r[i] + t * a[i]);
                let cost = |t: f64| RobustBlock::new(&loss, scale, &moved(t)).cost;
                let h = 1e-5;
                let slope = (cost(h) - cost(-h)) / (2.0 * h);
                let (mut pseudo, mut rows) = (r, a);
                let applied = RobustBlock::new(&loss, scale, &r).apply(&mut pseudo, &mut rows);
                prop_assert_eq!(applied, cost(0.0));
                let gradient: f64 = pseudo.iter().zip(&rows).map(|(r, a)| r * a).sum();
                prop_assert!((gradient - slope).abs() <= 1e-6 * (1.0 + slope.abs()), "{loss}: {gradient}, {slope}");
            }
        }
    }
}
