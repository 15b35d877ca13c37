//! Lines.

use super::series::half_angle;
use super::{Manifold, UnitSphere, has_unit_norm, norm_tolerance, normalize};
use crate::real::Real;

/// Lines `{p + t d}` in a space of `N` dimensions, `N` at least 2, stored as the point `p` of the line that is nearest to the origin, then the unit
/// direction `d`: `2N` numbers. `(p, d)` and `(p, −d)` are the same line, but different points of the manifold.
///
/// A step has `2N − 2` numbers: a displacement of `p` across the line, then a step of `d` on the [`UnitSphere`], both in the basis that the sphere
/// has at `d`. The line is displaced, then turned about the origin, so that `p` stays the nearest point. Ceres' `LineManifold` stores any point of the
/// line, which leaves several points of the manifold for a line.
///
/// ```
/// use marquardt::manifold::{Line, Manifold, check_manifold};
///
/// // The vertical line through (1, 2, 9).
/// let line = Line::<3>::through([1.0, 2.0, 9.0], [0.0, 0.0, 4.0]);
/// assert_eq!(line, [[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]);
/// check_manifold(&Line::<3>, line.as_flattened())?;
/// # Ok::<(), marquardt::manifold::ManifoldError<f64>>(())
/// ```
#[doc(alias = "LineManifold")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Line<const N: usize>;

impl<const N: usize> Line<N> {
    /// Point of the manifold for the line through a point, in a direction of any length; not a point of it if the direction is zero.
    pub fn through<T: Real>(point: [T; N], mut direction: [T; N]) -> [[T; N]; 2] {
        // Its square may over- or underflow.
        let largest = direction.iter().fold(T::ZERO, |largest, d| largest.max(d.abs()));
        direction.iter_mut().for_each(|d| *d /= largest);
        let mut line = [point, direction];
        Self.normalize(line.as_flattened_mut());
        line
    }
}

fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).map(|(&a, &b)| a * b).sum()
}

/// Adds `factor · b` to `a`.
fn add<T: Real>(a: &mut [T], factor: T, b: &[T]) {
    a.iter_mut().zip(b).for_each(|(a, &b)| *a += factor * b);
}

/// Basis of the vectors across a direction: `N` rows of `N − 1` numbers, in the first part of the array.
fn basis<T: Real, const N: usize>(direction: &[T]) -> [[T; N]; N] {
    let mut basis = [[T::ZERO; N]; N];
    UnitSphere::<N>.plus_jacobian(direction, &mut basis.as_flattened_mut()[..N * (N - 1)]);
    basis
}

/// `Bδ`, for the basis `B`.
fn tangent<T: Real, const N: usize>(basis: &[[T; N]; N], delta: &[T]) -> [T; N] {
    let mut rows = basis.as_flattened().chunks_exact(N - 1);
    std::array::from_fn(|_| rows.next().map_or(T::ZERO, |row| dot(row, delta)))
}

impl<T: Real, const N: usize> Manifold<T> for Line<N> {
    fn ambient_size(&self) -> usize {
        2 * N
    }

    fn tangent_size(&self) -> usize {
        2 * (N - 1)
    }

    fn plus(&self, x: &[T], delta: &[T], moved: &mut [T]) {
        let (point, direction) = x.split_at(N);
        let (across, turn) = delta.split_at(N - 1);
        let (moved_point, moved_direction) = moved.split_at_mut(N);
        UnitSphere::<N>.plus(direction, turn, moved_direction);
        let basis = basis::<T, N>(direction);
        moved_point.copy_from_slice(point);
        add(moved_point, T::ONE, &tangent(&basis, across));
        // The turn of d by θ along v, ‖v‖ = θ: p + v (v·p) (cos θ − 1) / θ² − d (v·p) sin θ / θ.
        let v = tangent(&basis, turn);
        let square = dot(turn, turn);
        let [cos_half, sinc_half] = half_angle(square, || square.sqrt());
        let along = dot(&v, moved_point);
        add(moved_point, -along * sinc_half * sinc_half * T::from_f64(0.5), &v);
        add(moved_point, -along * cos_half * sinc_half, direction);
    }

    fn minus(&self, y: &[T], x: &[T], delta: &mut [T]) {
        let ((point, direction), (target, target_direction)) = (x.split_at(N), y.split_at(N));
        let (across, turn) = delta.split_at_mut(N - 1);
        UnitSphere::<N>.minus(target_direction, direction, turn);
        let basis = basis::<T, N>(direction);
        let v = tangent(&basis, turn);
        let square = dot(turn, turn);
        let [cos_half, sinc_half] = half_angle(square, || square.sqrt());
        // Turned back: w = v cos θ − d θ sin θ is v at the end of the turn.
        let mut w = v.map(|v| v * (T::ONE - square * sinc_half * sinc_half * T::from_f64(0.5)));
        add(&mut w, -square * cos_half * sinc_half, direction);
        let along = if square > T::ZERO { dot(&w, target) / square } else { T::ZERO };
        let mut back = [T::ZERO; N];
        back.copy_from_slice(target);
        add(&mut back, along, &v);
        add(&mut back, -along, &w);
        add(&mut back, -T::ONE, point);
        across.fill(T::ZERO);
        for (row, &back) in basis.as_flattened().chunks_exact(N - 1).zip(&back) {
            add(across, back, row);
        }
    }

    fn plus_jacobian(&self, x: &[T], jacobian: &mut [T]) {
        let (point, direction) = x.split_at(N);
        let basis = basis::<T, N>(direction);
        let rows = || basis.as_flattened().chunks_exact(N - 1);
        // Bᵀp
        let mut along = [T::ZERO; N];
        rows().zip(point).for_each(|(row, &point)| add(&mut along[..N - 1], point, row));
        let (upper, lower) = jacobian.split_at_mut(2 * N * (N - 1));
        for (entries, (row, &direction)) in upper.chunks_exact_mut(2 * (N - 1)).zip(rows().zip(direction)) {
            let (across, turn) = entries.split_at_mut(N - 1);
            across.copy_from_slice(row);
            turn.iter_mut().zip(&along).for_each(|(entry, &along)| *entry = -direction * along);
        }
        for (entries, row) in lower.chunks_exact_mut(2 * (N - 1)).zip(rows()) {
            entries[..N - 1].fill(T::ZERO);
            entries[N - 1..].copy_from_slice(row);
        }
    }

    fn contains(&self, x: &[T]) -> bool {
        let Some((point, direction)) = x.split_at_checked(N) else { return false };
        let length = dot(point, point).sqrt();
        direction.len() == N
            && has_unit_norm(direction)
            && length.is_finite()
            && dot(point, direction).abs() <= norm_tolerance::<T>() * length.max(T::ONE)
    }

    fn normalize(&self, x: &mut [T]) {
        let (point, direction) = x.split_at_mut(N);
        normalize(direction);
        // Twice: a point that is far along the line leaves its rounding.
        for _ in 0..2 {
            let along = dot(point, direction);
            add(point, -along, direction);
        }
    }

    fn sizes(&self, x: &[T], sizes: &mut [T]) {
        let (across, turn) = sizes.split_at_mut(N - 1);
        across.fill(dot(&x[..N], &x[..N]).sqrt());
        turn.fill(T::ONE);
    }

    fn name(&self) -> String {
        format!("Line<{N}>")
    }
}
