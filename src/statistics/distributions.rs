//! Quantiles and tail probabilities, by the crate `statrs`.

use std::convert::Infallible;

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};
use statrs::function::beta::{beta_reg, ln_beta};

use super::root::root;

/// Quantile of the standard normal distribution: the value with probability `p` below.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}

/// Probability that a standard normal number is above `z`.
pub(crate) fn normal_tail(z: f64) -> f64 {
    Normal::standard().sf(z)
}

/// Number of standard errors to either side of an estimate that enclose the probability `level`: a quantile of Student's t
/// distribution, the normal one's for infinite `freedom`, and infinite for none.
pub(crate) fn two_sided_quantile(level: f64, freedom: f64) -> f64 {
    if freedom > NEARLY_NORMAL {
        let z = -normal_quantile(0.5 * (1.0 - level));
        z + nearly_normal_excess(z, freedom)
    } else if freedom > 0.0 {
        // t²/ν is the ratio of two χ².
        (freedom * beta_odds(0.5, 0.5 * freedom, level, 1.0 - level)).sqrt()
    } else {
        f64::INFINITY
    }
}

/// Degrees of freedom from which the expansion about the normal distribution has all digits.
const NEARLY_NORMAL: f64 = 1e4;

/// Correction of a normal quantile (Abramowitz and Stegun 26.7.5).
fn nearly_normal_excess(z: f64, freedom: f64) -> f64 {
    let square = z * z;
    let first = z * (square + 1.0) / 4.0;
    let second = z * ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = z * (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    ((third / freedom + second) / freedom + first) / freedom
}

/// `z/(1 − z)` for the quantile `z` of the beta distribution that has `below` below and `above` above. `statrs` inverts
/// it in too few digits, and at times without end.
fn beta_odds(a: f64, b: f64, below: f64, above: f64) -> f64 {
    if below <= 0.0 {
        return 0.0;
    }
    if above <= 0.0 {
        return f64::INFINITY;
    }
    let is_lower = below <= above;
    let (a, b, p) = if is_lower { (a, b, below) } else { (b, a, above) };
    // In logarithms of the odds and of the probability, the lower tail is a straight line of slope a.
    let (mut low, mut high) = (-700.0, 700.0);
    let mut log_odds = ((a * p).ln() + ln_beta(a, b)) / a;
    for _ in 0..200 {
        if !(low < log_odds && log_odds < high) {
            log_odds = 0.5 * (low + high);
        }
        let (z, rest) = (1.0 / (1.0 + (-log_odds).exp()), 1.0 / (1.0 + log_odds.exp()));
        let probability = beta_reg(a, b, z);
        if probability < p {
            low = log_odds
        } else {
            high = log_odds
        }
        let density = (a * z.ln() + b * rest.ln() - ln_beta(a, b)).exp();
        let step = (p / probability).ln() * probability / density;
        log_odds += step;
        if step.abs() <= 1e-15 * log_odds.abs().max(1.0) || high - low <= 1e-15 * high.abs().max(1.0) {
            break;
        }
    }
    if is_lower { log_odds.exp() } else { (-log_odds).exp() }
}

/// Twice the quantile `p` of the F distribution with 2 and `freedom` degrees of freedom; the quantile of χ² with 2 degrees of
/// freedom for infinite `freedom`.
pub(crate) fn pair_quantile(p: f64, freedom: f64) -> f64 {
    let log_tail = (-p).ln_1p();
    if freedom.is_finite() { freedom * (-2.0 / freedom * log_tail).exp_m1() } else { -2.0 * log_tail }
}

/// Probability that a χ² number is above `x`.
pub(crate) fn chi_squared_tail(x: f64, freedom: f64) -> f64 {
    ChiSquared::new(freedom).map_or(f64::NAN, |chi| chi.sf(x))
}

/// Value that a χ² number exceeds with the probability `tail`, from 0 to 1.
pub(crate) fn chi_squared_upper_quantile(tail: f64, freedom: f64) -> f64 {
    let excess = |x: f64| chi_squared_tail(x, freedom) - tail;
    let mut high = freedom;
    while excess(high) > 0.0 && high < f64::MAX {
        high *= 2.0;
    }
    let ends = ((0.0, excess(0.0)), (high, excess(high)));
    let found =
        root::<Infallible>(ends.0, ends.1, |x| Ok(excess(x)), |(best, _), other| (best - other).abs() <= 1e-14 * best);
    found.unwrap_or(high)
}

/// Probability that an F number is above `x`.
pub(crate) fn f_tail(x: f64, numerator: f64, denominator: f64) -> f64 {
    // In this form, all digits of small probabilities are kept.
    beta_reg(0.5 * denominator, 0.5 * numerator, denominator / (denominator + numerator * x.max(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All numbers of the case `quantiles`, by name.
    fn reference(name: &str) -> Vec<f64> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference/curve.csv");
        let mut reader = csv::Reader::from_path(path).unwrap();
        let records = reader.deserialize::<(String, String, usize, f64)>().map(Result::unwrap);
        records.filter(|(case, quantity, ..)| case == "quantiles" && quantity == name).map(|record| record.3).collect()
    }

    #[track_caller]
    fn assert_close(found: &[f64], name: &str, tolerance: f64) {
        let expected = reference(name);
        assert_eq!(found.len(), expected.len(), "{name}");
        for (index, (&found, &expected)) in found.iter().zip(&expected).enumerate() {
            let off = (found - expected).abs() / if expected == 0.0 { 1.0 } else { expected.abs() };
            assert!(off <= tolerance, "{name}[{index}]: {found:e} is not {expected:e}, off by {off:e}");
        }
    }

    /// `f` of all in `a` and `b`, the latter faster.
    fn of_all(a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> f64 + Copy) -> Vec<f64> {
        a.iter().flat_map(|&a| b.iter().map(move |&b| f(a, b))).collect()
    }

    #[test]
    fn quantiles_and_tails_are_those_of_34_digits() {
        let [df, p, above, above_f] = ["df", "probability", "x_positive", "x_f"].map(reference);
        assert_close(&of_all(&[0.0], &p, |_, p| normal_quantile(p)), "normal_quantile", 1e-13);
        assert_close(&of_all(&[0.0], &reference("x_symmetric"), |_, x| normal_tail(x)), "normal_sf", 1e-10);
        assert_close(&of_all(&df, &p, |df, p| two_sided_quantile(2.0 * p - 1.0, df)), "t_quantile", 1e-12);
        assert_close(&of_all(&df, &above, |df, x| chi_squared_tail(x, df)), "chi2_sf", 1e-11);
        let numerators = reference("numerator");
        let pairs = of_all(&numerators, &df, |numerator, df| 1e3 * numerator + df);
        let tail = |pair: f64, x| f_tail(x, (pair / 1e3).floor(), pair % 1e3);
        assert_close(&of_all(&pairs, &above_f, tail), "f_sf", 1e-11);
    }

    #[test]
    fn quantiles_of_pairs_are_those_of_f_and_chi_squared() {
        let [df, p, numerators] = ["df", "probability", "numerator"].map(reference);
        assert_eq!((df[1], numerators[1]), (2.0, 2.0));
        let (count, all) = (df.len() * p.len(), [reference("f_quantile"), reference("chi2_quantile")]);
        let of_f = all[0][count..2 * count].iter().map(|f| 2.0 * f);
        let expected: Vec<f64> = of_f.chain(all[1][p.len()..2 * p.len()].iter().copied()).collect();
        let found = of_all(&[&df[..], &[f64::INFINITY]].concat(), &p, |df, p| pair_quantile(p, df));
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found / expected - 1.0).abs() < 1e-13, "{found} is not {expected}");
        }
    }

    #[test]
    fn many_degrees_of_freedom_are_as_good_as_a_known_noise() {
        for level in [1e-6, 0.5, 0.95, 0.999_999] {
            let (t, z) = (two_sided_quantile(level, 1e9), two_sided_quantile(level, f64::INFINITY));
            assert!((t / z - 1.0).abs() < 1e-6, "{level}: {t}, {z}");
        }
        assert!((two_sided_quantile(0.95, f64::INFINITY) - 1.959_963_984_540_054).abs() < 1e-14);
        assert_eq!(two_sided_quantile(0.95, 0.0), f64::INFINITY);
    }

    #[test]
    fn the_end_of_the_line_is_improbable() {
        assert_eq!([f_tail(f64::INFINITY, 2.0, 3.0), f_tail(0.0, 2.0, 3.0)], [0.0, 1.0]);
        // Closed, for two degrees of freedom in the numerator.
        assert!((f_tail(1e20, 2.0, 3.0) / (1.0 + 2e20_f64 / 3.0).powf(-1.5) - 1.0).abs() < 1e-12);
        assert_eq!(chi_squared_tail(f64::INFINITY, 2.0), 0.0);
    }
}
