//! What training does to a step before it is tried: learning rate, momentum, clipping, and the ridge of weight decay.

use super::damping::{DampingPolicy, Trial};
use super::iteration::Iteration;
use crate::Real;
use crate::kernels::vector::{add_scaled, dot};
use crate::linear::shape::Shape;

/// How the step of the damped system becomes the step that is tried. A full solve tries it as it is.
#[derive(Debug, Clone)]
pub(crate) struct StepRule<T> {
    /// Factor of the step.
    pub(super) learning_rate: T,
    /// Factor of the last step taken, which is added.
    pub(super) momentum: T,
    /// The last step taken; empty where there is no momentum.
    pub(super) velocity: Vec<T>,
    /// The longest step.
    pub(super) clip_norm: T,
    /// `λ` is at least this.
    pub(super) minimum_damping: T,
    /// The `w` of the ridge `½ Σ w_j x_j²` that is added to the cost; empty where there is none.
    pub(super) ridge: Vec<T>,
}

impl<T: Real> Default for StepRule<T> {
    fn default() -> Self {
        StepRule {
            learning_rate: T::ONE,
            momentum: T::ZERO,
            velocity: Vec::new(),
            clip_norm: T::INFINITY,
            minimum_damping: T::ZERO,
            ridge: Vec::new(),
        }
    }
}

impl<T: Real> StepRule<T> {
    /// The ridge's share of the cost at `x`.
    #[inline]
    pub(super) fn ridge_cost(&self, x: &[T]) -> T {
        let sum = self.ridge.iter().zip(x).fold(T::ZERO, |sum, (&weight, &x)| sum + weight * x * x);
        T::from_f64(0.5) * sum
    }

    /// Makes `step` the step to try; `false` if that is what it was.
    #[inline]
    fn apply(&self, step: &mut [T]) -> bool {
        let mut changed = false;
        if self.learning_rate != T::ONE || self.momentum > T::ZERO {
            changed = true;
            for step in step.iter_mut() {
                *step *= self.learning_rate;
            }
            if self.momentum > T::ZERO {
                add_scaled(step, self.momentum, &self.velocity);
            }
        }
        let norm = if self.clip_norm.is_finite() { dot(step, step).sqrt() } else { T::ZERO };
        if norm > self.clip_norm {
            changed = true;
            for step in step {
                *step *= self.clip_norm / norm;
            }
        }
        changed
    }
}

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Applies the rule to the step, and judges what the linear model promises of the step that will be tried.
    #[inline]
    pub(super) fn apply_rule(&mut self, trial: &mut Trial<T>) {
        if self.rule.apply(self.step.as_mut()) {
            let step = self.step.as_ref();
            trial.slope = dot(self.model.gradient(), step);
            // A rise that was foreseen is no promise that could be kept.
            trial.predicted = (-(trial.slope + T::from_f64(0.5) * self.model.quadratic_form(step))).max(T::ZERO);
        }
    }
    /// Rounding swallows what the step promised.
    pub(super) fn is_lost(&self, trial: &Trial<T>) -> bool {
        trial.length.is_finite() && trial.slope.abs() <= T::EPSILON * self.cost.abs()
    }
}
