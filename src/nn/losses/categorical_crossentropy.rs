//! Categorical cross-entropy.

use super::softmax::Softmax;
use super::{Loss, Targets};
use crate::Real;

/// The cross-entropy `−Σ tₖ ln pₖ` between target probabilities `t` and the softmax `p` of the outputs, which are logits:
/// one for each class.
///
/// The network ends without a softmax. For class numbers instead of probabilities, see
/// [`SparseCategoricalCrossentropy`](super::SparseCategoricalCrossentropy).
///
/// Levenberg–Marquardt refuses it; first-order optimizers minimise it.
///
/// ```
/// use marquardt::nn::{CategoricalCrossentropy, Loss};
///
/// let mut loss = [0.0_f64];
/// CategoricalCrossentropy.values(&[2.0, 2.0, 2.0, 2.0], 4, &[0.0, 1.0, 0.0, 0.0], &mut loss);
/// assert_eq!(loss, [4.0_f64.ln()]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CategoricalCrossentropy;

impl<T: Real> Loss<T> for CategoricalCrossentropy {
    fn name(&self) -> &'static str {
        "categorical crossentropy"
    }

    fn targets(&self) -> Targets {
        Targets::Probabilities
    }

    fn values(&self, outputs: &[T], width: usize, targets: &[T], losses: &mut [T]) {
        let rows = outputs.chunks_exact(width).zip(targets.chunks_exact(width));
        for (loss, (logits, targets)) in losses.iter_mut().zip(rows) {
            let softmax = Softmax::new(logits);
            *loss = logits.iter().zip(targets).map(|(&z, &t)| t * softmax.surprise(z)).sum();
        }
    }

    fn gradients(&self, outputs: &[T], width: usize, targets: &[T], gradients: &mut [T]) {
        let rows = outputs.chunks_exact(width).zip(targets.chunks_exact(width));
        for (gradients, (logits, targets)) in gradients.chunks_exact_mut(width).zip(rows) {
            let softmax = Softmax::new(logits);
            let total: T = targets.iter().copied().sum();
            for (class, (gradient, (&z, &t))) in gradients.iter_mut().zip(logits.iter().zip(targets)).enumerate() {
                // p Σt − t, without the cancellation where both are nearly one.
                *gradient = softmax.probability(z) * (total - t) - softmax.others(class, z) * t;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check_gradients;
    use super::*;

    #[test]
    fn derivatives_belong_to_the_values() {
        let outputs = [0.2, -3.0, 5.0, 0.0, -0.4, 2.0, 1.0, 1.0, 1.0];
        let targets = [1.0, 0.0, 0.0, 0.2, 0.5, 0.3, 0.9, 0.0, 0.4];
        check_gradients(&CategoricalCrossentropy, &outputs, 3, &targets);
    }

    #[test]
    fn large_logits_keep_all_digits() {
        let far = 2.0 * (-50.0_f64).exp();
        for (logits, loss, gradient) in [
            ([50.0, 0.0, 0.0], far, [-far, 0.5 * far, 0.5 * far]),
            ([-1e300, 0.0, 1.0], 1e300, [-1.0, 1.0 / (1.0 + 1.0_f64.exp()), 1.0 / (1.0 + (-1.0_f64).exp())]),
            ([1e300, -1e300, 0.0], 0.0, [0.0; 3]),
        ] {
            let (mut found, mut slopes) = ([0.0], [0.0; 3]);
            CategoricalCrossentropy.values(&logits, 3, &[1.0, 0.0, 0.0], &mut found);
            CategoricalCrossentropy.gradients(&logits, 3, &[1.0, 0.0, 0.0], &mut slopes);
            assert!((found[0] - loss).abs() <= 1e-15 * loss, "{logits:?}: loss {}", found[0]);
            for (slope, expected) in slopes.iter().zip(gradient) {
                assert!((slope - expected).abs() <= 1e-15 * expected.abs(), "{logits:?}: gradient {slopes:?}");
            }
        }
    }
}
