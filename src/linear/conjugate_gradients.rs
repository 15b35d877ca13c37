//! Preconditioned conjugate gradients for `(K + λI)w = b`, where `K = JJᵀ` is only multiplied by.

use super::model::{IllConditioned, Unsolved};
use super::product_point::DampedProducts;
use crate::kernels::Scratch;
use crate::kernels::triangular::solve_cholesky;
use crate::kernels::vector::{add_scaled, dot};
use crate::problem::{Evaluated, JacobianProducts};
use crate::real::Real;

/// Rounds after which a system that has not converged is answered by more damping.
const MAX_ROUNDS: usize = 500;

/// Conjugate gradients, preconditioned by the blocks on the diagonal of `K + λI` (block Jacobi).
///
/// Two products with the Jacobian a round, and the better the damping, the fewer rounds: their number grows with the
/// square root of the condition number of the preconditioned system.
#[derive(Default)]
pub(super) struct ConjugateGradients<T> {
    /// Rows in a block.
    group: usize,
    /// True if the blocks of the preconditioner are known; otherwise nothing is preconditioned.
    has_blocks: bool,
    /// The blocks of `K`, and the factors of those of `K + λI`.
    blocks: Vec<T>,
    factors: Vec<T>,
    inverse_pivots: Vec<T>,
    residual: Vec<T>,
    preconditioned: Vec<T>,
    direction: Vec<T>,
    image: Vec<T>,
    /// `Jᵀ` times a direction: as many numbers as there are parameters.
    parameters: Vec<T>,
    scratch: Scratch<T>,
}

impl<T: Real> ConjugateGradients<T> {
    /// Room for `m` rows in groups, of `n` parameters.
    pub(super) fn resize(&mut self, m: usize, n: usize, group: usize) {
        self.group = group;
        for blocks in [&mut self.blocks, &mut self.factors] {
            blocks.resize(m * group, T::ZERO);
        }
        let columns = [
            &mut self.inverse_pivots,
            &mut self.residual,
            &mut self.preconditioned,
            &mut self.direction,
            &mut self.image,
        ];
        columns.into_iter().for_each(|column| column.resize(m, T::ZERO));
        self.parameters.resize(n, T::ZERO);
    }

    /// Takes up a new `K`, and returns its trace; `None` where that is not known.
    pub(super) fn linearize(&mut self, products: &mut dyn JacobianProducts<T>) -> Evaluated<Option<T>> {
        self.has_blocks = products.row_gram_blocks(&mut self.blocks)?;
        let blocks = self.blocks.chunks_exact(self.group * self.group);
        let trace = || blocks.flat_map(|block| block.iter().step_by(self.group + 1)).copied().sum();
        Ok(self.has_blocks.then(trace))
    }

    /// Factors the preconditioner for this damping.
    pub(super) fn damp(&mut self, lambda: T) -> Result<(), IllConditioned> {
        if !self.has_blocks {
            return Ok(());
        }
        let group = self.group;
        self.factors.copy_from_slice(&self.blocks);
        let blocks = self.factors.chunks_exact_mut(group * group).zip(self.inverse_pivots.chunks_exact_mut(group));
        for (factor, inverse_pivots) in blocks {
            factor.iter_mut().step_by(group + 1).for_each(|diagonal| *diagonal += lambda);
            if !T::cholesky(factor, inverse_pivots, &mut self.scratch) {
                return Err(IllConditioned);
            }
        }
        Ok(())
    }

    /// `K u`.
    pub(super) fn multiply(&mut self, products: &mut DampedProducts<'_, T>, u: &[T], product: &mut [T]) -> Evaluated {
        gram_times(products, &mut self.parameters, u, product)
    }

    /// Overwrites `b` with `(K + λI)⁻¹b`, with the last [`damp`](Self::damp)ing.
    pub(super) fn solve(&mut self, products: &mut DampedProducts<'_, T>, b: &mut [T]) -> Result<(), Unsolved> {
        let lambda = products.point.lambda;
        self.residual.copy_from_slice(b);
        b.fill(T::ZERO);
        self.precondition();
        self.direction.copy_from_slice(&self.preconditioned);
        let mut size = dot(&self.residual, &self.preconditioned);
        let target = T::EPSILON * size;
        for _ in 0..MAX_ROUNDS {
            if size <= target {
                return Ok(());
            }
            gram_times(products, &mut self.parameters, &self.direction, &mut self.image)?;
            add_scaled(&mut self.image, lambda, &self.direction);
            let curvature = dot(&self.direction, &self.image);
            if !(curvature > T::ZERO && curvature.is_finite()) {
                return Err(Unsolved::IllConditioned);
            }
            let length = size / curvature;
            add_scaled(b, length, &self.direction);
            add_scaled(&mut self.residual, -length, &self.image);
            self.precondition();
            let before = std::mem::replace(&mut size, dot(&self.residual, &self.preconditioned));
            let keep = size / before;
            for (direction, &ahead) in self.direction.iter_mut().zip(&self.preconditioned) {
                *direction = ahead + keep * *direction;
            }
        }
        Err(Unsolved::IllConditioned)
    }

    /// Solves with the blocks in place of the whole.
    fn precondition(&mut self) {
        let group = self.group;
        self.preconditioned.copy_from_slice(&self.residual);
        if !self.has_blocks {
            return;
        }
        let blocks = self.factors.chunks_exact(group * group).zip(self.inverse_pivots.chunks_exact(group));
        for ((factor, inverse_pivots), part) in blocks.zip(self.preconditioned.chunks_exact_mut(group)) {
            solve_cholesky(factor, inverse_pivots, part);
        }
    }
}

/// `product = JJᵀu`, with room for `Jᵀu`.
fn gram_times<T: Real>(products: &mut DampedProducts<'_, T>, room: &mut [T], u: &[T], product: &mut [T]) -> Evaluated {
    products.multiply_transposed(u, room)?;
    products.multiply(room, product)
}
