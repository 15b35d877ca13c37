//! Damping, and single numbers that are carried from step to step.

use super::settings::KroneckerHyperparameters;
use crate::optim::FactoredStep;
use crate::real::Real;

/// Part of the moving average of the loss that is kept.
const LOSS_KEPT: f64 = 0.9;
/// Exponent of the ratio of effective parameters to those aimed at in the factor of the damping, and bounds of the product of all
/// factors.
const CAUTION_EXPONENT: f64 = 1.5;
const CAUTION_BOUNDS: [f64; 2] = [0.05, 30.0];

/// Samples of a minibatch below which the upper bound rises: the noise of a gradient is in inverse proportion to them.
const FULL_BATCH: f64 = 64.0;
/// A loss of more than this many times the average is a surprise, of a minibatch, and of the average itself beside its lowest.
pub(super) const SURPRISE: f64 = 2.0;
/// A slope of more than this many times that of the last length is a surprise: it is the square of a norm of the gradient, which has
/// then increased by more than 40 %.
const STEEP: f64 = 2.0;
/// Factor of the damping where the quadratic model has failed, and where it fails again while that factor is still above a limit; the
/// part of it that is kept in every step after, and its bound.
const INCREASE: f64 = 8.0;
const INCREASE_AGAIN: f64 = 512.0;
const RECENT: f64 = 2.0;
const INCREASE_KEPT: f64 = 0.9;
const LARGEST_INCREASE: f64 = 1e4;

/// Steps from one gain ratio to the next, and the factor of the damping for each of them.
pub(super) const GAIN_INTERVAL: u64 = 5;
const GAIN_FACTOR: f64 = 0.95;

/// Single numbers that are carried from step to step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Scalars {
    /// Moving average of the loss.
    pub(super) loss: f64,
    /// Moving average of the step length.
    pub(super) length: f64,
    /// Slope along the direction when its length was computed last.
    pub(super) slope: f64,
    pub(super) damping: f64,
    /// Least damping of the step at work; not saved.
    pub(super) minimum: f64,
    /// Factor of the damping's share of the loss.
    pub(super) caution: f64,
    /// Factor of the damping where the quadratic model has failed.
    pub(super) increase: f64,
    /// Lowest moving average of the loss since the damping was increased.
    pub(super) lowest: f64,
    /// The quadratic model has just failed: the next step renews factors, inverses and length.
    pub(super) is_distrusted: bool,
    /// Samples of the batch that the last estimate of the factors is of.
    pub(super) batch: f64,
    /// Estimates of the factors so far.
    pub(super) renewals: f64,
    /// True after the first step.
    pub(super) is_underway: bool,
}

impl Scalars {
    /// Numbers before the first step.
    pub(super) fn new() -> Self {
        Scalars { length: 1.0, caution: 1.0, increase: 1.0, ..Scalars::default() }
    }

    /// Details for the report of a step.
    pub(super) fn details<T: Real>(&self) -> FactoredStep<T> {
        FactoredStep { damping: T::from_f64(self.damping), length: T::from_f64(self.length) }
    }

    /// All of them, to be saved.
    pub(super) fn to_numbers(self) -> [f64; 11] {
        let [is_distrusted, is_underway] = [self.is_distrusted, self.is_underway].map(|flag| f64::from(u8::from(flag)));
        let Scalars { loss, length, slope, damping, caution, increase, lowest, batch, renewals, .. } = self;
        [loss, length, slope, damping, caution, increase, lowest, is_distrusted, batch, renewals, is_underway]
    }

    /// The inverse of [`to_numbers`](Self::to_numbers).
    pub(super) fn from_numbers(numbers: [f64; 11]) -> Self {
        let [loss, length, slope, damping, caution, increase, lowest, is_distrusted, batch, renewals, is_underway] =
            numbers;
        let [is_distrusted, is_underway] = [is_distrusted, is_underway].map(|number| number != 0.0);
        Scalars {
            loss,
            length,
            slope,
            damping,
            minimum: 0.0,
            caution,
            increase,
            lowest,
            is_distrusted,
            batch,
            renewals,
            is_underway,
        }
    }

    /// Averages and damping for a step at this loss, with this mean of the diagonal of the curvature, zero before it is known.
    pub(super) fn at_loss(
        &self,
        loss: f64,
        curvature: f64,
        now: &KroneckerHyperparameters,
        is_quadratic: bool,
    ) -> Scalars {
        let mut scalars = *self;
        scalars.minimum = now.minimum_damping * curvature;
        let kept = if scalars.is_underway { LOSS_KEPT } else { 0.0 };
        scalars.loss = kept * scalars.loss + (1.0 - kept) * loss;
        scalars.is_distrusted = false;
        scalars.increase = (scalars.increase * INCREASE_KEPT).max(1.0);
        let lowest = if scalars.is_underway { scalars.lowest } else { scalars.loss };
        scalars.lowest = lowest.min(scalars.loss);
        if scalars.loss - lowest > (SURPRISE - 1.0) * lowest.abs() {
            scalars.distrust();
            scalars.lowest = scalars.loss;
        }
        scalars.damping = match (is_quadratic, scalars.is_underway) {
            (true, true) => scalars.damping.max(scalars.minimum),
            (true, false) => now.damping.max(scalars.minimum),
            (false, _) => scalars.loss_damping(now),
        };
        scalars
    }

    /// Increases the damping, since the quadratic model has failed.
    pub(super) fn distrust(&mut self) {
        let factor = if self.increase > RECENT { INCREASE_AGAIN } else { INCREASE };
        self.increase = (self.increase * factor).min(LARGEST_INCREASE);
        // For `KroneckerStep::Quadratic`, whose damping is carried from step to step.
        self.damping = (self.damping * INCREASE).min(self.damping.max(self.loss));
        self.is_distrusted = true;
    }

    /// Returns true if a slope along the direction is far above that of the last length.
    pub(super) fn is_steep(&self, slope: f64) -> bool {
        self.is_underway && slope > STEEP * self.slope
    }

    /// The damping in proportion to the loss.
    pub(super) fn loss_damping(&self, now: &KroneckerHyperparameters) -> f64 {
        (self.caution * now.loss_damping * self.loss).max(self.minimum) * self.increase
    }

    /// Moves the damping by the gain ratio of a step, the actual over the predicted change of the loss.
    pub(super) fn judge(&mut self, gain: f64) {
        let change = GAIN_FACTOR.powi(GAIN_INTERVAL as i32);
        if gain > 0.75 {
            self.damping = (self.damping * change).max(self.minimum);
        } else if !(gain >= 0.25) {
            self.damping /= change;
        }
    }

    /// Adjusts the damping of later steps by the effective number of parameters of this one.
    ///
    /// Each direction that the damping leaves adds the same amount of noise to the step, and a minibatch of a given size
    /// tolerates only a certain amount. How many directions a given damping leaves depends on the spectrum of the inputs: few
    /// for correlated pixels, all for independent inputs.
    pub(super) fn adjust(&mut self, effective: f64, now: &KroneckerHyperparameters) {
        let wanted = now.effective_parameters * self.batch;
        let factor = (effective / wanted).powf(CAUTION_EXPONENT);
        if wanted > 0.0 && factor.is_finite() {
            let [least, most] = CAUTION_BOUNDS;
            self.caution = (self.caution * factor).clamp(least, most * (FULL_BATCH / self.batch).max(1.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::KroneckerSettings;
    use super::*;

    /// Scalars after a step at each of these losses.
    fn after(losses: impl IntoIterator<Item = f64>, is_quadratic: bool) -> Scalars {
        let now = KroneckerSettings::default().at(0).unwrap();
        losses.into_iter().fold(Scalars::new(), |scalars, loss| Scalars {
            is_underway: true,
            ..scalars.at_loss(loss, 1.0, &now, is_quadratic)
        })
    }

    #[test]
    fn a_loss_that_creeps_up_increases_the_damping_and_one_that_falls_does_not() {
        for is_quadratic in [false, true] {
            let falls = after((0..100).map(|step| 0.9_f64.powi(step)), is_quadratic);
            assert_eq!((falls.increase, falls.is_distrusted), (1.0, false));
            // The average comes to twice its lowest value in a few steps more than fifty.
            let before = after((0..50).map(|step| 1.015_f64.powi(step)), is_quadratic);
            assert_eq!(before.increase, 1.0);
            let rises = after((0..65).map(|step| 1.015_f64.powi(step)), is_quadratic);
            assert!(rises.increase > 1.0 && rises.lowest > 1.9, "{rises:?}");
        }
    }

    #[test]
    fn the_damping_returns_after_an_increase() {
        let now = KroneckerSettings::default().at(0).unwrap();
        let mut scalars = after([1.0; 20], false);
        let damping = scalars.damping;
        scalars.distrust();
        assert!((scalars.damping / damping - INCREASE).abs() < 1e-12 && scalars.is_distrusted);
        for _ in 0..30 {
            scalars = scalars.at_loss(1.0, 1.0, &now, false);
        }
        assert_eq!((scalars.damping, scalars.is_distrusted), (damping, false));
        scalars.distrust();
        (0..10).for_each(|_| scalars = scalars.at_loss(1.0, 1.0, &now, false));
        let increase = scalars.increase;
        scalars.distrust();
        assert!(increase > RECENT && scalars.increase == increase * INCREASE_AGAIN);
        (0..20).for_each(|_| scalars.distrust());
        assert_eq!(scalars.increase, LARGEST_INCREASE);
    }

    #[test]
    fn tiny_minibatches_may_be_damped_more() {
        let now = KroneckerSettings::default().at(0).unwrap();
        for (batch, most) in [(256.0, 30.0), (64.0, 30.0), (8.0, 240.0), (1.0, 1920.0)] {
            let mut scalars = Scalars { batch, ..Scalars::new() };
            (0..9).for_each(|_| scalars.adjust(1e6, &now));
            assert_eq!(scalars.caution, most);
        }
    }
}
