//! Standard errors of coefficients, where some rows are measurements and the others hold exactly.

use std::ops::Range;

use super::PhysicsError;
use crate::kernels::triangular::{absorb_rows, solve_upper, solve_upper_transposed};
use crate::kernels::vector::dot;
use crate::nn::Network;
use crate::problem::LeastSquares;
use crate::real::Real;
use crate::variables::Variables;

/// Damping of `JᵀJ`, as a share of its largest diagonal entry: some directions of a network do not change any residual.
const DAMPING: f64 = 1e-13;

/// The standard error of a parameter by the linearised minimum: `θ̂ − θ = −H⁻¹ Jᵀε` with `H = JᵀJ`, and errors `ε` of the rows of
/// `data` alone, whose variance is estimated from their own sum of squares.
pub(super) fn of<T: Real>(
    network: &mut Network<T>,
    variables: &Variables<T>,
    parameter: usize,
    data: Range<usize>,
) -> Result<T, PhysicsError> {
    let (m, n, group) = (network.residual_count(), network.parameter_count(), network.row_group());
    let (mut r, mut jacobian) = (vec![T::ZERO; m], vec![T::ZERO; m * n]);
    network.linearize(variables.values(), 0, &mut r, &mut jacobian)?;
    let j: Vec<f64> = jacobian.iter().map(|derivative| derivative.to_f64()).collect();
    let squares = |k: usize| j.iter().skip(k).step_by(n).map(|derivative| derivative * derivative).sum::<f64>();
    let damping = (DAMPING * (0..n).map(squares).fold(0.0, f64::max)).sqrt();
    let mut triangle = vec![0.0; n * n];
    triangle.iter_mut().step_by(n + 1).for_each(|diagonal| *diagonal = damping);
    absorb_rows(&mut triangle, &mut vec![0.0; n], &mut j.clone(), &mut vec![0.0; m], &mut vec![0.0; n]);
    let mut sensitivity = vec![0.0; n];
    sensitivity[parameter] = 1.0;
    solve_upper_transposed(&triangle, &mut sensitivity);
    solve_upper(&triangle, &mut sensitivity);
    let rows = data.start * group..data.end * group;
    let moved = |i: usize| dot(&j[i * n..(i + 1) * n], &sensitivity);
    let squares: f64 = rows.clone().map(|i| r[i].to_f64().powi(2)).sum();
    let variance = squares / (rows.len().saturating_sub(1).max(1)) as f64;
    let gain: f64 = rows.map(|i| moved(i).powi(2)).sum();
    Ok(T::from_f64((variance * gain).sqrt()))
}
