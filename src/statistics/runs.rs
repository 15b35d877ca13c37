//! Wald and Wolfowitz's test whether signs come in random order.

use super::Test;
use super::distributions::normal_tail;
use crate::real::Real;

/// Tests whether the signs of a series come in random order (Wald and Wolfowitz). The statistic is the number of runs of one sign, as its
/// deviation from the expected number in standard deviations: negative for too few runs, as in the residuals of a curve with the wrong
/// shape; positive if the signs alternate. The p-value is two-sided, by the normal approximation without a correction for continuity. Zeros
/// count as positive.
///
/// `None` where all signs are equal, or with fewer than three numbers.
///
/// ```
/// use marquardt::statistics::runs_test;
///
/// let bent = [0.3, 0.2, 0.1, -0.1, -0.2, -0.3, -0.2, -0.1, 0.1, 0.2];
/// assert!(runs_test(&bent).unwrap().statistic < -2.0);
/// assert_eq!(runs_test(&[1.0, 2.0, 3.0]), None);
/// ```
pub fn runs_test<T: Real>(values: &[T]) -> Option<Test> {
    let is_positive = |value: &T| *value >= T::ZERO;
    let n = values.len() as f64;
    let positive = values.iter().filter(|value| is_positive(value)).count() as f64;
    let changes = values.windows(2).filter(|pair| is_positive(&pair[0]) != is_positive(&pair[1])).count();
    let runs = 1.0 + changes as f64;
    let pairs = 2.0 * positive * (n - positive);
    let (expected, variance) = (pairs / n + 1.0, pairs * (pairs - n) / (n * n * (n - 1.0)));
    (pairs > 0.0 && variance > 0.0).then(|| {
        let statistic = (runs - expected) / variance.sqrt();
        Test { statistic, p_value: 2.0 * normal_tail(statistic.abs()) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_runs_are_negative_and_many_positive() {
        let alternating: Vec<f64> = (0..20).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let test = runs_test(&alternating).unwrap();
        assert!(test.statistic > 4.0 && test.p_value < 1e-4, "{test:?}");
        let halves: Vec<f32> = (0..20).map(|i| if i < 10 { 1.0 } else { -1.0 }).collect();
        let test = runs_test(&halves).unwrap();
        assert!(test.statistic < -4.0 && test.p_value < 1e-4, "{test:?}");
    }

    #[test]
    fn what_has_no_variance_has_no_test() {
        assert_eq!(runs_test::<f64>(&[]), None);
        assert_eq!(runs_test(&[1.0]), None);
        assert_eq!(runs_test(&[1.0, -1.0]), None);
        assert_eq!(runs_test(&[0.0; 9]), None);
        assert!(runs_test(&[1.0, -1.0, 1.0]).is_some());
    }
}
