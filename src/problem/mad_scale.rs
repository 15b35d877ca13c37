//! Robust estimate of the noise, from residuals with outliers.

use std::cmp::Ordering;

use crate::real::Real;

/// The third quartile of the normal distribution: its standard deviation is the median of `|r|` divided by this.
const THIRD_QUARTILE: f64 = 0.674_489_750_196_081_7;

/// The normal distribution's standard deviation is the mean of `|r|` times this, `√(π/2)`.
const FROM_MEAN: f64 = 1.253_314_137_315_500_3;

/// Robust estimate of the standard deviation of the residuals: their median absolute deviation about zero, divided by 0.6745. Up to half of
/// the residuals may be outliers.
///
/// The deviations are taken about zero, not about the median, because the residuals of a fit are centred at zero (statsmodels' `RLM`:
/// `mad(residuals, center=0)`).
///
/// If more than half of the residuals are zero, the median is zero, and the scale is the mean absolute deviation times `√(π/2)` (Iglewicz &
/// Hoaglin 1993). NaN if a residual is NaN, or if there are none.
///
/// ```
/// use marquardt::problem::mad_scale;
///
/// let residuals = [0.1, -0.2, 0.15, -0.05, 1000.0_f64];
/// assert!((mad_scale(&residuals) - 0.15 / 0.6745).abs() < 1e-5);
/// ```
pub fn mad_scale<T: Real>(residuals: &[T]) -> T {
    let mut sizes: Vec<T> = residuals.iter().map(|r| r.abs()).collect();
    mad_scale_of_sizes(&mut sizes)
}

/// [`mad_scale`] of residuals of these sizes, which are put in another order.
pub(crate) fn mad_scale_of_sizes<T: Real>(sizes: &mut [T]) -> T {
    if sizes.is_empty() || sizes.iter().any(|&size| size.to_f64().is_nan()) {
        return T::from_f64(f64::NAN);
    }
    let middle = sizes.len() / 2;
    // Without a branch for NaN, of which there is none, the selection is compiled to one without branches.
    let compare = |a: &T, b: &T| a.partial_cmp(b).unwrap_or(Ordering::Equal);
    let (below, &mut upper, _) = sizes.select_nth_unstable_by(middle, compare);
    let largest_below = below.iter().fold(T::ZERO, |largest, &a| largest.max(a));
    let lower = if sizes.len() % 2 == 1 { upper } else { largest_below };
    let mean = || sizes.iter().copied().sum::<T>() / T::from_f64(sizes.len() as f64);
    scale_of(lower + (upper - lower) * T::from_f64(0.5), mean)
}

/// The standard deviation of residuals whose sizes have this median, and, where that is zero, this mean.
pub(super) fn scale_of<T: Real>(median: T, mean: impl FnOnce() -> T) -> T {
    if median > T::ZERO { median / T::from_f64(THIRD_QUARTILE) } else { mean() * T::from_f64(FROM_MEAN) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_that_of_statsmodels() {
        // mad([3, −1, 2, −7], center=0) and mad([0.5, −2, 0.25, 8, −1], center=0) of statsmodels 0.15.
        assert!((mad_scale(&[3.0, -1.0, 2.0, -7.0_f64]) - 3.706505546264005).abs() < 1e-14);
        assert!((mad_scale(&[0.5, -2.0, 0.25, 8.0, -1.0_f64]) - 1.482602218505602).abs() < 1e-14);
        assert!((mad_scale(&[0.5_f32, -2.0, 0.25, 8.0, -1.0]) - 1.482602218505602_f64 as f32).abs() < 1e-6);
    }

    #[test]
    fn an_exact_fit_of_the_most_still_has_a_scale() {
        let scale = mad_scale(&[0.0, 0.0, 0.0, 1.0, -1.0_f64]);
        assert!((scale - 0.4 * (0.5 * std::f64::consts::PI).sqrt()).abs() < 1e-15);
        assert_eq!(mad_scale(&[0.0; 4]), 0.0);
    }

    #[test]
    fn there_is_no_scale_of_nothing() {
        assert!(mad_scale::<f64>(&[]).is_nan() && mad_scale(&[1.0, f64::NAN, 2.0]).is_nan());
        assert!((mad_scale(&[1.0, f64::INFINITY, 1.0]) - 1.0 / THIRD_QUARTILE).abs() < 1e-15);
    }
}
