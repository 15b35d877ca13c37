//! Geodesic acceleration: a second-order correction along the step.

use super::damping::{DampedSystem, DampingPolicy, Trial};
use super::iteration::Iteration;
use crate::kernels::vector::dot;
use crate::linear::LinearModel;
use crate::linear::shape::Shape;
use crate::problem::{EvaluationError, LeastSquares};
use crate::real::Real;

/// Policy of the second-order step correction (geodesic acceleration, Transtrum & Sethna 2012).
///
/// Long curved valleys make plain steps short. The correction follows the curve, for one second directional derivative
/// of the residuals (exact with [`AutoDiff`](crate::AutoDiff), else one more evaluation) and, where the Jacobian does not
/// fit one tile of the cache, one more pass over it. A problem with a cost of its own
/// ([`LeastSquares::cost_of`]) has to know that derivative itself; without it, its steps are not corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Acceleration {
    /// Plain steps.
    Never,
    /// Enabled after a step with a gain ratio below 0.75; disabled once the correction is below 2 % of the step. The default.
    #[default]
    WhereCurved,
    /// Every step, for paths that stay curved, as those of networks that solve differential equations. Where the
    /// correction would be longer than three quarters of the step, the step is plain instead of rejected.
    Always,
}

/// The correction may be this long, relative to the step; beyond, the step is not trusted (Transtrum & Sethna 2012, α).
const LONGEST_CORRECTION: f64 = 0.75;

/// Length of the correction, relative to the step, at which acceleration is disabled again.
const STRAIGHT: f64 = 0.02;

/// A gain ratio below this is taken for a sign of curvature.
const CURVED_GAIN: f64 = 0.75;

/// Step of the difference for the second directional derivative, relative to `δ` (Transtrum & Sethna 2012, h).
const PROBE: f64 = 0.1;

impl Acceleration {
    /// Returns true if the next step is to be accelerated. `correction` is the length of the last trial's correction relative to
    /// its step, if that trial was accelerated.
    #[inline]
    pub(super) fn wanted<T: Real>(self, trial: &Trial<T>, correction: Option<T>) -> bool {
        match (self, correction) {
            (Acceleration::Never, _) => false,
            (Acceleration::Always, _) => true,
            (Acceleration::WhereCurved, Some(correction)) => correction > T::from_f64(STRAIGHT),
            (Acceleration::WhereCurved, None) => !trial.gains(CURVED_GAIN),
        }
    }
}

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Adds `½a` to the step `v`, where `(JᵀJ + λD²)a = −Jᵀr_vv` and `r_vv` is the second derivative of the residuals
    /// along `v`. Returns `‖Da‖ / ‖Dv‖`; zero, and the plain step, where the second derivative is not finite. What a bound
    /// holds is not corrected, and nothing is where the correction would cross a bound.
    pub(super) fn correct_step<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        length: T,
    ) -> Result<T, EvaluationError> {
        if self.model.form_step(problem.products(), &[], self.step.as_mut()).is_err() {
            return Ok(T::ZERO);
        }
        let probe = T::from_f64(PROBE);
        self.look_ahead(problem, probe);
        self.model.begin_forcing();
        if self.plan.form.multiplies() {
            self.force_by_products(problem, probe)?
        } else {
            self.force(problem, probe)?
        }
        let (d, room, step) = (self.d.as_ref(), self.correction.as_mut(), self.step.as_mut());
        let held = self.bounds.as_ref().map_or(&[][..], |bounds| bounds.held());
        if self.point_sizes.is_none() {
            self.trial.as_mut().copy_from_slice(step);
        }
        // No second derivative, no correction.
        let correction = self
            .model
            .add_correction(problem.products(), d, held, room, step)
            .map_or(T::ZERO, |correction| correction / length);
        if self.bounds.as_ref().is_some_and(|bounds| !bounds.allows(self.x.as_ref(), step)) {
            step.copy_from_slice(self.trial.as_ref());
        }
        Ok(if correction.is_finite() { correction } else { T::ZERO })
    }

    /// Makes `Jᵀr_vv` the model's other right-hand side, from the rows of the Jacobian.
    fn force<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P, probe: T) -> Result<(), EvaluationError> {
        let (x, v, ahead) = (self.x.as_ref(), self.step.as_ref(), self.trial.as_ref());
        let model = &mut self.model;
        let (has_own_cost, mut by_difference) = (self.has_own_cost, false);
        let evaluated = self.tiles.revisit(problem, x, |problem, first, at_hand, second| {
            let Some((r, jacobian)) = at_hand else { return correction_without(problem, model, x, v, first, second) };
            let exact = problem.second_directional_derivative(x, v, first, second)?;
            if !exact && has_own_cost {
                second.fill(T::ZERO);
            } else if !exact {
                by_difference = true;
                problem.residuals(ahead, first, second)?;
                for ((second, &r), row) in second.iter_mut().zip(r).zip(jacobian.chunks_exact(v.len())) {
                    *second = second_difference(*second, r, dot(row, v), probe);
                }
            }
            model.add_forcing(second, jacobian);
            Ok(true)
        });
        let evaluated = match (&mut self.rank_sync, model.forcing_mut()) {
            (Some(rank_sync), Some(forcing)) => {
                let (evaluated, own) =
                    evaluated.map_or_else(|error| (false, Err(error)), |evaluated| (evaluated, Ok(())));
                rank_sync.sum(forcing, own)?;
                evaluated
            }
            _ => evaluated?,
        };
        self.evaluations.jacobians += usize::from(evaluated);
        self.evaluations.residuals += usize::from(by_difference);
        Ok(())
    }

    /// The step, with a correction of this length relative to it if it was accelerated, may be tried. One with too long a correction may
    /// not; where every step is accelerated, it gives way to the plain step with the same damping.
    #[inline]
    pub(super) fn is_trusted<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        lambda: T,
        correction: Option<T>,
    ) -> bool {
        let is_too_long = |correction: T| !(correction <= T::from_f64(LONGEST_CORRECTION));
        if !correction.is_some_and(is_too_long) {
            return true;
        }
        if self.acceleration != Acceleration::Always {
            return false;
        }
        if self.point_sizes.is_none() && self.model.forcing_mut().is_some() {
            // The plain step has been kept where there is room for it.
            self.step.as_mut().copy_from_slice(self.trial.as_ref());
            return true;
        }
        self.system(problem).1.solve(lambda).is_ok()
    }
}

/// Adds the forcing `Jᵀr_vv` of a tile without its Jacobian; `false` when that cannot be done.
#[inline]
fn correction_without<T: Real, M: LinearModel<T>, P: LeastSquares<T> + ?Sized>(
    problem: &mut P,
    model: &mut M,
    x: &[T],
    v: &[T],
    first: usize,
    second: &mut [T],
) -> Result<bool, EvaluationError> {
    if let Some(forcing) = model.forcing_mut() {
        return problem.second_derivative_product(x, v, first, second, forcing);
    }
    let exact = problem.second_directional_derivative(x, v, first, second)?;
    if exact {
        model.add_forcing(second, &[]);
    }
    Ok(exact)
}

/// The second derivative of a residual `r` that is `ahead` after a step of `probe`, and has this slope.
#[inline]
pub(super) fn second_difference<T: Real>(ahead: T, r: T, slope: T, probe: T) -> T {
    ((ahead - r) / probe - slope) * T::from_f64(2.0) / probe
}
