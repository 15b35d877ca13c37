//! The iteration within bounds: which of them hold parameters, and steps that stay inside.

use super::SolveError;
use super::damping::DampingPolicy;
use super::iteration::Iteration;
use crate::linear::shape::Shape;
use crate::linear::{BoxConstrained, LinearModel};
use crate::problem::{BoundSide, Bounds, LeastSquares};
use crate::real::Real;

/// A parameter that is at a bound beyond which the cost would fall: its multiplier, the derivative of the cost there, is
/// positive at a lower bound and negative at an upper one. A parameter whose bounds are equal is always at one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ActiveBound<T> {
    /// Index of the parameter.
    pub parameter: usize,
    /// Bound at which the parameter is.
    pub side: BoundSide,
    /// The derivative of the cost with respect to the parameter.
    pub gradient: T,
}

/// The bounds of a problem, if there are any to keep.
///
/// # Errors
///
/// Bounds of another number of parameters.
#[inline]
pub(crate) fn bounds_of<T: Real, P: LeastSquares<T> + ?Sized>(problem: &P) -> Result<Option<&Bounds<T>>, SolveError> {
    let Some(bounds) = problem.bounds() else { return Ok(None) };
    let (expected, found) = (problem.parameter_count(), bounds.len());
    if expected != found {
        return Err(SolveError::WrongBoundsLength { expected, found });
    }
    if problem.manifold().is_some() && !bounds.is_unbounded() {
        return Err(SolveError::OnManifold { what: "bounds" });
    }
    Ok(Some(bounds).filter(|bounds| !bounds.is_unbounded()))
}

/// The start is within the bounds.
#[inline]
pub(super) fn check_start<T: Real, P: LeastSquares<T> + ?Sized>(problem: &P, start: &[T]) -> Result<(), SolveError> {
    let Some(bounds) = bounds_of(problem)? else { return Ok(()) };
    match bounds.first_outside(start) {
        None => Ok(()),
        Some(index) => Err(SolveError::StartOutOfBounds {
            name: problem.parameter_name(index),
            value: start[index].to_f64(),
            lower: bounds.lower()[index].to_f64(),
            upper: bounds.upper()[index].to_f64(),
        }),
    }
}

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Keeps to these bounds from now on.
    pub(super) fn keep_within(&mut self, bounds: Option<&Bounds<T>>) {
        self.bounds = bounds.map(BoxConstrained::new);
    }

    /// The bound that holds parameter `j` at the current point.
    #[inline]
    pub(super) fn held_by(&self, j: usize) -> Option<BoundSide> {
        let bounds = self.bounds.as_ref()?;
        bounds.holds(j, self.x.as_ref()[j], self.model.gradient()[j])
    }

    /// The reduction of the cost that the linear model predicts for the step, `−(Jᵀr)ᵀδ − ½‖Jδ‖²`.
    #[inline]
    pub(super) fn predicted_reduction(&self, lambda: T, length: T, slope: T) -> T {
        let half = T::from_f64(0.5);
        match &self.bounds {
            // (JᵀJ + λD²)δ = −Jᵀr makes it a sum of positive terms.
            None => half * (lambda * length * length - slope),
            Some(_) => -slope - half * self.model.quadratic_form(self.step.as_ref()),
        }
    }

    /// The largest derivative of the cost with respect to a parameter that no bound holds.
    pub(super) fn gradient_norm(&self) -> T {
        let gradient = self.model.gradient().iter().enumerate().filter(|&(j, _)| self.held_by(j).is_none());
        gradient.fold(T::ZERO, |largest, (_, &gradient)| largest.max(gradient.abs()))
    }

    /// The bounds that hold parameters at the current point.
    pub(super) fn active_bounds(&self) -> Vec<ActiveBound<T>> {
        let gradient = self.model.gradient().iter().enumerate();
        let held = gradient.filter_map(|(parameter, &gradient)| {
            self.held_by(parameter).map(|side| ActiveBound { parameter, side, gradient })
        });
        held.collect()
    }
}
