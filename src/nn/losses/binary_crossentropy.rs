//! Binary cross-entropy.

use super::{Loss, Targets, elementwise};
use crate::Real;

/// The mean over outputs of the cross-entropy between a target probability `t` and `sigmoid(z)`, where the output `z` is
/// the logit: `−t ln sigmoid(z) − (1 − t) ln sigmoid(−z)`.
///
/// The network ends without a sigmoid: from logits, neither the loss nor its gradient ever loses digits or overflows.
///
/// Levenberg–Marquardt refuses it; first-order optimizers minimise it.
///
/// ```
/// use marquardt::nn::{BinaryCrossentropy, Loss};
///
/// let mut losses = [0.0_f64; 2];
/// BinaryCrossentropy.values(&[0.0, -1000.0], 1, &[1.0, 1.0], &mut losses);
/// assert_eq!(losses, [2.0_f64.ln(), 1000.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BinaryCrossentropy;

impl<T: Real> Loss<T> for BinaryCrossentropy {
    fn name(&self) -> &'static str {
        "binary crossentropy"
    }

    fn targets(&self) -> Targets {
        Targets::Probabilities
    }

    fn values(&self, outputs: &[T], width: usize, targets: &[T], losses: &mut [T]) {
        elementwise::means(outputs, width, targets, losses, |z, t| {
            let sides = z.max(T::ZERO) * (T::ONE - t) + (-z).max(T::ZERO) * t;
            sides + (-z.abs()).exp().ln_1p()
        });
    }

    fn gradients(&self, outputs: &[T], width: usize, targets: &[T], gradients: &mut [T]) {
        elementwise::gradients(outputs, width, targets, gradients, |z, t| {
            // sigmoid(z) − t, without the cancellation where both are nearly one.
            let e = (-z.abs()).exp();
            let (near, far) = (T::ONE / (T::ONE + e), e / (T::ONE + e));
            let (positive, negative) = if z < T::ZERO { (far, near) } else { (near, far) };
            positive * (T::ONE - t) - negative * t
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check_gradients;
    use super::*;

    #[test]
    fn derivatives_belong_to_the_values() {
        let (outputs, targets) = ([0.2, -3.0, 5.0, 0.0, -0.4, 2.0], [1.0, 0.0, 0.0, 1.0, 0.3, 0.9]);
        check_gradients(&BinaryCrossentropy, &outputs, 2, &targets);
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
}
