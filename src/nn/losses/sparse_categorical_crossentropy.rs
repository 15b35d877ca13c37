//! Categorical cross-entropy from class numbers.

use super::softmax::{LogitRows, RowTargets, crossentropy};
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

crossentropy!(SparseCategoricalCrossentropy, "sparse categorical crossentropy", Labels);

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

    /// Narrow rows, side by side with others, and wide ones.
    #[test]
    fn logits_that_are_no_numbers_are_not_hidden() {
        for width in [2, 10, 32, 33, 100] {
            for at in [0, 1, width - 1] {
                let mut logits: Vec<f64> = (0..40 * width).map(|k| (k as f64).sin()).collect();
                logits[7 * width + at] = f64::NAN;
                logits[20 * width + at] = f64::NEG_INFINITY;
                let labels = vec![at as f64; 40];
                let (mut losses, mut gradients) = (vec![0.0; 40], vec![0.0; 40 * width]);
                let (mut residuals, mut roots) = (vec![0.0; 40 * width], vec![0.0; 80 * width]);
                let loss = SparseCategoricalCrossentropy;
                loss.values_and_gradients(&logits, width, &labels, &mut losses, &mut gradients);
                loss.residuals(&logits, width, &labels, &mut residuals, &mut roots);
                for row in 0..40 {
                    let of_row = row * width..(row + 1) * width;
                    let are_finite = |numbers: &[f64]| numbers[of_row.clone()].iter().all(|number| number.is_finite());
                    assert_eq!(
                        (losses[row].is_nan(), losses[row].is_infinite()),
                        (row == 7, row == 20),
                        "{width}, {row}"
                    );
                    assert_eq!([are_finite(&gradients), are_finite(&residuals)], [row != 7; 2], "{width}, {row}");
                }
            }
        }
    }

    /// Also for more classes than are worked on at a time.
    #[test]
    fn both_at_once_are_the_same_as_one_after_the_other() {
        for width in [1, 3, 16, 64, 200] {
            let logits: Vec<f64> = (0..4 * width).map(|k| 30.0 * ((k * k) as f64 * 0.7).sin()).collect();
            let labels = [0.0, (width - 1) as f64, (width / 2) as f64, 0.0];
            let probabilities: Vec<f64> = (0..4 * width).map(|k| (k % 3) as f64 / width as f64).collect();
            let losses: [(&dyn Loss<f64>, &[f64]); 2] =
                [(&SparseCategoricalCrossentropy, &labels), (&CategoricalCrossentropy, &probabilities)];
            for (loss, targets) in losses {
                let (mut values, mut gradients) = ([0.0; 4], vec![0.0; 4 * width]);
                loss.values(&logits, width, targets, &mut values);
                loss.gradients(&logits, width, targets, &mut gradients);
                let (mut values_at_once, mut gradients_at_once) = ([1.0; 4], vec![1.0; 4 * width]);
                loss.values_and_gradients(&logits, width, targets, &mut values_at_once, &mut gradients_at_once);
                assert_eq!(values, values_at_once);
                assert_eq!(gradients, gradients_at_once);
            }
        }
    }
}
