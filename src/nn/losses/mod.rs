//! Losses, and their Gauss–Newton forms for Levenberg–Marquardt.

mod binary_crossentropy;
mod categorical_crossentropy;
mod centred_root;
mod columns;
mod elementwise;
mod gauss_newton;
mod half_sum_of_squares;
mod huber;
mod log_cosh;
mod loss;
mod mean_absolute_error;
mod mean_squared_error;
mod poisson;

mod softmax;
mod sparse_categorical_crossentropy;

pub use binary_crossentropy::BinaryCrossentropy;
pub use categorical_crossentropy::CategoricalCrossentropy;
pub(crate) use centred_root::CentredRoots;
pub(crate) use columns::RowSpan;
pub use gauss_newton::{CurvatureRoot, GaussNewton};
pub use half_sum_of_squares::HalfSumOfSquares;
pub use huber::Huber;
pub use log_cosh::LogCosh;
pub use loss::{Loss, Reduction, Targets};
pub use mean_absolute_error::MeanAbsoluteError;
pub use mean_squared_error::MeanSquaredError;
pub use poisson::Poisson;
pub use sparse_categorical_crossentropy::SparseCategoricalCrossentropy;

/// Properties of every loss.
#[cfg(test)]
mod testing {
    use super::{CentredRoots, CurvatureRoot, Loss};
    use crate::real::Real;

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

    /// The Gauss–Newton form for Levenberg–Marquardt: residuals, and the roots as full matrices.
    pub(super) fn residuals<T: Real>(
        loss: &dyn Loss<T>,
        outputs: &[T],
        width: usize,
        targets: &[T],
    ) -> (Vec<T>, Vec<T>) {
        let seen = loss.least_squares().unwrap();
        let nan = T::from_f64(f64::NAN);
        let mut residuals = vec![nan; outputs.len()];
        let mut roots = vec![nan; outputs.len() / width * seen.root().numbers(width)];
        seen.residuals(outputs, width, targets, &mut residuals, &mut roots);
        let mut full = vec![T::ZERO; outputs.len() * width];
        match seen.root() {
            CurvatureRoot::Full => return (residuals, roots),
            CurvatureRoot::Diagonal => {
                for (k, root) in roots.into_iter().enumerate() {
                    full[k * width + k % width] = root;
                }
            }
            CurvatureRoot::Centred => {
                for (k, row) in full.chunks_exact_mut(width).enumerate() {
                    CentredRoots::new(&roots[k / width * 2 * width..][..2 * width], width).row(k % width, row);
                }
            }
        }
        (residuals, full)
    }

    /// The root times the residuals is the gradient; an exact form is half the sum of squares.
    #[track_caller]
    pub(super) fn check_residuals<T: Real>(loss: &dyn Loss<T>, outputs: &[T], width: usize, targets: &[T]) {
        let mut gradients = vec![T::from_f64(f64::NAN); outputs.len()];
        loss.gradients(outputs, width, targets, &mut gradients);
        let (residuals, roots) = residuals(loss, outputs, width, targets);
        let samples = residuals.chunks_exact(width).zip(roots.chunks_exact(width * width));
        for (gradients, (residuals, root)) in gradients.chunks_exact(width).zip(samples) {
            for (j, gradient) in gradients.iter().map(|gradient| gradient.to_f64()).enumerate() {
                let products = || (0..width).map(|k| root[k * width + j].to_f64() * residuals[k].to_f64());
                let (product, scale) = (products().sum::<f64>(), products().map(f64::abs).sum::<f64>());
                // Products that an f32 has no digits for count as zero.
                let rounding = 4.0 * T::EPSILON.to_f64() * scale.max(gradient.abs()) + 1e-41;
                let close = (product - gradient).abs() <= rounding;
                assert!(close, "{}, output {j} of {outputs:?}: {product:e}, {gradient:e}", loss.name());
            }
        }
        if loss.least_squares().unwrap().is_exact() {
            let mut losses = vec![T::ZERO; outputs.len() / width];
            loss.values(outputs, width, targets, &mut losses);
            for (&loss, residuals) in losses.iter().zip(residuals.chunks_exact(width)) {
                let squares = T::from_f64(0.5) * residuals.iter().map(|&r| r * r).sum::<T>();
                assert!((loss - squares).abs() <= T::EPSILON * (loss + loss));
            }
        }
    }

    /// The square of the root is the second derivative, against central differences of the gradients.
    #[track_caller]
    pub(super) fn check_curvature(loss: &dyn Loss<f64>, outputs: &[f64], width: usize, targets: &[f64]) {
        check_residuals(loss, outputs, width, targets);
        let (_, roots) = residuals(loss, outputs, width, targets);
        let gradients_at = |outputs: &[f64]| {
            let mut gradients = vec![f64::NAN; outputs.len()];
            loss.gradients(outputs, width, targets, &mut gradients);
            gradients
        };
        for (sample, root) in roots.chunks_exact(width * width).enumerate() {
            for j in 0..width {
                let h = 1e-5;
                let moved = |by: f64| {
                    let mut moved = outputs.to_vec();
                    moved[sample * width + j] += by;
                    gradients_at(&moved)
                };
                let (above, below) = (moved(h), moved(-h));
                for i in 0..width {
                    let difference = (above[sample * width + i] - below[sample * width + i]) / (2.0 * h);
                    let square: f64 = (0..width).map(|k| root[k * width + i] * root[k * width + j]).sum();
                    let close = (square - difference).abs() <= 1e-9 * (1.0 + difference.abs());
                    assert!(close, "{}, sample {sample}, {i}, {j}: {square}, {difference}", loss.name());
                }
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
                assert!(loss.least_squares().unwrap().is_exact());
            }
        }
    }
}
