//! Classes of outputs and targets.

use crate::nn::{Predictions, Targets};
use crate::real::Real;

/// Number of classes of an output of this width: a single entry has two.
pub(in crate::train) fn class_count(kind: Targets, width: usize) -> usize {
    if width == 1 && kind != Targets::Labels { 2 } else { width }
}

/// Class of each sample's target, one after the other.
pub(in crate::train) fn target_class<T: Real>(kind: Targets, targets: &[T]) -> usize {
    match *targets {
        [label] if kind == Targets::Labels => label.to_f64() as usize,
        [target] => usize::from(target > T::from_f64(0.5)),
        _ => largest(targets),
    }
}

/// Weights with which all classes count alike: the number of samples over the number of classes and of the samples of each class, as scikit-learn's
/// `class_weight="balanced"`. Zero for a class without samples.
///
/// ```
/// use marquardt::train::balanced_class_weights;
///
/// assert_eq!(balanced_class_weights(&[0.0, 0.0, 0.0, 1.0], 2), [2.0 / 3.0, 2.0]);
/// ```
///
/// # Panics
///
/// For a label that is not below `classes`.
pub fn balanced_class_weights<T: Real>(labels: &[T], classes: usize) -> Vec<T> {
    let mut counts = vec![0.0; classes];
    labels.iter().for_each(|label| counts[label.to_f64() as usize] += 1.0);
    let weight = |count| if count > 0.0 { labels.len() as f64 / (classes as f64 * count) } else { 0.0 };
    counts.into_iter().map(weight).map(T::from_f64).collect()
}

/// Predicted class: that of the largest output, or the side of the threshold that a single one is on.
fn output_class<T: Real>(kind: Targets, outputs: &[T]) -> usize {
    match *outputs {
        [output] if kind != Targets::Labels => usize::from(output > threshold(kind)),
        _ => largest(outputs),
    }
}

/// Output above which a sample is of the second of two classes: logits are compared with zero.
pub(super) fn threshold<T: Real>(kind: Targets) -> T {
    if kind == Targets::Probabilities { T::ZERO } else { T::from_f64(0.5) }
}

/// The class of the target, the predicted class and the weight of each sample.
pub(super) fn classes<T: Real>(samples: &Predictions<'_, T>) -> impl Iterator<Item = (usize, usize, f64)> {
    let Predictions { width, outputs, targets, kind, weights, .. } = *samples;
    let target_width = if kind == Targets::Labels { 1 } else { width };
    let rows = outputs.chunks_exact(width).zip(targets.chunks_exact(target_width)).zip(weights);
    rows.map(move |((outputs, targets), weight)| {
        (target_class(kind, targets), output_class(kind, outputs), weight.to_f64())
    })
}

/// The place of the first of the largest entries.
fn largest<T: Real>(row: &[T]) -> usize {
    (1..row.len()).fold(0, |best, place| if row[place] > row[best] { place } else { best })
}
