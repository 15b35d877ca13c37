//! Tests of nested curves: whether the additional parameters of the fuller curve are needed.

use super::comparison::check_same_data;
use super::{ComparisonError, Criteria};
use crate::real::Real;
use crate::statistics::Test;
use crate::statistics::distributions::{chi_squared_tail, f_tail};

/// The outcome of an F-test.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct FTest {
    /// `F`.
    pub statistic: f64,
    /// Degrees of freedom of the numerator: the number of additional parameters of the fuller curve.
    pub numerator: usize,
    /// Degrees of freedom of the denominator: those of the fuller fit.
    pub denominator: usize,
    /// Probability of a larger `F`, if the simpler curve is the true one.
    pub p_value: f64,
}

/// Extra-sum-of-squares F-test of nested curves: the simpler curve is the fuller one with some parameters fixed or tied. It tests whether
/// `χ²` falls by more than the additional parameters explain by fitting noise (R's `anova` of two fits).
///
/// The noise is estimated from the residuals of the fuller fit, even if it is known; for known noise and for counts, use the
/// [likelihood-ratio test](likelihood_ratio_test), which has more power.
///
/// # Errors
///
/// [`ComparisonError`] for fits of different numbers of observations or kinds of noise, a fuller fit that has no more parameters,
/// no degrees of freedom, or a larger `χ²`.
///
/// ```
/// use marquardt::curve_fit;
/// use marquardt::curve::f_test;
///
/// let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0_f64];
/// let y = [0.1, 0.8, 4.2, 9.1, 15.8, 25.2, 35.9];
/// let line = curve_fit(|x, [a, b]| a + b * x, &x, &y, [0.0, 1.0])?;
/// let parabola = curve_fit(|x, [a, b, c]| a + b * x + c * x * x, &x, &y, [0.0, 1.0, 0.0])?;
/// assert!(f_test(&line.criteria(), &parabola.criteria())?.p_value < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn f_test<T: Real>(simple: &Criteria<T>, full: &Criteria<T>) -> Result<FTest, ComparisonError> {
    let numerator = more_parameters(simple, full)?;
    let denominator = full.degrees_of_freedom();
    if denominator == 0 {
        return Err(ComparisonError::NoDegreesOfFreedom);
    }
    let gain = gain(simple.chi_square, full.chi_square)?;
    let statistic =
        if gain > 0.0 { gain / numerator as f64 / (full.chi_square.to_f64() / denominator as f64) } else { 0.0 };
    let p_value = f_tail(statistic, numerator as f64, denominator as f64);
    Ok(FTest { statistic, numerator, denominator, p_value })
}

/// Likelihood-ratio test of nested curves. Twice the increase of the log-likelihood is compared with the `χ²` distribution whose degrees of
/// freedom are the number of additional parameters of the fuller curve. If the noise is known, the statistic is the decrease of `χ²`, and
/// the test is exact for curves that are linear in their parameters; otherwise it is valid for many observations.
///
/// # Errors
///
/// As for [`f_test`], but it needs no degrees of freedom.
pub fn likelihood_ratio_test<T: Real>(simple: &Criteria<T>, full: &Criteria<T>) -> Result<Test, ComparisonError> {
    let more = more_parameters(simple, full)?;
    let statistic = 2.0 * gain(-simple.log_likelihood, -full.log_likelihood)?;
    Ok(Test { statistic, p_value: chi_squared_tail(statistic, more as f64) })
}

fn more_parameters<T: Real>(simple: &Criteria<T>, full: &Criteria<T>) -> Result<usize, ComparisonError> {
    check_same_data(simple, full)?;
    let (simple, full) = (simple.parameters, full.parameters);
    if full > simple { Ok(full - simple) } else { Err(ComparisonError::Parameters { simple, full }) }
}

/// Returns the reduction of the cost; zero where it grows by no more than the error of the fits.
fn gain<T: Real>(simple: T, full: T) -> Result<f64, ComparisonError> {
    let off = T::EPSILON.sqrt().to_f64();
    let (simple, full) = (simple.to_f64(), full.to_f64());
    // Both may be infinite.
    let gain = if simple == full { 0.0 } else { simple - full };
    if gain < -off * simple.abs() { Err(ComparisonError::Worse { simple, full }) } else { Ok(gain.max(0.0)) }
}
