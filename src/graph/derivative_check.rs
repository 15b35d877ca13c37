//! A check of the derivatives of residual blocks, one by one.

use super::error::GraphError;
use super::group::ResidualGroup;
use super::least_squares::Active;
use super::problem::Problem;
use crate::problem::{Evaluated, LeastSquares, check_derivatives};
use crate::real::Real;

impl<T: Real> Problem<T> {
    /// Compares the derivatives of every residual block with central differences at the points as they are, constant blocks and
    /// losses left out. It is for cost functions that [bring their Jacobians](super::AnalyticCostFunction), and takes two
    /// evaluations for each direction.
    ///
    /// # Errors
    ///
    /// [`GraphError::WrongDerivative`] names the first residual block with a derivative that differs by more than differences explain,
    /// and the worst of that block; [`GraphError::Evaluation`] one that cannot be evaluated.
    pub fn check_derivatives(&self) -> Result<(), GraphError> {
        let mut active = Active::new(self);
        active.take_directions(&self.x);
        let mut numbers = self.x.clone();
        for (residual_block, &(group, k)) in self.residual_blocks.iter().enumerate() {
            let (group, k) = (&*self.groups[group as usize], k as usize);
            let blocks = group.blocks(k).iter().map(|&block| block as usize);
            let all = blocks.flat_map(|block| (0..self.blocks[block].manifold.tangent_size()).map(move |j| (block, j)));
            let free: Vec<(usize, usize)> = all.filter(|&(block, j)| self.blocks[block].is_free(j)).collect();
            if free.is_empty() {
                continue;
            }
            let at = vec![T::ZERO; free.len()];
            let mut single = Single { problem: self, active: &active, group, k, free, numbers: &mut numbers };
            let check = check_derivatives(&mut single, &at)
                .map_err(|error| GraphError::Evaluation { residual_block, error })?;
            if !check.passed() {
                let (parameter_block, direction) = single.free[check.worst.parameter];
                return Err(GraphError::WrongDerivative {
                    residual_block,
                    residual: check.worst.residual,
                    parameter_block,
                    direction,
                    given: check.worst.given.to_f64(),
                    difference: check.worst.difference.to_f64(),
                });
            }
        }
        Ok(())
    }
}

/// One residual block, as a problem in the steps of its parameter blocks.
struct Single<'a, T: Real> {
    problem: &'a Problem<T>,
    active: &'a Active<'a, T>,
    group: &'a dyn ResidualGroup<T>,
    k: usize,
    /// Parameter block and direction of each entry of a step.
    free: Vec<(usize, usize)>,
    /// Points of all blocks; those of this residual block move.
    numbers: &'a mut Vec<T>,
}

impl<T: Real> LeastSquares<T> for Single<'_, T> {
    fn parameter_count(&self) -> usize {
        self.free.len()
    }

    fn residual_count(&self) -> usize {
        self.group.residual_count(self.k)
    }

    fn row_group(&self) -> usize {
        self.residual_count()
    }

    fn residuals(&mut self, step: &[T], _: usize, r: &mut [T]) -> Evaluated {
        let Problem { blocks, x, ambient, .. } = self.problem;
        let ranges = self.group.blocks(self.k).iter().map(|&block| (block as usize, block as usize + 1));
        for (block, next) in ranges.clone() {
            let mut of_block = vec![T::ZERO; blocks[block].manifold.tangent_size()];
            let own = self.free.iter().zip(step).filter(|((own, _), _)| *own == block);
            own.for_each(|(&(_, direction), &step)| of_block[direction] = step);
            let range = ambient[block]..ambient[next];
            blocks[block].manifold.plus(&x[range.clone()], &of_block, &mut self.numbers[range]);
        }
        let outcome = self.group.residuals(self.k, &self.active.points(self.numbers), r);
        for (block, next) in ranges {
            let range = ambient[block]..ambient[next];
            self.numbers[range.clone()].copy_from_slice(&x[range]);
        }
        outcome
    }

    /// Linearises at the step of zero, the only one that is asked for.
    fn linearize(&mut self, _: &[T], _: usize, r: &mut [T], jacobian: &mut [T]) -> Evaluated {
        self.group.derivatives(self.k, &self.active.points(&self.problem.x), r, jacobian)
    }
}
