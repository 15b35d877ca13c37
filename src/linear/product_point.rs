//! Products with a Jacobian of which the problem may know the transpose only.

use crate::kernels::vector::dot;
use crate::problem::{Evaluated, JacobianProducts};
use crate::real::Real;

/// A point where `J` is multiplied by, and the damping there.
#[derive(Debug, Clone, Default)]
pub(super) struct ProductPoint<T> {
    /// The point, and the one that a difference of the residuals goes to.
    x: Vec<T>,
    ahead: Vec<T>,
    /// True if half the sum of squares is the cost, so that residuals have the derivative `J`.
    is_exact: bool,
    pub(super) r: Vec<T>,
    /// `Jᵀr`, where it was asked for.
    pub(super) gradient: Vec<T>,
    /// `λ`, and the weight of the ridge on top of it.
    pub(super) lambda: T,
}

impl<T: Real> ProductPoint<T> {
    /// Takes up the point `x` of the residuals, where the cost is this. Returns true if half the sum of squares is the cost.
    pub(super) fn take_up(&mut self, x: &[T], cost: T) -> bool {
        self.x.clear();
        self.x.extend_from_slice(x);
        let squares = dot(&self.r, &self.r);
        self.is_exact = (cost + cost - squares).abs() <= T::EPSILON.sqrt() * squares;
        self.is_exact
    }

    /// Products at this point.
    pub(super) fn with<'a>(&'a mut self, products: &'a mut dyn JacobianProducts<T>) -> DampedProducts<'a, T> {
        DampedProducts { products, point: self }
    }
}

/// Products with a Jacobian and with its transpose. `Jv` is the problem's own, or a difference of its residuals.
pub(super) struct DampedProducts<'a, T> {
    products: &'a mut dyn JacobianProducts<T>,
    pub(super) point: &'a mut ProductPoint<T>,
}

impl<T: Real> DampedProducts<'_, T> {
    /// Fills `product` with `Jᵀu`.
    pub(super) fn multiply_transposed(&mut self, u: &[T], product: &mut [T]) -> Evaluated {
        self.products.multiply_transposed(u, product)
    }

    /// Fills the lower triangle of `gram` with `JJᵀ`.
    pub(super) fn row_gram(&mut self, gram: &mut [T]) -> Evaluated {
        self.products.row_gram(gram)
    }

    /// Fills `product` with `JJᵀu`, with room for `Jᵀu`.
    pub(super) fn multiply_row_gram(&mut self, room: &mut [T], u: &[T], product: &mut [T]) -> Evaluated {
        if self.products.multiply_row_gram(u, product)? {
            return Ok(());
        }
        self.multiply_transposed(u, room)?;
        self.multiply(room, product)
    }

    /// Fills `product` with `Jv`.
    pub(super) fn multiply(&mut self, v: &[T], product: &mut [T]) -> Evaluated {
        let DampedProducts { products, point: ProductPoint { x, ahead, is_exact, r, .. } } = self;
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
        product.iter_mut().zip(&*r).for_each(|(ahead, &here)| *ahead = (*ahead - here) / step);
        Ok(())
    }
}
