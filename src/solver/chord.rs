//! Chord corrections of a trial: further steps with the Jacobian at hand.

use super::damping::{DampingPolicy, Trial};
use super::iteration::Iteration;
use crate::linear::shape::Shape;
use crate::linear::{LinearModel, Tiles};
use crate::problem::{EvaluationError, LeastSquares};
use crate::real::Real;

/// A correction may be this long, relative to the one before; the first, relative to twice the step.
const CONTRACTION: f64 = 0.5;

/// Length of a correction, relative to the step, after which no other is made.
const SHORT: f64 = 0.02;

/// Memory of the corrections of one trial.
pub(super) struct Chord<T> {
    /// Corrections of a trial at most.
    most: usize,
    /// Residuals of all rows at the trial point.
    residuals: Vec<T>,
    /// The step before the last correction.
    step: Vec<T>,
}

impl<T: Real> Chord<T> {
    /// The cost at `x`, whose residuals are kept.
    pub(super) fn cost<S: Shape<T>, P: LeastSquares<T> + ?Sized>(
        &mut self,
        tiles: &mut Tiles<T, S>,
        problem: &mut P,
        x: &[T],
    ) -> Result<T, EvaluationError> {
        let (kept, mut cost) = (&mut self.residuals, T::ZERO);
        tiles.visit(problem, |problem, first, r| {
            problem.residuals(x, first, r)?;
            cost += problem.cost_of(first, r);
            kept[first..first + r.len()].copy_from_slice(r);
            Ok(())
        })?;
        Ok(cost)
    }
}

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Makes room for so many corrections of a trial, where the form of the linear system takes them.
    pub(super) fn correct_trials<P: LeastSquares<T> + ?Sized>(&mut self, most: usize, problem: &P) {
        let is_plain = self.bounds.is_none() && self.point_sizes.is_none();
        if most > 0 && is_plain && self.model.forcing_mut().is_some() {
            let (residuals, step) = (vec![T::ZERO; problem.residual_count()], vec![T::ZERO; self.plan.n]);
            self.chord = Some(Chord { most, residuals, step });
        }
    }

    /// Corrects the step to the trial point, where the cost is `cost`, while that lowers the cost, and returns it.
    ///
    /// A correction `c` solves `(JᵀJ + λD²)c = −(Jᵀr(x + δ) + λD²δ)`, so that all lead to the minimum of `½‖r(x + δ)‖² + ½λ‖Dδ‖²` as
    /// far as the Jacobian at `x` knows the way. A trial that leaves less than `√ε` of the cost needs none.
    pub(super) fn correct_trial<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        trial: &Trial<T>,
        mut cost: T,
    ) -> Result<T, EvaluationError> {
        let mut longest = trial.length;
        let enough = T::EPSILON.sqrt() * self.cost;
        for _ in 0..self.chord.as_ref().map_or(0, |chord| chord.most) {
            if cost <= enough {
                break;
            }
            if self.has_own_cost || !self.force_towards_minimum(problem, trial.lambda)? {
                self.chord = None;
                break;
            }
            let Some(length) = self.add_chord(problem, longest) else { break };
            self.move_trial(problem);
            let corrected = self.trial_cost(problem)?;
            if !(corrected < cost) {
                self.take_back_chord();
                self.move_trial(problem);
                break;
            }
            cost = corrected;
            if length <= T::from_f64(SHORT) * trial.length {
                break;
            }
            longest = T::from_f64(CONTRACTION) * length;
        }
        Ok(cost)
    }

    /// Makes `2(Jᵀr(x + δ) + λD²δ)` the model's other right-hand side; `false` where the problem does not know the product.
    fn force_towards_minimum<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        lambda: T,
    ) -> Result<bool, EvaluationError> {
        let Some(chord) = &self.chord else { return Ok(false) };
        let (model, x, mut is_known) = (&mut self.model, self.x.as_ref(), true);
        model.begin_forcing();
        let visited = self
            .tiles
            .visit_kept(chord.residuals.len(), |rows, jacobian| model.add_forcing(&chord.residuals[rows], jacobian));
        let Some(forcing) = model.forcing_mut() else { return Ok(false) };
        let own = if visited {
            Ok(())
        } else {
            self.tiles.visit(problem, |problem, first, r| {
                r.copy_from_slice(&chord.residuals[first..first + r.len()]);
                is_known = is_known && problem.transposed_product(x, first, r, forcing)?;
                Ok(())
            })
        };
        match &mut self.rank_sync {
            None => own?,
            Some(rank_sync) => rank_sync.sum(forcing, own)?,
        }
        for ((forcing, &d), &step) in forcing.iter_mut().zip(self.d.as_ref()).zip(self.step.as_ref()) {
            let sum = *forcing + lambda * d * d * step;
            *forcing = sum + sum;
        }
        Ok(is_known)
    }

    /// Adds a correction to the step and returns its length; `None`, and no correction, where it would be too long.
    fn add_chord<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P, longest: T) -> Option<T> {
        let chord = self.chord.as_mut()?;
        chord.step.copy_from_slice(self.step.as_ref());
        let (d, room, step) = (self.d.as_ref(), self.correction.as_mut(), self.step.as_mut());
        let twice = self.model.add_correction(problem.products(), d, &[], room, step).unwrap_or(T::INFINITY);
        let length = T::from_f64(0.5) * twice;
        if length <= longest {
            return Some(length);
        }
        self.take_back_chord();
        None
    }

    /// Returns to the step before the last correction.
    fn take_back_chord(&mut self) {
        if let Some(chord) = &self.chord {
            self.step.as_mut().copy_from_slice(&chord.step);
        }
    }
}
