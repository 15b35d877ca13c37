//! Manifolds: parameters that are rotations, poses or directions, and the steps that keep them so.
//!
//! A rotation in space has three degrees of freedom and is stored as the four numbers of a unit quaternion. A solver that adds
//! a step to the four numbers leaves the unit sphere. A [`Manifold`] replaces the sum: the solver computes a step `δ` of three
//! numbers, and [`plus`](Manifold::plus) moves the point by it. The words are those of Ceres.
//!
//! | manifold | point | numbers | step | numbers |
//! |---|---|---|---|---|
//! | [`Euclidean<N>`](Euclidean), [`EuclideanSpace`] | vector | `N` | difference | `N` |
//! | [`SO2`] | unit complex number `[cos, sin]` | 2 | angle | 1 |
//! | [`SE2`] | pose in the plane `[x, y, cos, sin]` | 4 | `[translation, angle]` | 3 |
//! | [`SO3`] | unit quaternion `[i, j, k, w]` | 4 | rotation vector | 3 |
//! | [`SE3`] | pose in space `[x, y, z, i, j, k, w]` | 7 | `[translation, rotation vector]` | 6 |
//! | [`Sim2`] | similarity in the plane `[x, y, cos, sin, s]` | 5 | step of [`SE2`], logarithm of the scale | 4 |
//! | [`Sim3`] | similarity in space `[x, y, z, i, j, k, w, s]` | 8 | step of [`SE3`], logarithm of the scale | 7 |
//! | [`UnitSphere<N>`](UnitSphere) | unit vector | `N` | tangent vector | `N − 1` |
//! | [`Line<N>`](Line) | point nearest to the origin, then unit direction | `2N` | displacement across, then turn | `2N − 2` |
//! | [`Plane`] | unit normal, then distance from the origin | 4 | tangent vector, difference | 3 |
//! | [`ProductManifold<A, B>`](ProductManifold) | point of `A`, then point of `B` | sum | step of `A`, then step of `B` | sum |
//!
//! # Conventions
//!
//! Angles are in radians. Quaternions are Hamilton's, the scalar last, as nalgebra and Eigen store them; `q` and `−q` are the
//! same rotation. A pose maps points of the body to points of the world. A step is in the frame of the body:
//! `x ⊞ δ = x ∘ exp(δ)`, and `y ⊟ x = log(x⁻¹ ∘ y)`, with the exponential of the group: the translation and the rotation of a step
//! of a pose happen at the same time, along an arc or a screw.
//!
//! # Residuals
//!
//! [`Rotation2`], [`Pose2`], [`Rotation3`] and [`Pose3`] are the groups' elements over any [`Scalar`](crate::Scalar). A residual
//! function that is written over them is evaluated with floats, and with [`Dual`](crate::Dual) numbers for its exact derivatives.
//!
//! ```
//! use marquardt::{Dual, Scalar};
//! use marquardt::manifold::{Manifold, Pose2, SE2};
//!
//! /// Difference of the measured pose of `b`, seen from `a`, and the one that the two poses give.
//! fn edge<S: Scalar<Real = f64>>(a: Pose2<S>, b: Pose2<S>, measured: Pose2<f64>) -> [S; 3] {
//!     a.between(b).premultiply(measured.inverse()).log()
//! }
//!
//! let (a, b) = (Pose2::new(1.0, 2.0, 0.3), Pose2::new(2.0, 2.5, 0.5));
//! let measured = a.between(b);
//! assert!(edge(a, b, measured).iter().all(|r| r.abs() < 1e-12));
//!
//! // By a step of b: the coordinates of b vary as the Jacobian of ⊞ says.
//! let mut jacobian = [0.0; 12];
//! SE2.plus_jacobian(&b.to_array(), &mut jacobian);
//! let numbers = b.to_array();
//! let b: [Dual<f64, 3>; 4] = std::array::from_fn(|row| Dual {
//!     value: numbers[row],
//!     gradient: std::array::from_fn(|column| jacobian[3 * row + column]),
//! });
//! let r = edge(Pose2::constant(a), Pose2::from_slice(&b), measured);
//! assert!((r[0].gradient[0] - 1.0).abs() < 1e-12 && (r[2].gradient[2] - 1.0).abs() < 1e-12);
//! ```
//!
//! # References
//!
//! Solà, Deray & Atchuthan 2018, *A micro Lie theory for state estimation in robotics*, for the groups;
//! Hertzberg, Wagner, Frese & Schröder 2013, *Integrating generic sensor fusion algorithms with sound state representations
//! through encapsulation of manifolds*, for `⊞` and `⊟`.

mod check;
mod conversions;
mod euclidean;
mod group;
mod line;
mod pose2;
mod pose3;
mod product;
mod rotation2;
mod rotation3;
mod se2;
mod se3;
mod series;
mod similarity;
mod so2;
mod so3;
#[cfg(test)]
mod tests;
mod unit_sphere;

use std::fmt::Debug;
use std::sync::Arc;

pub use check::{ManifoldError, check_manifold};
pub use euclidean::{Euclidean, EuclideanSpace};
pub use line::Line;
pub use pose2::Pose2;
pub use pose3::Pose3;
pub use product::{Plane, ProductManifold};
pub use rotation2::Rotation2;
pub use rotation3::Rotation3;
pub use se2::SE2;
pub use se3::SE3;
pub use similarity::{Sim2, Sim3, Similarity2, Similarity3};
pub use so2::SO2;
pub use so3::SO3;
pub use unit_sphere::UnitSphere;

use crate::real::Real;

/// A set of points that look like a vector space nearby, given by how a step moves a point.
///
/// Five functions make a manifold; [`check_manifold`] tests that they belong together:
///
/// ```text
/// x ⊞ 0 = x        x ⊞ (y ⊟ x) = y        (x ⊞ δ) ⊟ x = δ  for short δ
/// ```
///
/// Slices must have the sizes of the manifold; the implementations of the library panic otherwise. [`plus`](Self::plus) and
/// [`minus`](Self::minus) do not check that their arguments are points: non-finite numbers give non-finite results.
///
/// ```
/// use marquardt::manifold::{Manifold, check_manifold};
///
/// /// Positive numbers; a step is the logarithm of a ratio.
/// #[derive(Debug)]
/// struct Positive;
///
/// impl Manifold<f64> for Positive {
///     fn ambient_size(&self) -> usize {
///         1
///     }
///     fn tangent_size(&self) -> usize {
///         1
///     }
///     fn plus(&self, x: &[f64], delta: &[f64], moved: &mut [f64]) {
///         moved[0] = x[0] * delta[0].exp();
///     }
///     fn minus(&self, y: &[f64], x: &[f64], delta: &mut [f64]) {
///         delta[0] = (y[0] / x[0]).ln();
///     }
///     fn plus_jacobian(&self, x: &[f64], jacobian: &mut [f64]) {
///         jacobian[0] = x[0];
///     }
///     fn contains(&self, x: &[f64]) -> bool {
///         x.len() == 1 && x[0] > 0.0 && x[0].is_finite()
///     }
/// }
///
/// check_manifold(&Positive, &[2.5])?;
/// # Ok::<(), marquardt::manifold::ManifoldError<f64>>(())
/// ```
pub trait Manifold<T: Real>: Debug + Send + Sync {
    /// Number of coordinates that a point is stored as.
    fn ambient_size(&self) -> usize;

    /// Number of entries of a step: the degrees of freedom. At most [`ambient_size`](Self::ambient_size).
    fn tangent_size(&self) -> usize;

    /// Computes `moved = x ⊞ δ`, the point `x` moved by the step `δ`.
    fn plus(&self, x: &[T], delta: &[T], moved: &mut [T]);

    /// Computes the step `δ = y ⊟ x` that leads from `x` to `y`: `x ⊞ δ = y`. Where several do, a shortest one.
    fn minus(&self, y: &[T], x: &[T], delta: &mut [T]);

    /// Computes `∂(x ⊞ δ)/∂δ` at `δ = 0`, [`ambient_size`](Self::ambient_size) rows of
    /// [`tangent_size`](Self::tangent_size) numbers, row after row. Every entry is written.
    ///
    /// The derivative of a function with respect to a step is its derivative with respect to the numbers of the point, times
    /// this matrix.
    fn plus_jacobian(&self, x: &[T], jacobian: &mut [T]);

    /// Returns true if `x` is a point of the manifold: it has the right size, its numbers are finite, and the norm of a
    /// quaternion, a complex number or a direction is 1 to within 1e-6 (`f64`) or 1e-3 (`f32`).
    fn contains(&self, x: &[T]) -> bool;

    /// Moves `x` to the nearest point of the manifold, to remove the rounding that many steps leave behind. By default `x` is
    /// left unchanged.
    fn normalize(&self, x: &mut [T]) {
        let _ = x;
    }

    /// Fills `sizes` with the size of the point `x` in the units of each number of a step, to which tolerances are relative: by
    /// default one, as for an angle in radians. A vector space has its coordinates, a pose the length of its translation.
    fn sizes(&self, x: &[T], sizes: &mut [T]) {
        let _ = x;
        sizes.fill(T::ONE);
    }

    /// Index of the coordinate that this entry of a step is added to, and that no other entry changes; `None`, as by default, if there is no
    /// such coordinate. Coordinates that are found so can have bounds.
    fn coordinate(&self, direction: usize) -> Option<usize> {
        let _ = direction;
        None
    }

    /// Name of the manifold, for messages; by default that of the type.
    fn name(&self) -> String {
        std::any::type_name::<Self>().to_owned()
    }
}

/// Passes all methods of a manifold on to the manifold that `$each!` finds in `self`.
macro_rules! pass_on_manifold {
    ($each:ident) => {
        $crate::pass_on::pass_on! { $each
            ref ambient_size() -> usize;
            ref tangent_size() -> usize;
            ref plus(x: &[T], delta: &[T], moved: &mut [T]) -> ();
            ref minus(y: &[T], x: &[T], delta: &mut [T]) -> ();
            ref plus_jacobian(x: &[T], jacobian: &mut [T]) -> ();
            ref contains(x: &[T]) -> bool;
            ref normalize(x: &mut [T]) -> ();
            ref sizes(x: &[T], sizes: &mut [T]) -> ();
            ref coordinate(direction: usize) -> Option<usize>;
            ref name() -> String;
        }
    };
}

use pass_on_manifold;

/// Calls a method of what a pointer points to.
macro_rules! pointee {
    ($self:ident, $method:ident($($argument:ident),*)) => {
        (**$self).$method($($argument),*)
    };
}

impl<T: Real, M: Manifold<T> + ?Sized> Manifold<T> for &M {
    pass_on_manifold!(pointee);
}

impl<T: Real, M: Manifold<T> + ?Sized> Manifold<T> for Box<M> {
    pass_on_manifold!(pointee);
}

impl<T: Real, M: Manifold<T> + ?Sized> Manifold<T> for Arc<M> {
    pass_on_manifold!(pointee);
}

/// The numbers of a slice that must have `N` of them.
#[track_caller]
#[inline]
fn numbers<S: Copy, const N: usize>(slice: &[S]) -> [S; N] {
    match slice.try_into() {
        Ok(numbers) => numbers,
        Err(_) => panic!("{N} numbers are needed, not {}", slice.len()),
    }
}

/// Largest distance of the norm of a point from 1: 1e-6, or 1e-3 in single precision.
fn norm_tolerance<T: Real>() -> T {
    T::from_f64(if T::EPSILON < T::from_f64(1e-10) { 1e-6 } else { 1e-3 })
}

/// Returns true if all numbers are finite and their norm is 1 to within the tolerance.
fn has_unit_norm<T: Real>(x: &[T]) -> bool {
    let square: T = x.iter().map(|&x| x * x).sum();
    (square.sqrt() - T::ONE).abs() <= norm_tolerance()
}

/// Divides the numbers by their norm. A zero or non-finite vector is left unchanged.
fn normalize<T: Real>(x: &mut [T]) {
    let norm = x.iter().map(|&x| x * x).sum::<T>().sqrt();
    if norm > T::ZERO && norm.is_finite() {
        x.iter_mut().for_each(|x| *x /= norm);
    }
}
