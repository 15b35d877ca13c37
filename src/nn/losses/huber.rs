//! Huber's loss.

use super::{GaussNewton, Loss, elementwise};
use crate::nn::TapeError;
use crate::real::Real;

/// Huber's loss: the mean over outputs of `½e²` for errors up to `delta`, and of `delta (|e| − ½ delta)` beyond.
///
/// Outliers pull with a constant force, so that a few of them do not decide the fit.
///
/// Levenberg–Marquardt sees it by the rows of [`Loss::Huber`](crate::Loss::Huber) in fits: an error beyond `delta` has the
/// curvature `½ delta / |e|`. The gradient is exact, and steps are judged by the loss itself.
///
/// ```
/// use marquardt::nn::{Huber, Loss};
///
/// let huber = Huber::new(1.0)?;
/// let mut losses = [0.0; 2];
/// huber.values(&[0.5, 10.0], 1, &[0.0, 0.0], &mut losses);
/// assert_eq!(losses, [0.125, 9.5]);
/// # Ok::<(), marquardt::nn::TapeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Huber<T> {
    delta: T,
}

impl<T: Real> Huber<T> {
    /// The loss that turns from square to linear at errors of `delta`.
    ///
    /// # Errors
    ///
    /// [`TapeError::Setting`] when `delta` is not positive and finite.
    pub fn new(delta: T) -> Result<Self, TapeError> {
        if !(delta > T::ZERO && delta.is_finite()) {
            let requirement = "positive and finite";
            return Err(TapeError::Setting { of: "Huber", setting: "delta", requirement, value: delta.to_f64() });
        }
        Ok(Huber { delta })
    }
}

impl<T: Real> Default for Huber<T> {
    /// `delta` is one.
    fn default() -> Self {
        Huber { delta: T::ONE }
    }
}

impl<T: Real> Loss<T> for Huber<T> {
    fn name(&self) -> &'static str {
        "Huber"
    }

    fn values(&self, outputs: &[T], width: usize, targets: &[T], losses: &mut [T]) {
        let (delta, half) = (self.delta, T::from_f64(0.5));
        elementwise::means((outputs, width, targets), losses, |y, t| {
            let e = (y - t).abs();
            if e > delta { delta * (e - half * delta) } else { half * e * e }
        });
    }

    fn gradients(&self, outputs: &[T], width: usize, targets: &[T], gradients: &mut [T]) {
        let delta = self.delta;
        elementwise::gradients((outputs, width, targets), gradients, |y, t| (y - t).max(-delta).min(delta));
    }

    fn least_squares(&self) -> Option<&dyn GaussNewton<T>> {
        Some(self)
    }
}

impl<T: Real> GaussNewton<T> for Huber<T> {
    fn residuals(&self, outputs: &[T], width: usize, targets: &[T], residuals: &mut [T], roots: &mut [T]) {
        let delta = self.delta;
        elementwise::robust((outputs, width, targets), [residuals, roots], |e| {
            if e.abs() > delta { [delta / e.abs(), T::ZERO] } else { [T::ONE; 2] }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_gradients, check_residuals};
    use super::*;

    #[test]
    fn derivatives_belong_to_the_values() {
        let (outputs, targets) = ([0.2, -3.0, 0.29, 5.0, 0.0, -0.1], [0.1, 0.5, 0.0, -40.0, 0.0, 0.25]);
        for delta in [0.3, 1.0] {
            let huber = Huber::new(delta).unwrap();
            check_gradients(&huber, &outputs, 2, &targets);
            check_residuals(&huber, &outputs, 2, &targets);
        }
    }

    #[test]
    fn errors_that_are_not_finite_are_no_outliers() {
        let (mut residuals, mut roots) = ([0.0; 2], [0.0; 2]);
        Huber::default().residuals(&[f64::INFINITY, f64::NAN], 1, &[0.0; 2], &mut residuals, &mut roots);
        assert!(residuals.iter().all(|residual| !residual.is_finite()), "{residuals:?}");
    }

    #[test]
    fn far_errors_pull_with_delta() {
        let huber = Huber::<f64>::new(0.5).unwrap();
        let (mut loss, mut gradient) = ([0.0], [0.0]);
        huber.values(&[1e200], 1, &[0.0], &mut loss);
        huber.gradients(&[-1e200], 1, &[0.0], &mut gradient);
        assert_eq!((loss, gradient), ([5e199], [-0.5]));
    }

    #[test]
    fn delta_must_be_a_distance() {
        for delta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = Huber::new(delta).unwrap_err();
            assert_eq!(error.to_string(), format!("delta of Huber must be positive and finite, not {delta}"));
        }
    }
}
