//! Stopping at NaN.

use super::{Callback, Context};
use crate::optim::{OptimizerError, StepReport};
use crate::real::Real;
use crate::train::{CallbackError, Logs};

/// Stops a training when a loss is NaN or infinite. The role of Keras' `TerminateOnNaN`.
///
/// Without this callback, such a training ends with an error of the optimizer. In both cases the variables stay at the last finite point.
#[derive(Debug, Clone, Copy, Default)]
pub struct TerminateOnNonFinite;

impl<T: Real> Callback<T> for TerminateOnNonFinite {
    fn name(&self) -> &str {
        "terminate_on_non_finite"
    }

    fn on_batch_end(&mut self, step: &StepReport<T>, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        if !step.loss.is_finite() {
            context.stop(format!("the loss is {}", step.loss));
        }
        Ok(())
    }

    fn on_step_error(&mut self, error: &OptimizerError, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        if error.is_non_finite() {
            context.stop(error.to_string());
        }
        Ok(())
    }

    fn on_epoch_end(&mut self, logs: &mut Logs, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        if let Some(loss) = logs.get("val_loss").filter(|loss| !loss.is_finite()) {
            context.stop(format!("val_loss is {loss}"));
        }
        Ok(())
    }
}
