//! Tests of normality by skewness and kurtosis.

use super::Test;
use super::distributions::chi_squared_tail;
use crate::real::Real;

/// Moments of a series about its mean.
struct CentralMoments {
    count: f64,
    /// `m₃ / m₂^{3/2}`.
    skewness: f64,
    /// `m₄ / m₂²`.
    kurtosis: f64,
}

impl CentralMoments {
    /// `None` where all numbers are equal.
    fn of<T: Real>(values: &[T]) -> Option<CentralMoments> {
        let count = values.len() as f64;
        let mean = values.iter().map(|value| value.to_f64()).sum::<f64>() / count;
        let largest = values.iter().fold(0.0, |largest: f64, value| largest.max((value.to_f64() - mean).abs()));
        // By the largest deviation, so that no power over- or underflows.
        let moment = |power| values.iter().map(|v| ((v.to_f64() - mean) / largest).powi(power)).sum::<f64>() / count;
        let is_spread = largest > f64::EPSILON * mean.abs();
        is_spread.then(|| {
            let variance = moment(2);
            CentralMoments {
                count,
                skewness: moment(3) / variance.powf(1.5),
                kurtosis: moment(4) / (variance * variance),
            }
        })
    }

    /// D'Agostino's transformation of the skewness to a standard normal number.
    fn skewness_score(&self) -> f64 {
        let n = self.count;
        let y = self.skewness * ((n + 1.0) * (n + 3.0) / (6.0 * (n - 2.0))).sqrt();
        let kurtosis =
            3.0 * (n * n + 27.0 * n - 70.0) * (n + 1.0) * (n + 3.0) / ((n - 2.0) * (n + 5.0) * (n + 7.0) * (n + 9.0));
        let squared_width = (2.0 * (kurtosis - 1.0)).sqrt() - 1.0;
        (y / (2.0 / (squared_width - 1.0)).sqrt()).asinh() / (0.5 * squared_width.ln()).sqrt()
    }

    /// Anscombe and Glynn's transformation of the kurtosis to a standard normal number.
    fn kurtosis_score(&self) -> f64 {
        let n = self.count;
        let expected = 3.0 * (n - 1.0) / (n + 1.0);
        let variance = 24.0 * n * (n - 2.0) * (n - 3.0) / ((n + 1.0).powi(2) * (n + 3.0) * (n + 5.0));
        let standardized = (self.kurtosis - expected) / variance.sqrt();
        let skewness = 6.0 * (n * n - 5.0 * n + 2.0) / ((n + 7.0) * (n + 9.0))
            * (6.0 * (n + 3.0) * (n + 5.0) / (n * (n - 2.0) * (n - 3.0))).sqrt();
        let a = 6.0 + 8.0 / skewness * (2.0 / skewness + (1.0 + 4.0 / (skewness * skewness)).sqrt());
        let ratio = (1.0 - 2.0 / a) / (1.0 + standardized * (2.0 / (a - 4.0)).sqrt());
        (1.0 - 2.0 / (9.0 * a) - ratio.cbrt()) / (2.0 / (9.0 * a)).sqrt()
    }
}

/// D'Agostino and Pearson's K² test of normality (SciPy's `normaltest`): the squares of the skewness and the kurtosis, each transformed to
/// a standard normal number, whose sum has a χ² distribution with 2 degrees of freedom.
///
/// `None` for fewer than eight numbers, or where all are equal; SciPy calls it accurate from twenty on.
pub fn dagostino_pearson<T: Real>(values: &[T]) -> Option<Test> {
    let shape = (values.len() >= 8).then(|| CentralMoments::of(values))??;
    Some(chi_squared_of_two(shape.skewness_score().powi(2) + shape.kurtosis_score().powi(2)))
}

/// Jarque and Bera's test of normality, `n/6 (skewness² + (kurtosis − 3)²/4)`. Its χ² distribution of two degrees of freedom
/// is only that of long series, of some thousands; for short ones take [`shapiro_wilk`](super::shapiro_wilk).
///
/// `None` for fewer than three numbers, or where all are equal.
pub fn jarque_bera<T: Real>(values: &[T]) -> Option<Test> {
    let shape = (values.len() >= 3).then(|| CentralMoments::of(values))??;
    let excess = shape.kurtosis - 3.0;
    Some(chi_squared_of_two(shape.count / 6.0 * (shape.skewness.powi(2) + 0.25 * excess * excess)))
}

fn chi_squared_of_two(statistic: f64) -> Test {
    Test { statistic, p_value: chi_squared_tail(statistic, 2.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skew_series_are_not_normal() {
        let skew: Vec<f64> = (1..60).map(|i| (f64::from(i) / 10.0).exp()).collect();
        for test in [dagostino_pearson(&skew), jarque_bera(&skew)] {
            assert!(test.unwrap().p_value < 1e-4, "{test:?}");
        }
    }

    /// Neither the unit nor the zero matters, be it as small or large as it may.
    #[test]
    fn units_do_not_matter() {
        let values: Vec<f64> = (0..20).map(|i| (1.7 * f64::from(i)).sin() + 0.1 * f64::from(i)).collect();
        let plain = [dagostino_pearson(&values).unwrap(), jarque_bera(&values).unwrap()];
        for unit in [1e-200, 1e200] {
            let scaled: Vec<f64> = values.iter().map(|value| unit * (value + 3.0)).collect();
            for (plain, scaled) in plain.iter().zip([dagostino_pearson(&scaled), jarque_bera(&scaled)]) {
                assert!((scaled.unwrap().statistic / plain.statistic - 1.0).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn too_little_has_no_test() {
        assert_eq!(dagostino_pearson(&[1.0, 2.0, 4.0, 3.0, 2.5, 0.5, 1.5]), None);
        assert_eq!(dagostino_pearson(&[0.1; 20]), None);
        assert_eq!(jarque_bera(&[1.0, 2.0]), None);
        assert_eq!(jarque_bera::<f64>(&[]), None);
        assert_eq!(jarque_bera(&[0.0; 20]), None);
    }
}
