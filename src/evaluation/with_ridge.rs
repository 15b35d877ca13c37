//! An evaluation with the ridge `½ Σ w_j x_j²` of weight decay.

use super::{Along, Costs, Counts, Evaluation, RightHandSide, RowSums};
use crate::manifold::Manifold;
use crate::problem::{BlockJacobian, EvaluationError, JacobianProducts};
use crate::real::Real;

/// An evaluation, and the weights `w` of the ridge; there are none without a ridge.
pub(crate) struct WithRidge<'w, E, T> {
    pub(crate) inner: E,
    pub(crate) weights: &'w [T],
}

/// The ridge's share of the cost at `x`.
#[inline]
pub(crate) fn ridge_cost<T: Real>(weights: &[T], x: &[T]) -> T {
    let sum = weights.iter().zip(x).fold(T::ZERO, |sum, (&weight, &x)| sum + weight * x * x);
    T::from_f64(0.5) * sum
}

impl<T: Real, E: Evaluation<T>> Evaluation<T> for WithRidge<'_, E, T> {
    fn cost(&mut self, x: &[T]) -> Result<T, EvaluationError> {
        Ok(self.inner.cost(x)? + ridge_cost(self.weights, x))
    }

    fn residuals(&mut self, x: &[T], kept: &mut [T]) -> Result<T, EvaluationError> {
        Ok(self.inner.residuals(x, kept)? + ridge_cost(self.weights, x))
    }

    fn sum_rows(&mut self, x: &[T], sums: &mut dyn RowSums<T>) -> Result<Costs<T>, EvaluationError> {
        let costs = self.inner.sum_rows(x, sums)?;
        if self.weights.is_empty() {
            return Ok(costs);
        }
        sums.add_ridge(self.weights, x);
        Ok(Costs { cost: costs.cost + ridge_cost(self.weights, x), ..costs })
    }

    fn ridge(&self) -> T {
        self.weights.first().copied().unwrap_or(T::ZERO)
    }

    fn size(&self) -> (usize, usize) {
        self.inner.size()
    }

    fn force(&mut self, along: Along<'_, T>, rhs: &mut dyn RightHandSide<T>) -> Result<bool, EvaluationError> {
        self.inner.force(along, rhs)
    }

    fn squared_change(&mut self, x: &[T], y: &[T]) -> Result<T, EvaluationError> {
        self.inner.squared_change(x, y)
    }

    fn blocks(&mut self) -> Result<&mut dyn BlockJacobian<T>, EvaluationError> {
        self.inner.blocks()
    }

    fn products(&mut self) -> Result<&mut dyn JacobianProducts<T>, EvaluationError> {
        self.inner.products()
    }

    fn count_linearization(&mut self) {
        self.inner.count_linearization();
    }

    fn take_back(&mut self) {
        self.inner.take_back();
    }

    fn learn(&mut self, gain_ratio: T) {
        self.inner.learn(gain_ratio);
    }

    fn is_cheap(&self) -> bool {
        self.inner.is_cheap()
    }

    fn counts(&self) -> Counts {
        self.inner.counts()
    }

    #[inline]
    fn manifold(&self) -> Option<&dyn Manifold<T>> {
        self.inner.manifold()
    }

    fn column_name(&self, index: usize) -> String {
        self.inner.column_name(index)
    }

    fn stop(&mut self, reason: usize) -> bool {
        self.inner.stop(reason)
    }

    fn stopped(&self) -> Option<usize> {
        self.inner.stopped()
    }
}
