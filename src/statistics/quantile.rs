//! Quantiles of a sample.

/// The quantile `p` of numbers in ascending order, interpolated between its neighbours (type 7 of Hyndman & Fan 1996); NaN
/// of no numbers.
pub(crate) fn sample_quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = p.clamp(0.0, 1.0) * last as f64;
    let below = (place.floor() as usize).min(last);
    let above = (below + 1).min(last);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_numpy() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        // numpy.quantile([1, 2, 4, 8], [0, 0.1, 0.5, 0.75, 1])
        for (p, expected) in [(0.0, 1.0), (0.1, 1.3), (0.5, 3.0), (0.75, 5.0), (1.0, 8.0)] {
            assert!((sample_quantile(&sorted, p) - expected).abs() < 1e-15);
        }
        assert!(sample_quantile(&[], 0.5).is_nan());
        assert_eq!(sample_quantile(&[3.0], 0.9), 3.0);
    }
}
