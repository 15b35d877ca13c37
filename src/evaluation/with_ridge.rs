//! An evaluation with the ridge `½ Σ w_j x_j²` of weight decay.

use super::pass_on::pass_on_evaluation;
use super::{Along, Costs, Counts, Evaluation, RightHandSide, RowSums};
use crate::manifold::Manifold;
use crate::problem::{BlockJacobian, Evaluated, JacobianProducts};
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

macro_rules! inner {
    ($this:expr, $($call:tt)+) => {
        $this.inner.$($call)+
    };
}

impl<T: Real, E: Evaluation<T>> Evaluation<T> for WithRidge<'_, E, T> {
    pass_on_evaluation!(inner);
    crate::pass_on::pass_on! { inner
        ref size() -> (usize, usize);
        mut force(along: &Along<'_, T>, rhs: &mut dyn RightHandSide<T>) -> Evaluated<bool>;
        mut squared_change(x: &[T], y: &[T]) -> Evaluated<T>;
        mut is_cheap() -> bool;
        mut is_rough() -> bool;
        mut stop(reason: usize) -> bool;
        ref stopped() -> Option<usize>;
    }

    fn cost(&mut self, x: &[T]) -> Evaluated<T> {
        Ok(self.inner.cost(x)? + ridge_cost(self.weights, x))
    }

    fn residuals(&mut self, x: &[T], kept: &mut [T]) -> Evaluated<T> {
        Ok(self.inner.residuals(x, kept)? + ridge_cost(self.weights, x))
    }

    fn sum_rows(&mut self, x: &[T], sums: &mut dyn RowSums<T>) -> Evaluated<Costs<T>> {
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
}
