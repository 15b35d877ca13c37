//! The normal equations of a Jacobian of blocks, solved by conjugate gradients to a tolerance.

use super::block_rows::{BlockRows, BlockStructure};
use super::form::LinearForm;
use super::model::{Damped, Drawn, IllConditioned, LinearModel, Unsolved};
use super::preconditioned::Inexact;
use crate::evaluation::{Costs, Evaluation};
use crate::kernels::vector::{dot, scale_twice, scaled_norm};
use crate::problem::{BlockJacobian, EvaluationError};
use crate::real::Real;

/// A system equivalent to `(JᵀJ + λD²)x = b`, with the products that conjugate gradients need.
pub(super) trait InexactSystem<T> {
    const FORM: LinearForm;

    /// Prepares for the damping `λ` with `D`.
    fn factorize(
        &mut self,
        structure: &BlockStructure,
        rows: &BlockRows<T>,
        damping: (T, &[T]),
    ) -> Result<(), IllConditioned>;

    /// Overwrites `b` with `(JᵀJ + λD²)⁻¹b` to a tolerance, in a limited number of rounds, for the damping that was
    /// [prepared for](Self::factorize).
    fn solve(
        &mut self,
        structure: &BlockStructure,
        rows: &BlockRows<T>,
        damping: (T, &[T]),
        end: (T, usize),
        b: &mut [T],
    ) -> Result<(), IllConditioned>;
}

/// `J` by its stored entries at the current point and at a candidate for the next; `JᵀJ` is never formed.
#[derive(Debug, Clone)]
pub struct InexactNormal<T, S> {
    structure: BlockStructure,
    points: InexactPoints<T>,
    system: S,
    /// Two vectors of all columns.
    room: [Vec<T>; 2],
}

/// Linearisations at the current point and at the candidate, and how exactly systems are to be solved there.
#[derive(Debug, Clone)]
struct InexactPoints<T> {
    rows: [BlockRows<T>; 2],
    /// Size of the gradient at both; infinite where there was no linearisation.
    squared_gradients: [T; 2],
    current: usize,
    inexact: Inexact,
}

impl<T: Real> InexactPoints<T> {
    fn new(structure: &BlockStructure, inexact: Inexact) -> Self {
        let rows = [BlockRows::new(structure), BlockRows::new(structure)];
        InexactPoints { rows, squared_gradients: [T::INFINITY; 2], current: 0, inexact }
    }

    /// The linearisation at the current point.
    fn rows(&self) -> &BlockRows<T> {
        &self.rows[self.current]
    }

    fn swap(&mut self) {
        self.current = 1 - self.current;
    }

    fn add_blocks(
        &mut self,
        structure: &BlockStructure,
        problem: &mut dyn BlockJacobian<T>,
        x: &[T],
    ) -> Result<(T, T), EvaluationError> {
        let candidate = 1 - self.current;
        self.rows[candidate].clear();
        let sums = self.rows[candidate].linearize(structure, problem, x)?;
        self.squared_gradients[candidate] = self.rows[candidate].squared_gradient(structure);
        Ok(sums)
    }

    /// Tolerance of a system at the current point, and the most rounds. It is the forcing term, times the square by which the
    /// last step has shortened the gradient: steps converge superlinearly (Eisenstat & Walker 1996, choice 2), and the end is exact.
    fn tolerance(&self, exact: bool) -> (T, usize) {
        let (now, before) = (self.squared_gradients[self.current], self.squared_gradients[1 - self.current]);
        let share = if before > now { now / before } else { T::ONE };
        let tolerance = if exact { T::ZERO } else { T::from_f64(self.inexact.forcing_term) * share };
        (tolerance.max(T::EPSILON), self.inexact.max_rounds)
    }

    /// Tolerance and largest number of rounds for a system whose solution other numbers are compared with.
    fn tight_tolerance(&self, exact: bool) -> (T, usize) {
        let (tolerance, rounds) = self.tolerance(exact);
        (tolerance.min(T::EPSILON.sqrt()), rounds)
    }
}

impl<T: Real, S: InexactSystem<T>> InexactNormal<T, S> {
    /// Room for a problem of this structure.
    pub(super) fn new(structure: BlockStructure, inexact: Inexact, system: S) -> Self {
        let points = InexactPoints::new(&structure, inexact);
        let room = [(); 2].map(|()| vec![T::ZERO; structure.columns()]);
        InexactNormal { structure, points, system, room }
    }
}

impl<T: Real, S: InexactSystem<T>> LinearModel<T> for InexactNormal<T, S> {
    fn form(&self) -> LinearForm {
        S::FORM
    }

    fn linearize(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Result<Costs<T>, EvaluationError> {
        evaluation.count_linearization();
        let (cost, squares) = self.points.add_blocks(&self.structure, evaluation.blocks()?, x)?;
        self.points.swap();
        Ok(Costs { cost, squares })
    }

    fn take_back(&mut self, _: &mut dyn Evaluation<T>, _: &[T]) -> Result<(), EvaluationError> {
        self.points.swap();
        Ok(())
    }

    fn gradient(&self) -> &[T] {
        &self.points.rows().gradient
    }

    fn column_norms(&self, norms: &mut [T]) -> Option<T> {
        self.points.rows().column_norms(&self.structure, norms);
        None
    }

    fn solve(
        &mut self,
        &mut Damped { lambda, d, exact, .. }: &mut Damped<'_, T>,
        step: &mut [T],
    ) -> Result<T, Unsolved> {
        let InexactNormal { structure, points, system, .. } = self;
        let (rows, damping) = (points.rows(), (lambda, d));
        system.factorize(structure, rows, damping)?;
        step.iter_mut().zip(&rows.gradient).for_each(|(step, &gradient)| *step = -gradient);
        system.solve(structure, rows, damping, points.tolerance(exact), step)?;
        Ok(scaled_norm(d, step))
    }

    fn complete(&mut self, damped: &mut Damped<'_, T>, drawn: Drawn<'_, T>, step: &mut [T]) -> Result<(), Unsolved> {
        let InexactNormal { structure, points, system, .. } = self;
        drawn.draw(damped, step, |b| {
            let tolerance = points.tolerance(damped.exact);
            Ok(system.solve(structure, points.rows(), (damped.lambda, damped.d), tolerance, b)?)
        })
    }

    fn quadratic_form(&self, v: &[T]) -> T {
        self.points.rows().quadratic_form(&self.structure, v)
    }

    fn inverse_form(&mut self, damped: &mut Damped<'_, T>, step: &[T]) -> Result<T, Unsolved> {
        let InexactNormal { structure, points, system, room: [b, solution] } = self;
        scale_twice(b, damped.d, step);
        solution.copy_from_slice(b);
        let tolerance = points.tight_tolerance(damped.exact);
        system.solve(structure, points.rows(), (damped.lambda, damped.d), tolerance, solution)?;
        Ok(dot(b, solution))
    }
}
