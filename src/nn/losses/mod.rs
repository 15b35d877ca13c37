//! Losses: what is minimised, and how Levenberg–Marquardt sees it.

mod binary_crossentropy;
mod categorical_crossentropy;
mod elementwise;
mod half_sum_of_squares;
mod huber;
mod log_cosh;
mod loss;
mod mean_absolute_error;
mod mean_squared_error;
mod softmax;
mod sparse_categorical_crossentropy;

pub use binary_crossentropy::BinaryCrossentropy;
pub use categorical_crossentropy::CategoricalCrossentropy;
pub use half_sum_of_squares::HalfSumOfSquares;
pub use huber::Huber;
pub use log_cosh::LogCosh;
pub use loss::{LeastSquaresForm, Loss, Reduction, Targets};
pub use mean_absolute_error::MeanAbsoluteError;
pub use mean_squared_error::MeanSquaredError;
pub use sparse_categorical_crossentropy::SparseCategoricalCrossentropy;

/// What is true of every loss.
#[cfg(test)]
mod testing {
    use super::{LeastSquaresForm, Loss};

    /// Gradients against central differences of the values.
    #[track_caller]
    pub(super) fn check_gradients(loss: &dyn Loss<f64>, outputs: &[f64], width: usize, targets: &[f64]) {
        let rows = outputs.len() / width;
        let total = |outputs: &[f64]| {
            let mut losses = vec![0.0; rows];
            loss.values(outputs, width, targets, &mut losses);
            losses.iter().sum::<f64>()
        };
        let mut gradients = vec![f64::NAN; outputs.len()];
        loss.gradients(outputs, width, targets, &mut gradients);
        let mut moved = outputs.to_vec();
        for (i, &gradient) in gradients.iter().enumerate() {
            let h = 1e-5 * outputs[i].abs().max(1.0);
            let mut at = |value| {
                moved[i] = value;
                total(&moved)
            };
            let difference = (at(outputs[i] + h) - at(outputs[i] - h)) / (2.0 * h);
            moved[i] = outputs[i];
            assert!((gradient - difference).abs() < 1e-8, "{}, output {i}: {gradient}, {difference}", loss.name());
        }
    }

    /// Root times residual is the gradient; an exact form is half the sum of squares.
    #[track_caller]
    pub(super) fn check_residuals(loss: &dyn Loss<f64>, outputs: &[f64], width: usize, targets: &[f64]) {
        let nan = vec![f64::NAN; outputs.len()];
        let (mut gradients, mut residuals, mut roots) = (nan.clone(), nan.clone(), nan);
        loss.gradients(outputs, width, targets, &mut gradients);
        loss.residuals(outputs, width, targets, &mut residuals, &mut roots);
        for (i, &gradient) in gradients.iter().enumerate() {
            let product = roots[i] * residuals[i];
            assert!((product - gradient).abs() <= 1e-15 * gradient.abs(), "output {i}: {product}, {gradient}");
        }
        if loss.least_squares() == LeastSquaresForm::Exact {
            let mut losses = vec![0.0; outputs.len() / width];
            loss.values(outputs, width, targets, &mut losses);
            for (loss, residuals) in losses.iter().zip(residuals.chunks_exact(width)) {
                let squares = 0.5 * residuals.iter().map(|r| r * r).sum::<f64>();
                assert!((loss - squares).abs() <= 1e-15 * loss);
            }
        }
    }

    #[test]
    fn squares_are_seen_exactly() {
        let (outputs, targets) = ([0.2, -3.0, 5.0, 0.0, -0.4, 2.0], [1.0, 0.0, 0.5, 1.0, 0.3, 2.0]);
        for width in [1, 2, 3] {
            for loss in [&super::MeanSquaredError as &dyn Loss<f64>, &super::HalfSumOfSquares] {
                check_gradients(loss, &outputs, width, &targets);
                check_residuals(loss, &outputs, width, &targets);
                assert_eq!(loss.least_squares(), LeastSquaresForm::Exact);
            }
        }
    }
}
