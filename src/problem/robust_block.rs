//! A robust loss of the length of several residuals together.

use super::robust_row::LEAST_CURVATURE;
use super::{RobustLoss, loss_at};
use crate::real::Real;

/// Gain ratios below the first mean that the model has too little curvature, those above the second that it has too much.
const GAINS: [f64; 2] = [0.5, 1.1];

/// Factor by which the share of the slope grows or shrinks.
const CHANGE: f64 = 1.25;

/// The smallest share of the slope.
const SMALLEST: f64 = 0.1;

/// Least curvature of a loss along the residuals, as a share of its slope `ρ′`.
///
/// All of the slope is the curvature of iterative reweighting, whose quadratic model lies above the loss: right for steps as long as
/// the residuals, with which outliers become inliers. Short steps near the end see the second derivative, which is smaller. So a solve
/// begins with the whole slope, and adapts the share to the gain ratios. Measured on three pose graphs under five losses and on a bundle
/// adjustment under three, against a half of the slope throughout: 11 iterations and not 40 or 62 (M3500, Huber and soft L1), 36 and not
/// 63 (Ladybug-49, Huber), fewer in 17 of 18 runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LeastCurvature<T>(T);

impl<T: Real> Default for LeastCurvature<T> {
    /// Initial value: half of the slope of the loss.
    fn default() -> Self {
        LeastCurvature(T::from_f64(LEAST_CURVATURE))
    }
}

impl<T: Real> LeastCurvature<T> {
    /// Value at the start of a solve: the whole slope of the loss.
    pub(crate) fn of_start() -> Self {
        LeastCurvature(T::ONE)
    }

    /// Adapts the share to the gain ratio of a trial step.
    pub(crate) fn learn(&mut self, gain_ratio: T) {
        let [too_small, too_large] = GAINS.map(T::from_f64);
        if gain_ratio > too_large {
            self.0 = (self.0 / T::from_f64(CHANGE)).max(T::from_f64(SMALLEST));
        } else if !(gain_ratio >= too_small) {
            self.0 = (self.0 * T::from_f64(CHANGE)).min(T::ONE);
        }
    }
}

/// Residuals that share a loss, `½C²ρ(‖r‖²/C²)`, as generalised Gauss–Newton sees them (Triggs et al. 2000, §4.3).
///
/// Across `r` the second derivative is `ρ′`; along `r` it is `ρ′ + 2zρ″`, of which at least a [share](LeastCurvature) of `ρ′` is kept.
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
    pub(crate) fn new<L: RobustLoss<T> + ?Sized>(loss: &L, scale: T, least: LeastCurvature<T>, r: &[T]) -> Self {
        let squares = r.iter().fold(T::ZERO, |sum, &r| sum + r * r);
        if !squares.is_finite() {
            // A residual that is not finite is not treated as an outlier.
            return RobustBlock { cost: squares, residual: T::ONE, root: T::ONE, share: T::ZERO };
        }
        let [rho, slope, curvature] = loss_at(loss, scale, squares.sqrt());
        let cost = T::from_f64(0.5) * scale * scale * rho;
        if slope == T::ZERO || squares == T::ZERO {
            let root = slope.sqrt();
            return RobustBlock { cost, residual: root, root, share: T::ZERO };
        }
        // (1 − α)² of the derivative along r.
        let kept = (curvature / slope).max(least.0).sqrt();
        let root = slope.sqrt();
        RobustBlock { cost, residual: root / kept, root, share: (T::ONE - kept) / squares }
    }

    /// Puts the residuals, and their rows of the Jacobian, under the loss; returns the cost.
    pub(crate) fn apply(&self, r: &mut [T], jacobian: &mut [T]) -> T {
        if self.root == T::ONE && self.share == T::ZERO {
            // The loss is quadratic here.
            return self.cost;
        }
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
            least in SMALLEST..1.0,
            a in prop::array::uniform3(-2.0..2.0_f64),
        ) {
            for &loss in Loss::ALL {
                let moved = |t: f64| [0, 1, 2].map(|i| r[i] + t * a[i]);
                let cost = |t: f64| RobustBlock::new(&loss, scale, LeastCurvature(least), &moved(t)).cost;
                let h = 1e-5;
                let slope = (cost(h) - cost(-h)) / (2.0 * h);
                let (mut pseudo, mut rows) = (r, a);
                let applied = RobustBlock::new(&loss, scale, LeastCurvature(least), &r).apply(&mut pseudo, &mut rows);
                prop_assert_eq!(applied, cost(0.0));
                let gradient: f64 = pseudo.iter().zip(&rows).map(|(r, a)| r * a).sum();
                prop_assert!((gradient - slope).abs() <= 1e-6 * (1.0 + slope.abs()), "{loss}: {gradient}, {slope}");
            }
        }
    }

    #[test]
    fn gain_ratios_teach_the_curvature() {
        let mut least = LeastCurvature::<f64>::of_start();
        for (gain_ratio, expected) in
            [(1.5, 0.8), (0.9, 0.8), (1.2, 0.64), (0.4, 0.8), (f64::NEG_INFINITY, 1.0), (f64::NAN, 1.0)]
        {
            least.learn(gain_ratio);
            assert!((least.0 - expected).abs() < 1e-15, "{gain_ratio}: {least:?}");
        }
        (0..20).for_each(|_| least.learn(2.0));
        assert_eq!(least, LeastCurvature(SMALLEST));
    }
}
