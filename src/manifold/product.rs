//! The product of two manifolds.

use super::{Euclidean, Manifold, UnitSphere};
use crate::real::Real;

/// Pairs of a point of `A` and a point of `B`, stored one after the other, and so are steps. Products of more are nested.
///
/// ```
/// use marquardt::manifold::{Euclidean, Manifold, ProductManifold, SE3};
///
/// // A camera: its pose, its focal length and two coefficients of distortion.
/// let camera = ProductManifold(SE3, Euclidean::<3>);
/// assert_eq!(Manifold::<f64>::ambient_size(&camera), 10);
/// assert_eq!(Manifold::<f64>::tangent_size(&camera), 9);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProductManifold<A, B>(
    /// Manifold of the first numbers.
    pub A,
    /// Manifold of the numbers that follow.
    pub B,
);

/// Planes in space `{p : n·p = d}`, stored as the unit normal `n` and the distance `d` from the origin, negative on the other side. `(n, d)` and
/// `(−n, −d)` are the same plane, but different points of the manifold.
///
/// ```
/// use marquardt::manifold::{Manifold, Plane, check_manifold};
///
/// check_manifold(&Plane::default(), &[0.6, 0.0, -0.8, 2.5])?;
/// # Ok::<(), marquardt::manifold::ManifoldError<f64>>(())
/// ```
pub type Plane = ProductManifold<UnitSphere<3>, Euclidean<1>>;

impl<T: Real, A: Manifold<T>, B: Manifold<T>> Manifold<T> for ProductManifold<A, B> {
    #[inline]
    fn ambient_size(&self) -> usize {
        self.0.ambient_size() + self.1.ambient_size()
    }

    #[inline]
    fn tangent_size(&self) -> usize {
        self.0.tangent_size() + self.1.tangent_size()
    }

    #[inline]
    fn plus(&self, x: &[T], delta: &[T], moved: &mut [T]) {
        let (ambient, tangent) = (self.0.ambient_size(), self.0.tangent_size());
        let (first, second) = moved.split_at_mut(ambient);
        self.0.plus(&x[..ambient], &delta[..tangent], first);
        self.1.plus(&x[ambient..], &delta[tangent..], second);
    }

    #[inline]
    fn minus(&self, y: &[T], x: &[T], delta: &mut [T]) {
        let (ambient, tangent) = (self.0.ambient_size(), self.0.tangent_size());
        let (first, second) = delta.split_at_mut(tangent);
        self.0.minus(&y[..ambient], &x[..ambient], first);
        self.1.minus(&y[ambient..], &x[ambient..], second);
    }

    /// Writes each Jacobian densely into its own rows of the result, then spreads the rows in place. No allocation.
    fn plus_jacobian(&self, x: &[T], jacobian: &mut [T]) {
        let (rows, columns) = (self.0.ambient_size(), self.0.tangent_size());
        let (more_rows, more_columns) = (self.1.ambient_size(), self.1.tangent_size());
        let width = columns + more_columns;
        let (first, second) = jacobian.split_at_mut(rows * width);

        // The first rows are dense at the beginning, and move backwards one by one, the last row first.
        self.0.plus_jacobian(&x[..rows], &mut first[..rows * columns]);
        for row in (0..rows).rev() {
            first.copy_within(row * columns..(row + 1) * columns, row * width);
            first[row * width + columns..(row + 1) * width].fill(T::ZERO);
        }

        // The rows that follow are dense at the end, and move forwards, the first row first.
        let start = more_rows * columns;
        self.1.plus_jacobian(&x[rows..], &mut second[start..]);
        for row in 0..more_rows {
            let dense = start + row * more_columns;
            second.copy_within(dense..dense + more_columns, row * width + columns);
            second[row * width..row * width + columns].fill(T::ZERO);
        }
    }

    fn contains(&self, x: &[T]) -> bool {
        let ambient = self.0.ambient_size();
        x.len() == ambient + self.1.ambient_size() && self.0.contains(&x[..ambient]) && self.1.contains(&x[ambient..])
    }

    fn normalize(&self, x: &mut [T]) {
        let (first, second) = x.split_at_mut(self.0.ambient_size());
        self.0.normalize(first);
        self.1.normalize(second);
    }

    fn coordinate(&self, direction: usize) -> Option<usize> {
        match direction.checked_sub(self.0.tangent_size()) {
            None => self.0.coordinate(direction),
            Some(direction) => Some(self.0.ambient_size() + self.1.coordinate(direction)?),
        }
    }

    fn sizes(&self, x: &[T], sizes: &mut [T]) {
        let (ambient, tangent) = (self.0.ambient_size(), self.0.tangent_size());
        let (first, second) = sizes.split_at_mut(tangent);
        self.0.sizes(&x[..ambient], first);
        self.1.sizes(&x[ambient..], second);
    }

    fn name(&self) -> String {
        format!("{} × {}", self.0.name(), self.1.name())
    }
}
