//! Confusion matrices.

use std::fmt;

use ndarray::{Array2, ArrayView2};

use super::classes::{class_count, classes};
use crate::nn::{Predictions, Targets};
use crate::real::Real;

/// Samples by their class, the row, and the class that is predicted for them, the column: scikit-learn's `confusion_matrix`.
///
/// [`Trainer::confusion_matrix`](crate::train::Trainer::confusion_matrix) makes it. Classes are found as by [`Accuracy`](crate::train::Accuracy).
///
/// ```
/// use marquardt::nn::{Sequential, SparseCategoricalCrossentropy};
/// use marquardt::train::Trainer;
/// use marquardt::{LevenbergMarquardt, Variables};
/// use ndarray::{Array2, array};
///
/// let x = Array2::from_shape_fn((60, 1), |(i, _)| i as f64 / 30.0 - 1.0);
/// let y = x.mapv(|x| if x < -0.3 { 0.0 } else if x < 0.4 { 1.0 } else { 2.0 });
/// let (mut variables, mut optimizer) = (Variables::new(), LevenbergMarquardt::new());
/// let layers = Sequential::new(1).dense(8).tanh().dense(3);
/// let mut network = layers.compile(&mut variables, 0, SparseCategoricalCrossentropy)?;
/// let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(30);
/// trainer.fit(&[x.view()], &[y.view()])?;
///
/// let matrix = trainer.confusion_matrix(&[x.view()], &[y.view()])?;
/// assert_eq!(matrix.counts().sum(), 60.0);
/// assert!(matrix.accuracy() > 0.95 && matrix.recall(1) > 0.9);
/// println!("{matrix}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ConfusionMatrix {
    counts: Array2<f64>,
}

impl ConfusionMatrix {
    /// No samples yet, for outputs of this width.
    pub(in crate::train) fn new(kind: Targets, width: usize) -> Self {
        let classes = class_count(kind, width);
        ConfusionMatrix { counts: Array2::zeros((classes, classes)) }
    }

    pub(in crate::train) fn update<T: Real>(&mut self, samples: &Predictions<'_, T>) {
        classes(samples).for_each(|(target, predicted, weight)| self.counts[[target, predicted]] += weight);
    }

    /// Sum of the weights of the samples of each class, by predicted class: the number of samples where they have no weights.
    pub fn counts(&self) -> ArrayView2<'_, f64> {
        self.counts.view()
    }

    /// Share of the samples whose class is predicted; NaN without samples.
    pub fn accuracy(&self) -> f64 {
        self.counts.diag().sum() / self.counts.sum()
    }

    /// Share of the samples of a class among those for which it is predicted; NaN if there are none.
    ///
    /// # Panics
    ///
    /// For a class that there isn't.
    pub fn precision(&self, class: usize) -> f64 {
        self.counts[[class, class]] / self.counts.column(class).sum()
    }

    /// Share of the samples of a class for which it is predicted; NaN if there are none.
    ///
    /// # Panics
    ///
    /// For a class that there isn't.
    pub fn recall(&self, class: usize) -> f64 {
        self.counts[[class, class]] / self.counts.row(class).sum()
    }

    /// Harmonic mean of [`precision`](Self::precision) and [`recall`](Self::recall); NaN if there are no samples of either.
    ///
    /// # Panics
    ///
    /// For a class that there isn't.
    pub fn f1_score(&self, class: usize) -> f64 {
        2.0 * self.counts[[class, class]] / (self.counts.row(class).sum() + self.counts.column(class).sum())
    }
}

/// A table: a row for each class, with its recall, and a last row with the precision of each.
impl fmt::Display for ConfusionMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let classes = 0..self.counts.nrows();
        write!(f, "{:>9}", "class")?;
        classes.clone().try_for_each(|class| write!(f, " {class:>8}"))?;
        writeln!(f, " {:>8}", "recall")?;
        for class in classes.clone() {
            write!(f, "{class:>9}")?;
            self.counts.row(class).iter().try_for_each(|count| write!(f, " {count:>8}"))?;
            writeln!(f, " {:>8.4}", self.recall(class))?;
        }
        write!(f, "{:>9}", "precision")?;
        classes.clone().try_for_each(|class| write!(f, " {:>8.4}", self.precision(class)))?;
        write!(f, " {:>8.4}", self.accuracy())
    }
}
