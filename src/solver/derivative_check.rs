//! One directional derivative of the cost by differences, where trials contradict the linear model.

use super::damping::DampingPolicy;
use super::iteration::Iteration;
use crate::kernels::vector::{dot, scaled_norm};
use crate::linear::shape::Shape;
use crate::{EvaluationError, LeastSquares, Real};

/// Lengths of the differences that are tried, relative to the first.
const LENGTHS: [f64; 4] = [1e-1, 1e-2, 1e-3, 1e-4];

/// Two differences that agree to this share of the slope are believed.
const AGREEMENT: f64 = 0.05;

/// Derivatives that are off by more than this share are wrong.
const CONTRADICTION: f64 = 0.3;

/// Rounding errors of a cost may make up this share of a difference.
const ROUNDING: f64 = 1e-3;

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// The cost changes along the scaled gradient otherwise than the Jacobian says: differences of two lengths agree with each
    /// other, and not with the slope. `reach` is the length `‖Dδ‖` to begin with. At most 12 evaluations of the residuals;
    /// `false` where the Jacobian is not formed.
    pub(super) fn derivatives_are_wrong<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        reach: T,
    ) -> Result<bool, EvaluationError> {
        if self.plan.form.multiplies() || !(reach.is_finite() && reach > T::ZERO) {
            return Ok(false);
        }
        let Some(direction) = self.scaled_gradient(reach) else { return Ok(false) };
        let slope = dot(self.model.gradient(), &direction);
        for length in LENGTHS {
            let length = T::from_f64(length);
            if length * slope.abs() * T::from_f64(ROUNDING) <= T::EPSILON * self.cost.abs() {
                return Ok(false);
            }
            let halves = [T::ONE, T::from_f64(0.5), T::from_f64(0.25)].map(|half| half * length);
            let mut quotients = [T::ZERO; 3];
            for (quotient, length) in quotients.iter_mut().zip(halves) {
                *quotient = (self.cost_along(problem, &direction, length)? - self.cost) / length;
            }
            // Richardson's extrapolation to length zero, twice.
            let [whole, half, quarter] = quotients;
            let (coarse, fine) = (half + half - whole, quarter + quarter - half);
            let size = fine.abs().max(slope.abs());
            if (fine - coarse).abs() <= T::from_f64(AGREEMENT) * size {
                return Ok((fine - slope).abs() > T::from_f64(CONTRADICTION) * size);
            }
        }
        Ok(false)
    }

    /// `−D⁻²Jᵀr` in the variables that no bound stops, of length `‖D·‖ = reach`; `None` where that is zero.
    fn scaled_gradient(&self, reach: T) -> Option<Vec<T>> {
        let columns = self.model.gradient().iter().zip(self.d.as_ref()).enumerate();
        let mut direction: Vec<T> =
            columns.map(|(j, (&g, &d))| if self.held_by(j).is_some() { T::ZERO } else { -g / (d * d) }).collect();
        let length = scaled_norm(self.d.as_ref(), &direction);
        let factor = reach / length;
        direction.iter_mut().for_each(|step| *step *= factor);
        if let Some(bounds) = &self.bounds {
            for (j, (step, &x)) in direction.iter_mut().zip(self.x.as_ref()).enumerate() {
                if !bounds.contains(j, x + *step) {
                    *step = T::ZERO;
                }
            }
        }
        let is_usable = direction.iter().all(|step| step.is_finite()) && direction.iter().any(|&step| step != T::ZERO);
        is_usable.then_some(direction)
    }

    /// The cost after so much of a direction.
    fn cost_along<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        direction: &[T],
        length: T,
    ) -> Result<T, EvaluationError> {
        for ((trial, &x), &step) in self.trial.as_mut().iter_mut().zip(self.x.as_ref()).zip(direction) {
            *trial = x + length * step;
        }
        self.trial_cost(problem)
    }
}
