//! The damped system at the current point, as the damping policies see it.

use super::damping::{DampedSystem, DampingPolicy, IllConditioned};
use super::iteration::Iteration;
use crate::linear::shape::Shape;
use crate::linear::{BoxConstrained, LinearModel, Products};
use crate::problem::LeastSquares;
use crate::real::Real;

/// The linear model with its damping, and with the bounds that steps must keep.
pub(super) struct System<'a, T: Real, S: Shape<T>> {
    products: Products<'a, T>,
    pub(super) model: &'a mut S::Model,
    pub(super) bounds: Option<&'a mut BoxConstrained<T, S>>,
    /// The current point.
    x: &'a S::Vector,
    d: &'a S::Vector,
    step: &'a mut S::Vector,
    /// `λ` is at least this.
    pub(super) minimum: T,
    pub(super) factorizations: &'a mut usize,
    /// The damping of the last solve, and the length of its step.
    pub(super) tried: &'a mut T,
    length: &'a mut T,
}

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// The damped system, and the policy that chooses the damping.
    #[inline]
    pub(super) fn system<'a, P: LeastSquares<T> + ?Sized>(
        &'a mut self,
        problem: &'a mut P,
    ) -> (&'a mut D, System<'a, T, S>) {
        let system = System {
            products: problem.products(),
            model: &mut self.model,
            bounds: self.bounds.as_mut(),
            x: &self.x,
            d: &self.d,
            step: &mut self.step,
            minimum: self.rule.minimum_damping,
            factorizations: &mut self.evaluations.factorizations,
            tried: &mut self.tried,
            length: &mut self.length,
        };
        (&mut self.damping, system)
    }
}

impl<T: Real, S: Shape<T>> DampedSystem<T> for System<'_, T, S> {
    #[inline]
    fn solve(&mut self, lambda: T) -> Result<T, IllConditioned> {
        let lambda = lambda.max(self.minimum);
        let System { products, model, factorizations, tried, .. } = self;
        // Of a length that the compiler knows where the shape does.
        let (x, d, step) = (self.x.as_ref(), self.d.as_ref(), self.step.as_mut());
        **tried = lambda;
        let length = match &mut self.bounds {
            None => {
                **factorizations += 1;
                model.solve_and_measure(reborrow(products), lambda, d, &[], step)?
            }
            Some(bounds) => {
                let holding = model.holding_variables().ok_or(IllConditioned)?;
                bounds.solve(holding, x, (lambda, d), step, factorizations)?;
                model.length(d, step)
            }
        };
        *self.length = length;
        if length.is_finite() { Ok(length) } else { Err(IllConditioned) }
    }

    #[inline]
    fn shrink_rate(&mut self) -> T {
        let held = self.bounds.as_ref().map_or(&[][..], |bounds| bounds.held());
        let (d, step) = (self.d.as_ref(), self.step.as_ref());
        let squared = self.model.inverse_form(reborrow(&mut self.products), d, held, step);
        squared / *self.length
    }

    #[inline]
    fn gradient_norm(&mut self) -> T {
        let (x, d) = (self.x.as_ref(), self.d.as_ref());
        let Some(bounds) = &self.bounds else {
            return self.model.gradient_norm(reborrow(&mut self.products), d);
        };
        let columns = self.model.gradient().iter().zip(x.iter().zip(d)).enumerate();
        let free = columns.filter(|&(j, (&derivative, (&x, _)))| bounds.holds(j, x, derivative).is_none());
        free.fold(T::ZERO, |sum, (_, (&derivative, (_, &d)))| sum + (derivative / d) * (derivative / d)).sqrt()
    }

    fn is_bounded(&self) -> bool {
        self.bounds.is_some()
    }

    fn is_cheap(&self) -> bool {
        !(self.model.form().multiplies() || self.model.form().iterates())
    }
}

/// Borrows the products for a shorter time.
#[inline(always)]
fn reborrow<'b, T: Real>(products: &'b mut Products<'_, T>) -> Products<'b, T> {
    match products {
        Some(products) => Some(&mut **products),
        None => None,
    }
}
