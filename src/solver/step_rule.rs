//! What training does to a step before it is tried: learning rate, momentum, clipping, and the ridge of weight decay.

use super::damping::{DampingPolicy, IllConditioned, Trial};
use super::iteration::Iteration;
use crate::kernels::vector::dot;
use crate::linear::shape::Shape;
use crate::{LeastSquares, Real};

/// How the step of the damped system becomes the step that is tried. A full solve tries it as it is.
#[derive(Debug, Clone)]
pub(crate) struct StepRule<T> {
    /// Factor of the step.
    pub(super) learning_rate: T,
    /// The damping draws the step towards so many times the last one.
    pub(super) momentum: T,
    /// The last step taken; empty where there is no momentum.
    pub(super) velocity: Vec<T>,
    /// What the damping draws the step towards; empty where there is no momentum.
    pub(super) target: Vec<T>,
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
            target: Vec::new(),
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
    /// Applies the rule to the step, and judges what the linear model promises of the step that will be tried.
    #[inline]
    pub(super) fn apply_rule<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        trial: &mut Trial<T>,
    ) -> Result<(), IllConditioned> {
        let (model, rule, step) = (&mut self.model, &mut self.rule, self.step.as_mut());
        if rule.is_plain() {
            return model.unfold(problem, &[], step);
        }
        model.scale(rule.learning_rate, step);
        rule.target.clear();
        if rule.momentum > T::ZERO {
            rule.target.extend(rule.velocity.iter().map(|&velocity| rule.momentum * velocity));
            model.pull(problem, trial.lambda, self.d.as_ref(), &rule.target, self.correction.as_mut(), step)?;
        }
        model.unfold(problem, &rule.target, step)?;
        let norm = if rule.clip_norm.is_finite() { dot(step, step).sqrt() } else { T::ZERO };
        if norm > rule.clip_norm {
            let factor = rule.clip_norm / norm;
            model.scale(factor, step);
            if self.plan.form.multiplies() {
                step.iter_mut().for_each(|step| *step *= factor);
            }
        }
        let step = self.step.as_ref();
        trial.slope = self.model.slope(step);
        // A rise that was foreseen is no promise that could be kept.
        trial.predicted = (-(trial.slope + T::from_f64(0.5) * self.model.quadratic_form(step))).max(T::ZERO);
        Ok(())
    }

    /// Rounding swallows what the step promised.
    pub(super) fn is_lost(&self, trial: &Trial<T>) -> bool {
        trial.length.is_finite() && trial.slope.abs() <= T::EPSILON * self.cost.abs()
    }
}
