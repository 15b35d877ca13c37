//! The normal equations of a Jacobian of blocks, solved from its rows.

use std::sync::Arc;

use super::block_rows::{BlockRows, BlockStructure, DampedRows};
use super::block_sums::BlockSums;
use super::choice::PlanError;
use super::form::LinearForm;
use super::model::{Damped, Drawn, IllConditioned, LinearModel, Unsolved};
use super::preconditioned::{End, Inexact};
use crate::evaluation::{Costs, Evaluation};
use crate::kernels::vector::{dot, scale_twice, scaled_norm};
use crate::problem::Evaluated;
use crate::real::Real;

/// A system equivalent to `(JᵀJ + λD²)x = b`, and how it is solved.
pub(super) trait BlockSystem<T> {
    const FORM: LinearForm;

    /// Prepares for a point and a damping.
    fn factorize(&mut self, system: DampedRows<'_, T>) -> Result<(), IllConditioned>;

    /// Overwrites `b` with `(JᵀJ + λD²)⁻¹b` for the system that was [prepared for](Self::factorize). Where rounds are needed, `end` says
    /// which is the last.
    fn solve(&mut self, system: DampedRows<'_, T>, end: End<T>, b: &mut [T]) -> Result<(), IllConditioned>;
}

/// `J` by its stored entries at the current point; `JᵀJ` is never formed. A point that is returned to is linearised again.
pub struct BlockNormal<T, S> {
    rows: BlockRows<T>,
    sums: BlockSums<T>,
    cost: T,
    /// Size of the gradient at the current point and at the one before, if there is one.
    squared_gradients: [Option<T>; 2],
    inexact: Inexact,
    system: S,
    /// Two vectors of all columns.
    workspace: [Vec<T>; 2],
}

impl<T: Real, S: BlockSystem<T>> BlockNormal<T, S> {
    /// Workspace for a problem of this structure.
    pub(super) fn new(structure: &Arc<BlockStructure>, inexact: Inexact, system: S) -> Result<Self, PlanError> {
        let (rows, sums) = BlockRows::new(structure)?;
        let workspace = [(); 2].map(|()| vec![T::ZERO; structure.columns()]);
        Ok(BlockNormal { rows, sums, cost: T::ZERO, squared_gradients: [None; 2], inexact, system, workspace })
    }

    /// End of the rounds of a system at the current point. The tolerance is the forcing term, times the square by which the
    /// last step has shortened the gradient: steps converge superlinearly (Eisenstat & Walker 1996, choice 2).
    fn end(&self, exact: bool) -> End<T> {
        let Inexact { forcing_term, negligible, max_rounds } = self.inexact;
        if exact {
            return End { tolerance: T::EPSILON, negligible: T::ZERO, max_rounds };
        }
        let share = match self.squared_gradients {
            [Some(now), Some(before)] if before > now => now / before,
            _ => T::ONE,
        };
        let tolerance = (T::from_f64(forcing_term) * share).max(T::EPSILON);
        End { tolerance, negligible: T::from_f64(negligible) * self.cost, max_rounds }
    }

    /// Takes the rows at `x`.
    fn take_rows(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Evaluated<Costs<T>> {
        evaluation.count_linearization();
        let (cost, squares) = self.rows.linearize(&mut self.sums, evaluation.blocks()?, x)?;
        self.cost = cost;
        Ok(Costs { cost, squares })
    }
}

impl<T: Real, S: BlockSystem<T>> LinearModel<T> for BlockNormal<T, S> {
    fn form(&self) -> LinearForm {
        S::FORM
    }

    fn linearize(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Evaluated<Costs<T>> {
        let costs = self.take_rows(evaluation, x)?;
        self.squared_gradients = [Some(self.rows.squared_gradient()), self.squared_gradients[0]];
        Ok(costs)
    }

    fn take_back(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Evaluated {
        self.squared_gradients = [self.squared_gradients[1], None];
        self.take_rows(evaluation, x).map(|_| ())
    }

    fn gradient(&self) -> &[T] {
        &self.rows.gradient
    }

    fn column_norms(&self, norms: &mut [T]) -> Option<T> {
        self.rows.column_norms(norms);
        None
    }

    fn solve(&mut self, damped: &mut Damped<'_, T>, step: &mut [T]) -> Result<T, Unsolved> {
        let &mut Damped { lambda, d, exact, .. } = damped;
        let (end, rows) = (self.end(exact), &self.rows);
        let system = DampedRows { rows, lambda, d };
        self.system.factorize(system)?;
        step.iter_mut().zip(&rows.gradient).for_each(|(step, &gradient)| *step = -gradient);
        self.system.solve(system, end, step)?;
        Ok(scaled_norm(d, step))
    }

    fn complete(&mut self, damped: &mut Damped<'_, T>, drawn: Drawn<'_, T>, step: &mut [T]) -> Result<(), Unsolved> {
        let end = self.end(damped.exact);
        let system = DampedRows { rows: &self.rows, lambda: damped.lambda, d: damped.d };
        let mut outcome = Ok(());
        drawn.draw(damped, step, |b| outcome = self.system.solve(system, end, b));
        Ok(outcome?)
    }

    fn quadratic_form(&self, v: &[T]) -> T {
        self.rows.quadratic_form(v)
    }

    fn inverse_form(&mut self, damped: &mut Damped<'_, T>, step: &[T]) -> Result<T, Unsolved> {
        // The form is compared with other numbers, and so wants digits.
        let end = self.end(damped.exact);
        let end = End { tolerance: end.tolerance.min(T::EPSILON.sqrt()), negligible: T::ZERO, ..end };
        let [b, solution] = &mut self.workspace;
        scale_twice(b, damped.d, step);
        solution.copy_from_slice(b);
        let system = DampedRows { rows: &self.rows, lambda: damped.lambda, d: damped.d };
        self.system.solve(system, end, solution)?;
        Ok(dot(b, solution))
    }
}
