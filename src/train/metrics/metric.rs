//! The trait.

use std::fmt::Debug;

use crate::nn::{Predictions, Targets};
use crate::real::Real;
use crate::train::Mode;

/// Metric: compares outputs with targets, minibatch by minibatch.
///
/// ```
/// use marquardt::Variables;
/// use marquardt::nn::{MeanSquaredError, Sequential};
/// use marquardt::optim::Adam;
/// use marquardt::train::{Metric, Predictions, Trainer};
/// use ndarray::Array2;
///
/// /// The largest error so far.
/// #[derive(Debug, Default)]
/// struct LargestError(f64);
///
/// impl Metric<f64> for LargestError {
///     fn name(&self) -> &str { "largest_error" }
///     fn reset(&mut self) { self.0 = 0.0 }
///     fn update(&mut self, samples: &Predictions<'_, f64>) {
///         let errors = samples.outputs.iter().zip(samples.targets).map(|(y, t)| (y - t).abs());
///         self.0 = errors.fold(self.0, f64::max);
///     }
///     fn result(&self) -> f64 { self.0 }
///     fn state(&self, numbers: &mut Vec<f64>) { numbers.push(self.0) }
///     fn restore(&mut self, state: &[f64]) { self.0 = state[0] }
/// }
///
/// let x = Array2::from_shape_fn((50, 1), |(i, _)| i as f64 / 25.0 - 1.0);
/// let mut variables = Variables::new();
/// let mut network = Sequential::new(1).dense(1).compile(&mut variables, 0, MeanSquaredError)?;
/// let mut optimizer = Adam::new(0.1);
/// let mut trainer =
///     Trainer::new(&mut network, &mut variables, &mut optimizer).metric(LargestError::default());
/// let history = trainer.epochs(100).fit(&[x.view()], &[x.view()])?;
/// assert!(history.last("largest_error").unwrap() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Metric<T: Real>: Debug + Send {
    /// Its name in the logs.
    fn name(&self) -> &str;

    /// Direction of improvement: smaller or larger is better.
    fn mode(&self) -> Mode {
        Mode::Min
    }

    /// Checks that the metric applies to an output of this width, whose loss takes such targets.
    ///
    /// # Errors
    ///
    /// A description of the fault, if the metric does not apply.
    fn check(&self, kind: Targets, width: usize) -> Result<(), String> {
        let _ = (kind, width);
        Ok(())
    }

    /// Forgets all samples.
    fn reset(&mut self);

    /// Adds samples, one after the other, so that the result does not depend on the minibatches.
    fn update(&mut self, samples: &Predictions<'_, T>);

    /// Value of the metric over all samples so far.
    fn result(&self) -> f64;

    /// Appends the state of the metric over the samples so far.
    fn state(&self, numbers: &mut Vec<f64>);

    /// Restores a [`state`](Self::state) of the same metric.
    fn restore(&mut self, state: &[f64]);

    /// Adds the samples of another rank, given by the [`state`](Self::state) of the same metric, and returns `true`. Returns `false` if
    /// this is not supported; a training over several ranks then refuses the metric.
    fn merge(&mut self, state: &[f64]) -> bool {
        let _ = state;
        false
    }
}
