//! Numbers at the ends of the floats' range.

use marquardt::solver::FitStatus;
use marquardt::{FitMany, Loss, Model, Real, model};
use ndarray::{Array2, array};

use crate::curves::{PEAK, largest_cosine, line, peak};

/// Fits of data that are too small or too large for their squares claim nothing false.
#[test]
fn squares_that_underflow_are_not_called_convergence() {
    let x: Vec<f64> = (0..20).map(f64::from).collect();
    let rows =
        |size: f64| Array2::from_shape_fn((3, 20), |(row, i)| size * (x[i] * (1.0 + row as f64) + (7.0 * x[i]).sin()));
    for (size, start) in [(1e-200, 1e-200), (1e-300, 1e-300), (1e-200, 1.0), (1e-300, 1e-100)] {
        let y = rows(size);
        let fits = FitMany::new(line(), &x, &y).start(&[5.0 * start, 3.0 * start]).fit().unwrap();
        for row in 0..3 {
            let off = (fits.parameters[[row, 0]] / size - 1.0 - row as f64).abs();
            assert!(
                !fits.status[row].is_converged() || off < 0.1,
                "{}: {}",
                fits.status[row],
                fits.parameters.row(row)
            );
        }
    }
    let y = rows(1e200);
    let fits = FitMany::new(line(), &x, &y).start(&[1e200, 0.0]).fit().unwrap();
    assert!(fits.status.iter().all(|&status| status == FitStatus::Overflow), "{}", fits.status);
}

#[test]
fn derivatives_whose_squares_underflow_are_not_called_zero() {
    let product = || model!(|x; a, b| x * a * exp(-x * b));
    let x: Vec<f64> = (1..=20).map(|i| 1e-100 * f64::from(i)).collect();
    let y = Array2::from_shape_fn((2, 20), |(_, i)| 1e-100 * (3.0 * x[i] * 1e100 * (-0.2e100 * x[i]).exp()));
    let fits = FitMany::new(product(), &x, &y).start(&[2.0, 0.3e100]).fit().unwrap();
    for row in 0..2 {
        let off = (fits.parameters[[row, 1]] / 0.2e100 - 1.0).abs();
        assert!(!fits.status[row].is_converged() || off < 1e-3, "{}: {}", fits.status[row], fits.parameters.row(row));
    }
    let x: Vec<f32> = (1..=20).map(|i| 1e-13 * i as f32).collect();
    let y = Array2::from_shape_fn((2, 20), |(_, i)| 1e-13 * (3.0 * x[i] * 1e13 * (-0.2e13 * x[i]).exp()));
    let fits = FitMany::new(product(), &x, &y).start(&[2.0, 0.3e13]).fit().unwrap();
    for row in 0..2 {
        let off = (fits.parameters[[row, 1]] / 0.2e13 - 1.0).abs();
        assert!(!fits.status[row].is_converged() || off < 1e-3, "{}: {}", fits.status[row], fits.parameters.row(row));
    }
}

#[test]
fn a_parameter_that_is_not_finite_is_no_answer() {
    let growth = || model!(|x; a, b| a * exp(b * x));
    for smallest in [5e-324, 1e-310] {
        let x: Vec<f64> = (1..=6).map(|i| smallest * f64::from(i)).collect();
        let y = array![[1.0, 0.5, 0.4, 0.2, 0.1, 0.05], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]];
        let fits = FitMany::new(growth(), &x, &y).start(&[1.0, -1.0]).fit().unwrap();
        assert!(fits.parameters.iter().all(|parameter| parameter.is_finite()), "{fits:?}");
    }
}

/// A hundredth of the peaks' amplitude a hundred widths away, where their derivatives vanish, and zeros.
#[test]
fn a_peak_that_has_left_the_data_is_not_said_to_be_at_a_minimum_of_its_own() {
    let curves = PEAK.draw::<f64>(peak(), 20, 40, 11);
    for center in [30.0, 100.0, 1e4] {
        let fits = FitMany::new(peak(), &curves.x, &curves.y).start(&[1.0, center, 1.0, 0.0]).fit().unwrap();
        for row in 0..20 {
            let points: Vec<[f64; 3]> = curves.x.iter().zip(curves.row(row).0).map(|(&x, &y)| [x, y, 1.0]).collect();
            let found = fits.parameters.row(row).to_vec();
            let bounds = marquardt::Bounds::unbounded(4);
            let cosine = largest_cosine::<f64, 4>(&peak(), &points, &found, &bounds);
            assert!(!fits.status[row].is_converged() || cosine < 1.1e-6, "{}: {cosine:e}, {found:?}", fits.status[row]);
        }
    }
}

/// A peak that vanishes has any centre and width.
#[test]
fn zeros_are_fitted_by_peaks() {
    fn check<T: Real>(peak: impl Model<T>) {
        let x: Vec<T> = (0..64).map(|i| T::from_f64(f64::from(i) / 6.4 - 5.0)).collect();
        let wave = |fit: usize, j: usize| (7.0 * fit as f64 + 3.0 * j as f64).sin();
        let start = |(fit, j)| T::from_f64([1.0, 0.0, 1.0, 0.2][j] + [0.5, 3.0, 0.5, 0.1][j] * wave(fit, j));
        let fits = FitMany::new(peak, &x[..], &Array2::from_elem((300, 64), T::ZERO))
            .start(&Array2::from_shape_fn((300, 4), start))
            .fit()
            .unwrap();
        for fit in 0..300 {
            let [amplitude, offset]: [f64; 2] = [0, 3].map(|j| fits.parameters[[fit, j]].to_f64().abs());
            assert!(fits.status[fit].is_converged(), "{fit}: {}", fits.status[fit]);
            assert!(amplitude.max(offset) < 1e-3, "{fit}: {amplitude}, {offset}");
        }
    }
    check::<f64>(peak());
    check::<f32>(peak());
}

/// Under a robust loss too, whose scale would be that of residuals which vanish.
#[test]
fn data_that_are_all_zero_are_fitted() {
    let (x, y) = ([1.0, 2.0, 3.0, 4.0, 5.0], Array2::zeros((3, 5)));
    let starts = array![[1.0, 1.0], [1e-60, -3.0], [-7e5, 2e-3]];
    let fits = || FitMany::new(line(), &x, &y).start(&starts);
    for fits in [fits().fit().unwrap(), fits().robust(Loss::Huber).fit().unwrap()] {
        for row in 0..3 {
            let (status, cost) = (fits.status[row], fits.cost[row]);
            let size = 1.0 + starts.row(row).dot(&starts.row(row));
            assert!(status.is_converged() && cost < 1e-20 * size, "{status}: {cost}");
        }
    }
}
