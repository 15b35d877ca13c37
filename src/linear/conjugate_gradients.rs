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

/// Rounds, and the part of the residual that may be left.
#[derive(Clone, Copy)]
pub(super) struct Accuracy<T> {
    pub(super) rounds: usize,
    pub(super) tolerance: T,
}

impl<T: Real> Accuracy<T> {
    /// As accurate as a factorisation.
    pub(super) fn exact() -> Self {
        Accuracy { rounds: MAX_ROUNDS, tolerance: T::EPSILON.sqrt() }
    }
}

/// The blocks of `K + λI` that precondition it (block Jacobi).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Blocks {
    /// None are.
    #[default]
    None,
    /// Of all residuals of a sample each.
    Samples,
    /// Of one residual of all samples each.
    Residuals,
}

/// Conjugate gradients, preconditioned by blocks of `K + λI`.
///
/// A product with `K` a round, and the better the damping, the fewer rounds: their number grows with the
/// square root of the condition number of the preconditioned system.
#[derive(Default)]
pub(super) struct ConjugateGradients<T> {
    /// Residuals of a sample.
    group: usize,
    preconditioner: Blocks,
    /// The blocks of `K`, and the factors of those of `K + λI`.
    blocks: Vec<T>,
    factors: Vec<T>,
    inverse_pivots: Vec<T>,
    residual: Vec<T>,
    preconditioned: Vec<T>,
    direction: Vec<T>,
    image: Vec<T>,
    /// A block's part of a vector.
    part: Vec<T>,
    /// `Jᵀ` times a direction: as many numbers as there are parameters.
    parameters: Vec<T>,
    scratch: Scratch<T>,
}

impl<T: Real> ConjugateGradients<T> {
    /// Room for `m` rows in groups, of `n` parameters.
    pub(super) fn resize(&mut self, m: usize, n: usize, group: usize) {
        self.group = group;
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

    /// Takes up a new `K`, and returns its trace; `None` where that is not known. Where `by_residuals`, the blocks are those of
    /// one residual each, which are larger; or there are none, where outputs are mixed.
    pub(super) fn linearize(
        &mut self,
        products: &mut dyn JacobianProducts<T>,
        by_residuals: bool,
    ) -> Evaluated<Option<T>> {
        let (m, group) = (self.residual.len(), self.group);
        self.blocks.resize(m * if by_residuals { group.max(m / group) } else { group }, T::ZERO);
        let mut size = m / group;
        self.preconditioner = Blocks::Residuals;
        if !(by_residuals && products.row_gram_of_residuals(&mut self.blocks[..m * size])?) {
            let is_known = products.row_gram_blocks(&mut self.blocks[..m * group])?;
            self.preconditioner = if is_known && !by_residuals { Blocks::Samples } else { Blocks::None };
            if !is_known {
                return Ok(None);
            }
            size = group;
        }
        let blocks = self.blocks[..m * size].chunks_exact(size * size);
        Ok(Some(blocks.flat_map(|block| block.iter().step_by(size + 1)).copied().sum()))
    }

    /// Entries of a block of the preconditioner.
    fn size(&self) -> usize {
        if self.preconditioner == Blocks::Residuals { self.residual.len() / self.group } else { self.group }
    }

    /// Factors the preconditioner for this damping.
    pub(super) fn damp(&mut self, lambda: T) -> Result<(), IllConditioned> {
        if self.preconditioner == Blocks::None {
            return Ok(());
        }
        let (m, size) = (self.residual.len(), self.size());
        self.factors.resize(m * size, T::ZERO);
        self.factors.copy_from_slice(&self.blocks[..m * size]);
        let blocks = self.factors.chunks_exact_mut(size * size).zip(self.inverse_pivots.chunks_exact_mut(size));
        for (factor, inverse_pivots) in blocks {
            factor.iter_mut().step_by(size + 1).for_each(|diagonal| *diagonal += lambda);
            if !T::cholesky(factor, inverse_pivots, &mut self.scratch) {
                return Err(IllConditioned);
            }
        }
        Ok(())
    }

    /// `K u`.
    pub(super) fn multiply(&mut self, products: &mut DampedProducts<'_, T>, u: &[T], product: &mut [T]) -> Evaluated {
        products.multiply_row_gram(&mut self.parameters, u, product)
    }

    /// Overwrites `solution` with `(K + λI)⁻¹b`, with the last [`damp`](Self::damp)ing. Returns `false` if it is not as accurate after
    /// all rounds, or a third of them have brought less than a sixth of the digits.
    pub(super) fn solve(
        &mut self,
        products: &mut DampedProducts<'_, T>,
        Accuracy { rounds, tolerance }: Accuracy<T>,
        b: &[T],
        solution: &mut [T],
    ) -> Result<bool, Unsolved> {
        let lambda = products.point.lambda;
        self.residual.copy_from_slice(b);
        solution.fill(T::ZERO);
        self.precondition();
        self.direction.copy_from_slice(&self.preconditioned);
        let mut size = dot(&self.residual, &self.preconditioned);
        let target = tolerance * tolerance * size;
        let on_the_way = T::from_f64(tolerance.to_f64().powf(1.0 / 3.0)) * size;
        for round in 0..rounds {
            if size <= target {
                return Ok(true);
            }
            if round == rounds / 3 && !(size <= on_the_way) && rounds < MAX_ROUNDS {
                return Ok(false);
            }
            products.multiply_row_gram(&mut self.parameters, &self.direction, &mut self.image)?;
            add_scaled(&mut self.image, lambda, &self.direction);
            let curvature = dot(&self.direction, &self.image);
            if !(curvature > T::ZERO && curvature.is_finite()) {
                return Ok(false);
            }
            let length = size / curvature;
            add_scaled(solution, length, &self.direction);
            add_scaled(&mut self.residual, -length, &self.image);
            self.precondition();
            let before = std::mem::replace(&mut size, dot(&self.residual, &self.preconditioned));
            let keep = size / before;
            for (direction, &ahead) in self.direction.iter_mut().zip(&self.preconditioned) {
                *direction = ahead + keep * *direction;
            }
        }
        Ok(false)
    }

    /// Solves with the blocks in place of the whole.
    fn precondition(&mut self) {
        let (group, size) = (self.group, self.size());
        self.preconditioned.copy_from_slice(&self.residual);
        if self.preconditioner == Blocks::None {
            return;
        }
        let blocks = self.factors.chunks_exact(size * size).zip(self.inverse_pivots.chunks_exact(size));
        if self.preconditioner == Blocks::Samples {
            for ((factor, inverse_pivots), part) in blocks.zip(self.preconditioned.chunks_exact_mut(size)) {
                solve_cholesky(factor, inverse_pivots, part);
            }
            return;
        }
        for (residual, (factor, inverse_pivots)) in blocks.enumerate() {
            self.part.clear();
            self.part.extend(self.residual[residual..].iter().step_by(group));
            solve_cholesky(factor, inverse_pivots, &mut self.part);
            let of_residual = self.preconditioned[residual..].iter_mut().step_by(group);
            of_residual.zip(&self.part).for_each(|(to, &number)| *to = number);
        }
    }
}
