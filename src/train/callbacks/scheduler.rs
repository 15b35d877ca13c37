//! A learning rate for each epoch.

use super::{Callback, Context};
use crate::real::Real;
use crate::train::CallbackError;

/// Sets the learning rate before every epoch, from the epoch, counted from 0, and the rate before. As Keras'
/// `LearningRateScheduler`.
///
/// For rates that change with every step, give the optimizer a [`Schedule`](crate::optim::Schedule).
///
/// ```
/// use marquardt::train::LearningRateScheduler;
///
/// let halved_every_ten =
///     LearningRateScheduler::new(
///         |epoch, rate| if epoch > 0 && epoch % 10 == 0 { rate / 2.0 } else { rate },
///     );
/// # let _ = halved_every_ten;
/// ```
#[derive(Debug, Clone)]
pub struct LearningRateScheduler<F> {
    schedule: F,
}

impl<F: FnMut(usize, f64) -> f64> LearningRateScheduler<F> {
    /// Creates a scheduler of a function that gives the rate for an epoch, from the rate before.
    pub fn new(schedule: F) -> Self {
        LearningRateScheduler { schedule }
    }
}

impl<T: Real, F: FnMut(usize, f64) -> f64> Callback<T> for LearningRateScheduler<F> {
    fn name(&self) -> &str {
        "learning_rate_scheduler"
    }

    fn on_train_begin(&mut self, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        context.learning_rate().map(|_| ())
    }

    fn on_epoch_begin(&mut self, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        let rate = (self.schedule)(context.epoch, context.learning_rate()?);
        context.set_learning_rate(rate)
    }
}
