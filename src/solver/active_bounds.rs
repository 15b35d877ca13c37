//! The bounds of a solve: their check at the start, and those that are active at the end.

use super::SolveError;
use super::descent::{Descent, DescentParts};
use super::first_order::held_by;
use super::space::Space;
use crate::linear::LinearModel;
use crate::problem::{BoundSide, Bounds, LeastSquares};
use crate::real::Real;

/// A parameter that a bound holds: the cost would fall beyond the bound. The derivative of the cost is positive at a lower bound and
/// negative at an upper bound. A parameter whose bounds are equal is always active.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ActiveBound<T> {
    /// Index of the parameter, from 0; on a manifold, the index of the coordinate.
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
/// Bounds of another number of parameters, and of coordinates of a manifold that are not those of a vector space.
#[inline]
pub(crate) fn bounds_of<T: Real, P: LeastSquares<T> + ?Sized>(problem: &P) -> Result<Option<&Bounds<T>>, SolveError> {
    let Some(bounds) = problem.domain().bounds() else { return Ok(None) };
    let (expected, found) = (problem.parameter_count(), bounds.len());
    if expected != found {
        return Err(SolveError::WrongBoundsLength { expected, found });
    }
    if let Some(manifold) = problem.domain().manifold().filter(|_| !bounds.is_unbounded()) {
        let mut is_reached = vec![false; bounds.len()];
        let reached = (0..manifold.tangent_size()).filter_map(|j| manifold.coordinate(j));
        reached.for_each(|coordinate| is_reached[coordinate] = true);
        if (0..bounds.len()).any(|i| bounds.is_bounded(i) && !is_reached[i]) {
            return Err(SolveError::OnManifold { what: "bounds of coordinates that no single entry of a step moves" });
        }
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

/// The bounds that hold parameters at the current point.
pub(super) fn active_bounds<T: Real, P: DescentParts<T>>(descent: &Descent<T, P>) -> Vec<ActiveBound<T>> {
    let gradient = descent.model.gradient().iter().enumerate();
    let held = gradient.filter_map(|(parameter, &gradient)| {
        let side = held_by(descent, parameter)?;
        Some(ActiveBound { parameter: descent.space.coordinate(parameter), side, gradient })
    });
    held.collect()
}
