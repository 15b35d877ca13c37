//! Conjugate gradients on the Schur complement of the normal equations.

use super::block_jacobi::BlockJacobi;
use super::block_rows::{BlockRows, BlockStructure};
use super::cgnr::InexactPoints;
use super::elimination::{Elimination, independent_set};
use super::form::LinearForm;
use super::held::Held;
use super::model::{IllConditioned, LinearModel, Products, TakesBlocks};
use super::preconditioned::{Inexact, Krylov, Preconditioned};
use crate::kernels::vector::{dot, scale_twice};
use crate::{BlockJacobian, EvaluationError, Real};

/// The normal equations, from which blocks of columns that no residual block shares are eliminated; what is left, the Schur
/// complement, is multiplied by and never formed.
///
/// The preconditioner is the blocks on the diagonal of the Schur complement. Memory is that of the stored entries of `J`, twice.
#[derive(Debug, Clone)]
pub struct IterativeSchur<T> {
    structure: BlockStructure,
    points: InexactPoints<T>,
    elimination: Elimination<T>,
    preconditioner: BlockJacobi<T>,
    krylov: Krylov<T>,
    /// Damping of the last solve.
    lambda: T,
    /// A vector of the kept columns, and one of all.
    reduced: Vec<T>,
    room: Vec<T>,
}

impl<T: Real> IterativeSchur<T> {
    /// Room for a problem of this structure.
    pub(super) fn new(structure: BlockStructure, inexact: Inexact) -> Self {
        let elimination = Elimination::new(&structure, independent_set(&structure));
        let points = InexactPoints::new(&structure, inexact);
        let preconditioner = BlockJacobi::new(elimination.kept().iter().map(|&block| structure.size(block)));
        let (reduced, room) = (vec![T::ZERO; elimination.kept_columns()], vec![T::ZERO; structure.columns()]);
        let krylov = Krylov::default();
        IterativeSchur { structure, points, elimination, preconditioner, krylov, lambda: T::ZERO, reduced, room }
    }

    /// Number of columns of the Schur complement.
    pub(super) fn kept_columns(&self) -> usize {
        self.elimination.kept_columns()
    }

    /// Overwrites `b` with `(JᵀJ + λD²)⁻¹b`, by the factors that are there.
    fn solve_in_place(&mut self, (tolerance, rounds): (T, usize), d: &[T], b: &mut [T]) -> Result<(), IllConditioned> {
        let IterativeSchur { structure, points, elimination, preconditioner, krylov, lambda, reduced, .. } = self;
        let rows = points.rows();
        elimination.reduce(structure, rows, b, reduced);
        let mut system = SchurSystem { elimination, preconditioner, structure, rows, damping: (*lambda, d) };
        krylov.solve(&mut system, tolerance, rounds, reduced)?;
        elimination.back_substitute(structure, rows, reduced, b);
        Ok(())
    }
}

/// The Schur complement.
struct SchurSystem<'a, T> {
    elimination: &'a Elimination<T>,
    preconditioner: &'a BlockJacobi<T>,
    structure: &'a BlockStructure,
    rows: &'a BlockRows<T>,
    damping: (T, &'a [T]),
}

impl<T: Real> Preconditioned<T> for SchurSystem<'_, T> {
    fn multiply(&mut self, v: &[T], product: &mut [T]) {
        self.elimination.multiply(self.structure, self.rows, self.damping, v, product);
    }

    fn precondition(&mut self, v: &mut [T]) {
        self.preconditioner.solve(v);
    }
}

impl<T: Real> LinearModel<T> for IterativeSchur<T> {
    fn form(&self) -> LinearForm {
        LinearForm::IterativeSchur
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
        let IterativeSchur { structure, points, elimination, preconditioner, .. } = self;
        let rows = points.rows();
        elimination.factorize(structure, rows, lambda, d)?;
        elimination.fill_diagonal(structure, rows, (lambda, d), preconditioner)?;
        self.lambda = lambda;
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

impl<T: Real> TakesBlocks<T> for IterativeSchur<T> {
    fn add_blocks(&mut self, problem: &mut dyn BlockJacobian<T>, x: &[T]) -> Result<(T, T), EvaluationError> {
        self.points.add_blocks(&self.structure, problem, x)
    }
}
