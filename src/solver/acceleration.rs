//! Geodesic acceleration: a second-order correction along the step.

use super::damping::DampingPolicy;
use super::iteration::Iteration;
use crate::linear::shape::Shape;
use crate::linear::vector::{dot, scaled_norm};
use crate::{EvaluationError, LeastSquares, Real};

/// The correction may be this long, relative to the step; beyond, the step is rejected (Transtrum & Sethna 2012, α).
const LARGEST_BEND: f64 = 0.75;

/// Step of the difference for the second directional derivative, relative to `δ` (Transtrum & Sethna 2012, h).
const PROBE: f64 = 0.1;

impl<T, S, D, P> Iteration<'_, T, S, D, P>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
    P: LeastSquares<T> + ?Sized,
{
    /// Adds `½a` to the step `v`, where `(JᵀJ + λD²)a = −Jᵀr_vv` and `r_vv` is the second derivative of the residuals
    /// along `v`. Returns `false` when the path bends too much for the step to be trusted.
    ///
    /// `r_vv` is exact where the problem knows it, else a difference that takes one more evaluation of the residuals;
    /// `J` is not stored and is evaluated once more.
    pub(super) fn accelerate(&mut self, length: T) -> Result<bool, EvaluationError> {
        let (x, v) = (self.x.as_ref(), self.step.as_ref());
        let probe = T::from_f64(PROBE);
        for ((ahead, &x), &v) in self.trial.as_mut().iter_mut().zip(x).zip(v) {
            *ahead = x + probe * v;
        }
        let ahead = self.trial.as_ref();
        let mut second = Vec::new();
        let model = &mut self.model;
        model.begin_forcing();
        self.evaluations.jacobians += 1;
        let mut by_difference = false;
        self.tiles.linearize(self.problem, x, |problem, rows, r, jacobian| {
            second.resize(r.len(), T::ZERO);
            if !problem.second_directional_derivative(x, v, rows.start, &mut second)? {
                by_difference = true;
                problem.residuals(ahead, rows.start, &mut second)?;
                for ((second, &r), row) in second.iter_mut().zip(&*r).zip(jacobian.chunks_exact(v.len())) {
                    *second = ((*second - r) / probe - dot(row, v)) * T::from_f64(2.0) / probe;
                }
            }
            model.add_forcing(&second, jacobian);
            Ok(())
        })?;
        self.evaluations.residuals += usize::from(by_difference);
        model.solve_forcing(self.bend.as_mut());
        let bend = scaled_norm(self.d.as_ref(), self.bend.as_ref());
        for (step, &bend) in self.step.as_mut().iter_mut().zip(self.bend.as_ref()) {
            *step -= T::from_f64(0.5) * bend;
        }
        Ok(bend <= T::from_f64(LARGEST_BEND) * length)
    }
}
