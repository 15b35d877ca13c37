//! The normal equations of a Jacobian of blocks, solved from its rows.

use std::sync::Arc;

use super::block_rows::{BlockRows, BlockStructure, DampedRows};
use super::block_sums::BlockSums;
use super::choice::PlanError;
use super::form::LinearForm;
use super::model::{Damped, Drawn, IllConditioned, LinearModel, Unsolved};
use super::preconditioned::Inexact;
use crate::evaluation::{Costs, Evaluation};
use crate::kernels::vector::{dot, scale_twice, scaled_norm};
use crate::problem::Evaluated;
use crate::real::Real;

/// A system equivalent to `(JᵀJ + λD²)x = b`, and how it is solved.
pub(super) trait BlockSystem<T> {
    const FORM: LinearForm;

    /// Prepares for a point and a damping.
    fn factorize(&mut self, system: DampedRows<'_, T>) -> Result<(), IllConditioned>;

    /// Overwrites `b` with `(JᵀJ + λD²)⁻¹b` for the system that was [prepared for](Self::factorize). Where rounds are needed, `end` is
    /// the tolerance and the largest number of them.
    fn solve(&mut self, system: DampedRows<'_, T>, end: (T, usize), b: &mut [T]) -> Result<(), IllConditioned>;
}

/// `J` by its stored entries at the current point and at a candidate for the next; `JᵀJ` is never formed.
pub struct BlockNormal<T, S> {
    rows: [BlockRows<T>; 2],
    sums: BlockSums<T>,
    /// Size of the gradient at both; infinite where there was no linearisation.
    squared_gradients: [T; 2],
    current: usize,
    inexact: Inexact,
    system: S,
    /// Two vectors of all columns.
    workspace: [Vec<T>; 2],
}

impl<T: Real, S: BlockSystem<T>> BlockNormal<T, S> {
    /// Workspace for a problem of this structure.
    pub(super) fn new(structure: &Arc<BlockStructure>, inexact: Inexact, system: S) -> Result<Self, PlanError> {
        let (rows, sums) = BlockRows::pair(structure)?;
        let workspace = [(); 2].map(|()| vec![T::ZERO; structure.columns()]);
        Ok(BlockNormal { rows, sums, squared_gradients: [T::INFINITY; 2], current: 0, inexact, system, workspace })
    }

    /// Tolerance of a system at the current point, and the most rounds. It is the forcing term, times the square by which the
    /// last step has shortened the gradient: steps converge superlinearly (Eisenstat & Walker 1996, choice 2), and the end is exact.
    fn tolerance(&self, exact: bool) -> (T, usize) {
        let (now, before) = (self.squared_gradients[self.current], self.squared_gradients[1 - self.current]);
        let share = if before > now { now / before } else { T::ONE };
        let tolerance = if exact { T::ZERO } else { T::from_f64(self.inexact.forcing_term) * share };
        (tolerance.max(T::EPSILON), self.inexact.max_rounds)
    }
}

impl<T: Real, S: BlockSystem<T>> LinearModel<T> for BlockNormal<T, S> {
    fn form(&self) -> LinearForm {
        S::FORM
    }

    fn linearize(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Evaluated<Costs<T>> {
        evaluation.count_linearization();
        let candidate = 1 - self.current;
        let (cost, squares) = self.rows[candidate].linearize(&mut self.sums, evaluation.blocks()?, x)?;
        self.squared_gradients[candidate] = self.rows[candidate].squared_gradient();
        self.current = candidate;
        Ok(Costs { cost, squares })
    }

    fn take_back(&mut self, _: &mut dyn Evaluation<T>, _: &[T]) -> Evaluated {
        self.current = 1 - self.current;
        Ok(())
    }

    fn gradient(&self) -> &[T] {
        &self.rows[self.current].gradient
    }

    fn column_norms(&self, norms: &mut [T]) -> Option<T> {
        self.rows[self.current].column_norms(norms);
        None
    }

    fn solve(&mut self, damped: &mut Damped<'_, T>, step: &mut [T]) -> Result<T, Unsolved> {
        let &mut Damped { lambda, d, exact, .. } = damped;
        let (end, rows) = (self.tolerance(exact), &self.rows[self.current]);
        let system = DampedRows { rows, lambda, d };
        self.system.factorize(system)?;
        step.iter_mut().zip(&rows.gradient).for_each(|(step, &gradient)| *step = -gradient);
        self.system.solve(system, end, step)?;
        Ok(scaled_norm(d, step))
    }

    fn complete(&mut self, damped: &mut Damped<'_, T>, drawn: Drawn<'_, T>, step: &mut [T]) -> Result<(), Unsolved> {
        let end = self.tolerance(damped.exact);
        let system = DampedRows { rows: &self.rows[self.current], lambda: damped.lambda, d: damped.d };
        let mut outcome = Ok(());
        drawn.draw(damped, step, |b| outcome = self.system.solve(system, end, b));
        Ok(outcome?)
    }

    fn quadratic_form(&self, v: &[T]) -> T {
        self.rows[self.current].quadratic_form(v)
    }

    fn inverse_form(&mut self, damped: &mut Damped<'_, T>, step: &[T]) -> Result<T, Unsolved> {
        // The form is compared with other numbers, and so wants digits.
        let (tolerance, rounds) = self.tolerance(damped.exact);
        let [b, solution] = &mut self.workspace;
        scale_twice(b, damped.d, step);
        solution.copy_from_slice(b);
        let system = DampedRows { rows: &self.rows[self.current], lambda: damped.lambda, d: damped.d };
        self.system.solve(system, (tolerance.min(T::EPSILON.sqrt()), rounds), solution)?;
        Ok(dot(b, solution))
    }
}
