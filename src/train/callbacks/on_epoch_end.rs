//! A closure after every epoch.

use super::{Callback, Context};
use crate::real::Real;
use crate::train::{CallbackError, Logs};

/// Calls a closure after every epoch. The role of Keras' `LambdaCallback`.
///
/// ```
/// use marquardt::Variables;
/// use marquardt::nn::{MeanSquaredError, Sequential};
/// use marquardt::optim::Adam;
/// use marquardt::train::{OnEpochEnd, Trainer};
/// use ndarray::Array2;
///
/// let x = Array2::from_shape_fn((50, 1), |(i, _)| i as f64 / 25.0 - 1.0);
/// let mut variables = Variables::new();
/// let mut network = Sequential::new(1).dense(1).compile(&mut variables, 0, MeanSquaredError)?;
/// let mut optimizer = Adam::new(0.1);
/// let history = Trainer::new(&mut network, &mut variables, &mut optimizer)
///     .epochs(1000)
///     .callback(OnEpochEnd::new(|logs, context| {
///         if logs.get("loss") < Some(1e-6) {
///             context.stop("good enough");
///         }
///         Ok(())
///     }))
///     .fit(&[x.view()], &[x.view()])?;
/// assert!(history.len() < 1000);
/// assert_eq!(history.stop_reason().unwrap().to_string(), "on_epoch_end: good enough");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OnEpochEnd<F> {
    call: F,
}

impl<F> OnEpochEnd<F> {
    /// Creates a callback whose [`on_epoch_end`](Callback::on_epoch_end) calls this function.
    pub fn new<T: Real>(call: F) -> Self
    where
        F: FnMut(&mut Logs, &mut Context<'_, T>) -> Result<(), CallbackError>,
    {
        OnEpochEnd { call }
    }
}

impl<T: Real, F> Callback<T> for OnEpochEnd<F>
where
    F: FnMut(&mut Logs, &mut Context<'_, T>) -> Result<(), CallbackError>,
{
    fn name(&self) -> &str {
        "on_epoch_end"
    }

    fn on_epoch_end(&mut self, logs: &mut Logs, context: &mut Context<'_, T>) -> Result<(), CallbackError> {
        (self.call)(logs, context)
    }
}
