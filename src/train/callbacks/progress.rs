//! A bar for each epoch.

use indicatif::{ProgressBar, ProgressStyle};

use super::{Callback, Context};
use crate::optim::StepReport;
use crate::real::Real;
use crate::train::{CallbackError, Logs};

/// Draws a bar for each epoch on the terminal, and leaves a line with the logs, feature `progress`. Of several ranks the
/// first draws.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    is_brief: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A bar for each epoch.
    pub fn new() -> Self {
        Self::default()
    }

    /// One bar for the whole training, which disappears at its end.
    pub fn brief() -> Self {
        Progress { is_brief: true, bar: None }
    }

    fn start(&mut self, length: usize, done: usize, template: &str) -> Result<(), CallbackError> {
        let style = ProgressStyle::with_template(template).map_err(|error| CallbackError::Other(error.into()))?;
        let bar = ProgressBar::new(length as u64).with_style(style).with_position(done as u64);
        self.bar = Some(bar);
        Ok(())
    }

    /// The logs on a line.
    fn line(logs: &Logs) -> String {
        logs.iter().map(|(name, value)| format!("{name} {}", number(value))).collect::<Vec<_>>().join("  ")
    }
}

/// Formats a number in four digits.
fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e4).contains(&size) { format!("{value:.3e}") } else { format!("{value:.4}") }
}

impl<T: Real> Callback<T> for Progress {
    fn name(&self) -> &str {
        "progress"
    }

    fn on_train_begin(&mut self, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        if self.is_brief && context.is_root() {
            self.start(context.epochs, context.epoch, "{bar:40} epoch {pos}/{len}  {msg}  {eta} left")?;
        }
        Ok(())
    }

    fn on_epoch_begin(&mut self, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        if !self.is_brief && context.is_root() {
            self.start(context.batches, 0, "{prefix} {bar:30} {pos}/{len}  {msg}")?;
            if let Some(bar) = &self.bar {
                bar.set_prefix(format!("epoch {}/{}", context.epoch + 1, context.epochs));
            }
        }
        Ok(())
    }

    fn on_batch_end(&mut self, step: &StepReport<T>, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        if let Some(bar) = self.bar.as_ref().filter(|_| !self.is_brief) {
            bar.set_position(context.batch as u64);
            bar.set_message(format!("loss {}", number(step.loss.to_f64())));
        }
        Ok(())
    }

    fn on_epoch_end(&mut self, logs: &mut Logs, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        match &self.bar {
            Some(bar) if self.is_brief => {
                bar.set_position(context.epoch as u64 + 1);
                let loss = logs.get("val_loss").or(logs.get("loss")).unwrap_or(f64::NAN);
                bar.set_message(format!("loss {}", number(loss)));
            }
            Some(bar) => bar.finish_with_message(Self::line(logs)),
            None => {}
        }
        Ok(())
    }

    fn on_train_end(&mut self, _context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        if let Some(bar) = self.bar.take() {
            if self.is_brief { bar.finish_and_clear() } else { bar.abandon() }
        }
        Ok(())
    }
}
