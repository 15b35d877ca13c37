//! Noise of minibatches, and the shorter steps by which it averages out.

use crate::real::Real;

/// Steps that are looked at together.
const WINDOW: u32 = 10;

/// Steps have stalled if the losses of minibatches fell by less than this share of what the steps removed from their own minibatches.
const STALLED: f64 = 0.02;

/// Watches the losses of minibatches before and after the steps on them.
///
/// Of data without noise, a step on one minibatch also lowers the loss of the next. Of noisy data, it ends up at the noise of its own
/// minibatch, and the next one finds a loss as high as before. From the second window of such steps in a row on, the rate is `1 / (1 + s)` after
/// `s` of them, by which the weights become the mean of what the minibatches ask for (Robbins & Monro 1951).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BatchNoise {
    /// Steps in the window, the sum of their losses before, and that of the reductions.
    steps: u32,
    losses: f64,
    reductions: f64,
    /// Sum of the losses of the window before; zero for none.
    before: f64,
    /// The window before had stalled: one alone may hold a minibatch of exceptions.
    was_stalled: bool,
    /// Stalled steps so far.
    stalled: f64,
}

impl BatchNoise {
    /// Factor of the learning rate.
    pub(super) fn rate(&self) -> f64 {
        (1.0 + self.stalled).recip()
    }

    /// Enters a step on a minibatch.
    pub(super) fn enter<T: Real>(&mut self, loss: T, loss_after: T) {
        self.steps += 1;
        self.losses += loss.to_f64();
        self.reductions += (loss - loss_after).to_f64();
        if self.steps < WINDOW {
            return;
        }
        let fall = self.before - self.losses;
        let is_stalled = self.before > 0.0 && fall < STALLED * f64::from(WINDOW) * self.reductions;
        let counted = if is_stalled && self.was_stalled { f64::from(WINDOW) } else { 0.0 };
        let stalled = self.stalled + counted;
        *self = BatchNoise { before: self.losses, was_stalled: is_stalled, stalled, ..Self::default() };
    }

    /// State, as numbers to be saved.
    pub(super) fn numbers(&self) -> [f64; 6] {
        let was_stalled = f64::from(u8::from(self.was_stalled));
        [f64::from(self.steps), self.losses, self.reductions, self.before, was_stalled, self.stalled]
    }

    /// The state of saved numbers; `None` for others.
    pub(super) fn from_numbers(numbers: &[f64]) -> Option<Self> {
        let &[steps, losses, reductions, before, was_stalled, stalled] = numbers else { return None };
        let is_state = numbers.iter().all(|number| number.is_finite())
            && stalled >= 0.0
            && (0.0..f64::from(WINDOW)).contains(&steps);
        let (steps, was_stalled) = (steps as u32, was_stalled != 0.0);
        is_state.then_some(BatchNoise { steps, losses, reductions, before, was_stalled, stalled })
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
        assert_eq!(rate_after(20, |_| (1.0, 0.2)), 1.0, "one stalled window may be chance");
        assert_eq!(rate_after(130, |_| (1.0, 0.2)), 1.0 / 111.0);
    }

    #[test]
    fn only_numbers_of_a_state_are_one() {
        let mut noise = BatchNoise::default();
        (0..123).for_each(|_| noise.enter(1.0, 0.2));
        assert_eq!(BatchNoise::from_numbers(&noise.numbers()).map(|noise| noise.numbers()), Some(noise.numbers()));
        for (index, number) in [(0, 10.0), (0, -1.0), (0, 1e99), (1, f64::NAN), (3, f64::INFINITY), (5, -1.0)] {
            let mut numbers = noise.numbers();
            numbers[index] = number;
            assert!(BatchNoise::from_numbers(&numbers).is_none(), "{numbers:?}");
        }
    }

    #[test]
    fn neither_a_fall_nor_a_repeated_batch_nor_an_exception_is_noise() {
        assert_eq!(rate_after(500, |k| (0.97_f64.powi(k as i32), 0.1 * 0.97_f64.powi(k as i32))), 1.0);
        // Each loss is the one after the step before.
        assert_eq!(rate_after(500, |k| (1.0 + 1.0 / (k + 1) as f64, 1.0 + 1.0 / (k + 2) as f64)), 1.0);
        assert_eq!(rate_after(500, |k| (if k == 42 { 50.0 } else { 0.97_f64.powi(k as i32) }, 0.0)), 1.0);
    }
}
