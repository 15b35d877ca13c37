//! What is said of the data of a fit: noise, covariance, masks, missing values, counts.

use marquardt::curve::NanPolicy;
use marquardt::{CurveError, CurveFit, Dual, FittedCurve};
use ndarray::{Array2, array};

const X: [f64; 8] = [0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 9.0];
const Y: [f64; 8] = [5.1, 4.0, 3.15, 1.9, 1.25, 0.7, 0.28, 0.04];
const SIGMA: [f64; 8] = [0.2, 0.1, 0.1, 0.1, 0.05, 0.05, 0.02, 0.02];

type Decay = fn(f64, [Dual<f64, 2>; 2]) -> Dual<f64, 2>;

const DECAY: Decay = |x, [a, k]| a * (-k * x).exp();

fn figures(fit: &FittedCurve<'_, f64>) -> Vec<f64> {
    assert!(fit.report().is_converged(), "{fit}");
    fit.parameters().iter().flat_map(|parameter| [parameter.value, parameter.standard_error]).collect()
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found / expected - 1.0).abs() <= tolerance, "{found} is not {expected}");
    }
}

fn message<C: marquardt::curve::Curve<f64>>(fit: CurveFit<'_, f64, C>) -> String {
    fit.fit().unwrap_err().to_string()
}

#[test]
fn only_an_absolute_sigma_has_a_size() {
    let fit = |factor: f64, absolute| {
        let sigma = SIGMA.map(|sigma| factor * sigma);
        figures(&CurveFit::new(DECAY, &X, &Y, [3.0, 1.0]).sigma(&sigma).absolute_sigma(absolute).fit().unwrap())
    };
    assert_close(&fit(7.0, false), &fit(1.0, false), 1e-11);
    let (once, tenfold) = (fit(1.0, true), fit(10.0, true));
    assert_close(&tenfold, &[once[0], 10.0 * once[1], once[2], 10.0 * once[3]], 1e-11);
}

#[test]
fn a_diagonal_covariance_is_sigma() {
    let diagonal = Array2::from_diag(&array![0.04, 0.01, 0.01, 0.01, 0.0025, 0.0025, 0.0004, 0.0004]);
    for absolute in [false, true] {
        let by_sigma = CurveFit::new(DECAY, &X, &Y, [3.0, 1.0]).sigma(&SIGMA).absolute_sigma(absolute).fit().unwrap();
        let fit = CurveFit::new(DECAY, &X, &Y, [3.0, 1.0]).data_covariance(&diagonal).absolute_sigma(absolute);
        assert_close(&figures(&fit.fit().unwrap()), &figures(&by_sigma), 1e-11);
    }
}

/// Sums and differences of independent responses are correlated, and fitted with their covariance they tell the same.
#[test]
fn a_covariance_undoes_a_mixture_of_the_responses() {
    let pairs = |x: &[f64], b: [Dual<f64, 2>; 2]| {
        let (even, odd) = (DECAY(x[0], b), DECAY(x[1], b));
        [even + odd * 2.0, even * 0.5 - odd]
    };
    let x = Array2::from_shape_vec((4, 2), X.to_vec()).unwrap();
    let mut covariance = Array2::zeros((8, 8));
    let mut y = Array2::zeros((4, 2));
    for i in 0..4 {
        let [even, odd] = [SIGMA[2 * i].powi(2), SIGMA[2 * i + 1].powi(2)];
        let mixed = [[even + 4.0 * odd, 0.5 * even - 2.0 * odd], [0.5 * even - 2.0 * odd, 0.25 * even + odd]];
        for (j, k) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            covariance[[2 * i + j, 2 * i + k]] = mixed[j][k];
        }
        y[[i, 0]] = Y[2 * i] + 2.0 * Y[2 * i + 1];
        y[[i, 1]] = 0.5 * Y[2 * i] - Y[2 * i + 1];
    }
    let mixed = CurveFit::with_responses(pairs, &x, &y, [3.0, 1.0]).data_covariance(&covariance);
    let plain = CurveFit::new(DECAY, &X, &Y, [3.0, 1.0]).sigma(&SIGMA).fit().unwrap();
    assert_close(&figures(&mixed.fit().unwrap()), &figures(&plain), 1e-10);
}

#[test]
fn masked_rows_might_as_well_not_be_there() {
    let mask = [true, true, false, true, true, true, false, true];
    let fit = CurveFit::new(DECAY, &X, &Y, [3.0, 1.0]).sigma(&SIGMA).mask(&mask[..]).fit().unwrap();
    let keep = |all: [f64; 8]| all.into_iter().zip(mask).filter_map(|(x, kept)| kept.then_some(x)).collect::<Vec<_>>();
    let (x, y, sigma) = (keep(X), keep(Y), keep(SIGMA));
    let expected = CurveFit::new(DECAY, &x, &y, [3.0, 1.0]).sigma(&sigma).fit().unwrap();
    assert_eq!(figures(&fit), figures(&expected));
    assert_eq!(fit.omitted_rows(), [2, 6]);
    assert_eq!(fit.observed().to_vec(), y);
    assert_eq!(message(CurveFit::new(DECAY, &X, &Y, [3.0, 1.0]).mask(&mask[..5])), "the mask has 5 entries for 8 rows");
}

#[test]
fn missing_values_are_refused_or_left_out() {
    let (mut x, mut y, mut sigma) = (X, Y, SIGMA);
    (x[1], y[4], sigma[7]) = (f64::NAN, f64::INFINITY, f64::NAN);
    let mask = [true, false, true, true, false, true, true, false];
    let fit = || CurveFit::new(DECAY, &x, &y, [3.0, 1.0]).sigma(&sigma);
    assert_eq!(message(fit()), "x is NaN in row 2");
    let omitted = fit().nan_policy(NanPolicy::Omit).fit().unwrap();
    assert_eq!(omitted.omitted_rows(), [1, 4, 7]);
    let masked = CurveFit::new(DECAY, &X, &Y, [3.0, 1.0]).sigma(&SIGMA).mask(&mask[..]).fit().unwrap();
    assert_eq!(figures(&omitted), figures(&masked));
    // Masked rows may miss what they like.
    assert_eq!(figures(&fit().mask(&mask[..]).fit().unwrap()), figures(&masked));
    let nothing = [f64::NAN; 8];
    let left = CurveFit::new(DECAY, &X, &nothing, [3.0, 1.0]).nan_policy(NanPolicy::Omit);
    assert!(matches!(left.fit().unwrap_err(), CurveError::NoObservations));
}

#[test]
fn noise_has_to_be_positive_and_to_match() {
    let [mut negative, mut zero] = [SIGMA; 2];
    (negative[3], zero[3]) = (-0.1, 0.0);
    let fit = || CurveFit::new(DECAY, &X, &Y, [3.0, 1.0]);
    assert_eq!(message(fit().sigma(&negative)), "sigma is -0.1 in row 4: standard deviations must be positive");
    assert_eq!(message(fit().sigma(&zero)), "sigma is 0 in row 4: standard deviations must be positive");
    assert_eq!(message(fit().sigma(&SIGMA[..5])), "sigma has 5 standard deviations for 8 responses");
    let covariance = |rows, columns| Array2::from_shape_fn((rows, columns), |(i, j)| f64::from(i == j));
    assert_eq!(message(fit().data_covariance(&covariance(8, 7))), "the covariance of the data is 8 x 7");
    assert_eq!(
        message(fit().data_covariance(&covariance(7, 7))),
        "the covariance of the data is 7 x 7, for 8 responses"
    );
    let mut lopsided = covariance(8, 8);
    lopsided[[2, 5]] = 0.1;
    assert_eq!(
        message(fit().data_covariance(&lopsided)),
        "the covariance of the data is not symmetric: 0.1 in row 3, column 6, but 0 across"
    );
    let singular = Array2::from_elem((8, 8), 1.0);
    assert_eq!(message(fit().data_covariance(&singular)), "the covariance of the data is not positive definite");
}

#[test]
fn the_rate_of_counts_is_their_mean() {
    let (x, y) = ([0.0; 5], [3.0, 7.0, 0.0, 4.0, 5.0]);
    let fit = CurveFit::new(|_, [rate]| rate, &x, &y, [1.0]).counts().fit().unwrap();
    assert_close(&figures(&fit), &[3.8, (3.8_f64 / 5.0).sqrt()], 1e-10);
    let deviance: f64 = y.iter().map(|&y| if y > 0.0 { y * (y / 3.8_f64).ln() } else { 0.0 } - (y - 3.8)).sum();
    assert_close(&[fit.report().cost], &[deviance], 1e-12);
}

/// At the maximum of the likelihood the weighted residuals are orthogonal to the derivatives of the mean.
#[test]
fn counts_are_fitted_by_maximum_likelihood() {
    let x: Vec<f64> = (0..30).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| (40.0 * (-0.15 * x).exp() + 2.0 + 2.5 * (5.0 * x).sin()).round()).collect();
    assert!(y.contains(&0.0));
    let curve = |x: f64, [a, k, c]: [Dual<f64, 3>; 3]| a * (-k * x).exp() + c;
    let fit = CurveFit::new(curve, &x, &y, [20.0, 0.3, 1.0]).counts().fit().unwrap();
    let found: Vec<f64> = fit.parameters().iter().map(|parameter| parameter.value).collect();
    let mut score = [0.0; 3];
    let mut size = [0.0; 3];
    for (&x, &y) in x.iter().zip(&y) {
        let decay = (-found[1] * x).exp();
        let mean = found[0] * decay + found[2];
        for (j, slope) in [decay, -found[0] * x * decay, 1.0].into_iter().enumerate() {
            score[j] += slope * (y / mean - 1.0);
            size[j] += (slope * (y / mean - 1.0)).abs();
        }
    }
    assert!(score.iter().zip(size).all(|(score, size)| score.abs() < 1e-9 * size), "{score:?} {size:?}\n{fit}");
}

#[test]
fn noise_is_said_once() {
    let fit = || CurveFit::new(DECAY, &X, &Y, [3.0, 1.0]);
    let lacking = "absolute_sigma(true) was set, but no sigma; if the standard deviation of every response is 1, give it as sigma";
    assert_eq!(message(fit().absolute_sigma(true)), lacking);
    assert!(fit().absolute_sigma(true).sigma(&[1.0; 8]).fit().is_ok() && fit().absolute_sigma(false).fit().is_ok());
    let covariance = Array2::from_diag_elem(8, 0.01);
    let both =
        "sigma and a covariance of the data exclude each other: the diagonal of the covariance is the squares of sigma";
    assert_eq!(message(fit().sigma(&SIGMA).data_covariance(&covariance)), both);
    assert_eq!(message(fit().data_covariance(&covariance).sigma(&SIGMA)), both);
    let counts = "counts and an absolute sigma exclude each other: the variance of a count is its mean";
    assert_eq!(message(fit().counts().absolute_sigma(true)), counts);
}

#[test]
fn counts_are_not_negative_and_their_mean_is_positive() {
    let (x, y) = ([0.0, 1.0, 2.0], [3.0, -1.0, 2.0]);
    let counts = CurveFit::new(|x, [a, b]| a + b * x, &x, &y, [1.0, 0.0]).counts();
    assert_eq!(message(counts), "y is -1 in row 2: counts must not be negative");
    for value in [2.5, 1e-3, 1e9 + 0.5] {
        let y = [3.0, 1.0, value];
        let fractions = CurveFit::new(|x, [a, b]| a + b * x, &x, &y, [1.0, 0.0]).counts();
        assert_eq!(message(fractions), format!("y is {value} in row 3: counts are integers"));
    }
    // Rows that are left out keep their numbers.
    let counts = CurveFit::new(|x, [a, b]| a + b * x, &[0.0, 1.0, 2.0, 3.0], &[4.0, 3.0, -1.0, 2.0], [1.0, 0.0]);
    let masked = counts.mask(&[true, false, true, true][..]).counts();
    assert_eq!(message(masked), "y is -1 in row 3: counts must not be negative");
    let counts = CurveFit::new(|x, [a, b]| a + b * x, &x, &[3.0, 1.0, 2.0], [1.0, -1.0]).counts();
    assert_eq!(message(counts), "the curve is 0 in row 2 at the start: the mean of counts must be positive");
    let weighted = CurveFit::new(|x, [a, b]| a + b * x, &x, &[3.0, 1.0, 2.0], [1.0, 0.0]).counts().sigma(&[1.0; 3]);
    assert!(message(weighted).starts_with("counts and sigma exclude each other"));
}

#[test]
fn a_curve_that_is_not_finite_at_the_start_is_named_by_the_row_as_it_came_in() {
    let y = [f64::NAN, 1.0, 2.0, f64::NAN, 1.5, 1.2];
    let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let root = |x: f64, [a, b]: [Dual<f64, 2>; 2]| a * (b - x).sqrt();
    let fit = CurveFit::new(root, &x, &y, [1.0, 2.5]).nan_policy(NanPolicy::Omit);
    assert_eq!(message(fit), "the curve is NaN in row 5 at the start");
}
