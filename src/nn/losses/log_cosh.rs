//! Log-cosh.

use super::{GaussNewton, Loss, elementwise};
use crate::autodiff::derivatives;
use crate::real::Real;

/// The mean over outputs of `ln cosh e`: about `½e²` for small errors and `|e| − ln 2` for large ones, and smooth
/// everywhere.
///
/// Levenberg–Marquardt sees its second derivative `1 − tanh² e`, but at least half of `tanh(e) / e`, as of the robust losses of
/// fits. The gradient is exact, and steps are judged by the loss itself.
///
/// ```
/// use marquardt::nn::{LogCosh, Loss};
///
/// let mut losses = [0.0_f64; 2];
/// LogCosh.values(&[1e-8, 1e3], 1, &[0.0, 0.0], &mut losses);
/// assert!((losses[0] - 0.5e-16).abs() < 1e-31);
/// assert_eq!(losses[1], 1e3 - 2.0_f64.ln());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogCosh;

impl<T: Real> Loss<T> for LogCosh {
    fn name(&self) -> &'static str {
        "log-cosh"
    }

    fn values(&self, outputs: &[T], width: usize, targets: &[T], losses: &mut [T]) {
        let (half, two, ln_2) = (T::from_f64(0.5), T::from_f64(2.0), T::from_f64(std::f64::consts::LN_2));
        elementwise::means((outputs, width, targets), losses, |y, t| {
            let e = (y - t).abs();
            if e < T::ONE {
                // cosh e = 1 + 2 sinh²(e/2): accurate for the smallest errors, which end a fit.
                let sinh = (half * e).sinh();
                (two * sinh * sinh).ln_1p()
            } else {
                e - ln_2 + (-two * e).exp().ln_1p()
            }
        });
    }

    fn gradients(&self, outputs: &[T], width: usize, targets: &[T], gradients: &mut [T]) {
        elementwise::gradients((outputs, width, targets), gradients, |y, t| (y - t).tanh());
    }

    fn least_squares(&self) -> Option<&dyn GaussNewton<T>> {
        Some(self)
    }
}

impl<T: Real> GaussNewton<T> for LogCosh {
    fn residuals(&self, outputs: &[T], width: usize, targets: &[T], residuals: &mut [T], roots: &mut [T]) {
        elementwise::robust((outputs, width, targets), [residuals, roots], |e| {
            let tanh = e.tanh();
            [if e == T::ZERO { T::ONE } else { tanh / e }, derivatives::tanh(e, tanh)]
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_gradients, check_residuals};
    use super::*;

    #[test]
    fn derivatives_belong_to_the_values() {
        let (outputs, targets) = ([0.2, -3.0, 0.99, 5.0, 0.0, -0.1], [0.1, 0.5, 0.0, -40.0, 0.0, 0.25]);
        check_gradients(&LogCosh, &outputs, 3, &targets);
        check_residuals(&LogCosh, &outputs, 3, &targets);
    }

    #[test]
    fn errors_that_are_not_finite_are_no_outliers() {
        let (mut residuals, mut roots) = ([0.0; 2], [0.0; 2]);
        LogCosh.residuals(&[f64::INFINITY, f64::NAN], 1, &[0.0; 2], &mut residuals, &mut roots);
        assert!(residuals.iter().all(|residual| !residual.is_finite()), "{residuals:?}");
    }

    #[test]
    fn is_accurate_for_the_smallest_and_the_largest_errors() {
        for (error, expected) in [(1e-150, 0.5e-300), (1e-4, 0.5e-8 - 1e-16 / 12.0), (-1e300, 1e300), (0.0, 0.0)] {
            let mut loss = [0.0_f64];
            LogCosh.values(&[error], 1, &[0.0], &mut loss);
            assert!((loss[0] - expected).abs() <= 1e-15 * expected, "{error}: {}", loss[0]);
        }
    }

    #[test]
    fn both_branches_agree_where_they_meet() {
        let mut losses = [0.0; 2];
        LogCosh.values(&[1.0 - f64::EPSILON, 1.0], 1, &[0.0; 2], &mut losses);
        assert!((losses[1] - losses[0]).abs() < 4.0 * f64::EPSILON);
        assert!((losses[1] - 1.0_f64.cosh().ln()).abs() < 4.0 * f64::EPSILON);
    }
}
