//! Fits of many parameters, in lockstep and one after the other: the settings hold for them, too, each error has its status, and
//! their bits depend on nothing but themselves.

use marquardt::curve::{ManyFits, NanPolicy};
use marquardt::solver::{CancelToken, FitStatus};
use marquardt::{Bounds, FitMany, Real};
use ndarray::{Array2, Axis, s};

use crate::curves::{Curves, Peaks, assert_identical, largest_cosine, within};

const FITS: usize = 6;

/// The fewest parameters and the most that the wider lockstep has, and more.
const PARAMETERS: [usize; 3] = [9, 16, 20];

fn curves(parameters: usize) -> Curves<f64> {
    Peaks { parameters }.draw(FITS, 120, 4)
}

fn fit(curves: &Curves<f64>) -> FitMany<'_, f64, Peaks> {
    FitMany::new(Peaks { parameters: curves.start.ncols() }, &curves.x, &curves.y).start(&curves.start)
}

#[test]
fn a_larger_tolerance_ends_fits_earlier() {
    for curves in PARAMETERS.map(curves) {
        let (exact, rough) = (fit(&curves).fit().unwrap(), fit(&curves).ftol(0.1).fit().unwrap());
        assert_eq!((exact.converged(), rough.converged()), (FITS, FITS));
        for row in 0..FITS {
            assert!(rough.iterations[row] < exact.iterations[row], "{} and {}", rough.iterations, exact.iterations);
            assert!(rough.cost[row] < 1.2 * exact.cost[row] && rough.cost[row] > exact.cost[row]);
        }
    }
}

/// Wherever it is among others, and in either precision.
#[test]
fn neighbours_do_not_change_a_bit() {
    fn check<T: Real>(parameters: usize) {
        const ROWS: usize = 5;
        let model = Peaks { parameters };
        let curves = model.draw::<T>(ROWS, 100, 8);
        let order = |rows: &[usize]| {
            let [y, start] = [&curves.y, &curves.start].map(|of| of.select(Axis(0), rows));
            FitMany::new(model, &curves.x, &y).start(&start).fit().unwrap()
        };
        let (forwards, backwards) = (order(&[0, 1, 2, 3, 4]), order(&[4, 4, 3, 2, 1, 0]));
        let bits = |fits: &ManyFits<T>, row: usize| {
            let numbers = fits.parameters.row(row).into_iter().chain(fits.standard_errors.row(row));
            let bits: Vec<u64> = numbers.chain([&fits.cost[row]]).map(|number| number.to_f64().to_bits()).collect();
            (bits, fits.iterations[row])
        };
        for row in 0..ROWS {
            assert_eq!(bits(&forwards, row), bits(&backwards, ROWS - row), "{parameters} parameters, row {row}");
        }
        assert_eq!(bits(&forwards, 3), bits(&order(&[3]), 0), "{parameters} parameters");
    }
    for parameters in [9, 12, 13, 20] {
        check::<f64>(parameters);
        check::<f32>(parameters);
    }
}

#[cfg(feature = "rayon")]
#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    // More than the fits that a thread does at a time.
    const FITS: usize = 70;
    for curves in PARAMETERS.map(|parameters| Peaks { parameters }.draw::<f64>(FITS, 60, 3)) {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fit(&curves).fit().unwrap())
        };
        assert_identical(&on(1), &on(2), 0..FITS);
    }
}

/// Absurd starts included, no fit is said to be at a minimum where its gradient is not zero.
#[test]
fn far_starts_end_without_false_convergence() {
    const FITS: usize = 16;
    for parameters in [9, 12, 16] {
        let model = Peaks { parameters };
        let mut curves = model.draw::<f64>(FITS, 100, 5);
        for ((row, j), start) in curves.start.indexed_iter_mut() {
            *start += [1.0, 10.0, 1e3, 1e8][row % 4] * (7.0 * (row * parameters + j) as f64).sin();
        }
        let fits = fit(&curves).max_iterations(60).fit().unwrap();
        let bounds = Bounds::unbounded(parameters);
        for row in (0..FITS).filter(|&row| fits.status[row] == FitStatus::Converged) {
            let points: Vec<[f64; 3]> = curves.x.iter().zip(curves.row(row).0).map(|(&x, &y)| [x, y, 1.0]).collect();
            let found = fits.parameters.row(row).to_vec();
            let cosine = largest_cosine::<f64, 16>(&model, &points, &found, &bounds);
            assert!(cosine < 1.1e-6, "{parameters} parameters, row {row}: {cosine:e}, {found:?}");
        }
    }
}

#[test]
fn what_prevents_a_fit_is_its_status() {
    for mut curves in PARAMETERS.map(curves) {
        let parameters = curves.start.ncols();
        curves.y[[0, 7]] = f64::NAN;
        curves.y.row_mut(1).fill(1e200);
        curves.start[[2, 3]] = f64::INFINITY;
        // 0 / 0 at the centre.
        curves.start[[3, 1]] = curves.x[20];
        curves.start[[3, 2]] = 0.0;
        curves.start[[4, 8]] = 1e3;
        let fits = fit(&curves).bounds("b9", -1e2..=1e2).fit().unwrap();
        use FitStatus::*;
        let expected = [NonFiniteData, Overflow, NonFiniteStart, NonFiniteStart, StartOutOfBounds, Converged];
        assert_eq!(fits.status.to_vec(), expected, "{parameters} parameters");

        curves.y.slice_mut(s![0, 5..]).fill(f64::NAN);
        assert_eq!(fit(&curves).nan_policy(NanPolicy::Omit).fit().unwrap().status[0], TooFewPoints);

        let curves = self::curves(parameters);
        let token = CancelToken::new();
        token.cancel();
        assert!(fit(&curves).cancel_token(token).fit().unwrap().status.iter().all(|&status| status == Cancelled));
    }
}

#[test]
fn where_all_bounds_are_equal_there_is_nothing_to_fit() {
    for mut curves in PARAMETERS.map(curves) {
        let parameters = curves.start.ncols();
        let at = curves.start.row(0).to_vec();
        let held = Array2::from_shape_fn((FITS, parameters), |(_, j)| at[j]);
        curves.start.assign(&held);
        let fits = fit(&curves)
            .options(within(&Peaks { parameters }, &Bounds::new(at.clone(), at.clone()).unwrap()))
            .fit()
            .unwrap();
        for row in 0..FITS {
            assert_eq!((fits.status[row], fits.iterations[row]), (FitStatus::Converged, 0));
            assert_eq!(
                (fits.parameters.row(row).to_vec(), fits.standard_errors.row(row).to_vec()),
                (at.clone(), vec![0.0; parameters])
            );
            assert!(fits.cost[row] > 0.0);
        }
    }
}
