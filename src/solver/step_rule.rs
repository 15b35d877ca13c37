//! Step rule of training: learning rate, momentum, clipping, and the ridge of weight decay.

use super::damping::{DampingPolicy, IllConditioned, Trial};
use super::iteration::Iteration;
use crate::kernels::vector::{add_scaled, dot};
use crate::linear::LinearModel;
use crate::linear::shape::Shape;
use crate::problem::LeastSquares;
use crate::real::Real;

/// Rule that turns the step of the damped system into the step that is tried. A full solve tries it as it is.
#[derive(Debug, Clone)]
pub(crate) struct StepRule<T> {
    /// Factor of the step.
    pub(crate) learning_rate: T,
    /// Multiple of the last step towards which the damping draws the step.
    pub(crate) momentum: T,
    /// The last step taken; empty where there is no momentum.
    pub(crate) velocity: Vec<T>,
    /// Step that the damping draws towards; empty where there is no momentum.
    pub(crate) target: Vec<T>,
    /// The longest step.
    pub(crate) clip_norm: T,
    /// `λ` is at least this.
    pub(crate) minimum_damping: T,
    /// The `w` of the ridge `½ Σ w_j x_j²` that is added to the cost; empty where there is none.
    pub(crate) ridge: Vec<T>,
    /// The `w` that all of them are; zero where there is none.
    pub(crate) uniform_ridge: Option<T>,
}

impl<T: Real> Default for StepRule<T> {
    fn default() -> Self {
        StepRule {
            learning_rate: T::ONE,
            momentum: T::ZERO,
            velocity: Vec::new(),
            target: Vec::new(),
            clip_norm: T::INFINITY,
            minimum_damping: T::ZERO,
            ridge: Vec::new(),
            uniform_ridge: Some(T::ZERO),
        }
    }
}

impl<T: Real> StepRule<T> {
    /// Makes the `target` that damping with `lambda` draws the step towards. A `ridge` that is not in the linear system
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

    /// The ridge's share of the cost at `x`.
    #[inline]
    pub(crate) fn ridge_cost(&self, x: &[T]) -> T {
        let sum = self.ridge.iter().zip(x).fold(T::ZERO, |sum, (&weight, &x)| sum + weight * x * x);
        T::from_f64(0.5) * sum
    }

    /// The step is tried as it is.
    fn is_plain(&self) -> bool {
        self.learning_rate == T::ONE && self.momentum == T::ZERO && self.clip_norm == T::INFINITY
    }
}

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Applies the rule to the step, and judges the reduction that the linear model predicts for the step that will be tried.
    #[inline]
    pub(super) fn apply_rule<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        trial: &mut Trial<T>,
    ) -> Result<(), IllConditioned> {
        let (model, rule, step) = (&mut self.model, &mut self.rule, self.step.as_mut());
        // Where rows are summed, the ridge is one of the sums.
        let ridge = if self.plan.form.multiplies() { rule.uniform_ridge.unwrap_or(T::ZERO) } else { T::ZERO };
        if rule.is_plain() && ridge == T::ZERO {
            return model.form_step(problem.products(), &[], step);
        }
        model.scale(rule.learning_rate, step);
        rule.aim(trial.lambda, ridge, self.x.as_ref());
        if !rule.target.is_empty() {
            let room = self.correction.as_mut();
            model.shift(problem.products(), trial.lambda, self.d.as_ref(), &rule.target, room, step)?;
        }
        model.form_step(problem.products(), &rule.target, step)?;
        let norm = if rule.clip_norm.is_finite() { dot(step, step).sqrt() } else { T::ZERO };
        if norm > rule.clip_norm {
            let factor = rule.clip_norm / norm;
            model.scale(factor, step);
            if self.plan.form.multiplies() {
                step.iter_mut().for_each(|step| *step *= factor);
            }
        }
        let step = self.step.as_ref();
        let (mut slope, mut curvature) = (self.model.slope(step), self.model.quadratic_form(step));
        if ridge > T::ZERO {
            slope += ridge * dot(self.x.as_ref(), step);
            curvature += ridge * dot(step, step);
        }
        trial.slope = slope;
        // A rise that was foreseen is no reduction that could be predicted.
        trial.predicted = (-(slope + T::from_f64(0.5) * curvature)).max(T::ZERO);
        Ok(())
    }

    /// Rounding swallows the predicted reduction of the step.
    pub(crate) fn is_lost(&self, trial: &Trial<T>) -> bool {
        trial.length.is_finite() && trial.slope.abs() <= T::EPSILON * self.cost.abs()
    }
}
