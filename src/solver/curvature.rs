//! Choice between the Gauss–Newton model and the one with the learnt curvature of the residuals.
//!
//! Gauss–Newton leaves out the second derivatives of the residuals. Where the residuals are large, its steps are too long or too short
//! again and again, and it converges slowly or not at all. Once it has failed to predict the cost several times, each step
//! taken teaches an [approximation](crate::linear) of what is left out, and the model with or without it makes the next step: the one
//! that has foretold the last cost better (Dennis, Gay & Welsch 1981).

use super::damping::{DampingPolicy, Trial};
use super::iteration::{Arrival, Iteration};
use crate::linear::LinearModel;
use crate::linear::shape::Shape;
use crate::problem::LeastSquares;
use crate::real::Real;

/// Trials whose gain ratio is off by more than [`UNFAITHFUL`] before the curvature is learnt.
pub(super) const DOUBTFUL: usize = 12;

/// A gain ratio further from one than this speaks against the linear model.
const UNFAITHFUL: f64 = 0.25;

/// Ratio of the prediction errors of the two models from which the other model is taken.
const BETTER: f64 = 1.5;

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Updates the curvature from a trial, if its gain ratio is off, and chooses the model for the next step.
    #[inline]
    pub(super) fn weigh_curvature(&mut self, trial: &Trial<T>) {
        if !is_faithful(trial) {
            self.doubtful = self.doubtful.saturating_add(1);
        }
        if self.doubtful >= DOUBTFUL && self.arrival == Arrival::Linearize {
            self.learn_curvature(trial);
        }
    }

    fn learn_curvature(&mut self, trial: &Trial<T>) {
        let is_used = self.model.uses_curvature();
        if let (Some(more), true) = (self.model.curvature_along(self.step.as_ref()), trial.actual.is_finite()) {
            // The reductions predicted by the model in use, and by the other.
            let other = if is_used { trial.predicted + more } else { trial.predicted - more };
            let (error, other_error) = ((trial.actual - trial.predicted).abs(), (trial.actual - other).abs());
            if error > T::from_f64(BETTER) * other_error {
                self.model.use_curvature(!is_used);
            }
        }
        if trial.accepted {
            self.model.learn_curvature(self.step.as_ref());
        }
    }

    /// Learns the curvature, if it is in use, from the move that led from the trial point to the current one.
    pub(super) fn learn_from_move<P: LeastSquares<T> + ?Sized>(&mut self, problem: &P) {
        if !self.model.uses_curvature() {
            return;
        }
        let (here, before, moved) = (self.x.as_ref(), self.trial.as_ref(), self.correction.as_mut());
        match problem.manifold() {
            None => moved
                .iter_mut()
                .zip(here.iter().zip(before))
                .for_each(|(moved, (&here, &before))| *moved = here - before),
            Some(manifold) => manifold.minus(here, before, moved),
        }
        self.model.learn_curvature(self.correction.as_ref());
    }
}

/// The linear model has foretold the cost.
#[inline]
pub(super) fn is_faithful<T: Real>(trial: &Trial<T>) -> bool {
    (trial.gain_ratio() - T::ONE).abs() <= T::from_f64(UNFAITHFUL)
}
