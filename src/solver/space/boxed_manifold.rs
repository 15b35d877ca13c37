//! A manifold, some coordinates of which have bounds.

use super::{BoxSpace, Faces, ManifoldSpace, Space};
use crate::evaluation::Evaluation;
use crate::linear::{Held, IllConditioned};
use crate::manifold::Manifold;
use crate::problem::{BoundSide, Bounds};
use crate::real::Real;
use crate::storage::Storage;

/// Steps on a manifold within bounds of [coordinates](Manifold::coordinate) that single entries of a step are added to: the box is one of
/// these entries, as of a [vector space](BoxSpace).
pub(in crate::solver) struct BoxedManifoldSpace<T: Real, S: Storage<T>> {
    boxed: BoxSpace<T, S>,
    manifold: ManifoldSpace<T>,
    /// Coordinate of each entry of a step that has bounds, the bounds, and the entry.
    coordinates: Vec<(usize, usize)>,
    /// Coordinates of a point in the order of the entries of a step; zero for entries without bounds.
    position: Vec<T>,
    moved: Vec<T>,
}

impl<T: Real, S: Storage<T>> BoxedManifoldSpace<T, S> {
    /// For points of a manifold within these bounds of their coordinates.
    pub(super) fn new(manifold: &dyn Manifold<T>, bounds: &Bounds<T>) -> Self {
        let n = manifold.tangent_size();
        let (mut lower, mut upper, mut coordinates) = (vec![-T::INFINITY; n], vec![T::INFINITY; n], Vec::new());
        for j in 0..n {
            if let Some(coordinate) = manifold.coordinate(j).filter(|&coordinate| bounds.is_bounded(coordinate)) {
                (lower[j], upper[j]) = bounds.of(coordinate);
                coordinates.push((j, coordinate));
            }
        }
        let boxed = BoxSpace::new(&lower, &upper);
        let manifold = ManifoldSpace::new(n);
        BoxedManifoldSpace { boxed, manifold, coordinates, position: vec![T::ZERO; n], moved: vec![T::ZERO; n] }
    }

    fn take_position(&mut self, x: &[T]) {
        self.coordinates.iter().for_each(|&(j, coordinate)| self.position[j] = x[coordinate]);
    }

    /// Entry `j` of a step with its coordinate, if that has bounds.
    fn find(&self, j: usize) -> Option<usize> {
        let place = self.coordinates.binary_search_by_key(&j, |&(j, _)| j).ok()?;
        Some(self.coordinates[place].1)
    }
}

impl<T: Real, S: Storage<T>> Space<T> for BoxedManifoldSpace<T, S> {
    fn look_ahead(&mut self, evaluation: &dyn Evaluation<T>, x: &[T], share: T, step: &[T], moved: &mut [T]) {
        self.manifold.look_ahead(evaluation, x, share, step, moved);
    }

    /// Held coordinates end exactly at their bounds, and rounding moves none out of the box.
    #[inline(never)]
    fn plus(&mut self, evaluation: &dyn Evaluation<T>, x: &[T], step: &[T], moved: &mut [T]) {
        self.manifold.plus(evaluation, x, step, moved);
        self.take_position(x);
        self.boxed.plus(evaluation, &self.position, step, &mut self.moved);
        self.coordinates.iter().for_each(|&(j, coordinate)| moved[coordinate] = self.moved[j]);
    }

    fn minus(&self, evaluation: &dyn Evaluation<T>, y: &[T], x: &[T], step: &mut [T]) {
        self.manifold.minus(evaluation, y, x, step);
    }

    #[inline(never)]
    fn solve(&mut self, system: &mut impl Faces<T>, x: &[T], step: &mut [T]) -> Result<T, IllConditioned> {
        self.take_position(x);
        self.boxed.solve(system, &self.position, step)
    }

    fn arrive(&mut self, evaluation: &dyn Evaluation<T>, x: &[T]) {
        self.manifold.arrive(evaluation, x);
    }

    fn sizes<'a>(&'a self, x: &'a [T]) -> &'a [T] {
        self.manifold.sizes(x)
    }

    fn is_bounded(&self) -> bool {
        true
    }

    fn held(&self) -> Held<'_> {
        Space::<T>::held(&self.boxed)
    }

    fn holds(&self, j: usize, x: &[T], derivative: T) -> Option<BoundSide> {
        self.boxed.holds_at(j, x[self.find(j)?], derivative)
    }

    fn contains(&self, j: usize, x: &[T], entry: T) -> bool {
        self.find(j).is_none_or(|coordinate| self.boxed.contains_at(j, x[coordinate] + entry))
    }

    fn coordinate(&self, j: usize) -> usize {
        self.find(j).unwrap_or(j)
    }

    fn allows(&self, x: &[T], step: &[T]) -> bool {
        self.coordinates.iter().all(|&(j, _)| self.contains(j, x, step[j]))
    }

    fn clamp(&self, x: &mut [T]) {
        self.coordinates.iter().for_each(|&(j, coordinate)| x[coordinate] = self.boxed.clamped(j, x[coordinate]));
    }
}
