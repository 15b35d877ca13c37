//! Friedman's first function.

use std::f64::consts::PI;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use marquardt::Real;
use ndarray::{Array2, ArrayView2, Axis};

pub const TRAINING: usize = 8000;
pub const VALIDATION: usize = 2000;
pub const INPUTS: usize = 10;

/// Points, and the function there without noise.
pub struct Friedman<T> {
    /// From -1 to 1.
    pub x: Array2<T>,
    /// With mean 0 and variance 1 over the points for training.
    pub y: Array2<T>,
}

impl<T: Real> Friedman<T> {
    /// Draws points at random.
    pub fn draw(seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let points = Array2::from_shape_fn((TRAINING + VALIDATION, INPUTS), |_| unit(&mut random));
        let values: Vec<f64> = points.rows().into_iter().map(|x| friedman(&[x[0], x[1], x[2], x[3], x[4]])).collect();
        let training = &values[..TRAINING];
        let mean = training.iter().sum::<f64>() / TRAINING as f64;
        let variance = training.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / TRAINING as f64;
        let standardised = |(row, _)| T::from_f64((values[row] - mean) / variance.sqrt());
        Friedman {
            x: points.mapv(|x| T::from_f64(2.0 * x - 1.0)),
            y: Array2::from_shape_fn((values.len(), 1), standardised),
        }
    }
}

/// The rows for training, and those for validation.
pub fn split<T>(rows: &Array2<T>) -> (ArrayView2<'_, T>, ArrayView2<'_, T>) {
    rows.view().split_at(Axis(0), TRAINING)
}

/// J. H. Friedman, Multivariate Adaptive Regression Splines, Annals of Statistics 19 (1991), 1–67: what all inputs but the
/// first five have nothing to do with.
fn friedman(x: &[f64; 5]) -> f64 {
    10.0 * (PI * x[0] * x[1]).sin() + 20.0 * (x[2] - 0.5).powi(2) + 10.0 * x[3] + 5.0 * x[4]
}

/// From 0 to 1.
fn unit(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_is_friedmans() {
        assert_eq!(friedman(&[0.0; 5]), 5.0);
        assert!((friedman(&[0.5, 1.0, 0.25, 0.5, 0.2]) - (10.0 + 1.25 + 5.0 + 1.0)).abs() < 1e-14);
    }

    #[test]
    fn inputs_are_scaled_and_targets_standardised() {
        let data = Friedman::<f64>::draw(7);
        assert_eq!(data.x.shape(), [TRAINING + VALIDATION, INPUTS]);
        assert!(data.x.iter().all(|x| (-1.0..1.0).contains(x)));
        assert!(data.x.columns().into_iter().all(|x| x.sum().abs() / (x.len() as f64) < 0.03));
        let (training, validation) = split(&data.y);
        let mean_of_square = |y: ArrayView2<'_, f64>| y.mapv(|y| y * y).sum() / y.nrows() as f64;
        assert!(training.sum().abs() < 1e-9 && (mean_of_square(training) - 1.0).abs() < 1e-12);
        // Not by its own mean and variance.
        assert!(validation.sum().abs() > 1e-6 && (mean_of_square(validation) - 1.0).abs() < 0.1);

        // Mean and variance of the function: 14.41 and 23.8.
        let row = data.x.row(3).mapv(|x| 0.5 * (x + 1.0));
        let value = friedman(&[row[0], row[1], row[2], row[3], row[4]]);
        assert!((data.y[[3, 0]] - (value - 14.41) / 23.8_f64.sqrt()).abs() < 0.05);
        assert_eq!(Friedman::<f64>::draw(7).x, data.x);
        assert_ne!(Friedman::<f64>::draw(8).x, data.x);
    }
}
