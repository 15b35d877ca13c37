//! The trait.

use std::ops::DerefMut;

use super::{CallbackState, Context};
use crate::optim::{OptimizerError, StepReport};
use crate::pass_on::{behind_pointer, pass_on};
use crate::real::Real;
use crate::train::{CallbackError, Logs};

/// Observer of a training, which may change the variables and the hyperparameters of the optimizer, or stop the training.
///
/// Callbacks are called in the order in which they were added. An error of a callback ends the training. With several ranks, callbacks are
/// called on every rank and must do the same on all, except for work of the [first rank](Context::is_root) alone, such as writing files.
///
/// ```
/// use marquardt::{LevenbergMarquardt, Variables};
/// use marquardt::nn::{MeanSquaredError, Sequential};
/// use marquardt::optim::StepReport;
/// use marquardt::train::{Callback, CallbackError, Context, Trainer};
/// use ndarray::Array2;
///
/// /// Counts the trials of all steps, and stops after so many.
/// struct Trials { made: usize, limit: usize }
///
/// impl Callback<f64> for Trials {
///     fn name(&self) -> &str { "trials" }
///
///     fn on_batch_end(
///         &mut self,
///         step: &StepReport<f64>,
///         context: &mut Context<'_, f64>,
///     ) -> Result<(), CallbackError> {
///         self.made += step.damped.map_or(1, |damped| damped.attempts);
///         if self.made >= self.limit {
///             context.stop(format!("{} trials were made", self.made));
///         }
///         Ok(())
///     }
/// }
///
/// let x = Array2::from_shape_fn((100, 1), |(i, _)| i as f64 / 50.0 - 1.0);
/// let y = x.mapv(|x| x * x);
/// let mut variables = Variables::new();
/// let mut network = Sequential::new(1).dense(4).tanh().dense(1).compile(
///     &mut variables,
///     0,
///     MeanSquaredError,
/// )?;
/// let mut optimizer = LevenbergMarquardt::new();
/// let mut trials = Trials { made: 0, limit: 10 };
/// let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer)
///     .epochs(100)
///     .callback(&mut trials);
/// let history = trainer.fit(&[x.view()], &[y.view()])?;
/// assert!(history.len() < 5);
/// drop(trainer);
/// assert!((10..18).contains(&trials.made));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Callback<T: Real> {
    /// Its name, in snake case.
    fn name(&self) -> &str;

    /// Called before the first epoch, or, if a training is [resumed](Context::is_resumed), after [`restore`](Self::restore).
    ///
    /// # Errors
    ///
    /// Whatever prevents the training, such as a monitor that is unknown; nothing has been changed then.
    fn on_train_begin(&mut self, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        let _ = context;
        Ok(())
    }

    /// Called before the first minibatch of an epoch.
    ///
    /// # Errors
    ///
    /// Whatever goes wrong.
    fn on_epoch_begin(&mut self, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        let _ = context;
        Ok(())
    }

    /// Called after a step.
    ///
    /// # Errors
    ///
    /// Whatever goes wrong.
    fn on_batch_end(&mut self, step: &StepReport<T>, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        let _ = (step, context);
        Ok(())
    }

    /// Called if the optimizer returned an error instead of a step. If a callback [stops](Context::stop) the training here, the error
    /// becomes a reason to stop.
    ///
    /// # Errors
    ///
    /// Whatever goes wrong.
    fn on_step_error(&mut self, error: &OptimizerError, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        let _ = (error, context);
        Ok(())
    }

    /// Called after an epoch and its validation. Entries added to the logs become part of the history.
    ///
    /// # Errors
    ///
    /// Whatever goes wrong.
    fn on_epoch_end(&mut self, logs: &mut Logs, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        let _ = (logs, context);
        Ok(())
    }

    /// Called after the last epoch, whatever [ended](Context::stop_reason) the training, except an error.
    ///
    /// # Errors
    ///
    /// Whatever goes wrong.
    fn on_train_end(&mut self, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        let _ = context;
        Ok(())
    }

    /// Its state, for a resumed training.
    fn state(&self) -> CallbackState {
        CallbackState::default()
    }

    /// Goes on from a saved [`state`](Self::state).
    ///
    /// # Errors
    ///
    /// [`CallbackError::State`].
    fn restore(&mut self, state: &CallbackState) -> Result<(), CallbackError> {
        let _ = state;
        Ok(())
    }
}

/// A callback that is borrowed, to be looked at after the training, or boxed.
impl<T: Real, P: DerefMut<Target: Callback<T>>> Callback<T> for P {
    pass_on! { behind_pointer
        ref name() -> &str;
        mut on_train_begin(context: &mut Context<'_, T>) -> Result<(), CallbackError>;
        mut on_epoch_begin(context: &mut Context<'_, T>) -> Result<(), CallbackError>;
        mut on_batch_end(step: &StepReport<T>, context: &mut Context<'_, T>) -> Result<(), CallbackError>;
        mut on_step_error(error: &OptimizerError, context: &mut Context<'_, T>) -> Result<(), CallbackError>;
        mut on_epoch_end(logs: &mut Logs, context: &mut Context<'_, T>) -> Result<(), CallbackError>;
        mut on_train_end(context: &mut Context<'_, T>) -> Result<(), CallbackError>;
        ref state() -> CallbackState;
        mut restore(state: &CallbackState) -> Result<(), CallbackError>;
    }
}
