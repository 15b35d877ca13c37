//! Serial correlation of residuals.

use crate::real::Real;

/// Durbin and Watson's `Σ (eᵢ − eᵢ₋₁)² / Σ eᵢ²`: about 2 where neighbours are independent, towards 0 where they are
/// alike, towards 4 where they alternate. `None` where all are zero, or there are fewer than two.
///
/// ```
/// use marquardt::statistics::durbin_watson;
///
/// assert!(durbin_watson(&[0.2, 0.3, 0.1, -0.2, -0.3, -0.1]).unwrap() < 1.0);
/// ```
pub fn durbin_watson<T: Real>(values: &[T]) -> Option<f64> {
    let squares: f64 = values.iter().map(|value| value.to_f64().powi(2)).sum();
    let steps: f64 = values.windows(2).map(|pair| (pair[1].to_f64() - pair[0].to_f64()).powi(2)).sum();
    (values.len() > 1 && squares > 0.0).then(|| steps / squares)
}
