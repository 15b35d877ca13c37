//! Boxes that points are taken from.

use super::{PhysicsError, Points};
use crate::real::Real;

/// A box: an interval for each coordinate. An interval of no length fixes a coordinate, so that sides of a box are boxes
/// as well.
///
/// ```
/// use marquardt::physics::{Domain, End, Sampling};
///
/// let strip = Domain::new(&[(0.0, 1.0), (-1.0, 1.0)])?;
/// assert_eq!(strip.interior_grid(&[9, 19]).len(), 9 * 19);
/// let start = strip.side(0, End::Lower)?.sample(50, Sampling::Halton);
/// assert!(start.coordinates().column(0).iter().all(|&t| t == 0.0));
/// # Ok::<(), marquardt::physics::PhysicsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Domain<T> {
    pub(super) intervals: Vec<(T, T)>,
}

/// An end of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The lower end.
    Lower,
    /// The upper end.
    Upper,
}

/// Rule by which points are spread over a domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sampling {
    /// Independently and uniformly, from the random numbers of this seed.
    Uniform(u64),
    /// A Latin hypercube of this seed: each of as many slices across any axis as there are points holds one.
    LatinHypercube(u64),
    /// Halton's sequence, from its 20th point on: each axis in the base of the next prime number. The same points every time.
    Halton,
    /// Halton's sequence, moved by a random vector modulo one (Cranley & Patterson 1976).
    ShiftedHalton(u64),
}

impl<T: Real> Domain<T> {
    /// A box of these intervals `(lower, upper)`, in the order of the coordinates.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::Interval`] for ends that are not finite or not in order; [`PhysicsError::NoCoordinates`].
    pub fn new(intervals: &[(T, T)]) -> Result<Self, PhysicsError> {
        if intervals.is_empty() {
            return Err(PhysicsError::NoCoordinates);
        }
        for (axis, &(lower, upper)) in intervals.iter().enumerate() {
            if !(lower.is_finite() && upper.is_finite() && lower <= upper) {
                return Err(PhysicsError::Interval { axis, lower: lower.to_f64(), upper: upper.to_f64() });
            }
        }
        Ok(Domain { intervals: intervals.to_vec() })
    }

    /// Number of coordinates of its points.
    pub fn dimensions(&self) -> usize {
        self.intervals.len()
    }

    /// A side: the points where one coordinate is at an end of its interval.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::Axis`].
    pub fn side(&self, axis: usize, end: End) -> Result<Self, PhysicsError> {
        let mut intervals = self.intervals.clone();
        let dimensions = self.dimensions();
        let interval = intervals.get_mut(axis).ok_or(PhysicsError::Axis { axis, dimensions })?;
        let at = match end {
            End::Lower => interval.0,
            End::Upper => interval.1,
        };
        *interval = (at, at);
        Ok(Domain { intervals })
    }

    /// All sides of the box, two for each coordinate whose interval has a length: the lower and the upper one.
    pub fn sides(&self) -> Vec<Self> {
        let free = (0..self.dimensions()).filter(|&axis| self.is_free(axis));
        let ends = |axis| [End::Lower, End::Upper].map(|end| self.side(axis, end).expect("the axis is there"));
        free.flat_map(ends).collect()
    }

    /// Draws `count` points, spread by a rule.
    pub fn sample(&self, count: usize, sampling: Sampling) -> Points<T> {
        Points::sampled(self.clone(), count, sampling)
    }

    /// Creates a grid with this number of points along each coordinate, both ends among them. A coordinate that is held still takes one.
    pub fn grid(&self, counts: &[usize]) -> Points<T> {
        self.grid_between(counts, |k, count| if count > 1 { k as f64 / (count - 1) as f64 } else { 0.5 })
    }

    /// Creates a grid with this number of points along each coordinate, at equal distances from each other and from the ends, which are not
    /// among them.
    pub fn interior_grid(&self, counts: &[usize]) -> Points<T> {
        self.grid_between(counts, |k, count| (k + 1) as f64 / (count + 1) as f64)
    }

    fn grid_between(&self, counts: &[usize], fraction: impl Fn(usize, usize) -> f64) -> Points<T> {
        let count = |axis: usize| if self.is_free(axis) { counts.get(axis).copied().unwrap_or(1) } else { 1 };
        let total: usize = (0..self.dimensions()).map(count).product();
        let mut rows = Vec::with_capacity(total * self.dimensions());
        for point in 0..total {
            let mut rest = point;
            let mut row = vec![T::ZERO; self.dimensions()];
            for axis in (0..self.dimensions()).rev() {
                row[axis] = self.at(axis, fraction(rest % count(axis), count(axis)));
                rest /= count(axis);
            }
            rows.extend(row);
        }
        Points::of_rows(rows, self.dimensions(), vec![(self.clone(), total)])
    }

    /// Returns true if a coordinate's interval has a positive length.
    pub(super) fn is_free(&self, axis: usize) -> bool {
        self.intervals[axis].0 < self.intervals[axis].1
    }

    /// The place at a fraction of a coordinate's interval.
    pub(super) fn at(&self, axis: usize, fraction: f64) -> T {
        let (lower, upper) = self.intervals[axis];
        if fraction >= 1.0 { upper } else { lower + (upper - lower) * T::from_f64(fraction) }
    }
}
