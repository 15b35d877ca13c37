//! A check of a manifold at a point.

use thiserror::Error;

use super::{Manifold, norm_tolerance};
use crate::autodiff::Difference;
use crate::real::Real;

/// Lengths of the steps that [`check_manifold`] takes.
const LENGTHS: [f64; 4] = [1.0, 0.3, 0.03, 1e-3];

/// A law of manifolds that [`check_manifold`] found broken.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ManifoldError<T: Real> {
    /// There are more degrees of freedom than coordinates.
    #[error("{manifold}: a step has {tangent} numbers, more than the {ambient} of a point")]
    Sizes {
        /// Name of the manifold.
        manifold: String,
        /// Numbers of a point.
        ambient: usize,
        /// Numbers of a step.
        tangent: usize,
    },
    /// The point has another number of coordinates.
    #[error("{manifold}: a point has {expected} numbers, not {given}")]
    PointSize {
        /// Name of the manifold.
        manifold: String,
        /// Numbers of a point.
        expected: usize,
        /// Numbers given.
        given: usize,
    },
    /// The point given is not on the manifold.
    #[error("{manifold}: {point:?} is not a point")]
    NotAPoint {
        /// Name of the manifold.
        manifold: String,
        /// The point given.
        point: Vec<T>,
    },
    /// [`Manifold::normalize`] moves a point of the manifold.
    #[error("{manifold}: normalize changes x[{index}] of a point from {before} to {after}")]
    NormalizeMoves {
        /// Name of the manifold.
        manifold: String,
        /// Index of the number in the point.
        index: usize,
        /// The number of the point.
        before: T,
        /// The number afterwards.
        after: T,
    },
    /// The zero step moves the point.
    #[error("{manifold}: the zero step changes x[{index}] from {before} to {after}")]
    ZeroStepMoves {
        /// Name of the manifold.
        manifold: String,
        /// Index of the number in the point.
        index: usize,
        /// The number of the point.
        before: T,
        /// The number afterwards.
        after: T,
    },
    /// A step leads off the manifold.
    #[error("{manifold}: the step {step:?} leads to {moved:?}, which is not a point")]
    LeavesManifold {
        /// Name of the manifold.
        manifold: String,
        /// The step.
        step: Vec<T>,
        /// `x ⊞ step`.
        moved: Vec<T>,
    },
    /// `(x ⊞ δ) ⊟ x` is not `δ`.
    #[error("{manifold}: minus does not undo plus: after the step {step:?} it gives {found:?}")]
    MinusAfterPlus {
        /// Name of the manifold.
        manifold: String,
        /// The step `δ`.
        step: Vec<T>,
        /// `(x ⊞ δ) ⊟ x`.
        found: Vec<T>,
    },
    /// `x ⊞ (y ⊟ x)` is not `y`.
    #[error("{manifold}: plus does not undo minus: from {from:?} to {to:?} it leads to {found:?}")]
    PlusAfterMinus {
        /// Name of the manifold.
        manifold: String,
        /// The point `x`.
        from: Vec<T>,
        /// The point `y`.
        to: Vec<T>,
        /// `x ⊞ (y ⊟ x)`.
        found: Vec<T>,
    },
    /// An entry of [`Manifold::plus_jacobian`] is not the derivative of [`Manifold::plus`].
    #[error("{manifold}: ∂x[{row}]/∂δ[{column}] is given as {given}, and is {difference} by differences")]
    Jacobian {
        /// Name of the manifold.
        manifold: String,
        /// Index of the number in the point.
        row: usize,
        /// Index of the number in the step.
        column: usize,
        /// The entry given; NaN where it was not written.
        given: T,
        /// The entry by central differences.
        difference: T,
    },
}

/// Checks that the functions of a manifold belong together, at the point `x`: the zero step stays, steps lead to points, `plus`
/// and `minus` undo each other, and `plus_jacobian` is the derivative of `plus`.
///
/// Steps of lengths from 1 to 0.001 are taken, along each axis and obliquely. Equalities must hold to two thirds of the digits, those
/// of derivatives to `20 ∛ε`. A point without zeros and symmetries tells most; a random one will do.
///
/// # Errors
///
/// The first law that is broken, with the numbers that show it.
///
/// ```
/// use marquardt::manifold::{
///     EuclideanSpace, ManifoldError, Pose3, ProductManifold, Rotation3, SE3, check_manifold,
/// };
///
/// let pose = Pose3 { translation: [1.0, -2.0, 0.5], rotation: Rotation3::exp([0.3, 0.4, -1.2]) };
/// check_manifold(&SE3, &pose.to_array())?;
///
/// let error = check_manifold(&EuclideanSpace(2), &[1.0, f64::NAN]).unwrap_err();
/// assert_eq!(error.to_string(), "Euclidean<2>: [1.0, NaN] is not a point");
/// # Ok::<(), ManifoldError<f64>>(())
/// ```
pub fn check_manifold<T: Real>(manifold: &(impl Manifold<T> + ?Sized), x: &[T]) -> Result<(), ManifoldError<T>> {
    let (ambient, tangent, name) = (manifold.ambient_size(), manifold.tangent_size(), || manifold.name());
    if tangent > ambient {
        return Err(ManifoldError::Sizes { manifold: name(), ambient, tangent });
    }
    if x.len() != ambient {
        return Err(ManifoldError::PointSize { manifold: name(), expected: ambient, given: x.len() });
    }
    if !manifold.contains(x) {
        return Err(ManifoldError::NotAPoint { manifold: name(), point: x.to_vec() });
    }
    // Points are given to no more digits than `contains` asks for: compare on the manifold.
    let size = x.iter().fold(T::ONE, |size, x| size.max(x.abs()));
    let mut point = x.to_vec();
    manifold.normalize(&mut point);
    if let Some(index) = differs(x, &point, size * norm_tolerance::<T>() * T::from_f64(2.0)) {
        let (before, after) = (x[index], point[index]);
        return Err(ManifoldError::NormalizeMoves { manifold: name(), index, before, after });
    }
    let x = point;
    let close = T::EPSILON.powf(T::from_f64(2.0 / 3.0));

    let move_by = |from: &[T], step: &[T]| {
        let mut moved = vec![T::from_f64(f64::NAN); ambient];
        manifold.plus(from, step, &mut moved);
        moved
    };
    let step_to = |to: &[T], from: &[T]| {
        let mut step = vec![T::from_f64(f64::NAN); tangent];
        manifold.minus(to, from, &mut step);
        step
    };

    let stayed = move_by(&x, &vec![T::ZERO; tangent]);
    if let Some(index) = differs(&stayed, &x, size * T::EPSILON * T::from_f64(8.0)) {
        let (before, after) = (x[index], stayed[index]);
        return Err(ManifoldError::ZeroStepMoves { manifold: name(), index, before, after });
    }

    check_jacobian(manifold, &x, size)?;

    let mut previous = x.clone();
    for step in steps(tangent) {
        let moved = move_by(&x, &step);
        if !manifold.contains(&moved) {
            return Err(ManifoldError::LeavesManifold { manifold: name(), step, moved });
        }
        let found = step_to(&moved, &x);
        if differs(&found, &step, size * close).is_some() {
            return Err(ManifoldError::MinusAfterPlus { manifold: name(), step, found });
        }
        let back = move_by(&previous, &step_to(&moved, &previous));
        if differs(&back, &moved, size * close).is_some() {
            return Err(ManifoldError::PlusAfterMinus { manifold: name(), from: previous, to: moved, found: back });
        }
        previous = moved;
    }
    Ok(())
}

/// Compares every entry of the Jacobian with a central difference of `plus`.
fn check_jacobian<T: Real>(manifold: &(impl Manifold<T> + ?Sized), x: &[T], size: T) -> Result<(), ManifoldError<T>> {
    let (ambient, tangent) = (manifold.ambient_size(), manifold.tangent_size());
    let tolerance = size * T::EPSILON.cbrt() * T::from_f64(20.0);
    let mut jacobian = vec![T::from_f64(f64::NAN); ambient * tangent];
    manifold.plus_jacobian(x, &mut jacobian);
    let (mut step, mut moved) = (vec![T::ZERO; tangent], vec![T::ZERO; ambient]);
    for column in 0..tangent {
        for row in 0..ambient {
            let difference = Difference::Central.derivative(&mut step, column, x[row], |step| {
                manifold.plus(x, step, &mut moved);
                moved[row]
            });
            let given = jacobian[row * tangent + column];
            if !((given - difference).abs() <= tolerance * given.abs().max(T::ONE)) {
                return Err(ManifoldError::Jacobian { manifold: manifold.name(), row, column, given, difference });
            }
        }
    }
    Ok(())
}

/// Index of the first entry where two vectors differ by more than the tolerance, or are not finite.
fn differs<T: Real>(a: &[T], b: &[T], tolerance: T) -> Option<usize> {
    (0..a.len()).find(|&i| !((a[i] - b[i]).abs() <= tolerance))
}

/// Steps along the axes, to both sides, and oblique ones.
fn steps<T: Real>(tangent: usize) -> impl Iterator<Item = Vec<T>> {
    let along = (0..tangent).flat_map(move |axis| {
        [1.0, -1.0].map(|sign| (0..tangent).map(|i| if i == axis { sign } else { 0.0 }).collect::<Vec<f64>>())
    });
    let oblique = (1..4).map(move |phase| {
        let direction = (0..tangent).map(|i| ((i * phase) as f64 + 0.7 * phase as f64).cos());
        let norm = direction.clone().map(|x| x * x).sum::<f64>().sqrt();
        direction.map(|x| x / norm).collect()
    });
    along.chain(oblique).flat_map(|direction| {
        LENGTHS.map(|length| direction.iter().map(|&x| T::from_f64(x * length)).collect::<Vec<T>>())
    })
}
