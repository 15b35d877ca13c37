//! Conjugate gradients on the Schur complement of the normal equations.

use super::block_jacobi::BlockJacobi;
use super::block_normal::BlockSystem;
use super::block_rows::{BlockStructure, DampedRows};
use super::elimination::Elimination;
use super::form::LinearForm;
use super::model::IllConditioned;
use super::preconditioned::{End, Krylov, Preconditioned};
use crate::real::Real;

/// The normal equations, from which blocks of columns that no residual block shares are eliminated; the Schur complement that is
/// left is multiplied by and never formed.
///
/// The preconditioner is the blocks on the diagonal of the Schur complement. Memory is that of the stored entries of `J`, twice: in the order of the
/// residual blocks, and in that of elimination.
#[derive(Debug, Clone)]
pub struct IterativeSchur<T> {
    elimination: Elimination<T>,
    preconditioner: BlockJacobi<T>,
    krylov: Krylov<T>,
    /// A vector of the kept columns.
    reduced: Vec<T>,
}

impl<T: Real> IterativeSchur<T> {
    /// Workspace for a problem of this structure, of which these blocks are eliminated.
    pub(super) fn new(structure: &BlockStructure, eliminated: Vec<usize>) -> Self {
        let elimination = Elimination::new(structure, eliminated);
        let preconditioner = BlockJacobi::new(elimination.kept().iter().map(|&block| structure.size(block)));
        let reduced = vec![T::ZERO; elimination.kept_columns()];
        IterativeSchur { elimination, preconditioner, krylov: Krylov::default(), reduced }
    }
}

impl<T: Real> BlockSystem<T> for IterativeSchur<T> {
    const FORM: LinearForm = LinearForm::IterativeSchur;

    fn factorize(&mut self, system: DampedRows<'_, T>) -> Result<(), IllConditioned> {
        self.elimination.factorize(system)?;
        self.elimination.fill_diagonal(system, &mut self.preconditioner)
    }

    fn solve(&mut self, system: DampedRows<'_, T>, end: End<T>, b: &mut [T]) -> Result<(), IllConditioned> {
        let IterativeSchur { elimination, preconditioner, krylov, reduced } = self;
        elimination.reduce(&system.rows.structure, b, reduced);
        krylov.solve(&mut SchurSystem { elimination, preconditioner, system }, end, reduced)?;
        elimination.back_substitute(&system.rows.structure, reduced, b);
        Ok(())
    }
}

/// The Schur complement.
struct SchurSystem<'a, T> {
    elimination: &'a mut Elimination<T>,
    preconditioner: &'a BlockJacobi<T>,
    system: DampedRows<'a, T>,
}

impl<T: Real> Preconditioned<T> for SchurSystem<'_, T> {
    fn multiply(&mut self, v: &[T], product: &mut [T]) {
        self.elimination.multiply(self.system, v, product);
    }

    fn precondition(&mut self, v: &mut [T]) {
        self.preconditioner.solve(v);
    }
}
