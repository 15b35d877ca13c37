//! Conjugate gradients on the normal equations of a Jacobian of blocks.

use super::block_jacobi::BlockJacobi;
use super::block_rows::{BlockRows, BlockStructure};
use super::form::LinearForm;
use super::held::Held;
use super::model::{IllConditioned, LinearModel, Products, TakesBlocks};
use super::preconditioned::{Inexact, Krylov, Preconditioned};
use crate::kernels::vector::{dot, scale_twice};
use crate::{BlockJacobian, EvaluationError, Real};

/// `J` by its stored entries at the current point and at a candidate for the next; `JᵀJ` is never formed (CGNR).
///
/// The preconditioner is the blocks on the diagonal of `JᵀJ + λD²` (block Jacobi). Memory is that of the stored entries, twice, and a
/// round takes `4` operations for each, so that this is for factors that fill in too much. Rounds are as many as the square root of
/// the condition number of the preconditioned system asks for: few with damping and for local problems, many for long chains.
#[derive(Debug, Clone)]
pub struct Cgnr<T> {
    structure: BlockStructure,
    points: InexactPoints<T>,
    preconditioner: BlockJacobi<T>,
    krylov: Krylov<T>,
    /// Damping of the last solve.
    lambda: T,
    room: Vec<T>,
}

/// Linearisations at the current point and at the candidate, and how exactly systems are to be solved there.
#[derive(Debug, Clone)]
pub(super) struct InexactPoints<T> {
    rows: [BlockRows<T>; 2],
    /// Size of the gradient at both; infinite where there was no linearisation.
    squared_gradients: [T; 2],
    current: usize,
    inexact: Inexact,
}

impl<T: Real> InexactPoints<T> {
    pub(super) fn new(structure: &BlockStructure, inexact: Inexact) -> Self {
        let rows = [BlockRows::new(structure), BlockRows::new(structure)];
        InexactPoints { rows, squared_gradients: [T::INFINITY; 2], current: 0, inexact }
    }

    /// The linearisation at the current point.
    pub(super) fn rows(&self) -> &BlockRows<T> {
        &self.rows[self.current]
    }

    pub(super) fn begin(&mut self) {
        self.rows[1 - self.current].clear();
    }

    pub(super) fn swap(&mut self) {
        self.current = 1 - self.current;
    }

    pub(super) fn add_blocks(
        &mut self,
        structure: &BlockStructure,
        problem: &mut dyn BlockJacobian<T>,
        x: &[T],
    ) -> Result<(T, T), EvaluationError> {
        let candidate = 1 - self.current;
        let sums = self.rows[candidate].linearize(structure, problem, x)?;
        self.squared_gradients[candidate] = self.rows[candidate].squared_gradient(structure);
        Ok(sums)
    }

    /// From now on the tolerance is that of rounding.
    pub(super) fn solve_exactly(&mut self) {
        self.inexact.forcing_term = 0.0;
    }

    /// Tolerance of a system at the current point, and the most rounds. It is the forcing term, times the square by which the
    /// last step has shortened the gradient: steps converge superlinearly (Eisenstat & Walker 1996, choice 2), and the end is exact.
    pub(super) fn tolerance(&self) -> (T, usize) {
        let (now, before) = (self.squared_gradients[self.current], self.squared_gradients[1 - self.current]);
        let share = if before > now { now / before } else { T::ONE };
        let tolerance = T::from_f64(self.inexact.forcing_term) * share;
        (tolerance.max(T::EPSILON), self.inexact.max_rounds)
    }

    /// Tolerance of a system that other numbers are judged by, and the most rounds.
    pub(super) fn tight_tolerance(&self) -> (T, usize) {
        let (tolerance, rounds) = self.tolerance();
        (tolerance.min(T::EPSILON.sqrt()), rounds)
    }
}

impl<T: Real> Cgnr<T> {
    /// Room for a problem of this structure.
    pub(super) fn new(structure: BlockStructure, inexact: Inexact) -> Self {
        let points = InexactPoints::new(&structure, inexact);
        let preconditioner = BlockJacobi::new((0..structure.blocks()).map(|block| structure.size(block)));
        let room = vec![T::ZERO; structure.columns()];
        Cgnr { structure, points, preconditioner, krylov: Krylov::default(), lambda: T::ZERO, room }
    }

    /// Overwrites `b` with `(JᵀJ + λD²)⁻¹b`, by the preconditioner that is there.
    fn solve_in_place(&mut self, (tolerance, rounds): (T, usize), d: &[T], b: &mut [T]) -> Result<(), IllConditioned> {
        let mut system = NormalSystem {
            rows: self.points.rows(),
            structure: &self.structure,
            preconditioner: &self.preconditioner,
            lambda: self.lambda,
            d,
        };
        self.krylov.solve(&mut system, tolerance, rounds, b)
    }
}

/// `JᵀJ + λD²`.
struct NormalSystem<'a, T> {
    rows: &'a BlockRows<T>,
    structure: &'a BlockStructure,
    preconditioner: &'a BlockJacobi<T>,
    lambda: T,
    d: &'a [T],
}

impl<T: Real> Preconditioned<T> for NormalSystem<'_, T> {
    fn multiply(&mut self, v: &[T], product: &mut [T]) {
        self.rows.gram_times(self.structure, v, product);
        add_damping(product, self.lambda, self.d, v);
    }

    fn precondition(&mut self, v: &mut [T]) {
        self.preconditioner.solve(v);
    }
}

/// `y += λD²x`.
pub(super) fn add_damping<T: Real>(y: &mut [T], lambda: T, d: &[T], x: &[T]) {
    if lambda > T::ZERO {
        y.iter_mut().zip(d.iter().zip(x)).for_each(|(y, (&d, &x))| *y += lambda * d * d * x);
    }
}

impl<T: Real> LinearModel<T> for Cgnr<T> {
    fn form(&self) -> LinearForm {
        LinearForm::Cgnr
    }

    fn begin(&mut self) {
        self.points.begin();
    }

    fn add_rows(&mut self, _: &mut [T], _: &mut [T]) {}

    fn swap(&mut self) {
        self.points.swap();
    }

    fn gradient(&self) -> &[T] {
        &self.points.rows().gradient
    }

    fn column_norms(&self, norms: &mut [T]) {
        self.points.rows().column_norms(&self.structure, norms);
    }

    fn solve(
        &mut self,
        _: Products<'_, T>,
        lambda: T,
        d: &[T],
        _: Held<'_>,
        step: &mut [T],
    ) -> Result<(), IllConditioned> {
        self.lambda = lambda;
        for block in 0..self.structure.blocks() {
            let d = &d[self.structure.range(block)];
            self.preconditioner.fill(block, self.points.rows().diagonal_block(block), lambda, d);
            self.preconditioner.factorize(block)?;
        }
        step.iter_mut().zip(self.gradient()).for_each(|(step, &gradient)| *step = -gradient);
        self.solve_in_place(self.points.tolerance(), d, step)
    }

    fn quadratic_form(&self, v: &[T]) -> T {
        self.points.rows().quadratic_form(&self.structure, v)
    }

    fn inverse_form(&mut self, _: Products<'_, T>, d: &[T], _: Held<'_>, step: &[T]) -> T {
        let mut solution = std::mem::take(&mut self.room);
        scale_twice(&mut solution, d, step);
        let b = solution.clone();
        let outcome = self.solve_in_place(self.points.tight_tolerance(), d, &mut solution);
        let form = if outcome.is_ok() { dot(&b, &solution) } else { T::ZERO };
        self.room = solution;
        form
    }

    fn solve_exactly(&mut self) {
        self.points.solve_exactly();
    }

    fn taking_blocks(&mut self) -> Option<&mut dyn TakesBlocks<T>> {
        Some(self)
    }
}

impl<T: Real> TakesBlocks<T> for Cgnr<T> {
    fn add_blocks(&mut self, problem: &mut dyn BlockJacobian<T>, x: &[T]) -> Result<(T, T), EvaluationError> {
        self.points.add_blocks(&self.structure, problem, x)
    }
}
