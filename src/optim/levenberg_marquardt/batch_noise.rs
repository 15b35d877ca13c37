//! Noise of minibatches, and the shorter steps by which it averages out.

use crate::real::Real;

/// Steps of the first window, and how much longer each window is than the one before.
const FIRST_WINDOW: f64 = 10.0;
const GROWTH: f64 = 1.5;

/// Losses of a window, over those of the window before, from which they no longer fall.
const STANDS_STILL: f64 = 0.9;

/// Share of the loss of its own minibatch that a step has to remove to fit noise, in the first window that stands still.
const REMOVED: f64 = 1.0 / 6.0;

/// Least share that counts, however long the losses stand still.
const LEAST_REMOVED: f64 = 1.0 / 12.0;

/// The rate falls with this power of the steps on noise.
const EXPONENT: f64 = -0.75;

/// Watches the losses of minibatches before and after the steps on them.
///
/// Of data without noise, a step on one minibatch also lowers the loss of the next. Of noisy data, it fits the noise of its own minibatch, and the next one
/// has a loss as high as before. From the end of the first window of such steps on, the rate is `(1 + s)^(−3/4)` after `s` more of them, by which the weights become a mean of what
/// the minibatches ask for (Robbins & Monro 1951; the exponent is between those that Polyak & Juditsky 1992 allow).
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchNoise {
    /// Steps in the window, the sum of their losses before, and that of the reductions.
    steps: f64,
    losses: f64,
    reductions: f64,
    /// Mean of the losses of the window before; zero for none.
    before: f64,
    /// Steps of the window.
    window: f64,
    /// Steps since noise was found, and one; zero before.
    averaged: f64,
    /// Share that steps of a window that stands still have to remove.
    removed: f64,
}

impl Default for BatchNoise {
    fn default() -> Self {
        BatchNoise {
            steps: 0.0,
            losses: 0.0,
            reductions: 0.0,
            before: 0.0,
            window: FIRST_WINDOW,
            averaged: 0.0,
            removed: REMOVED,
        }
    }
}

impl BatchNoise {
    /// Factor of the learning rate.
    pub(super) fn rate(&self) -> f64 {
        self.averaged.max(1.0).powf(EXPONENT)
    }

    /// Enters a step on a minibatch.
    pub(super) fn enter<T: Real>(&mut self, loss: T, loss_after: T) {
        if self.averaged > 0.0 {
            self.averaged += 1.0;
            return;
        }
        self.steps += 1.0;
        self.losses += loss.to_f64();
        self.reductions += (loss - loss_after).to_f64();
        if self.steps < self.window {
            return;
        }
        let mean = self.losses / self.steps;
        let stands_still = self.before > 0.0 && mean > STANDS_STILL * self.before;
        let averaged = if stands_still && self.reductions > self.removed * self.losses { 1.0 } else { 0.0 };
        // A longer standstill takes less to be one of noise.
        let removed = if stands_still { (self.removed / 2.0).max(LEAST_REMOVED) } else { REMOVED };
        *self = BatchNoise { before: mean, window: GROWTH * self.window, averaged, removed, ..Self::default() };
    }

    /// State, as numbers to be saved.
    pub(super) fn numbers(&self) -> [f64; 7] {
        [self.steps, self.losses, self.reductions, self.before, self.window, self.averaged, self.removed]
    }

    /// The state of saved numbers; `None` for others.
    pub(super) fn from_numbers(numbers: &[f64]) -> Option<Self> {
        let &[steps, losses, reductions, before, window, averaged, removed] = numbers else { return None };
        let is_state = numbers.iter().all(|number| number.is_finite())
            && averaged >= 0.0
            && window >= FIRST_WINDOW
            && (0.0..window).contains(&steps)
            && (LEAST_REMOVED..=REMOVED).contains(&removed);
        is_state.then_some(BatchNoise { steps, losses, reductions, before, window, averaged, removed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate_after(steps: usize, losses: impl Fn(usize) -> (f64, f64)) -> f64 {
        let mut noise = BatchNoise::default();
        (0..steps).map(losses).for_each(|(before, after)| noise.enter(before, after));
        noise.rate()
    }

    #[test]
    fn losses_that_do_not_fall_beyond_their_minibatch_shorten_steps() {
        assert_eq!(rate_after(24, |_| (1.0, 0.2)), 1.0, "there is nothing to compare with yet");
        assert_eq!(rate_after(25 + 15, |_| (1.0, 0.2)), 0.125);
        // Of steps that remove less, it takes longer to say.
        assert_eq!(rate_after(47, |_| (1.0, 0.88)), 1.0);
        assert_eq!(rate_after(48 + 15, |_| (1.0, 0.88)), 0.125);
    }

    #[test]
    fn only_numbers_of_a_state_are_one() {
        let mut noise = BatchNoise::default();
        (0..123).for_each(|_| noise.enter(1.0, 0.9));
        assert_eq!(BatchNoise::from_numbers(&noise.numbers()).map(|noise| noise.numbers()), Some(noise.numbers()));
        for (index, number) in [(0, 1e99), (0, -1.0), (1, f64::NAN), (3, f64::INFINITY), (4, 1.0), (5, -1.0), (6, 0.0)]
        {
            let mut numbers = noise.numbers();
            numbers[index] = number;
            assert!(BatchNoise::from_numbers(&numbers).is_none(), "{numbers:?}");
        }
    }

    #[test]
    fn neither_a_fall_nor_a_repeated_batch_nor_an_exception_is_noise() {
        let falling = |k: usize| (k as f64 + 1.0).powf(-0.5);
        assert_eq!(rate_after(5000, |k| (falling(k), 0.1 * falling(k))), 1.0);
        // Each loss is the one after the step before.
        assert_eq!(rate_after(500, |k| (1.0 + 1.0 / (k + 1) as f64, 1.0 + 1.0 / (k + 2) as f64)), 1.0);
        // A large minibatch has room for the noise of few parameters only.
        assert_eq!(rate_after(5000, |_| (1.0, 0.95)), 1.0);
    }
}
