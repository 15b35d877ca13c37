//! The bootstrap: its standard errors, its determinism, and what fails.

use std::sync::atomic::{AtomicUsize, Ordering};

use marquardt::curve::{Bootstrap, BootstrapError, Curve, FitFailure, Interval, StatisticsError};
use marquardt::solver::{CancelToken, Status};
use marquardt::{CurveError, CurveFit, FittedCurve};
use ndarray::Array2;

/// About `5 exp(−0.4 x) + 1`, with noise of standard deviation 0.1.
fn data() -> (Vec<f64>, Vec<f64>) {
    let x: Vec<f64> = (0..24).map(|i| 0.4 * f64::from(i)).collect();
    let noise = |i: usize| 0.1 * 2.0_f64.sqrt() * ((1.7 * i as f64 + 0.3 * (i * i) as f64).sin());
    let y = x.iter().enumerate().map(|(i, x)| 5.0 * (-0.4 * x).exp() + 1.0 + noise(i)).collect();
    (x, y)
}

fn fit<'a>(x: &'a [f64], y: &'a [f64]) -> CurveFit<'a, f64, impl Curve<f64> + 'a> {
    CurveFit::new(|x, [a, k, c]| a * (-k * x).exp() + c, x, y, [4.0, 0.5, 0.5]).names(["a", "k", "c"])
}

/// Standard errors of the bootstrap over those of the fit.
#[track_caller]
fn assert_near(fit: &FittedCurve<'_, f64>, bootstrap: &Bootstrap<f64>, tolerance: f64) {
    assert!(bootstrap.failed().is_empty(), "{:?}", bootstrap.failed());
    for (parameter, error) in fit.parameters().iter().zip(bootstrap.standard_errors()) {
        let ratio = error / parameter.standard_error;
        assert!((ratio - 1.0).abs() < tolerance, "{}: {ratio}", parameter.name);
    }
}

/// A standard error of 200 replicates is itself known to 5 %.
#[test]
fn standard_errors_are_near_the_asymptotic_ones() {
    let (x, y) = data();
    let fit = fit(&x, &y).fit().unwrap();
    let run = |resampling: marquardt::curve::Resampling<'_, '_, f64>| resampling.replicates(200).seed(1).run().unwrap();
    let residuals = run(fit.bootstrap());
    assert_near(&fit, &residuals, 0.17);
    assert_near(&fit, &run(fit.bootstrap().parametric()), 0.17);
    assert_near(&fit, &run(fit.bootstrap().cases()), 0.5);

    assert_eq!(residuals.estimates().dim(), (200, 3));
    assert_eq!(residuals.names(), ["a", "k", "c"]);
    let rates = residuals.estimates().column(1).to_owned();
    let variance = (&rates - rates.mean().unwrap()).mapv(|off| off * off).sum() / 199.0;
    assert!((residuals.covariance()[[1, 1]] / variance - 1.0).abs() < 1e-12);
    for level in [0.0, 1.0, f64::NAN] {
        assert!(matches!(residuals.percentile_interval("k", level), Err(StatisticsError::Level { .. })));
    }
    let (found, errors) = (residuals.covariance(), residuals.standard_errors());
    let correlation = found[[1, 2]] / (errors[1] * errors[2]);
    assert!((correlation - fit.covariance().correlation()[[1, 2]]).abs() < 0.15, "{correlation}");
    for (parameter, bias) in fit.parameters().iter().zip(residuals.bias()) {
        let (value, error) = (parameter.value, parameter.standard_error);
        assert!(bias.abs() < 0.3 * error, "{}: {bias}", parameter.name);
        let Interval { low, high } = residuals.percentile_interval(&parameter.name, 0.95).unwrap();
        assert!(((high - low) / (2.0 * 2.08 * error) - 1.0).abs() < 0.2);
        let mirrored = residuals.basic_interval(&parameter.name, 0.95).unwrap();
        assert!(
            (mirrored.low - (2.0 * value - high)).abs() < 1e-12 && (mirrored.high - (2.0 * value - low)).abs() < 1e-12
        );
    }
    let error = residuals.percentile_interval("rate", 0.95).unwrap_err().to_string();
    assert_eq!(error, "there is no parameter \"rate\"; there are \"a\", \"k\", \"c\"");
    assert!(matches!(residuals.basic_interval("a", 95.0), Err(StatisticsError::Level { level: 95.0 })));
}

#[test]
fn a_seed_gives_the_same_replicates_whatever_the_number_of_threads() {
    let (x, y) = data();
    let fit = fit(&x, &y).fit().unwrap();
    let run = |seed: u64| fit.bootstrap().replicates(12).seed(seed).run().unwrap().estimates().to_owned();
    let first = run(7);
    assert_eq!(first, run(7));
    assert_ne!(first, run(8));
    #[cfg(feature = "progress")]
    assert_eq!(first, fit.bootstrap().replicates(12).seed(7).progress().run().unwrap().estimates());
    // More replicates go on where fewer ended.
    let more = fit.bootstrap().replicates(15).seed(7).run().unwrap();
    assert_eq!(first, more.estimates().slice(ndarray::s![..12, ..]));
    #[cfg(feature = "rayon")]
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(first, pool.install(|| run(7)));
    }
}

#[test]
fn known_noise_is_used_as_it_is() {
    let (x, y) = data();
    let sigma: Vec<f64> = x.iter().map(|x| 0.3 + 0.05 * x).collect();
    let with_sigma = fit(&x, &y).sigma(&sigma).absolute_sigma(true).fit().unwrap();
    assert_near(&with_sigma, &with_sigma.bootstrap().parametric().replicates(150).seed(2).run().unwrap(), 0.2);
    // Correlated, in blocks of two.
    let covariance = Array2::from_shape_fn((24, 24), |(i, j)| match (i / 2 == j / 2, i == j) {
        (true, true) => 0.04,
        (true, false) => 0.03,
        _ => 0.0,
    });
    let correlated = fit(&x, &y).data_covariance(&covariance).absolute_sigma(true).fit().unwrap();
    assert_near(&correlated, &correlated.bootstrap().parametric().replicates(60).seed(2).run().unwrap(), 0.3);
    let error = correlated.bootstrap().cases().run().unwrap_err();
    assert!(matches!(error, BootstrapError::CorrelatedCases), "{error}");
}

#[test]
fn counts_are_drawn_from_the_poisson_distribution() {
    let x: Vec<f64> = (0..25).map(|i| 0.2 * f64::from(i)).collect();
    let y: Vec<f64> =
        x.iter().enumerate().map(|(i, x)| (60.0 * (-0.7 * x).exp() + [12.0, 19.0, 15.0][i % 3]).round()).collect();
    let fit = fit(&x, &y).start("a", 50.0).start("c", 12.0).counts().fit().unwrap();
    assert_near(&fit, &fit.bootstrap().replicates(150).seed(3).run().unwrap(), 0.2);
    let error = fit.bootstrap().residuals().run().unwrap_err();
    assert!(matches!(error, BootstrapError::ResidualsOfCounts), "{error}");
}

#[test]
fn a_replicate_that_fails_does_not_fail_the_run() {
    // Three of four rows different are enough for the fit, and two are not.
    let (x, y) = ([0.0, 1.0, 2.0, 4.0], [5.9, 4.4, 3.2, 2.1]);
    let fit = fit(&x, &y).fit().unwrap();
    let bootstrap = fit.bootstrap().cases().replicates(60).seed(4).run().unwrap();
    assert_eq!(bootstrap.estimates().nrows() + bootstrap.failed().len(), 60);
    let too_few = |failed: &&marquardt::curve::FailedReplicate| {
        matches!(failed.reason, FitFailure::Data(CurveError::TooFewObservations { observations: 1..=2, parameters: 3 }))
    };
    let count = bootstrap.failed().iter().filter(too_few).count();
    // By hand: 84/256 + 4/256 of the draws have at most two different rows.
    assert!((10..=32).contains(&count), "{count}");
    assert!(bootstrap.failed().iter().all(|failed| failed.index < 60));
}

#[test]
fn progress_is_told_and_a_token_ends_the_run() {
    let (x, y) = data();
    let fit = fit(&x, &y).fit().unwrap();
    let (calls, token) = (AtomicUsize::new(0), CancelToken::new());
    let watch = |done: usize, total: usize| {
        assert!((1..=20).contains(&done) && total == 20);
        if calls.fetch_add(1, Ordering::Relaxed) == 4 {
            token.cancel();
        }
    };
    let bootstrap = fit.bootstrap().replicates(20).observe(watch).cancel_token(token.clone()).run().unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 20);
    let done = bootstrap.estimates().nrows();
    assert!(done >= 5 && bootstrap.failed().len() == 20 - done);
    let cancelled = |reason: &FitFailure| matches!(reason, FitFailure::NotConverged(Status::Cancelled));
    assert!(bootstrap.failed().iter().all(|failed| cancelled(&failed.reason)));
    #[cfg(not(feature = "rayon"))]
    assert_eq!(done, 5);
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let (x, y) = ([0.0, 1.0, 3.0], [5.9, 4.4, 2.5]);
    let fit = fit(&x, &y).fit().unwrap();
    assert!(matches!(fit.bootstrap().replicates(0).run().unwrap_err(), BootstrapError::NoReplicates));
    assert!(matches!(fit.bootstrap().run().unwrap_err(), BootstrapError::NoDegreesOfFreedom));
    assert!(matches!(fit.bootstrap().parametric().run().unwrap_err(), BootstrapError::NoDegreesOfFreedom));
    let all_lost = fit.bootstrap().cases().replicates(1).seed(0).run().unwrap();
    assert_eq!(all_lost.estimates().nrows(), 0);
    assert!(all_lost.standard_errors().iter().chain(&all_lost.bias()).all(|number| number.is_nan()));
}

/// Residuals of a mean are shorter than the noise by `√(1 − 1/n)`, which three points make visible.
#[test]
fn residuals_are_freed_from_the_leverage_of_their_rows() {
    let y = [1.0, 2.5, 1.6];
    let fit = CurveFit::new(|_: f64, [a]| a, &[0.0, 1.0, 2.0], &y, [1.0]).fit().unwrap();
    let bootstrap = fit.bootstrap().replicates(4000).seed(2).run().unwrap();
    assert_near(&fit, &bootstrap, 0.05);
}

/// A line through zero leaves residuals of data with an offset on one side: drawn as they are they would move the slope.
#[test]
fn residuals_are_centred() {
    let x: Vec<f64> = (1..=12).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| x + 2.0 + 0.3 * (3.0 * x).sin()).collect();
    let fit = CurveFit::new(|x, [a]| a * x, &x, &y, [1.0]).fit().unwrap();
    let mean = fit.residuals().iter().sum::<f64>() / 12.0;
    let bootstrap = fit.bootstrap().replicates(2000).seed(3).run().unwrap();
    let moved = mean * x.iter().sum::<f64>() / x.iter().map(|x| x * x).sum::<f64>();
    assert!(bootstrap.bias()[0].abs() < 0.2 * moved.abs(), "{} beside {moved}", bootstrap.bias()[0]);
}
