//! Counts, by the Poisson likelihood.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::curve::{FitManyError, NanPolicy};
use marquardt::solver::FitStatus;
use marquardt::{CurveError, CurveFit, FitMany, Formula, Model, Real, model};
use ndarray::{Array2, array};
use rand_distr::{Distribution, Poisson};

const POINTS: usize = 32;

/// Decays of one lifetime and several heights; every third point of a dim one has no count.
fn decays<T: Real>(fits: usize) -> (Vec<T>, Array2<T>) {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let time: Vec<f64> = (0..POINTS).map(|i| 0.25 * i as f64).collect();
    let y = Array2::from_shape_fn((fits, POINTS), |(fit, i)| {
        let mean = 10.0_f64.powi(fit as i32 % 4 + 1) * (-0.7 * time[i]).exp() + 1.5;
        T::from_f64(Poisson::new(mean).unwrap().sample(&mut random))
    });
    (time.into_iter().map(T::from_f64).collect(), y)
}

fn decay<T: Real>() -> impl Model<T> + Copy {
    model!(|t; height, rate, dark| height * exp(-rate * t) + dark)
}

fn starts<T: Real>(fits: usize) -> Array2<T> {
    Array2::from_shape_fn((fits, 3), |(fit, j)| T::from_f64([1.3 * 10.0_f64.powi(fit as i32 % 4 + 1), 0.5, 1.0][j]))
}

/// By `mpmath` 1.3, in 30 digits: where the gradient of the likelihood vanishes, the Fisher information there, half the deviance.
#[test]
fn it_is_the_greatest_likelihood() {
    let time: Vec<f64> = (0..POINTS).map(|i| 0.25 * i as f64).collect();
    let y = array![
        [
            9., 7., 9., 4., 6., 5., 3., 2., 3., 1., 2., 1., 2., 0., 1., 1., 0., 1., 1., 0., 0., 2., 1., 0., 0., 1., 0.,
            1., 0., 0., 1., 0.
        ],
        [
            103., 88., 85., 70., 66., 60., 49., 47., 39., 35., 33., 25., 27., 22., 20., 18., 16., 12., 15., 10., 9.,
            11., 8., 7., 9., 6., 5., 7., 4., 5., 6., 4.
        ],
    ];
    let expected = [
        (
            [9.47470018027151, 0.8005496672086135, 0.37031794178310407],
            [1.9757831464089306, 0.19755805528821688, 0.21872216350600787],
            9.840074524441333,
        ),
        (
            [102.0303085380592, 0.5009337049577202, 2.1861605070611323],
            [5.35949743987583, 0.04323825835939874, 1.4076153209072102],
            2.36015809555304,
        ),
    ];
    let fits = FitMany::new(decay(), &time, &y).start(&[20.0, 0.6, 1.0]).counts().ftol(1e-19).fit().unwrap();
    for (fit, (parameters, errors, cost)) in expected.into_iter().enumerate() {
        assert_eq!(fits.status[fit], FitStatus::Converged);
        assert!((fits.cost[fit] - cost).abs() < 1e-12 * cost, "{} instead of {cost}", fits.cost[fit]);
        for j in 0..3 {
            let (found, error) = (fits.parameters[[fit, j]], fits.standard_errors[[fit, j]]);
            assert!((found - parameters[j]).abs() < 1e-9 * parameters[j], "{found} instead of {}", parameters[j]);
            assert!((error - errors[j]).abs() < 1e-8 * errors[j], "{error} instead of {}", errors[j]);
        }
    }
}

/// Each is the fit of a single curve, in lockstep by the model, in tiles by a formula, and one by one.
#[test]
fn each_is_the_fit_that_it_would_be_alone() {
    let (time, y) = decays::<f64>(40);
    let starts = starts(40);
    let formula = Formula::with_predictors("height*exp(-rate*t) + dark", ["t"]).unwrap();
    let in_lanes = FitMany::new(decay(), &time, &y).start(&starts).counts().fit().unwrap();
    let in_tiles = FitMany::new(formula.clone(), &time, &y).start(&starts).counts().fit().unwrap();
    for fit in 0..40 {
        let counts = y.row(fit).to_vec();
        let alone = CurveFit::model(decay(), &time, &counts, &starts.row(fit).to_vec()).counts().fit().unwrap();
        for fits in [&in_lanes, &in_tiles] {
            assert!(fits.status[fit].is_converged(), "{fit}: {}", fits.status[fit]);
            for (j, parameter) in alone.parameters().iter().enumerate() {
                let (found, error) = (fits.parameters[[fit, j]], fits.standard_errors[[fit, j]]);
                assert!(
                    (found - parameter.value).abs() < 1e-5 * parameter.standard_error,
                    "{fit}: {found}, {}",
                    parameter.value
                );
                assert!(
                    (error / parameter.standard_error - 1.0).abs() < 1e-5,
                    "{fit}: {error}, {}",
                    parameter.standard_error
                );
            }
        }
    }
}

#[test]
fn single_precision_finds_them() {
    let (time, y) = decays::<f32>(40);
    let (exact_time, exact) = decays::<f64>(40);
    let single = FitMany::new(decay(), &time, &y).start(&starts(40)).counts().fit().unwrap();
    let double = FitMany::new(decay(), &exact_time, &exact).start(&starts(40)).counts().fit().unwrap();
    for fit in 0..40 {
        assert!(single.status[fit].is_converged(), "{fit}: {}", single.status[fit]);
        for j in 0..3 {
            let difference = f64::from(single.parameters[[fit, j]]) - double.parameters[[fit, j]];
            assert!(difference.abs() < 0.02 * double.standard_errors[[fit, j]], "{fit}, {j}: {difference}");
        }
    }
}

#[test]
fn points_that_are_missing_take_no_part() {
    let (time, mut y) = decays::<f64>(8);
    let starts = starts(8);
    let kept: Vec<usize> = (0..POINTS).filter(|i| i % 5 != 2).collect();
    let fewer_time: Vec<f64> = kept.iter().map(|&i| time[i]).collect();
    let fewer = Array2::from_shape_fn((8, kept.len()), |(fit, i)| y[[fit, kept[i]]]);
    (0..8).for_each(|fit| (0..POINTS).filter(|i| i % 5 == 2).for_each(|i| y[[fit, i]] = f64::NAN));
    let omitted = FitMany::new(decay(), &time, &y).start(&starts).counts().nan_policy(NanPolicy::Omit).fit().unwrap();
    let without = FitMany::new(decay(), &fewer_time, &fewer).start(&starts).counts().fit().unwrap();
    for (found, expected) in omitted.parameters.iter().zip(&without.parameters) {
        assert!((found - expected).abs() < 1e-7 * expected.abs(), "{found} instead of {expected}");
    }
    assert_eq!(
        FitMany::new(decay(), &time, &y).start(&starts).counts().fit().unwrap().status[3],
        FitStatus::NonFiniteData
    );
}

#[test]
fn what_is_no_count_is_refused() {
    let (time, mut y) = decays::<f64>(9);
    let whole = FitMany::new(decay(), &time, &y).start(&starts(9)).counts().fit().unwrap();
    y[[4, 7]] = -1.0;
    y[[6, 0]] = 0.5;
    for policy in [NanPolicy::Raise, NanPolicy::Omit] {
        let fits = FitMany::new(decay(), &time, &y).start(&starts(9)).counts().nan_policy(policy).fit().unwrap();
        assert_eq!([fits.status[4], fits.status[6]], [FitStatus::NegativeCount, FitStatus::FractionalCount]);
        assert_eq!(fits.converged(), 7);
    }
    let fits = FitMany::new(decay(), &time, &y).start(&starts(9)).counts().fit().unwrap();
    assert_eq!(fits.parameters.row(5), whole.parameters.row(5));
    // A mean that is not positive is no start.
    let fits = FitMany::new(decay(), &time, &y).start(&[1.0, 0.5, -2.0]).counts().fit().unwrap();
    assert_eq!((fits.status[0], fits.converged()), (FitStatus::NonFiniteStart, 0));
    let error = FitMany::new(decay(), &time, &y).start(&starts(9)).counts().sigma(&[1.0; POINTS]).fit();
    let FitManyError::Options(error) = error.unwrap_err() else { panic!("not of the options") };
    assert!(matches!(*error, CurveError::Conflict { first: "counts", second: "sigma", .. }));
    let nothing = Array2::zeros((3, POINTS));
    let fits = FitMany::new(decay(), &time, &nothing).start(&[1.0, 0.5, 1.0]).counts().fit().unwrap();
    assert!(fits.parameters.iter().all(|parameter| parameter.is_finite()), "{fits:?}");
}
