//! Residuals by the variances that errors in the predictors give the responses.

use super::ObservedRow;
use super::predictor_slopes::PredictorSlopes;
use crate::curve::Curve;
use crate::problem::Evaluated;
use crate::real::Real;

/// Writes residuals over the roots of `σ² = σ_y² + Σ (∂f/∂x)² σ_x²`, each response for itself, and, where there is room, their derivatives.
pub(super) fn residuals<T: Real>(
    curve: &dyn Curve<T>,
    ranges: &[T],
    rows: &[ObservedRow<'_, T>],
    b: &[T],
    residuals: &mut [T],
    jacobian: &mut [T],
) -> Evaluated {
    let (w, k, n) = (rows[0].x.len(), rows[0].y.len(), b.len());
    let mut slopes = PredictorSlopes::new(ranges, k);
    let count = slopes.lay_out(rows.iter().map(|row| (row.x, row.sigma_x)));
    let mut all = Vec::new();
    if jacobian.is_empty() {
        slopes.evaluate(curve, b)?;
    } else {
        all.resize(count * k * n, T::ZERO);
        slopes.linearize(curve, b, &mut all)?;
    }
    for (index, row) in rows.iter().enumerate() {
        for output in 0..k {
            let slope = |j: usize| slopes.derivative(index, output, j) * row.sigma_x[j];
            let variance = (0..w).fold(row.sigma_y[output] * row.sigma_y[output], |sum, j| sum + slope(j) * slope(j));
            let (place, deviation) = (index * k + output, variance.sqrt());
            residuals[place] = (slopes.responses(index)[output] - row.y[output]) / deviation;
            let Some(derivatives) = jacobian.chunks_exact_mut(n).nth(place) else { continue };
            let of_row = |row: usize| &all[(row * k + output) * n..][..n];
            derivatives.copy_from_slice(of_row(index));
            // Derivative of the deviation by the parameters.
            for j in (0..w).filter(|&j| row.sigma_x[j] > T::ZERO) {
                let ([ahead, behind], distance) = slopes.sides(index, j);
                let factor = residuals[place] * slope(j) * row.sigma_x[j] / (deviation * distance);
                let sides = of_row(ahead).iter().zip(of_row(behind));
                derivatives.iter_mut().zip(sides).for_each(|(own, (&a, &b))| *own -= factor * (a - b));
            }
            derivatives.iter_mut().for_each(|derivative| *derivative /= deviation);
        }
    }
    Ok(())
}
