//! The first linearisation, and what is said of a start that is not finite.

use super::SolveError;
use super::damping::DampingPolicy;
use super::iteration::Iteration;
use crate::linear::Tiles;
use crate::linear::shape::Shape;
use crate::{LeastSquares, Real};

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Linearises the problem at the trial point, to start from there.
    pub(super) fn start<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P) -> Result<(), SolveError> {
        self.cost = T::INFINITY;
        if self.linearize_trial(problem).map_err(SolveError::Evaluation)?.is_none() {
            return Err(self.explain_non_finite_start(problem));
        }
        self.initial_cost = self.cost;
        self.rescale();
        Ok(())
    }

    /// Finds what is not finite at the start, on any rank, and names it.
    fn explain_non_finite_start<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P) -> SolveError {
        let own = self.find_non_finite(problem).map_or(Ok(()), Err);
        let found = match &self.shards {
            None => own,
            Some(shards) => shards.agree(own),
        };
        found.err().unwrap_or(SolveError::Overflow)
    }

    /// What is not finite at the trial point, in the rows that are here.
    fn find_non_finite<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P) -> Option<SolveError> {
        let mut culprit = None;
        let n = self.plan.n;
        if self.plan.form.multiplies() {
            // There was no room for rows of the Jacobian yet.
            self.tiles = Tiles::of_one_group(n, self.plan.group);
        }
        let found = self.tiles.linearize(problem, self.trial.as_ref(), |problem, rows, r, jacobian| {
            if let (None, Some(i)) = (&culprit, r.iter().position(|r| !r.is_finite())) {
                culprit = Some(SolveError::NonFiniteResidual { index: rows.start + i, value: r[i].to_f64() });
            }
            if let (None, Some(k)) = (&culprit, jacobian.iter().position(|a| !a.is_finite())) {
                let (residual, name) = (rows.start + k / n, problem.parameter_name(k % n));
                culprit = Some(SolveError::NonFiniteDerivative { name, residual, value: jacobian[k].to_f64() });
            }
            Ok(())
        });
        match found {
            Err(error) => Some(SolveError::Evaluation(error)),
            Ok(()) => culprit,
        }
    }
}
