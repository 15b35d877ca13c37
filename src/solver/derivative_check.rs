//! One directional derivative of the cost by differences, where trials contradict the linear model.

use super::curvature::{DOUBTFUL, is_faithful};
use super::damping::{DampingPolicy, Trial};
use super::iteration::Iteration;
use super::scaling::Influences;
use crate::kernels::vector::{dot, scaled_norm};
use crate::linear::LinearModel;
use crate::linear::shape::Shape;
use crate::problem::{EvaluationError, LeastSquares};
use crate::real::Real;

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
    /// The linear model has just failed so often that its derivatives are doubted.
    #[inline]
    pub(super) fn is_time_to_check(&self, trial: &Trial<T>) -> bool {
        self.doubtful == DOUBTFUL && !is_faithful(trial)
    }

    /// The cost changes along the scaled gradient otherwise than the Jacobian says: differences of two lengths agree with each
    /// other, and not with the slope. `reach` is the length `‖Dδ‖` to begin with. At most 19 evaluations of the residuals;
    /// `false` where the Jacobian is not formed.
    pub(super) fn derivatives_are_wrong<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        reach: T,
    ) -> Result<bool, EvaluationError> {
        if self.plan.form.multiplies() || !self.follow_the_gradient(reach) {
            return Ok(false);
        }
        // What rounding errors of the residuals make of a cost.
        let noise = self.squared_noise(problem)?.sqrt();
        let noise = noise * (self.squares.sqrt() + noise) + T::EPSILON * self.cost.abs();
        let slope = dot(self.model.gradient(), self.step.as_ref());
        // The quotient of this length is off by no more than the permitted share of the slope.
        let shortest = noise / (T::from_f64(ROUNDING) * slope.abs());
        for length in LENGTHS.map(T::from_f64) {
            if length <= shortest {
                return Ok(false);
            }
            if let Some(found) = self.slope_along(problem, length, slope)? {
                // The far side of a sudden change may look like a straight line; next to the point there is none of it.
                let near = if contradicts(found, slope) { self.slope_along(problem, shortest, slope)? } else { None };
                return Ok(near.is_some_and(|near| contradicts(near, slope)));
            }
        }
        Ok(false)
    }

    /// The slope of the cost along the step by differences of this length and shorter ones, if they agree with each other.
    fn slope_along<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        length: T,
        slope: T,
    ) -> Result<Option<T>, EvaluationError> {
        let halves = [T::ONE, T::from_f64(0.5), T::from_f64(0.25)].map(|half| half * length);
        let mut quotients = [T::ZERO; 3];
        for (quotient, length) in quotients.iter_mut().zip(halves) {
            *quotient = (self.cost_along(problem, length)? - self.cost) / length;
        }
        // Richardson's extrapolation to length zero, twice.
        let [whole, half, quarter] = quotients;
        let (coarse, fine) = (half + half - whole, quarter + quarter - half);
        let size = fine.abs().max(slope.abs());
        Ok(((fine - coarse).abs() <= T::from_f64(AGREEMENT) * size).then_some(fine))
    }

    /// Makes the step `−D⁻²Jᵀr`, in the variables that no bound stops, of length `‖D·‖ = reach`; `false` where it is zero, or not
    /// finite. It leaves out parameters whose influence is lost among the others': differences do not see them.
    fn follow_the_gradient(&mut self, reach: T) -> bool {
        let influences = Influences::of(self.column_norms.as_ref(), self.sizes());
        for j in 0..self.plan.n {
            let (g, d) = (self.model.gradient()[j], self.d.as_ref()[j]);
            let is_lost = influences.is_lost(self.column_norms.as_ref()[j], self.sizes()[j]);
            let is_still = self.held_by(j).is_some() || is_lost;
            self.step.as_mut()[j] = if is_still { T::ZERO } else { -g / (d * d) };
        }
        let factor = reach / scaled_norm(self.d.as_ref(), self.step.as_ref());
        for (j, (step, &x)) in self.step.as_mut().iter_mut().zip(self.x.as_ref()).enumerate() {
            *step *= factor;
            if self.bounds.as_ref().is_some_and(|bounds| !bounds.contains(j, x + *step)) {
                *step = T::ZERO;
            }
        }
        let step = self.step.as_ref();
        step.iter().all(|step| step.is_finite()) && step.iter().any(|&step| step != T::ZERO)
    }

    /// Returns the cost after a fraction of the step.
    fn cost_along<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P, length: T) -> Result<T, EvaluationError> {
        self.look_ahead(problem, length);
        self.trial_cost(problem)
    }
}

/// A slope by differences shows that the one by derivatives is wrong.
fn contradicts<T: Real>(found: T, slope: T) -> bool {
    (found - slope).abs() > T::from_f64(CONTRADICTION) * found.abs().max(slope.abs())
}
