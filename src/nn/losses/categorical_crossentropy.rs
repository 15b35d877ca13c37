//! Categorical cross-entropy.

use super::softmax::{LogitRows, RowTargets, crossentropy};
use super::{CurvatureRoot, GaussNewton, Loss, Targets};
use crate::real::Real;

/// The cross-entropy `−Σ tₖ ln pₖ` between target probabilities `t` and the softmax `p` of the outputs, which are logits:
/// one for each class.
///
/// The network ends without a softmax. For class numbers instead of probabilities, see
/// [`SparseCategoricalCrossentropy`](super::SparseCategoricalCrossentropy).
///
/// Levenberg–Marquardt sees it by its second derivative `Σtₖ · (diag(p) − ppᵀ)`, whose root is known in closed form. Steps
/// are judged by the loss itself.
///
/// ```
/// use marquardt::nn::{CategoricalCrossentropy, Loss};
///
/// let mut loss = [0.0_f64];
/// CategoricalCrossentropy.values(&[2.0, 2.0, 2.0, 2.0], 4, &[0.0, 1.0, 0.0, 0.0], &mut loss);
/// assert_eq!(loss, [4.0_f64.ln()]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[doc(alias = "CrossEntropyLoss")]
pub struct CategoricalCrossentropy;

crossentropy!(CategoricalCrossentropy, "categorical crossentropy", Probabilities);

#[cfg(test)]
mod tests {
    use super::super::testing::{check_curvature, check_gradients, check_residuals, residuals};
    use super::*;

    #[test]
    fn derivatives_belong_to_the_values() {
        let outputs = [0.2, -3.0, 5.0, 0.0, -0.4, 2.0, 1.0, 1.0, 1.0];
        let targets = [1.0, 0.0, 0.0, 0.2, 0.5, 0.3, 0.9, 0.0, 0.4];
        check_gradients(&CategoricalCrossentropy, &outputs, 3, &targets);
        check_curvature(&CategoricalCrossentropy, &outputs, 3, &targets);
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

    #[test]
    fn residuals_are_exact_in_the_tails() {
        let loss = CategoricalCrossentropy;
        for targets in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.2, 0.5, 0.3], [0.9, 0.0, 0.9], [1e-30, 0.0, 0.0], [0.0; 3]]
        {
            for logits in
                [[50.0, -50.0, 0.0], [0.0, 50.0, 50.0], [1e300, -1e300, 0.0], [-1e300, 3.0, 2.0], [800.0, 0.0, 1.0]]
            {
                check_residuals::<f64>(&loss, &logits, 3, &targets);
            }
            let targets = targets.map(|t| t as f32);
            for logits in [[f32::MIN, f32::MAX, 0.0], [-95.0, 0.0, 1.0], [200.0, 0.0, 1.0], [0.0, 50.0, -50.0]] {
                check_residuals::<f32>(&loss, &logits, 3, &targets);
                let mut value = [f32::NAN];
                loss.values(&logits, 3, &targets, &mut value);
                assert!(!value[0].is_nan());
            }
        }
    }

    /// A right class that is nearly certain leaves residuals and roots of the size of the others' probabilities' roots.
    #[test]
    fn the_far_tail_is_resolved() {
        let (r, root) = residuals(&CategoricalCrossentropy, &[80.0, 0.0, 0.0], 3, &[1.0, 0.0, 0.0]);
        let others = 2.0 * (-80.0_f64).exp();
        let square: f64 = (0..3).map(|k| root[3 * k] * root[3 * k]).sum();
        assert!((square - others).abs() < 1e-14 * others, "{square:e}, {others:e}");
        assert!((r[0] + others).abs() < 1e-14 * others, "{r:?}");
        assert!((r[1] - (0.5 * others).sqrt()).abs() < 1e-14 * r[1], "{r:?}");
    }
}
