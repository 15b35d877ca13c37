//! Points that an equation is to hold at.

use std::fmt;
use std::sync::Arc;

use ndarray::{Array2, ArrayView2, Axis, concatenate};

use super::sequence::unit_cube;
use super::{Domain, PhysicsError, Sampling};
use crate::real::Real;

/// Map that is applied to a point drawn from a box.
type Transformation<T> = Arc<dyn Fn(&mut [T]) + Send + Sync>;

/// Points, a row of coordinates for each, with numbers that are known there, such as measurements.
///
/// Points from a [`Domain`] remember where they were taken from: others are taken there to judge a solution by, and, where
/// they were [sampled](Domain::sample), to replace them while training.
#[derive(Clone)]
pub struct Points<T> {
    coordinates: Array2<T>,
    values: Vec<(String, Vec<T>)>,
    /// Boxes that points were taken from, how many from each, and how they were spread, if by a rule.
    sources: Vec<PointSource<T>>,
}

/// Source of some points.
#[derive(Clone)]
struct PointSource<T> {
    domain: Domain<T>,
    count: usize,
    sampling: Option<Sampling>,
    transformation: Option<Transformation<T>>,
}

impl<T: fmt::Debug> fmt::Debug for Points<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Points").field("coordinates", &self.coordinates).finish_non_exhaustive()
    }
}

impl<T: Real> Points<T> {
    /// Points with these coordinates, a row for each. Where they come from is not known, and so nothing is held out.
    pub fn new(coordinates: ArrayView2<'_, T>) -> Self {
        Points { coordinates: coordinates.to_owned(), values: Vec::new(), sources: Vec::new() }
    }

    pub(super) fn of_rows(rows: Vec<T>, dimensions: usize, domains: Vec<(Domain<T>, usize)>) -> Self {
        let count = rows.len() / dimensions;
        let coordinates = Array2::from_shape_vec((count, dimensions), rows).expect("rows are whole");
        let source = |(domain, count)| PointSource { domain, count, sampling: None, transformation: None };
        Points { coordinates, values: Vec::new(), sources: domains.into_iter().map(source).collect() }
    }

    pub(super) fn sampled(domain: Domain<T>, count: usize, sampling: Sampling) -> Self {
        let coordinates = draw(&domain, count, sampling);
        let source = PointSource { domain, count, sampling: Some(sampling), transformation: None };
        Points { coordinates, values: Vec::new(), sources: vec![source] }
    }

    /// Joins these points and others. Values stay where both have them.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::Dimensions`] for points of another number of coordinates.
    pub fn and(mut self, other: &Points<T>) -> Result<Self, PhysicsError> {
        let (expected, found) = (self.coordinates.ncols(), other.coordinates.ncols());
        let joined = concatenate(Axis(0), &[self.coordinates.view(), other.coordinates.view()]);
        self.coordinates =
            joined.map_err(|_| PhysicsError::Dimensions { term: "points".to_owned(), expected, found })?;
        self.values.retain_mut(|(name, values)| match other.values_of(name) {
            Some(others) => {
                values.extend_from_slice(others);
                true
            }
            None => false,
        });
        self.sources.extend_from_slice(&other.sources);
        Ok(self)
    }

    /// The points of several sets.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::NoPoints`] for no sets, and as [`and`](Self::and).
    pub fn union(sets: impl IntoIterator<Item = Points<T>>) -> Result<Self, PhysicsError> {
        let mut sets = sets.into_iter();
        let first = sets.next().ok_or_else(|| PhysicsError::NoPoints { term: "points".to_owned() })?;
        sets.try_fold(first, |all, set| all.and(&set))
    }

    /// Moves every point, for example `x → x³` to have more of them near zero. Points drawn later are moved as well.
    pub fn map(mut self, transformation: impl Fn(&mut [T]) + Send + Sync + 'static) -> Self {
        for mut row in self.coordinates.rows_mut() {
            transformation(row.as_slice_mut().expect("rows are contiguous"));
        }
        let transformation: Transformation<T> = Arc::new(transformation);
        for source in &mut self.sources {
            let (before, now) = (source.transformation.take(), transformation.clone());
            source.transformation = Some(match before {
                Some(before) => Arc::new(move |point: &mut [T]| {
                    before(point);
                    now(point);
                }),
                None => now,
            });
        }
        self
    }

    /// Numbers that are known at the points, in their order, for residuals to compare with: see [`At::value`](super::At::value).
    /// Points with values stay as they are: there are none to hold out.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::ValueCount`] for another number of them, and [`PhysicsError::NonFinite`].
    pub fn with_values(mut self, name: impl Into<String>, values: &[T]) -> Result<Self, PhysicsError> {
        let name = name.into();
        let (expected, found) = (self.len(), values.len());
        if expected != found {
            return Err(PhysicsError::ValueCount { name, expected, found });
        }
        if let Some(point) = values.iter().position(|value| !value.is_finite()) {
            return Err(PhysicsError::NonFinite { name, point, value: values[point].to_f64() });
        }
        self.values.push((name, values.to_vec()));
        self.sources.clear();
        Ok(self)
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.coordinates.nrows()
    }

    /// Returns true if there are no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The coordinates, a row for each point.
    pub fn coordinates(&self) -> ArrayView2<'_, T> {
        self.coordinates.view()
    }

    /// Names of the known numbers.
    pub(super) fn value_names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|(name, _)| name.as_str())
    }

    pub(super) fn values_of(&self, name: &str) -> Option<&[T]> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, values)| values.as_slice())
    }

    /// Draws as many other points from the same places, where these are known.
    pub(super) fn held_out(&self) -> Option<Points<T>> {
        // A seed that users are unlikely to choose.
        const SEED: u64 = 0x8e1d_0b75;
        self.redraw(|_| Some(Sampling::ShiftedHalton(SEED)))
    }

    /// Points sampled anew with another seed, those on grids as they are; `None` where nothing was sampled.
    pub(super) fn resampled(&self, seed: u64) -> Option<Points<T>> {
        let is_random = |source: &PointSource<T>| source.sampling.is_some();
        if self.sources.is_empty() || !self.sources.iter().all(is_random) {
            return None;
        }
        self.redraw(|sampling| {
            sampling.map(|sampling| match sampling {
                Sampling::Uniform(first) => Sampling::Uniform(first.wrapping_add(seed)),
                Sampling::LatinHypercube(first) => Sampling::LatinHypercube(first.wrapping_add(seed)),
                Sampling::Halton => Sampling::ShiftedHalton(seed),
                Sampling::ShiftedHalton(first) => Sampling::ShiftedHalton(first.wrapping_add(seed)),
            })
        })
    }

    fn redraw(&self, rule: impl Fn(Option<Sampling>) -> Option<Sampling>) -> Option<Points<T>> {
        if self.sources.is_empty() {
            return None;
        }
        let mut rows = Vec::with_capacity(self.coordinates.len());
        for source in &self.sources {
            let mut drawn = draw(&source.domain, source.count, rule(source.sampling)?);
            for mut row in drawn.rows_mut() {
                if let Some(transformation) = &source.transformation {
                    transformation(row.as_slice_mut().expect("rows are contiguous"));
                }
            }
            rows.extend(drawn);
        }
        let coordinates =
            Array2::from_shape_vec((rows.len() / self.coordinates.ncols(), self.coordinates.ncols()), rows);
        let coordinates = coordinates.expect("rows are whole");
        Some(Points { coordinates, values: Vec::new(), sources: self.sources.clone() })
    }
}

/// Points of a box.
fn draw<T: Real>(domain: &Domain<T>, count: usize, sampling: Sampling) -> Array2<T> {
    let free: Vec<usize> = (0..domain.dimensions()).filter(|&axis| domain.is_free(axis)).collect();
    let cube = unit_cube(count, free.len(), sampling);
    let mut points = Array2::from_shape_fn((count, domain.dimensions()), |(_, axis)| domain.at(axis, 0.0));
    for (mut point, fractions) in points.rows_mut().into_iter().zip(cube) {
        for (&axis, fraction) in free.iter().zip(fractions) {
            point[axis] = domain.at(axis, fraction);
        }
    }
    points
}
