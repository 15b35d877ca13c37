//! Fits from starts that are off end at the least cost.

use marquardt::{CurveFit, FitMany, Model, Real, model};
use ndarray::Array2;

use crate::curves::{Formula, peak};
use crate::workloads::{Decays, Family, GaussianPeaks, ManyCurves};

const FITS: usize = 400;
const POINTS: usize = 64;

fn decay_on_line() -> impl Formula {
    model!(|x; amplitude, lifetime, background, slope| amplitude * exp(-x / lifetime) + background + slope * x)
}

/// Rows of numbers, in one precision.
fn rows<T: Real>(values: &[f64]) -> Array2<T> {
    let values: Vec<T> = values.iter().map(|&value| T::from_f64(value)).collect();
    Array2::from_shape_vec((FITS, values.len() / FITS), values).unwrap()
}

/// All fits have the cost that careful fits have that start at the truth.
fn all_are_solved<T: Real, F: Family>(model: impl Formula + Model<T>, tolerance: f64) {
    let curves = ManyCurves::<F>::new(FITS, POINTS, 5);
    let x: Vec<T> = curves.x.iter().map(|&x| T::from_f64(x)).collect();
    let (y, start) = (rows(&curves.y), rows(&curves.start));
    let fits = FitMany::new(model, &x, &y).start(&start).fit().unwrap();
    assert_eq!(fits.converged(), FITS);
    let name = |index| Model::<T>::parameter_name(&model, index);
    assert_eq!(fits.names, (0..4).map(name).collect::<Vec<_>>());
    for (row, curve) in curves.each().enumerate() {
        let reference = CurveFit::model(model, &curves.x, curve.samples.y, curve.truth).fit().unwrap();
        let least = reference.report().sum_of_squares();
        let found: Vec<f64> = fits.parameters.row(row).iter().map(|value| value.to_f64()).collect();
        let residuals = curve.samples.starting_at(0).map(|(x, y)| Model::<f64>::response(&model, &[x], &found) - y);
        let sum: f64 = residuals.map(|residual| residual * residual).sum();
        assert!(sum <= (1.0 + tolerance) * least, "{row}: {sum} instead of {least}, {}", fits.status[row]);
        let cost = 2.0 * fits.cost[row].to_f64();
        assert!((cost - sum).abs() <= tolerance * sum, "{row}: {cost} reported, {sum} found");
    }
    let iterations = fits.iterations.iter().sum::<usize>() as f64 / FITS as f64;
    assert!((3.0..15.0).contains(&iterations), "{iterations}");
}

#[test]
fn peaks() {
    all_are_solved::<f64, GaussianPeaks>(peak(), 1e-8);
}

#[test]
fn decays() {
    all_are_solved::<f64, Decays>(decay_on_line(), 1e-8);
}

#[test]
fn peaks_in_single_precision() {
    all_are_solved::<f32, GaussianPeaks>(peak(), 1e-4);
}

#[test]
fn decays_in_single_precision() {
    all_are_solved::<f32, Decays>(decay_on_line(), 1e-4);
}
