//! Errors in the predictors.

use marquardt::curve::{CurveError, ErrorsInX};
use marquardt::{CurveFit, model};
use ndarray::{Array2, array};

const PEARSON_X: [f64; 10] = [0.0, 0.9, 1.8, 2.6, 3.3, 4.4, 5.2, 6.1, 6.5, 7.4];
const PEARSON_Y: [f64; 10] = [5.9, 5.4, 4.4, 4.6, 3.5, 3.7, 2.8, 2.8, 2.4, 1.5];
const YORK_X: [f64; 10] = [1000.0, 1000.0, 500.0, 800.0, 200.0, 80.0, 60.0, 20.0, 1.8, 1.0];
const YORK_Y: [f64; 10] = [1.0, 1.8, 4.0, 8.0, 20.0, 20.0, 70.0, 70.0, 100.0, 500.0];

fn sigmas(weights: &[f64]) -> Vec<f64> {
    weights.iter().map(|weight| weight.sqrt().recip()).collect()
}

/// York et al., Am. J. Phys. 72 (2004) 367, table II.
#[test]
fn pearsons_data_with_yorks_weights() {
    let (sigma_x, sigma_y) = (sigmas(&YORK_X), sigmas(&YORK_Y));
    let line = CurveFit::new(|x, [slope, intercept]| slope * x + intercept, &PEARSON_X, &PEARSON_Y, [0.0, 0.0]);
    let fit = line.sigma(&sigma_y).sigma_x(&sigma_x).absolute_sigma(true).fit().unwrap();
    println!("{fit}");
    let [slope, intercept] = [0, 1].map(|index| &fit.parameters()[index]);
    assert!((slope.value + 0.480533407).abs() < 1e-8, "{}", slope.value);
    assert!((intercept.value - 5.479910224).abs() < 1e-8, "{}", intercept.value);
    assert!((slope.standard_error - 0.0579850).abs() < 1e-6, "{}", slope.standard_error);
    assert!((intercept.standard_error - 0.2949707).abs() < 1e-6, "{}", intercept.standard_error);
    assert!((fit.chi_square() - 11.866353).abs() < 1e-5, "{}", fit.chi_square());
}
