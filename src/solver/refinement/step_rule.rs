//! The step rule of training: learning rate, momentum and clipping.

use super::Refinement;
use crate::kernels::vector::add_scaled;
use crate::problem::Evaluated;
use crate::real::Real;
use crate::solver::Refusal;
use crate::solver::damping::Trial;
use crate::solver::system::StepSystem;
use crate::solver::training::BatchRule;

/// Rule that turns the step of the damped system into the step that is tried.
///
/// The momentum joins the damping, `½λ‖D(δ − a)‖²`, which draws towards `a`, a multiple of the last step.
#[derive(Debug, Clone)]
pub(in crate::solver) struct StepRule<T> {
    /// Factor of the step.
    learning_rate: T,
    /// Multiple of the last step towards which the damping draws the step.
    momentum: T,
    /// The last step taken; empty where there is no momentum.
    velocity: Vec<T>,
    /// The step that the damping draws towards; empty where there is no momentum.
    target: Vec<T>,
    /// Largest norm of a step.
    clip_norm: T,
}

impl<T: Real> Default for StepRule<T> {
    /// Steps are tried as they are.
    fn default() -> Self {
        StepRule {
            learning_rate: T::ONE,
            momentum: T::ZERO,
            velocity: Vec::new(),
            target: Vec::new(),
            clip_norm: T::INFINITY,
        }
    }
}

impl<T: Real> StepRule<T> {
    /// Takes up the rule of a batch.
    pub(in crate::solver) fn take_up(&mut self, rule: &BatchRule<'_, T>) {
        (self.learning_rate, self.momentum, self.clip_norm) = (rule.learning_rate, rule.momentum, rule.clip_norm);
        self.velocity.clear();
        self.velocity.extend_from_slice(rule.velocity);
        self.target.reserve(self.velocity.len().saturating_sub(self.target.len()));
    }

    /// Makes the `target` that damping with `lambda` draws the step from `x` towards. A `ridge` that is not in the linear system
    /// joins in: `½λ‖δ − a‖² + ½ω‖x + δ‖²` is least where `½(λ + ω)‖δ − (λa − ωx)/(λ + ω)‖²` is.
    fn aim(&mut self, lambda: T, ridge: T, x: &[T]) {
        self.target.clear();
        if self.momentum > T::ZERO {
            let share = if ridge > T::ZERO { lambda / (lambda + ridge) } else { T::ONE };
            self.target.extend(self.velocity.iter().map(|&velocity| share * self.momentum * velocity));
        } else if ridge > T::ZERO {
            self.target.resize(x.len(), T::ZERO);
        }
        if ridge > T::ZERO {
            add_scaled(&mut self.target, -self.learning_rate * ridge / (lambda + ridge), x);
        }
    }
}

impl<T: Real> Refinement<T> for StepRule<T> {
    fn refine(&mut self, system: &mut impl StepSystem<T>, trial: &mut Trial<T>) -> Evaluated<Option<Refusal>> {
        let is_plain = self.learning_rate == T::ONE && self.momentum == T::ZERO && self.clip_norm == T::INFINITY;
        let ridge = system.ridge();
        if is_plain && ridge == T::ZERO {
            return Ok(None);
        }
        self.aim(trial.lambda, ridge, system.x());
        system.draw((self.learning_rate, &self.target, self.clip_norm), trial)
    }

    /// Damping does not shorten the momentum, so it may be what is wrong with a step that was not taken.
    fn learn(&mut self, trial: &Trial<T>) {
        if !trial.accepted {
            self.momentum = T::ZERO;
        }
    }
}
