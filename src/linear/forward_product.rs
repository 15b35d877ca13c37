//! Products with a Jacobian of which the problem may know the transpose only.

use crate::kernels::vector::dot;
use crate::problem::{EvaluationError, JacobianProducts};
use crate::real::Real;

/// `Jv` at a point: the problem's own, or a difference of its residuals.
#[derive(Debug, Clone)]
pub(super) struct ForwardProduct<T> {
    /// The point, and the one that the difference goes to.
    x: Vec<T>,
    ahead: Vec<T>,
    /// True if half the sum of squares is the cost, so that residuals have the derivative `J`.
    is_exact: bool,
}

impl<T: Real> ForwardProduct<T> {
    /// Products with nothing yet.
    pub(super) fn new() -> Self {
        ForwardProduct { x: Vec::new(), ahead: Vec::new(), is_exact: true }
    }

    /// Takes up the point `x`, where the residuals are `r` and the cost is this. Returns true if half the sum of squares is the cost.
    pub(super) fn linearize(&mut self, x: &[T], r: &[T], cost: T) -> bool {
        self.x.clear();
        self.x.extend_from_slice(x);
        let squares = dot(r, r);
        self.is_exact = (cost + cost - squares).abs() <= T::EPSILON.sqrt() * squares;
        self.is_exact
    }

    /// Products with both, at a point where the residuals are `r`.
    pub(super) fn with<'a>(&'a mut self, products: &'a mut dyn JacobianProducts<T>, r: &'a [T]) -> BothProducts<'a, T> {
        BothProducts { products, forward: self, r }
    }
}

/// Products with a Jacobian and with its transpose.
pub(super) struct BothProducts<'a, T> {
    products: &'a mut dyn JacobianProducts<T>,
    forward: &'a mut ForwardProduct<T>,
    r: &'a [T],
}

impl<T: Real> BothProducts<'_, T> {
    /// Fills `product` with `Jᵀu`.
    pub(super) fn multiply_transposed(&mut self, u: &[T], product: &mut [T]) -> Result<(), EvaluationError> {
        self.products.multiply_transposed(u, product)
    }

    /// Fills `product` with `Jv`.
    pub(super) fn multiply(&mut self, v: &[T], product: &mut [T]) -> Result<(), EvaluationError> {
        let BothProducts { products, forward: ForwardProduct { x, ahead, is_exact }, r } = self;
        if products.multiply(v, product)? {
            return Ok(());
        }
        if !*is_exact {
            return Err("Jv is not known, and residuals that stand for a loss cannot be differenced".into());
        }
        if products.capabilities().communicator().is_some_and(|ranks| ranks.size() > 1) {
            return Err("Jv is not known, and no rank can difference the residuals of all".into());
        }
        let length = dot(v, v).sqrt();
        if length == T::ZERO {
            product.fill(T::ZERO);
            return Ok(());
        }
        let step = T::EPSILON.sqrt() * (T::ONE + dot(x, x).sqrt()) / length;
        ahead.clear();
        ahead.extend(x.iter().zip(v).map(|(&x, &v)| x + step * v));
        products.residuals(ahead, 0, product)?;
        product.iter_mut().zip(*r).for_each(|(ahead, &here)| *ahead = (*ahead - here) / step);
        Ok(())
    }
}
