//! The Poisson loss.

use super::{GaussNewton, Loss, Targets, elementwise};
use crate::real::Real;

/// The negative log-likelihood of counts `t` with Poisson's distribution: the mean over outputs of `exp(z) − t z`, where
/// the output `z` is the logarithm of the rate.
///
/// As PyTorch's `PoissonNLLLoss` with `log_input=True`: the term `ln t!`, which no parameter changes, is left out, so that
/// the loss may be negative. Targets are numbers that are not negative, and need not be whole.
///
/// Levenberg–Marquardt sees it by its second derivative `exp(z)`, with the residuals of Pearson,
/// `(exp(z) − t) / √exp(z)`. Steps are judged by the loss itself.
///
/// ```
/// use marquardt::nn::{Loss, Poisson};
///
/// let mut losses = [0.0_f64; 2];
/// Poisson.values(&[0.0, 2.0_f64.ln()], 1, &[3.0, 2.0], &mut losses);
/// assert_eq!(losses[0], 1.0);
/// assert!((losses[1] - (2.0 - 2.0 * 2.0_f64.ln())).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[doc(alias = "PoissonNLLLoss")]
pub struct Poisson;

impl<T: Real> Loss<T> for Poisson {
    fn name(&self) -> &'static str {
        "Poisson"
    }

    fn targets(&self) -> Targets {
        Targets::NonNegative
    }

    fn values(&self, outputs: &[T], width: usize, targets: &[T], losses: &mut [T]) {
        elementwise::means((outputs, width, targets), losses, |z, t| {
            let rate = z.exp();
            // A rate beyond all bounds outweighs everything.
            if rate.is_finite() { rate - t * z } else { rate }
        });
    }

    fn gradients(&self, outputs: &[T], width: usize, targets: &[T], gradients: &mut [T]) {
        elementwise::gradients((outputs, width, targets), gradients, |z, t| z.exp() - t);
    }

    fn least_squares(&self) -> Option<&dyn GaussNewton<T>> {
        Some(self)
    }
}

impl<T: Real> GaussNewton<T> for Poisson {
    fn residuals(&self, outputs: &[T], width: usize, targets: &[T], residuals: &mut [T], roots: &mut [T]) {
        elementwise::curved((outputs, width, targets), [residuals, roots], |z, t| {
            let (rate, root) = (z.exp(), (T::from_f64(0.5) * z).exp());
            if t == T::ZERO || !rate.is_finite() {
                return (root, root);
            }
            let root = root.max(elementwise::least_root(t));
            ((rate - t) / root, root)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_curvature, check_gradients, check_residuals, residuals};
    use super::*;

    #[test]
    fn derivatives_belong_to_the_values() {
        let (outputs, targets) = ([0.2, -3.0, 4.0, 0.0, -0.4, 2.0], [1.0, 0.0, 50.0, 1.0, 2.5, 0.0]);
        check_gradients(&Poisson, &outputs, 2, &targets);
        check_curvature(&Poisson, &outputs, 2, &targets);
    }

    #[test]
    fn residuals_are_exact_in_the_tails() {
        for target in [0.0, 1.0, 2.5, 1e6] {
            for log_rate in [-1e300, -800.0, -50.0, 1e-30, 50.0, 700.0] {
                check_residuals::<f64>(&Poisson, &[log_rate], 1, &[target]);
            }
            for log_rate in [f32::MIN, -200.0, -50.0, 0.5, 50.0, 88.0] {
                check_residuals::<f32>(&Poisson, &[log_rate], 1, &[target as f32]);
            }
        }
        let (r, root) = residuals(&Poisson, &[-1e300], 1, &[4.0]);
        assert_eq!((r[0], root[0]), (-2.0 / f64::EPSILON.sqrt(), 2.0 * f64::EPSILON.sqrt()));
    }

    #[test]
    fn rates_beyond_all_bounds_are_infinite_and_not_nan() {
        let (mut loss, mut gradient) = ([f64::NAN], [f64::NAN]);
        for log_rate in [800.0, 2000.0, 1e308] {
            for target in [0.0, 3.0] {
                Poisson.values(&[log_rate], 1, &[target], &mut loss);
                Poisson.gradients(&[log_rate], 1, &[target], &mut gradient);
                assert_eq!((loss, gradient), ([f64::INFINITY], [f64::INFINITY]));
                let (r, root) = residuals(&Poisson, &[log_rate], 1, &[target]);
                assert!(r[0] == root[0] && r[0] > 1e100, "{r:?}, {root:?}");
            }
        }
        Poisson.values(&[-1e300], 1, &[0.0], &mut loss);
        assert_eq!(loss, [0.0]);
    }
}
