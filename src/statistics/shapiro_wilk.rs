//! Shapiro and Wilk's test of normality, by Royston's algorithm AS R94.

use std::f64::consts::FRAC_1_SQRT_2;

use super::Test;
use super::distributions::{normal_quantile, normal_tail};
use crate::real::Real;

/// `c[0] + c[1] x + …`.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// Shapiro and Wilk's W test of normality, by Royston's algorithm AS R94 (as in R and SciPy): it measures the correlation of the sorted
/// numbers with the expected quantiles of the normal distribution. `W` is at most 1, and small for numbers that are not normal.
///
/// `None` for fewer than three numbers or more than 5000, to which the approximation does not reach, or where all are equal.
///
/// ```
/// use marquardt::statistics::shapiro_wilk;
///
/// let heavy_tailed = [-9.0, -0.3, -0.2, -0.1, 0.0, 0.05, 0.1, 0.25, 0.3, 8.0];
/// assert!(shapiro_wilk(&heavy_tailed).unwrap().p_value < 0.001);
/// ```
pub fn shapiro_wilk<T: Real>(values: &[T]) -> Option<Test> {
    let mut sorted: Vec<f64> = values.iter().map(|value| value.to_f64()).collect();
    sorted.sort_by(f64::total_cmp);
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    let range = last - first;
    let n = sorted.len();
    if !(3..=5000).contains(&n) || !(range > f64::EPSILON * first.abs().max(last.abs())) {
        return None;
    }
    // By the range, so that no square over- or underflows.
    sorted.iter_mut().for_each(|value| *value = (*value - first) / range);
    let mean = sorted.iter().sum::<f64>() / n as f64;
    let spread: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
    let pairs = sorted.iter().zip(sorted.iter().rev());
    let contrast: f64 = pairs.zip(weights(n)).map(|((low, high), weight)| weight * (high - low)).sum();
    let statistic = (contrast * contrast / spread).min(1.0);
    Some(Test { statistic, p_value: p_value(statistic, n) })
}

/// Weights of the differences between the largest and the smallest, the next ones, and so on.
fn weights(n: usize) -> Vec<f64> {
    if n == 3 {
        return vec![FRAC_1_SQRT_2];
    }
    let size = n as f64;
    let score = |i: usize| normal_quantile((i as f64 + 0.625) / (size + 0.25));
    let mut weights: Vec<f64> = (0..n / 2).map(score).collect();
    let squares = 2.0 * weights.iter().map(|score| score * score).sum::<f64>();
    let root = 1.0 / size.sqrt();
    let outer = polynomial(&[0.0, 0.221157, -0.147981, -2.07119, 4.434685, -2.706056], root);
    let next = polynomial(&[0.0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633], root);
    let corrected = [outer, next].map(|c| move |score: f64| c - score / squares.sqrt());
    let own = if n > 5 { 2 } else { 1 };
    let (mut rest, mut left) = (squares, 1.0);
    for (weight, corrected) in weights.iter_mut().zip(corrected).take(own) {
        rest -= 2.0 * *weight * *weight;
        *weight = corrected(*weight);
        left -= 2.0 * *weight * *weight;
    }
    let factor = (rest / left).sqrt();
    weights[own..].iter_mut().for_each(|weight| *weight /= -factor);
    weights
}

fn p_value(statistic: f64, n: usize) -> f64 {
    let (size, log_size) = (n as f64, (n as f64).ln());
    if n == 3 {
        let least = 0.75_f64.sqrt().asin();
        return (6.0 / std::f64::consts::PI * (statistic.sqrt().asin() - least)).max(0.0);
    }
    let y = (1.0 - statistic).ln();
    let (y, centre, width) = if n <= 11 {
        let bound = polynomial(&[-2.273, 0.459], size);
        if y >= bound {
            return 0.0;
        }
        let centre = polynomial(&[0.544, -0.39978, 0.025054, -0.0006714], size);
        (-(bound - y).ln(), centre, polynomial(&[1.3822, -0.77857, 0.062767, -0.0020322], size).exp())
    } else {
        let centre = polynomial(&[-1.5861, -0.31082, -0.083751, 0.0038915], log_size);
        (y, centre, polynomial(&[-0.4803, -0.082676, 0.0030302], log_size).exp())
    };
    normal_tail((y - centre) / width)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `W` is between `n a₁² / (n − 1)` and one, and three numbers have an exact distribution.
    #[test]
    fn three_numbers_are_exact() {
        let straight = shapiro_wilk(&[1.0, 2.0, 3.0]).unwrap();
        assert!((straight.statistic - 1.0).abs() < 1e-15 && (straight.p_value - 1.0).abs() < 1e-7, "{straight:?}");
        let bent = shapiro_wilk(&[0.0, 0.0, 1.0]).unwrap();
        assert!((bent.statistic - 0.75).abs() < 1e-15 && bent.p_value < 1e-7, "{bent:?}");
    }

    /// SciPy 1.17: `shapiro([148, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236])`.
    #[test]
    fn weights_of_men_are_as_in_the_paper() {
        let test =
            shapiro_wilk(&[148.0, 154.0, 158.0, 160.0, 161.0, 162.0, 166.0, 170.0, 182.0, 195.0, 236.0]).unwrap();
        assert!((test.statistic - 0.788_814_8).abs() < 1e-6 && (test.p_value - 0.006_704).abs() < 1e-5, "{test:?}");
    }

    #[test]
    fn units_and_order_do_not_matter() {
        let values: Vec<f64> = (0..30).map(|i| (1.7 * f64::from(i)).sin() + 0.1 * f64::from(i)).collect();
        let plain = shapiro_wilk(&values).unwrap();
        for unit in [-1.0, 1e-200, 1e200] {
            let scaled: Vec<f64> = values.iter().rev().map(|value| unit * (value + 3.0)).collect();
            assert!((shapiro_wilk(&scaled).unwrap().p_value / plain.p_value - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn too_little_and_too_much_has_no_test() {
        assert_eq!(shapiro_wilk::<f64>(&[]), None);
        assert_eq!(shapiro_wilk(&[1.0, 2.0]), None);
        assert_eq!(shapiro_wilk(&[3.0; 20]), None);
        assert_eq!(shapiro_wilk(&vec![1.0; 5001]), None);
        for n in 3..12 {
            let values: Vec<f64> = (0..n).map(|i| f64::from(i).sqrt()).collect();
            let test = shapiro_wilk(&values).unwrap();
            assert!(test.statistic > 0.8 && test.statistic <= 1.0 && (0.0..=1.0).contains(&test.p_value), "{test:?}");
        }
    }
}
