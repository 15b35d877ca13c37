//! Conjugate gradients on the normal equations of a Jacobian of blocks.

use super::block_jacobi::BlockJacobi;
use super::block_rows::{BlockRows, BlockStructure};
use super::form::LinearForm;
use super::inexact_normal::InexactSystem;
use super::model::IllConditioned;
use super::preconditioned::{Krylov, Preconditioned};
use crate::real::Real;

/// The normal equations themselves (CGNR).
///
/// The preconditioner is the blocks on the diagonal of `JᵀJ + λD²` (block Jacobi). Memory is that of the stored entries, twice, and a
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

impl<T: Real> InexactSystem<T> for Cgnr<T> {
    const FORM: LinearForm = LinearForm::Cgnr;

    fn factorize(
        &mut self,
        structure: &BlockStructure,
        rows: &BlockRows<T>,
        (lambda, d): (T, &[T]),
    ) -> Result<(), IllConditioned> {
        for block in 0..structure.blocks() {
            self.preconditioner.fill(block, rows.diagonal_block(block), lambda, &d[structure.range(block)]);
            self.preconditioner.factorize(block)?;
        }
        Ok(())
    }

    fn solve(
        &mut self,
        structure: &BlockStructure,
        rows: &BlockRows<T>,
        (lambda, d): (T, &[T]),
        (tolerance, rounds): (T, usize),
        b: &mut [T],
    ) -> Result<(), IllConditioned> {
        let Cgnr { preconditioner, krylov } = self;
        krylov.solve(&mut NormalSystem { rows, structure, preconditioner, lambda, d }, tolerance, rounds, b)
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
