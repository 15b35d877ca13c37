//! The scaling `D` of the damping, and the column norms that it follows.

use super::Scaling;
use crate::kernels::vector::scaled_norm;
use crate::linear::LinearModel;
use crate::real::Real;
use crate::storage::Storage;

pub(super) struct Scale<T: Real, S: Storage<T>> {
    pub(super) rule: Scaling,
    /// `D`.
    pub(super) d: S::Vector,
    /// `‖J_j‖` at two points: the current one, and the candidate or the point before.
    norms: [S::Vector; 2],
    /// `‖J‖²` at both; `None` where columns are formed.
    spread: [Option<T>; 2],
    /// The second of these are the current point's.
    second: bool,
    /// Number of steps that are still refused because they take a parameter's influence away.
    pub(super) refusals: usize,
}

impl<T: Real, S: Storage<T>> Scale<T, S> {
    /// For `n` parameters, before the first point.
    #[inline]
    pub(super) fn new(rule: Scaling, n: usize) -> Self {
        let norms = [S::vector(n), S::vector(n)];
        Scale { rule, d: S::vector(n), norms, spread: [None; 2], second: false, refusals: 0 }
    }

    /// `‖J_j‖` at the current point; zero where columns are not formed.
    #[inline(always)]
    pub(super) fn norms(&self) -> &[T] {
        self.norms[usize::from(self.second)].as_ref()
    }

    /// `‖J‖²` at the current point, where columns are not formed.
    #[inline(always)]
    pub(super) fn spread(&self) -> Option<T> {
        self.spread[usize::from(self.second)]
    }

    /// Takes up the columns of the model as those of a candidate, and returns their norms.
    #[inline(always)]
    pub(super) fn measure(&mut self, model: &impl LinearModel<T>) -> &[T] {
        let candidate = usize::from(!self.second);
        self.spread[candidate] = model.column_norms(self.norms[candidate].as_mut());
        self.norms[candidate].as_ref()
    }

    /// Exchanges the current point with the candidate.
    #[inline(always)]
    pub(super) fn swap(&mut self) {
        self.second = !self.second;
    }

    /// Brings `D` up to date at the current point, which has these sizes.
    #[inline]
    pub(super) fn follow(&mut self, sizes: &[T]) {
        self.rule.update(self.d.as_mut(), self.norms[usize::from(self.second)].as_ref(), sizes);
    }

    /// `‖Dx‖`.
    #[inline(always)]
    pub(super) fn length(&self, x: &[T]) -> T {
        scaled_norm(self.d.as_ref(), x)
    }

    /// Returns true if a parameter that is to keep its influence on the residuals has lost it by the last move: its column, relative to
    /// them, is less than `√ε` of what it was. No later step would find the way back, so that a shorter one is tried.
    #[inline]
    pub(super) fn loses_a_column(&mut self, squares: T, squares_before: T) -> bool {
        if self.refusals == 0 {
            return false;
        }
        let squares = T::EPSILON * squares;
        let before = self.norms[usize::from(!self.second)].as_ref();
        let mut norms = self.norms().iter().zip(before);
        let loses = norms.any(|(&norm, &before)| norm * norm * squares_before < before * before * squares);
        self.refusals -= usize::from(loses);
        loses
    }
}
