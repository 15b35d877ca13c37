//! Strictly convex quadratic programmes with linear inequalities.

use nalgebra::{DMatrix, DVector};

/// Relative rounding error of a constraint.
const ROUNDING: f64 = 1e-13;

/// Squared sine of the angle to the span of the active normals below which a normal depends on them.
const DEPENDENT: f64 = 1e-20;

/// Share of the diagonal that is added to the matrix, and the factor by which it grows until the matrix is positive definite.
const RIDGE: f64 = 1e-13;
const MORE: f64 = 100.0;

/// `normal · δ ≤ slack`.
pub(super) struct Constraint {
    pub(super) normal: DVector<f64>,
    pub(super) slack: f64,
}

/// `min gᵀδ + ½ δᵀHδ` under these constraints: `δ`, and the constraints whose multipliers are positive. `None` if the constraints
/// contradict each other, or a number is not finite.
pub(super) fn constrained_step(
    matrix: &DMatrix<f64>,
    gradient: &DVector<f64>,
    constraints: &[Constraint],
) -> Option<(DVector<f64>, Vec<usize>)> {
    let sizes = matrix.diagonal().map(|entry| if entry > 0.0 { entry.sqrt() } else { 1.0 });
    let scaled = DMatrix::from_fn(sizes.len(), sizes.len(), |i, j| matrix[(i, j)] / sizes[i] / sizes[j]);
    let ridges = std::iter::successors(Some(RIDGE), |ridge| Some(ridge * MORE)).take_while(|&ridge| ridge < 1.0);
    let factor = ridges.map(|ridge| (&scaled + DMatrix::identity(sizes.len(), sizes.len()) * ridge).cholesky());
    let factor = factor.flatten().next()?.unpack();
    let whitened = |vector: &DVector<f64>| factor.solve_lower_triangular(&vector.component_div(&sizes));
    let normals = constraints.iter().map(|constraint| whitened(&constraint.normal)).collect::<Option<Vec<_>>>()?;
    let slacks: Vec<f64> = constraints.iter().map(|constraint| constraint.slack).collect();
    let (point, active) = nearest(-whitened(gradient)?, &normals, &slacks)?;
    let step = factor.tr_solve_lower_triangular(&point)?.component_div(&sizes);
    step.iter().all(|entry| entry.is_finite()).then_some((step, active))
}

/// The point of `{y: normalᵢ · y ≤ limitᵢ}` that is nearest to `from`, and the constraints that hold it there, by the dual active-set method
/// of D. Goldfarb and A. Idnani, Mathematical Programming 27 (1983) 1. `None` if there is no such point.
fn nearest(from: DVector<f64>, normals: &[DVector<f64>], limits: &[f64]) -> Option<(DVector<f64>, Vec<usize>)> {
    let length = from.norm();
    let (mut point, mut active, mut multipliers) = (from, Vec::<usize>::new(), Vec::<f64>::new());
    let squares: Vec<f64> = normals.iter().map(|normal| normal.norm_squared()).collect();
    for _ in 0..100 * (limits.len() + 1) {
        let excess = |c: usize, point: &DVector<f64>| normals[c].dot(point) - limits[c];
        let is_violated = |&c: &usize| {
            let rounding = ROUNDING * (squares[c].sqrt() * (length + point.norm()) + limits[c].abs());
            !active.contains(&c) && !(excess(c, &point) <= rounding)
        };
        let depth = |c: usize| excess(c, &point) / squares[c].sqrt();
        let worst = (0..limits.len()).filter(is_violated).max_by(|&a, &b| depth(a).total_cmp(&depth(b)));
        let Some(worst) = worst else { return Some((point, active)) };
        let mut multiplier = 0.0;
        loop {
            let (weights, rest) = along(normals, &active, worst);
            let (mut reach, mut blocking) = (f64::INFINITY, None);
            for (place, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
                if multipliers[place] / weight < reach {
                    (reach, blocking) = (multipliers[place] / weight, Some(place));
                }
            }
            let is_independent = rest.norm_squared() > DEPENDENT * squares[worst];
            let full = if is_independent { excess(worst, &point) / rest.norm_squared() } else { f64::INFINITY };
            let step = full.min(reach);
            if !step.is_finite() {
                return None;
            }
            multipliers.iter_mut().zip(&weights).for_each(|(multiplier, weight)| *multiplier -= step * weight);
            multiplier += step;
            if is_independent {
                point -= &rest * step;
            }
            match blocking.filter(|_| reach < full) {
                Some(place) => {
                    active.remove(place);
                    multipliers.remove(place);
                }
                None => {
                    active.push(worst);
                    multipliers.push(multiplier);
                    break;
                }
            }
        }
    }
    None
}

/// A normal as a combination of those that are active, and the rest that is orthogonal to them.
fn along(normals: &[DVector<f64>], active: &[usize], normal: usize) -> (Vec<f64>, DVector<f64>) {
    let normal = &normals[normal];
    if active.is_empty() {
        return (Vec::new(), normal.clone());
    }
    let columns: Vec<DVector<f64>> = active.iter().map(|&place| normals[place].clone()).collect();
    let (q, r) = DMatrix::from_columns(&columns).qr().unpack();
    let shares = q.tr_mul(normal);
    let rest = normal - &q * &shares;
    // Once more, for what rounding has left.
    let rest = &rest - &q * q.tr_mul(&rest);
    let weights = r.solve_upper_triangular(&shares).map_or_else(Vec::new, |weights| weights.iter().copied().collect());
    (weights, rest)
}
