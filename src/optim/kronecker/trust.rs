//! Trust in the quadratic model: steps are judged by the minibatch that follows them.

use super::memory::KroneckerMemory;
use super::scalars::SURPRISE;
use crate::optim::{OptimizerResult, StepReport};
use crate::problem::KroneckerFactored;
use crate::real::Real;
use crate::variables::Variables;

/// Part of a loss's excess over the average that a step has to account for to be taken back.
const SHARE: f64 = 0.5;

impl<T: Real> KroneckerMemory<T> {
    /// Returns true if a loss is far above the average of the minibatches before, or not finite.
    pub(super) fn is_surprise(&self, loss: f64) -> bool {
        let mean = self.scalars.loss;
        self.scalars.is_underway && !(loss - mean <= (SURPRISE - 1.0) * mean.abs())
    }

    /// Takes the last step back where the loss is a surprise, and most of what it is above the average is due to that step: the same
    /// minibatch has a lower loss without it.
    ///
    /// The gain ratio on the minibatch that a step was computed from is no test: it is about one even if noise was fitted, and
    /// another minibatch may have more curvature along the step.
    pub(super) fn take_back(
        &mut self,
        problem: &mut dyn KroneckerFactored<T>,
        variables: &mut Variables<T>,
        loss: T,
    ) -> OptimizerResult<Option<StepReport<T>>> {
        if !self.is_surprise(loss.to_f64()) {
            return Ok(None);
        }
        let due = SHARE * (loss.to_f64() - self.scalars.loss);
        // A convex function falls by no more than its slope tells, which is known already.
        if loss.is_finite() && self.gradient_times(&self.velocity).to_f64() < due {
            return Ok(None);
        }
        self.values.copy_from_slice(variables.values());
        for range in &self.trainable {
            let steps = &self.velocity[range.clone()];
            self.values[range.clone()].iter_mut().zip(steps).for_each(|(value, &step)| *value -= step);
        }
        let before = problem.loss_at(&self.values)?;
        if !before.is_finite() || (loss - before).to_f64() < due {
            return Ok(None);
        }
        for range in &self.trainable {
            variables.values_mut()[range.clone()].copy_from_slice(&self.values[range.clone()]);
        }
        self.velocity.fill(T::ZERO);
        self.scalars.distrust();
        Ok(Some(StepReport {
            loss,
            loss_after: Some(before),
            applied: true,
            damped: None,
            factored: Some(self.scalars.details()),
        }))
    }
}
