//! Values of a predictor from one end of a range to the other.

/// Smallest ratio of the ends of a range for which it is also divided in equal ratios.
const DECADE: f64 = 10.0;

/// Ascending values from `low` to `high`, ends included: as many parts evenly spaced and, where the range is positive and long enough, as
/// many in equal ratios.
pub(super) fn grid(low: f64, high: f64, parts: usize) -> Vec<f64> {
    let shares = (0..=parts).map(|part| part as f64 / parts as f64);
    let mut grid: Vec<f64> = shares.clone().map(|share| (1.0 - share) * low + share * high).collect();
    if low > 0.0 && high / low >= DECADE {
        grid.extend(shares.map(|share| low * (high / low).powf(share)));
    }
    // Rounding may lead out of the range, where the curve need not exist.
    grid.iter_mut().for_each(|x| *x = x.clamp(low, high));
    grid.sort_by(f64::total_cmp);
    grid.dedup();
    grid
}
