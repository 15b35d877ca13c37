//! Standard errors of coefficients, where some rows are measurements and the others hold exactly.

use std::ops::Range;

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

use super::PhysicsError;
use crate::nn::Network;
use crate::variables::Variables;
use crate::{LeastSquares, Real};

/// Share of the largest diagonal number that `JᵀJ` is damped by: a network has directions that no residual sees.
const DAMPING: f64 = 1e-13;

/// The standard error of a parameter by the linearised minimum: `θ̂ − θ = −H⁻¹ Jᵀε` with `H = JᵀJ`, and errors `ε` of the rows of
/// `data` alone, of the variance that their own sum of squares says.
pub(super) fn of<T: Real>(
    network: &mut Network<T>,
    variables: &Variables<T>,
    parameter: usize,
    data: Range<usize>,
    coefficients: usize,
) -> Result<T, PhysicsError> {
    let (m, n, group) = (network.residual_count(), network.parameter_count(), network.row_group());
    let (mut r, mut jacobian) = (vec![T::ZERO; m], vec![T::ZERO; m * n]);
    network.linearize(variables.values(), 0, &mut r, &mut jacobian)?;
    let j = Mat::from_fn(m, n, |i, k| jacobian[i * n + k].to_f64());
    let mut h = j.transpose() * &j;
    let largest = (0..n).map(|k| h[(k, k)]).fold(0.0, f64::max);
    (0..n).for_each(|k| h[(k, k)] += DAMPING * largest);
    let unit = Mat::from_fn(n, 1, |k, _| if k == parameter { 1.0 } else { 0.0 });
    let sensitivity = match h.llt(Side::Lower) {
        Ok(factor) => factor.solve(&unit),
        Err(_) => return Ok(T::from_f64(f64::INFINITY)),
    };
    let rows = data.start * group..data.end * group;
    let moved = |i: usize| (0..n).map(|k| j[(i, k)] * sensitivity[(k, 0)]).sum::<f64>();
    let squares: f64 = rows.clone().map(|i| r[i].to_f64().powi(2)).sum();
    let variance = squares / (rows.len().saturating_sub(coefficients).max(1)) as f64;
    let gain: f64 = rows.map(|i| moved(i).powi(2)).sum();
    Ok(T::from_f64((variance * gain).sqrt()))
}
