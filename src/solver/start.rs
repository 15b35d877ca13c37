//! The first linearisation, and the errors of a start that is not finite.

use super::SolveError;
use super::damping::DampingPolicy;
use super::iteration::Iteration;
use super::manifold::PointSizes;
use crate::kernels::vector::underflows;
use crate::linear::shape::Shape;
use crate::linear::{LinearModel, Tiles};
use crate::problem::LeastSquares;
use crate::real::Real;

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Linearises the problem at the trial point, to start from there.
    pub(crate) fn start<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P) -> Result<(), SolveError> {
        self.cost = T::INFINITY;
        if self.linearize_trial(problem).map_err(SolveError::Evaluation)?.is_none() {
            return Err(self.explain_non_finite_start(problem));
        }
        self.find_underflow(problem)?;
        self.initial_cost = self.cost;
        let sizes = self.point_sizes.as_ref().map_or_else(|| self.x.as_ref(), PointSizes::sizes);
        self.start.as_mut().copy_from_slice(sizes);
        self.rescale();
        Ok(())
    }

    /// Refuses a start where squares vanish of numbers that do not: their sums would call any point a minimum. Derivatives that are
    /// lost beside the residuals are no underflow, but those of a parameter without influence.
    fn find_underflow<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P) -> Result<(), SolveError> {
        let cost_is_lost = underflows(self.cost);
        if !self.plan.form.forms_rows() || !(cost_is_lost || self.column_norms.as_ref().contains(&T::ZERO)) {
            return Ok(());
        }
        let own = self.underflow(problem, cost_is_lost);
        self.tiles.forget();
        match &self.rank_sync {
            None => own,
            Some(rank_sync) => rank_sync.agree(own),
        }
    }

    /// Error for residuals or a column whose squares underflow, judged by the rows of this rank.
    fn underflow<P: LeastSquares<T> + ?Sized>(
        &mut self,
        problem: &mut P,
        cost_is_lost: bool,
    ) -> Result<(), SolveError> {
        let (x, norms, n) = (self.x.as_ref(), self.column_norms.as_ref(), self.plan.n);
        let sizes = self.point_sizes.as_ref().map_or(x, PointSizes::sizes);
        let mut residual = T::ZERO;
        // The largest changes of a residual by the parameters.
        let effects = self.step.as_mut();
        effects.fill(T::ZERO);
        let visited = self.tiles.linearize(problem, x, |_, _, r, jacobian| {
            residual = r.iter().fold(residual, |largest, r| largest.max(r.abs()));
            for row in jacobian.chunks_exact(n) {
                for (effect, (&derivative, &x)) in effects.iter_mut().zip(row.iter().zip(sizes)) {
                    *effect = effect.max((derivative * x).abs());
                }
            }
            Ok(())
        });
        visited.map_err(SolveError::Evaluation)?;
        let lost = |&j: &usize| norms[j] == T::ZERO && effects[j] > T::EPSILON * residual;
        if let Some(j) = (0..n).find(lost) {
            let name = problem.column_name(j);
            return Err(SolveError::Underflow { what: format!("the derivatives with respect to {name}") });
        }
        let effect = effects.iter().fold(T::ZERO, |largest, &effect| largest.max(effect));
        if cost_is_lost && residual > T::EPSILON * effect {
            return Err(SolveError::Underflow { what: "the residuals".to_owned() });
        }
        Ok(())
    }

    /// Returns the error that names the number that is not finite at the start, on any rank.
    fn explain_non_finite_start<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P) -> SolveError {
        let own = self.find_non_finite(problem).map_or(Ok(()), Err);
        let found = match &self.rank_sync {
            None => own,
            Some(rank_sync) => rank_sync.agree(own),
        };
        found.err().unwrap_or(SolveError::Overflow)
    }

    /// The first residual that is not finite at the trial point, in the rows that are here.
    fn find_non_finite<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P) -> Option<SolveError> {
        if self.model.taking_blocks().is_some() {
            // Rows of the whole Jacobian may not fit the memory.
            return None;
        }
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
                let (residual, name) = (rows.start + k / n, problem.column_name(k % n));
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
