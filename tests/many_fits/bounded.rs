//! Fits that begin at their bounds and have to leave them.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::solver::FitStatus;
use marquardt::{Bounds, CurveFit, FitMany};
use ndarray::{Array2, array};
use rand_distr::{Distribution, Uniform};

use crate::curves::{assert_same, largest_cosine, saturation, within};

const POINTS: usize = 17;
const LOWER: [f64; 3] = [2.7, 0.45, 0.63];
const UPPER: [f64; 3] = [12.0, 2.0, 2.8];

fn x() -> [f64; POINTS] {
    std::array::from_fn(|i| 0.1 + 0.25 * i as f64)
}

fn bounds() -> Bounds<f64> {
    Bounds::new(LOWER, UPPER).unwrap()
}

fn one_fit<'a>(x: &'a [f64], y: &'a [f64], start: &[f64]) -> CurveFit<'a, f64, impl marquardt::curve::Curve<f64>> {
    let mut fit = CurveFit::model(saturation(), x, y, start);
    for (j, name) in ["rise", "half", "inhibition"].into_iter().enumerate() {
        fit = fit.bounds(name, LOWER[j]..=UPPER[j]);
    }
    fit
}

#[test]
fn a_bound_that_holds_only_the_start_is_left() {
    let y =
        array![[0.23, 0.7, 1.0, 1.17, 1.25, 1.27, 1.25, 1.21, 1.17, 1.12, 1.07, 1.02, 0.98, 0.93, 0.89, 0.85, 0.82]];
    let start = [2.7027, 0.6, 0.63063];
    let fits =
        FitMany::new(saturation(), &x(), &y).start(&start).options(within(&saturation(), &bounds())).fit().unwrap();
    let (x, y) = (x(), y.as_slice().unwrap());
    assert_same(&fits, 0, &one_fit(&x, y, &start).fit().unwrap());
    assert!(fits.cost[0] < 4.08e-3, "{}", fits.cost[0]);
}

/// Every second start is at one bound, every fourth at two.
#[test]
fn no_fit_of_two_thousand_ends_above_its_single_fit() {
    const FITS: usize = 2_003;
    const SEED: u64 = 15;
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut uniform = |low: f64, high: f64| Uniform::new(low, high).unwrap().sample(&mut random);
    let mut y = Array2::zeros((FITS, POINTS));
    let mut start = Array2::zeros((FITS, 3));
    for row in 0..FITS {
        // Some of the truths lie beyond the bounds.
        let truth: [f64; 3] = std::array::from_fn(|j| uniform(0.7 * LOWER[j], 1.1 * UPPER[j]));
        let noise = [0.0, 0.01, 0.1][row % 3];
        for (i, x) in x().into_iter().enumerate() {
            let response = truth[0] * x / (1.0 + truth[1] * x + truth[2] * x * x);
            y[[row, i]] = (100.0 * (response + noise * uniform(-1.0, 1.0))).round() / 100.0;
        }
        for j in 0..3 {
            let is_at_bound = row % 2 == 0 && j == row / 2 % 3 || row % 4 == 0 && j == (row / 4 + 1) % 3;
            let bound = if uniform(0.0, 1.0) < 0.5 { LOWER[j] } else { UPPER[j] };
            let inside = uniform(LOWER[j], UPPER[j]);
            start[[row, j]] = if is_at_bound { bound } else { inside };
        }
    }
    let fits =
        FitMany::new(saturation(), &x(), &y).start(&start).options(within(&saturation(), &bounds())).fit().unwrap();
    let mut differing = Vec::new();
    for row in 0..FITS {
        let y = y.row(row).to_vec();
        let (x, start) = (x(), start.row(row).to_vec());
        let one = one_fit(&x, &y, &start).fit().unwrap();
        let (cost, expected) = (fits.cost[row], one.report().cost);
        let is_same = fits.status[row].is_converged() == one.report().is_converged();
        let points: Vec<[f64; 3]> = x.into_iter().zip(&y).map(|(x, &y)| [x, y, 1.0]).collect();
        let cosine = largest_cosine::<f64, 3>(&saturation(), &points, &fits.parameters.row(row).to_vec(), &bounds());
        let is_true = !fits.status[row].is_converged() || cosine < 1.1e-6;
        if !(is_same && is_true && (cost - expected).abs() <= 1e-9 * expected) {
            differing.push(format!("{row}: {} at {cost:e}, cosine {cosine:e}; {}", fits.status[row], one.report()));
        }
    }
    assert!(differing.is_empty(), "seed {SEED}, {} of {FITS} differ:\n{}", differing.len(), differing.join("\n"));
}

#[test]
fn where_all_bounds_are_equal_there_is_nothing_to_fit() {
    let y = Array2::from_elem((3, POINTS), 0.5);
    let at = [3.0, 1.0, 1.0];
    let fits = FitMany::new(saturation(), &x(), &y)
        .start(&at)
        .options(within(&saturation(), &Bounds::new(at, at).unwrap()))
        .fit()
        .unwrap();
    for row in 0..3 {
        assert_eq!((fits.status[row], fits.iterations[row]), (FitStatus::Converged, 0));
        assert_eq!(
            (fits.parameters.row(row).to_vec(), fits.standard_errors.row(row).to_vec()),
            (at.to_vec(), vec![0.0; 3])
        );
        assert!(fits.cost[row] > 0.1);
    }
}
