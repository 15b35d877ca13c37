//! Conjugate gradients on the normal equations of a Jacobian of blocks.

use super::block_jacobi::BlockJacobi;
use super::block_normal::BlockSystem;
use super::block_rows::{BlockStructure, DampedRows};
use super::form::LinearForm;
use super::model::IllConditioned;
use super::preconditioned::{End, Krylov, Preconditioned};
use crate::real::Real;

/// The normal equations themselves (CGNR).
///
/// The preconditioner is the blocks on the diagonal of `JᵀJ + λD²` (block Jacobi). Memory is that of the stored entries, and a
/// round takes `4` operations for each, so that this is for factors that fill in too much. Rounds are as many as the square root of
/// the condition number of the preconditioned system asks for: few with damping and for local problems, many for long chains.
#[derive(Debug, Clone)]
pub struct Cgnr<T> {
    preconditioner: BlockJacobi<T>,
    krylov: Krylov<T>,
}

impl<T: Real> Cgnr<T> {
    /// Room for a problem of this structure.
    pub(super) fn new(structure: &BlockStructure) -> Self {
        let preconditioner = BlockJacobi::new((0..structure.blocks()).map(|block| structure.size(block)));
        Cgnr { preconditioner, krylov: Krylov::default() }
    }
}

impl<T: Real> BlockSystem<T> for Cgnr<T> {
    const FORM: LinearForm = LinearForm::Cgnr;

    fn factorize(&mut self, system: DampedRows<'_, T>) -> Result<(), IllConditioned> {
        for block in 0..system.rows.structure.blocks() {
            self.preconditioner.fill(block, system, block);
            self.preconditioner.factorize(block)?;
        }
        Ok(())
    }

    fn solve(&mut self, system: DampedRows<'_, T>, end: End<T>, b: &mut [T]) -> Result<(), IllConditioned> {
        let Cgnr { preconditioner, krylov } = self;
        krylov.solve(&mut NormalSystem { system, preconditioner }, end, b)
    }
}

/// `JᵀJ + λD²`.
struct NormalSystem<'a, T> {
    system: DampedRows<'a, T>,
    preconditioner: &'a BlockJacobi<T>,
}

impl<T: Real> Preconditioned<T> for NormalSystem<'_, T> {
    fn multiply(&mut self, v: &[T], product: &mut [T]) {
        let DampedRows { rows, lambda, d } = self.system;
        rows.gram_times(v, product);
        if lambda > T::ZERO {
            product.iter_mut().zip(d.iter().zip(v)).for_each(|(product, (&d, &v))| *product += lambda * d * d * v);
        }
    }

    fn precondition(&mut self, v: &mut [T]) {
        self.preconditioner.solve(v);
    }
}
