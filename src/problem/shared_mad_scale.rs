//! Robust estimate of the noise, from residuals that are spread over ranks.

use super::mad_scale;
use super::mad_scale::scale_of;
use crate::distributed::{Communicator, CommunicatorError};
use crate::real::Real;

/// The [`mad_scale`] of the residuals of all ranks, given those of this rank. Collective.
///
/// The median is found by halving its range of floats: 64 messages of two numbers, however many residuals there are.
pub(crate) fn shared_mad_scale<T: Real>(ranks: &Communicator, residuals: &[T]) -> Result<T, CommunicatorError> {
    if ranks.size() == 1 {
        return Ok(mad_scale(residuals));
    }
    let mut sizes: Vec<f64> = residuals.iter().map(|r| r.to_f64().abs()).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    let own_nans = sizes.iter().rev().take_while(|size| size.is_nan()).count();
    let mut totals = [sizes.len() as f64, own_nans as f64, sizes.iter().sum()];
    ranks.all_sum(&mut totals)?;
    let [count, nans, sum] = totals;
    if count == 0.0 || nans > 0.0 {
        return Ok(T::from_f64(f64::NAN));
    }
    // Number of residuals up to the lower and up to the upper median.
    let wanted = [(0.5 * count).ceil(), (0.5 * count).floor() + 1.0];
    // Absolute values are ordered like their bits.
    let (mut below, mut within) = ([0; 2], [f64::INFINITY.to_bits(); 2]);
    while below != within {
        let middle = [0, 1].map(|k| below[k] + (within[k] - below[k]) / 2);
        let mut found = middle.map(|bits| sizes.partition_point(|&size| size <= f64::from_bits(bits)) as f64);
        ranks.all_sum(&mut found)?;
        for k in 0..2 {
            if found[k] >= wanted[k] {
                within[k] = middle[k];
            } else {
                below[k] = (middle[k] + 1).min(within[k]);
            }
        }
    }
    let [lower, upper] = within.map(|bits| T::from_f64(f64::from_bits(bits)));
    Ok(scale_of(lower + (upper - lower) * T::from_f64(0.5), || T::from_f64(sum / count)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distributed::on_threads;

    /// Returns the scale on each rank, when its share of the residuals ends here.
    fn on_ranks(residuals: &[f64], ends: &[usize]) -> Vec<f64> {
        on_threads(ends.len(), |ranks| {
            let first = if ranks.rank() == 0 { 0 } else { ends[ranks.rank() - 1] };
            shared_mad_scale(&ranks, &residuals[first..ends[ranks.rank()]]).unwrap()
        })
    }

    #[test]
    fn the_median_is_that_of_all() {
        let residuals: Vec<f64> = (0..24).map(|i| (1.7 * i as f64).sin() * 10f64.powi(i % 7 - 3)).collect();
        for count in 1..residuals.len() {
            let scale = mad_scale(&residuals[..count]);
            for ends in [[count / 2, count].as_slice(), &[0, count / 3, count], &[count / 5, count, count]] {
                assert_eq!(on_ranks(&residuals[..count], ends), vec![scale; ends.len()], "{count} at {ends:?}");
            }
        }
    }

    #[test]
    fn zeros_nothing_and_what_is_not_a_number_are_as_on_one_rank() {
        let zeros = [0.0, 0.0, -0.0, 1.0, -1.0];
        let scale = mad_scale(&zeros);
        assert!(on_ranks(&zeros, &[2, 5]).iter().all(|shared| (shared - scale).abs() <= 1e-15 * scale));
        assert_eq!(on_ranks(&[0.0; 4], &[1, 4]), [0.0; 2]);
        assert!(on_ranks(&[], &[0, 0]).iter().all(|scale| scale.is_nan()));
        assert!(on_ranks(&[1.0, -f64::NAN, 2.0], &[0, 2, 3]).iter().all(|scale| scale.is_nan()));
        assert_eq!(on_ranks(&[1.0, f64::INFINITY, 1.0], &[2, 3]), [mad_scale(&[1.0; 3]); 2]);
    }
}
