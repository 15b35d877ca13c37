//! Bounds on parameters.

use std::ops::Range;

use thiserror::Error;

use crate::real::Real;

/// Bounds `lower ≤ x ≤ upper` of each parameter; infinite where there is no bound. A parameter whose bounds are equal is held at this
/// value.
///
/// A problem states them by [`LeastSquares::domain`](crate::LeastSquares::domain), and [`Bounded`](crate::problem::Bounded) puts
/// them on any.
///
/// ```
/// use marquardt::Bounds;
///
/// let bounds = Bounds::new(vec![0.0, f64::NEG_INFINITY], vec![1.0, 5.0])?;
/// assert!(bounds.contains(&[0.5, -100.0]));
/// let mut x = [1.5, 7.0];
/// bounds.project(&mut x);
/// assert_eq!(x, [1.0, 5.0]);
///
/// let error = Bounds::new(vec![2.0], vec![1.0]).unwrap_err();
/// assert_eq!(error.to_string(), "no number lies between the bounds of parameter 0, 2 and 1");
/// # Ok::<(), marquardt::problem::BoundsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds<T> {
    lower: Vec<T>,
    upper: Vec<T>,
}

/// Bound of a parameter: the lower or the upper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BoundSide {
    /// The lower one.
    Lower,
    /// The upper one.
    Upper,
}

/// Reasons why bounds are not accepted.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum BoundsError {
    /// Lower and upper bounds do not match.
    #[error("there are {lower} lower bounds, but {upper} upper ones")]
    UnequalLengths {
        /// Lower bounds.
        lower: usize,
        /// Upper bounds.
        upper: usize,
    },
    /// A bound is NaN.
    #[error("a bound of parameter {index} is not a number")]
    NotANumber {
        /// Index of the parameter.
        index: usize,
    },
    /// The lower bound exceeds the upper one, or both are the same infinity.
    #[error("no number lies between the bounds of parameter {index}, {lower} and {upper}")]
    Empty {
        /// Index of the parameter.
        index: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// The bounds are not those of the problem.
    #[error("the problem has {parameters} parameters, but there are bounds of {bounds}")]
    WrongLength {
        /// Parameters of the problem.
        parameters: usize,
        /// Parameters that the bounds are for.
        bounds: usize,
    },
}

impl BoundSide {
    /// Returns the bound that holds a parameter at `x`, given the derivative of the cost there: the cost would fall beyond the bound, or
    /// both bounds are equal.
    #[inline]
    pub(crate) fn that_holds<T: Real>(lower: T, upper: T, x: T, derivative: T) -> Option<Self> {
        let is_fixed = lower == upper;
        if x >= upper && (derivative < T::ZERO || is_fixed && derivative <= T::ZERO) {
            Some(BoundSide::Upper)
        } else if x <= lower && (derivative > T::ZERO || is_fixed) {
            Some(BoundSide::Lower)
        } else {
            None
        }
    }
}

impl<T: Real> Bounds<T> {
    /// Lower and upper bounds of all parameters.
    ///
    /// # Errors
    ///
    /// [`BoundsError`] when their lengths differ, when one is NaN, or when no finite number lies between a pair.
    pub fn new(lower: impl Into<Vec<T>>, upper: impl Into<Vec<T>>) -> Result<Self, BoundsError> {
        let (lower, upper) = (lower.into(), upper.into());
        if lower.len() != upper.len() {
            return Err(BoundsError::UnequalLengths { lower: lower.len(), upper: upper.len() });
        }
        for (index, (&lower, &upper)) in lower.iter().zip(&upper).enumerate() {
            check(index, lower, upper)?;
        }
        Ok(Bounds { lower, upper })
    }

    /// Creates bounds for `parameters` parameters, none of which is bounded.
    pub fn unbounded(parameters: usize) -> Self {
        Bounds { lower: vec![-T::INFINITY; parameters], upper: vec![T::INFINITY; parameters] }
    }

    /// Sets the bounds of one parameter.
    ///
    /// # Errors
    ///
    /// [`BoundsError`] when one is NaN, no finite number lies between them, or there is no such parameter.
    ///
    /// ```
    /// use marquardt::Bounds;
    ///
    /// let positive = Bounds::unbounded(3).with(1, 0.0, f64::INFINITY)?;
    /// assert!(positive.contains(&[-1.0, 1.0, -1.0]) && !positive.contains(&[1.0, -1.0, 1.0]));
    /// # Ok::<(), marquardt::problem::BoundsError>(())
    /// ```
    pub fn with(mut self, index: usize, lower: T, upper: T) -> Result<Self, BoundsError> {
        if index >= self.len() {
            return Err(BoundsError::WrongLength { parameters: index + 1, bounds: self.len() });
        }
        check(index, lower, upper)?;
        (self.lower[index], self.upper[index]) = (lower, upper);
        Ok(self)
    }

    /// Number of parameters.
    pub fn len(&self) -> usize {
        self.lower.len()
    }

    /// Returns true if there are no parameters.
    pub fn is_empty(&self) -> bool {
        self.lower.is_empty()
    }

    /// The lower bounds, `-∞` where there is none.
    pub fn lower(&self) -> &[T] {
        &self.lower
    }

    /// The upper bounds, `∞` where there is none.
    pub fn upper(&self) -> &[T] {
        &self.upper
    }

    /// Lower and upper bound of a parameter; infinite beyond the last one.
    pub(crate) fn of(&self, index: usize) -> (T, T) {
        let of = |bounds: &[T], none: T| bounds.get(index).copied().unwrap_or(none);
        (of(&self.lower, -T::INFINITY), of(&self.upper, T::INFINITY))
    }

    /// Returns true if all bounds are infinite.
    pub fn is_unbounded(&self) -> bool {
        !self.lower.iter().chain(&self.upper).any(|bound| bound.is_finite())
    }

    /// Returns true if parameter `index` has a bound.
    pub(crate) fn is_bounded(&self, index: usize) -> bool {
        self.lower[index].is_finite() || self.upper[index].is_finite()
    }

    /// `lower ≤ x ≤ upper`; false for a point of another length.
    pub fn contains(&self, x: &[T]) -> bool {
        x.len() == self.len() && self.first_outside(x).is_none()
    }

    /// Moves `x` to the nearest point within the bounds.
    pub fn project(&self, x: &mut [T]) {
        for (x, (&lower, &upper)) in x.iter_mut().zip(self.lower.iter().zip(&self.upper)) {
            *x = x.max(lower).min(upper);
        }
    }

    /// The first parameter of `x` that is out of bounds.
    pub(crate) fn first_outside(&self, x: &[T]) -> Option<usize> {
        let mut bounds = self.lower.iter().zip(&self.upper).zip(x);
        bounds.position(|((lower, upper), x)| !(lower <= x && x <= upper))
    }

    /// The bound that holds parameter `index` of the point `x`, given the derivative of the cost there: the cost would fall
    /// beyond the bound, or both bounds are equal.
    #[inline]
    pub(crate) fn holds(&self, index: usize, x: T, derivative: T) -> Option<BoundSide> {
        let (lower, upper) = self.of(index);
        BoundSide::that_holds(lower, upper, x, derivative)
    }

    /// The bounds of the parameters in these columns.
    pub(crate) fn of_columns(&self, columns: &[Range<usize>]) -> Self {
        let select = |all: &[T]| columns.iter().flat_map(|range| &all[range.clone()]).copied().collect();
        Bounds { lower: select(&self.lower), upper: select(&self.upper) }
    }
}

/// Returns true if a finite number lies between the bounds.
fn check<T: Real>(index: usize, lower: T, upper: T) -> Result<(), BoundsError> {
    let (lower, upper) = (lower.to_f64(), upper.to_f64());
    if lower.is_nan() || upper.is_nan() {
        return Err(BoundsError::NotANumber { index });
    }
    if lower > upper || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
        return Err(BoundsError::Empty { index, lower, upper });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: f64 = f64::INFINITY;

    #[test]
    fn bounds_that_make_no_sense_are_named() {
        let message = |lower: &[f64], upper: &[f64]| Bounds::new(lower, upper).unwrap_err().to_string();
        assert_eq!(message(&[0.0], &[1.0, 2.0]), "there are 1 lower bounds, but 2 upper ones");
        assert_eq!(message(&[0.0, f64::NAN], &[1.0, 2.0]), "a bound of parameter 1 is not a number");
        assert_eq!(message(&[0.0, 3.0], &[1.0, 2.5]), "no number lies between the bounds of parameter 1, 3 and 2.5");
        assert!(Bounds::new([NONE], [NONE]).is_err() && Bounds::new([-NONE], [-NONE]).is_err());
        assert!(Bounds::unbounded(2).with(2, 0.0, 1.0).is_err());
        assert!(Bounds::unbounded(2).with(1, 2.0, 1.0).is_err());
    }

    #[test]
    fn projection_ends_within() {
        let bounds = Bounds::new([0.0, -NONE, 2.0], [1.0, 3.0, 2.0]).unwrap();
        let mut x = [-1.0, 9.0, 5.0];
        assert!(!bounds.contains(&x) && !bounds.contains(&[0.0, 0.0]));
        assert!(!bounds.contains(&[f64::NAN, 0.0, 2.0]));
        bounds.project(&mut x);
        assert_eq!(x, [0.0, 3.0, 2.0]);
        assert!(bounds.contains(&x));
        assert!(!bounds.is_unbounded() && Bounds::<f64>::unbounded(3).is_unbounded());
    }

    #[test]
    fn a_bound_holds_what_would_cross_it() {
        let bounds = Bounds::new([0.0, 0.0], [1.0, 0.0]).unwrap();
        assert_eq!(bounds.holds(0, 0.0, 1.0), Some(BoundSide::Lower));
        assert_eq!(bounds.holds(0, 1.0, -1.0), Some(BoundSide::Upper));
        assert_eq!((bounds.holds(0, 0.0, -1.0), bounds.holds(0, 0.0, 0.0)), (None, None));
        assert_eq!((bounds.holds(0, 0.5, 1.0), bounds.holds(0, 1.0, 1.0)), (None, None));
        // A parameter with equal bounds is held whatever its derivative.
        assert!([-1.0, 0.0, 1.0].iter().all(|&derivative| bounds.holds(1, 0.0, derivative).is_some()));
    }
}
