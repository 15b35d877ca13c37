//! Fits of more parameters than lanes are worth: the settings hold for them, too, and each error has its status.

use marquardt::{Bounds, CancelToken, FitMany, FitStatus, NanPolicy};
use ndarray::{Array2, s};

use crate::curves::{Curves, TWO_PEAKS_ON_PARABOLA, two_peaks_on_parabola};

const FITS: usize = 6;

fn curves() -> Curves<f64> {
    TWO_PEAKS_ON_PARABOLA.draw(two_peaks_on_parabola(), FITS, 60, 4)
}

fn fit<'a>(curves: &'a Curves<f64>) -> FitMany<'a, f64, impl crate::curves::Formula> {
    FitMany::new(two_peaks_on_parabola(), &curves.x, &curves.y).start(&curves.start)
}

#[test]
fn a_larger_tolerance_ends_fits_earlier() {
    let curves = curves();
    let (exact, rough) = (fit(&curves).fit().unwrap(), fit(&curves).ftol(0.1).fit().unwrap());
    assert_eq!((exact.converged(), rough.converged()), (FITS, FITS));
    for row in 0..FITS {
        assert!(rough.iterations[row] < exact.iterations[row], "{} and {}", rough.iterations, exact.iterations);
        assert!(rough.cost[row] < 1.2 * exact.cost[row] && rough.cost[row] > exact.cost[row]);
    }
}

#[test]
fn what_prevents_a_fit_is_its_status() {
    let mut curves = curves();
    curves.y[[0, 7]] = f64::NAN;
    curves.y.row_mut(1).fill(1e200);
    curves.start[[2, 3]] = f64::INFINITY;
    // 0 / 0 at the centre.
    curves.start[[3, 1]] = curves.x[20];
    curves.start[[3, 2]] = 0.0;
    curves.start[[4, 8]] = 1e3;
    let bounds = Bounds::unbounded(9).with(8, -1e2, 1e2).unwrap();
    let fits = fit(&curves).bounds(bounds).fit().unwrap();
    use FitStatus::*;
    let expected = [NonFiniteData, Overflow, NonFiniteStart, NonFiniteStart, StartOutOfBounds, Converged];
    assert_eq!(fits.status.to_vec(), expected);

    curves.y.slice_mut(s![0, 5..]).fill(f64::NAN);
    assert_eq!(fit(&curves).nan_policy(NanPolicy::Omit).fit().unwrap().status[0], TooFewPoints);

    let token = CancelToken::new();
    token.cancel();
    assert!(fit(&curves).cancel_token(token).fit().unwrap().status.iter().all(|&status| status == Cancelled));
}

#[test]
fn where_all_bounds_are_equal_there_is_nothing_to_fit() {
    let mut curves = curves();
    let at = curves.start.row(0).to_vec();
    let held = Array2::from_shape_fn((FITS, 9), |(_, j)| at[j]);
    curves.start.assign(&held);
    let fits = fit(&curves).bounds(Bounds::new(at.clone(), at.clone()).unwrap()).fit().unwrap();
    for row in 0..FITS {
        assert_eq!((fits.status[row], fits.iterations[row]), (FitStatus::Converged, 0));
        assert_eq!(
            (fits.parameters.row(row).to_vec(), fits.standard_errors.row(row).to_vec()),
            (at.clone(), vec![0.0; 9])
        );
        assert!(fits.cost[row] > 0.0);
    }
}
