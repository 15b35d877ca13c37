//! Binary cross-entropy.

use super::{GaussNewton, Loss, Targets, elementwise};
use crate::real::Real;

/// The mean over outputs of the cross-entropy between a target probability `t` and `sigmoid(z)`, where the output `z` is
/// the logit: `−t ln sigmoid(z) − (1 − t) ln sigmoid(−z)`.
///
/// The network ends without a sigmoid: from logits, neither the loss nor its gradient ever loses digits or overflows.
///
/// Levenberg–Marquardt sees it by its second derivative `p(1 − p)`, with `p = sigmoid(z)`, and the residuals
/// `(p − t) / √(p(1 − p))`. Steps are judged by the loss itself.
///
/// ```
/// use marquardt::nn::{BinaryCrossentropy, Loss};
///
/// let mut losses = [0.0_f64; 2];
/// BinaryCrossentropy.values(&[0.0, -1000.0], 1, &[1.0, 1.0], &mut losses);
/// assert_eq!(losses, [2.0_f64.ln(), 1000.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[doc(alias = "BCEWithLogitsLoss")]
pub struct BinaryCrossentropy;

impl<T: Real> Loss<T> for BinaryCrossentropy {
    fn name(&self) -> &'static str {
        "binary crossentropy"
    }

    fn targets(&self) -> Targets {
        Targets::Probabilities
    }

    fn values(&self, outputs: &[T], width: usize, targets: &[T], losses: &mut [T]) {
        elementwise::means((outputs, width, targets), losses, |z, t| {
            let sides = z.max(T::ZERO) * (T::ONE - t) + (-z).max(T::ZERO) * t;
            sides + (-z.abs()).exp().ln_1p()
        });
    }

    fn gradients(&self, outputs: &[T], width: usize, targets: &[T], gradients: &mut [T]) {
        elementwise::gradients((outputs, width, targets), gradients, |z, t| {
            // sigmoid(z) − t, without the cancellation where both are nearly one.
            let e = (-z.abs()).exp();
            let (near, far) = (T::ONE / (T::ONE + e), e / (T::ONE + e));
            let (positive, negative) = if z < T::ZERO { (far, near) } else { (near, far) };
            positive * (T::ONE - t) - negative * t
        });
    }

    fn least_squares(&self) -> Option<&dyn GaussNewton<T>> {
        Some(self)
    }
}

impl<T: Real> GaussNewton<T> for BinaryCrossentropy {
    fn residuals(&self, outputs: &[T], width: usize, targets: &[T], residuals: &mut [T], roots: &mut [T]) {
        elementwise::curved((outputs, width, targets), [residuals, roots], |z, t| {
            // With h² = exp(−|z|), the root is h / (1 + h²), and the gradient (against − h² along) / (1 + h²), up or down.
            let h = (T::from_f64(-0.5) * z.abs()).exp();
            let (along, against, sign) = if z < T::ZERO { (T::ONE - t, t, -T::ONE) } else { (t, T::ONE - t, T::ONE) };
            if against == T::ZERO {
                return (-sign * along * h, h / (T::ONE + h * h));
            }
            let root = h.max(elementwise::least_root(against));
            (sign * (against - h * h * along) / root, root / (T::ONE + h * h))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_curvature, check_gradients, check_residuals, residuals};
    use super::*;

    #[test]
    fn derivatives_belong_to_the_values() {
        let (outputs, targets) = ([0.2, -3.0, 5.0, 0.0, -0.4, 2.0], [1.0, 0.0, 0.0, 1.0, 0.3, 0.9]);
        check_gradients(&BinaryCrossentropy, &outputs, 2, &targets);
        check_curvature(&BinaryCrossentropy, &outputs, 2, &targets);
    }

    #[test]
    fn large_logits_keep_all_digits() {
        let far = (-50.0_f64).exp();
        for (logit, target, loss, gradient) in [
            (50.0, 1.0, far, -far),
            (-50.0, 0.0, far, far),
            (-1e300, 1.0, 1e300, -1.0),
            (1e300, 0.0, 1e300, 1.0),
            (1e300, 1.0, 0.0, 0.0),
        ] {
            let (mut found, mut slope) = ([0.0], [0.0]);
            BinaryCrossentropy.values(&[logit], 1, &[target], &mut found);
            BinaryCrossentropy.gradients(&[logit], 1, &[target], &mut slope);
            assert!((found[0] - loss).abs() <= 1e-15 * loss, "{logit}, {target}: loss {}", found[0]);
            assert!((slope[0] - gradient).abs() <= 1e-15 * gradient.abs(), "{logit}, {target}: gradient {}", slope[0]);
        }
    }

    #[test]
    fn residuals_are_exact_in_the_tails() {
        for target in [0.0, 0.3, 1.0] {
            for logit in [-1e300, -800.0, -50.0, -20.0, 20.0, 50.0, 800.0, 1e300] {
                check_residuals::<f64>(&BinaryCrossentropy, &[logit], 1, &[target]);
            }
            for logit in [f32::MIN, -200.0, -95.0, -50.0, 1e-30, 50.0, 95.0, 200.0, f32::MAX] {
                check_residuals::<f32>(&BinaryCrossentropy, &[logit], 1, &[target as f32]);
            }
        }
        // Where target and output agree, the second derivative and the residual are those of the far tail.
        for (logit, target) in [(-50.0, 0.0), (50.0, 1.0)] {
            let (r, root) = residuals(&BinaryCrossentropy, &[logit], 1, &[target]);
            let half = (-25.0_f64).exp();
            assert!(
                (root[0] - half).abs() < 1e-15 * half && (r[0].abs() - half).abs() < 1e-15 * half,
                "{r:?} {root:?}"
            );
        }
        // Where they do not, both stay moderate.
        let (r, root) = residuals(&BinaryCrossentropy, &[-1e300], 1, &[1.0]);
        assert_eq!((r[0], root[0]), (-1.0 / f64::EPSILON.sqrt(), f64::EPSILON.sqrt()));
    }
}
