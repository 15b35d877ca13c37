//! Starts where one parameter has a scale that is of no use later.

use marquardt::curve::ManyFits;
use marquardt::solver::FitStatus;
use marquardt::{CurveFit, FitMany, model};
use ndarray::Array2;

use crate::curves::{Formula, largest_cosine};

fn power() -> impl Formula {
    model!(|x; a, b, c| a * exp(b * ln(x)) + c)
}

fn approach() -> impl Formula {
    model!(|x; a, b| a * (1 - exp(-b * x)))
}

/// All combinations of these numbers, a row each.
fn grid<const N: usize>(numbers: [&[f64]; N]) -> Array2<f64> {
    let count: usize = numbers.iter().map(|numbers| numbers.len()).product();
    Array2::from_shape_fn((count, N), |(row, j)| {
        let stride: usize = numbers[j + 1..].iter().map(|numbers| numbers.len()).product();
        numbers[j][row / stride % numbers[j].len()]
    })
}

/// Fits of one data set from all these starts: no status is false, and all are at the least cost but `misses`, which single fits
/// miss, too.
fn check<const N: usize>(
    model: impl Formula,
    x: &[f64],
    y: &[f64],
    start: &Array2<f64>,
    misses: usize,
) -> ManyFits<f64> {
    let rows = Array2::from_shape_fn((start.nrows(), y.len()), |(_, i)| y[i]);
    let fits = FitMany::new(model, x, &rows).start(start).fit().unwrap();
    let least = fits.cost.iter().fold(f64::INFINITY, |least, &cost| least.min(cost));
    let points: Vec<[f64; 3]> = x.iter().zip(y).map(|(&x, &y)| [x, y, 1.0]).collect();
    let bounds = marquardt::Bounds::unbounded(N);
    let mut missed = Vec::new();
    for row in 0..start.nrows() {
        let (status, cost, found) = (fits.status[row], fits.cost[row], fits.parameters.row(row).to_vec());
        let cosine = largest_cosine::<f64, N>(&model, &points, &found, &bounds);
        let said = format!("{}: {status} at {cost:e}, cosine {cosine:e}, {found:?}", start.row(row));
        assert!(!status.is_converged() || cosine < 1.1e-6, "{said}");
        if cost > (1.0 + 1e-8) * least {
            missed.push(said);
        } else {
            assert_eq!(status, FitStatus::Converged, "{said}");
        }
    }
    assert!(missed.len() <= misses, "{} missed\n{}", missed.len(), missed.join("\n"));
    fits
}

#[test]
fn of_a_power() {
    let x: Vec<f64> = (1..=12).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| (100.0 * (2.0 * x.powf(1.4) + 1.0)).round() / 100.0).collect();
    let start = grid([&[0.1, 0.5, 2.0], &[6.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0], &[-3.0, 2.0, 20.0]]);
    let fits = check::<3>(power(), &x, &y, &start, 0);
    let one = CurveFit::model(power(), &x, &y, &[1.0, 1.0, 1.0]).fit().unwrap();
    assert!((fits.cost[0] / one.report().cost - 1.0).abs() < 1e-8);
}

#[test]
fn of_an_exponential_approach() {
    let x: Vec<f64> = (1..=10).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| (100.0 * 8.0 * (1.0 - (-0.4 * x).exp())).round() / 100.0).collect();
    let start = grid([&[0.3, 1.0, 1.5, 4.0, 30.0], &[0.5, 2.0, 3.0, 5.0, 8.0]]);
    let fits = check::<2>(approach(), &x, &y, &start, 0);
    let one = CurveFit::model(approach(), &x, &y, &[8.0, 0.5]).fit().unwrap();
    assert!((fits.cost[0] / one.report().cost - 1.0).abs() < 1e-8);
}
