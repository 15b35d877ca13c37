//! Preconditioned conjugate gradients for `(K + λI)w = b`, where `K = JJᵀ` is only multiplied by.

use super::model::{IllConditioned, Unsolved};
use super::product_point::DampedProducts;
use crate::kernels::triangular::{lost_digits, solve_cholesky};
use crate::kernels::triangular_inverse::{invert_upper, scratch_len};
use crate::kernels::vector::{add_scaled, dot};
use crate::kernels::{Factor, Scratch};
use crate::problem::{Evaluated, JacobianProducts};
use crate::real::Real;

/// Rounds after which a system that has not converged is answered by more damping.
const MAX_ROUNDS: usize = 500;

/// Rounds after which a system is factorised, where the preconditioner is the mean; 2.4 times as many as are expected.
const MAX_MEAN_ROUNDS: usize = 60;

/// Conjugate gradients, preconditioned by the blocks on the diagonal of `K + λI` (block Jacobi), or by the mean of `K + λI` over the rows of
/// a group.
///
/// Two products with the Jacobian a round, or one with `K`; and the better the damping, the fewer rounds: their number grows with the
/// square root of the condition number of the preconditioned system.
#[derive(Default)]
pub(super) struct ConjugateGradients<T> {
    /// Rows in a group.
    group: usize,
    /// Preconditions by the mean, and ends once the step is this accurate: see [`suffices`](Self::suffices).
    tolerance: Option<T>,
    /// True if the blocks of the preconditioner are known; otherwise nothing is preconditioned.
    has_blocks: bool,
    /// The blocks of `K`, and the factors of those of `K + λI`; or the mean of `K`, and `R⁻¹` for the factor `RᵀR` of that of
    /// `K + λI`: with the inverse itself, whose rounding errors are not symmetric, rounds would not converge in single precision.
    blocks: Vec<T>,
    factors: Vec<T>,
    solution: Vec<T>,
    inverse_pivots: Vec<T>,
    residual: Vec<T>,
    preconditioned: Vec<T>,
    direction: Vec<T>,
    image: Vec<T>,
    /// `Jᵀ` times a direction: as many numbers as there are parameters.
    parameters: Vec<T>,
    scratch: Scratch<T>,
    inverse_memory: Vec<T>,
}

impl<T: Real> ConjugateGradients<T> {
    /// Preconditioned by the mean, to a tolerance.
    pub(super) fn to_tolerance(tolerance: T) -> Self {
        ConjugateGradients { tolerance: Some(tolerance), ..Self::default() }
    }

    /// The tolerance; `None` where solutions are accurate to rounding.
    pub(super) fn tolerance(&self) -> Option<T> {
        self.tolerance
    }

    /// Room for `m` rows in groups, of `n` parameters.
    pub(super) fn resize(&mut self, m: usize, n: usize, group: usize) {
        self.group = group;
        let samples = m / group;
        let blocks = if self.tolerance.is_some() { samples * samples } else { m * group };
        self.blocks.resize(blocks, T::ZERO);
        self.factors.resize(blocks, T::ZERO);
        let columns = [
            &mut self.solution,
            &mut self.inverse_pivots,
            &mut self.residual,
            &mut self.preconditioned,
            &mut self.direction,
            &mut self.image,
        ];
        columns.into_iter().for_each(|column| column.resize(m, T::ZERO));
        if self.tolerance.is_some() {
            self.inverse_memory.resize(scratch_len(samples), T::ZERO);
        } else {
            self.parameters.resize(n, T::ZERO);
        }
    }

    /// Takes up a new `K`, and returns its trace; `None` where that is not known.
    pub(super) fn linearize(&mut self, products: &mut dyn JacobianProducts<T>) -> Evaluated<Option<T>> {
        if self.tolerance.is_some() {
            products.mean_row_gram(&mut self.blocks)?;
            let samples = self.residual.len() / self.group;
            let trace: T = self.blocks.iter().step_by(samples + 1).copied().sum();
            return Ok(Some(trace * T::from_f64(self.group as f64)));
        }
        self.has_blocks = products.row_gram_blocks(&mut self.blocks)?;
        let blocks = self.blocks.chunks_exact(self.group * self.group);
        let trace = || blocks.flat_map(|block| block.iter().step_by(self.group + 1)).copied().sum();
        Ok(self.has_blocks.then(trace))
    }

    /// Factors the preconditioner for this damping.
    pub(super) fn damp(&mut self, lambda: T) -> Result<(), IllConditioned> {
        if self.tolerance.is_some() {
            return self.factorise_mean(lambda);
        }
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

    /// Factorises the mean, damped by as much as it takes to be safely positive definite.
    fn factorise_mean(&mut self, lambda: T) -> Result<(), IllConditioned> {
        let samples = self.residual.len() / self.group;
        let largest = self.blocks.iter().step_by(samples + 1).copied().fold(T::ZERO, T::max);
        let ridge = lambda.max(T::from_f64(2.0) * lost_digits::<T>() * largest);
        self.factors.copy_from_slice(&self.blocks);
        self.factors.iter_mut().step_by(samples + 1).for_each(|diagonal| *diagonal += ridge);
        let pivots = &mut self.inverse_pivots[..samples];
        if !T::cholesky(&mut self.factors, pivots, &mut self.scratch) {
            return Err(IllConditioned);
        }
        // R = √D Lᵀ.
        for (i, (row, pivot)) in self.factors.chunks_exact_mut(samples).zip(pivots).enumerate() {
            let root = pivot.sqrt().recip();
            row[..i].fill(T::ZERO);
            row[i] = T::ONE;
            row[i..].iter_mut().for_each(|entry| *entry *= root);
        }
        invert_upper(&mut self.factors, samples, &mut self.inverse_memory);
        Ok(())
    }

    /// `K u`.
    pub(super) fn multiply(&mut self, products: &mut DampedProducts<'_, T>, u: &[T], product: &mut [T]) -> Evaluated {
        gram_times(products, self.tolerance.is_some(), &mut self.parameters, u, product)
    }

    /// Returns true if the step `−Jᵀw` of the solution `w` brings the reduction of the damped model `½‖Jδ + b‖² + ½λ‖δ‖²` that the exact
    /// step brings, but for the tolerance times what it brings itself. `squared` is `‖b‖²`, and `dual` is `λbᵀw`.
    ///
    /// With the residual `e = b − (K + λI)w`, the gap between the damped model at the step and its dual at `w` is `½‖e‖²` exactly, and
    /// conjugate gradients, which keep `wᵀe = 0`, bring `½(‖b‖² − ‖e‖² − λbᵀw)`.
    fn suffices(&self, squared: T, dual: T) -> bool {
        let gap = dot(&self.residual, &self.residual);
        self.tolerance.is_some_and(|tolerance| gap <= tolerance * (squared - gap - dual))
    }

    /// Overwrites `b` with `(K + λI)⁻¹b`, with the last [`damp`](Self::damp)ing. On an error, `b` is as it was.
    pub(super) fn solve(&mut self, products: &mut DampedProducts<'_, T>, b: &mut [T]) -> Result<(), Unsolved> {
        let lambda = products.point.lambda;
        self.residual.copy_from_slice(b);
        self.solution.fill(T::ZERO);
        self.precondition();
        self.direction.copy_from_slice(&self.preconditioned);
        let mut size = dot(&self.residual, &self.preconditioned);
        let is_to_tolerance = self.tolerance.is_some();
        // Where the damping is large, a step takes little of the residuals: to a tolerance of the reduction, their rounding is not enough.
        let target = if is_to_tolerance { T::EPSILON * T::EPSILON * size } else { T::EPSILON * size };
        let (squared, mut dual) = (dot(b, b), T::ZERO);
        for _ in 0..if is_to_tolerance { MAX_MEAN_ROUNDS } else { MAX_ROUNDS } {
            if size <= target || self.suffices(squared, dual) {
                b.copy_from_slice(&self.solution);
                return Ok(());
            }
            gram_times(products, is_to_tolerance, &mut self.parameters, &self.direction, &mut self.image)?;
            add_scaled(&mut self.image, lambda, &self.direction);
            let curvature = dot(&self.direction, &self.image);
            if !(curvature > T::ZERO && curvature.is_finite()) {
                return Err(Unsolved::IllConditioned);
            }
            let length = size / curvature;
            dual += lambda * length * size;
            add_scaled(&mut self.solution, length, &self.direction);
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
        if self.tolerance.is_some() {
            let samples = self.residual.len() / group;
            T::multiply(&mut self.image, false, Factor::Transposed(&self.factors), &self.residual, samples, group);
            return T::multiply(
                &mut self.preconditioned,
                false,
                Factor::Plain(&self.factors),
                &self.image,
                samples,
                group,
            );
        }
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

/// `product = JJᵀu`: the problem's own, or by `Jᵀu`, for which there is room.
fn gram_times<T: Real>(
    products: &mut DampedProducts<'_, T>,
    own: bool,
    room: &mut [T],
    u: &[T],
    product: &mut [T],
) -> Evaluated {
    if own {
        return products.row_gram_times(u, product);
    }
    products.multiply_transposed(u, room)?;
    products.multiply(room, product)
}
