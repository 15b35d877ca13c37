//! Categorical cross-entropy from class numbers.

use super::softmax::Softmax;
use super::{CurvatureRoot, GaussNewton, Loss, Targets};
use crate::real::Real;

/// The cross-entropy `−ln pₖ` of the class `k` of each sample, where `p` is the softmax of the outputs, which are logits:
/// one for each class.
///
/// Targets are one column of class numbers, counted from 0; they are checked when a batch is bound. The network ends
/// without a softmax.
///
/// Levenberg–Marquardt sees it by its second derivative `diag(p) − ppᵀ`, whose root is known in closed form. Steps are
/// judged by the loss itself.
///
/// ```
/// use marquardt::nn::{Loss, SparseCategoricalCrossentropy};
///
/// let mut losses = [0.0_f64; 2];
/// SparseCategoricalCrossentropy.values(&[0.0, 0.0, -1000.0, 0.0], 2, &[1.0, 0.0], &mut losses);
/// assert_eq!(losses, [2.0_f64.ln(), 1000.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[doc(alias = "CrossEntropyLoss")]
pub struct SparseCategoricalCrossentropy;

impl<T: Real> Loss<T> for SparseCategoricalCrossentropy {
    fn name(&self) -> &'static str {
        "sparse categorical crossentropy"
    }

    fn targets(&self) -> Targets {
        Targets::Labels
    }

    fn values(&self, outputs: &[T], width: usize, targets: &[T], losses: &mut [T]) {
        for (loss, (logits, label)) in losses.iter_mut().zip(outputs.chunks_exact(width).zip(targets)) {
            *loss = Softmax::new(logits).surprise(logits[label.to_f64() as usize]);
        }
    }

    fn gradients(&self, outputs: &[T], width: usize, targets: &[T], gradients: &mut [T]) {
        let rows = outputs.chunks_exact(width).zip(targets);
        for (gradients, (logits, label)) in gradients.chunks_exact_mut(width).zip(rows) {
            let softmax = Softmax::new(logits);
            for (gradient, &z) in gradients.iter_mut().zip(logits) {
                *gradient = softmax.probability(z);
            }
            let class = label.to_f64() as usize;
            gradients[class] = -softmax.others(class, logits[class]);
        }
    }

    fn least_squares(&self) -> Option<&dyn GaussNewton<T>> {
        Some(self)
    }
}

impl<T: Real> GaussNewton<T> for SparseCategoricalCrossentropy {
    fn root(&self) -> CurvatureRoot {
        CurvatureRoot::Full
    }

    fn residuals(&self, outputs: &[T], width: usize, targets: &[T], residuals: &mut [T], roots: &mut [T]) {
        let rows = outputs.chunks_exact(width).zip(targets);
        let seen = residuals.chunks_exact_mut(width).zip(roots.chunks_exact_mut(width * width));
        for ((residuals, root), (logits, label)) in seen.zip(rows) {
            let label = label.to_f64() as usize;
            let target = |class| if class == label { T::ONE } else { T::ZERO };
            Softmax::new(logits).root_of_curvature(logits, T::ONE, target, residuals, root);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::CategoricalCrossentropy;
    use super::super::testing::{check_curvature, check_gradients, residuals};
    use super::*;

    const LOGITS: [f64; 9] = [0.2, -3.0, 500.0, 0.0, -0.4, 2.0, 1.0, 1.0, 1.0];

    #[test]
    fn derivatives_belong_to_the_values() {
        check_gradients(&SparseCategoricalCrossentropy, &LOGITS, 3, &[2.0, 0.0, 1.0]);
        check_curvature(&SparseCategoricalCrossentropy, &LOGITS, 3, &[2.0, 0.0, 1.0]);
    }

    #[test]
    fn a_class_is_a_probability_of_one() {
        let probabilities = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
        let (mut sparse, mut dense) = ([0.0; 3], [0.0; 3]);
        SparseCategoricalCrossentropy.values(&LOGITS, 3, &[2.0, 0.0, 1.0], &mut sparse);
        CategoricalCrossentropy.values(&LOGITS, 3, &probabilities, &mut dense);
        assert_eq!(sparse, dense);
        let (mut sparse, mut dense) = ([0.0; 9], [0.0; 9]);
        SparseCategoricalCrossentropy.gradients(&LOGITS, 3, &[2.0, 0.0, 1.0], &mut sparse);
        CategoricalCrossentropy.gradients(&LOGITS, 3, &probabilities, &mut dense);
        assert_eq!(sparse, dense);
        let sparse = residuals(&SparseCategoricalCrossentropy, &LOGITS, 3, &[2.0, 0.0, 1.0]);
        assert_eq!(sparse, residuals(&CategoricalCrossentropy, &LOGITS, 3, &probabilities));
    }
}
