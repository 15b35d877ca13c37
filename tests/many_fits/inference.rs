//! The statistics of each of many fits are those of the single fit.

use marquardt::curve::{FitInference, FitOptions, ManyFits};
use marquardt::models::{ExponentialDecayOffset, Linear};
use marquardt::{CurveFit, FitMany, Loss, Real, Tie};
use ndarray::{Array2, array};

const NAMES: [&str; 3] = ["amplitude", "decay", "offset"];
const START: [f64; 3] = [4.0, 1.3, 0.2];

/// Decays in units of `10^scale`, and standard deviations that differ from point to point.
fn decays<T: Real>(scale: i32) -> (Vec<T>, Array2<T>, Vec<T>) {
    let (unit, x): (f64, Vec<f64>) = (10_f64.powi(scale), (0..25).map(|i| 0.2 * f64::from(i)).collect());
    let y = Array2::from_shape_fn((5, 25), |(fit, i)| {
        let noise = 0.03 * ((11 * fit + 5 * i) as f64).sin();
        T::from_f64(unit * ((4.0 + 0.3 * fit as f64) * (-x[i] / 1.2).exp() + 0.5 + noise))
    });
    let sigma = x.iter().map(|x| T::from_f64(unit * (0.02 + 0.003 * x))).collect();
    (x.into_iter().map(T::from_f64).collect(), y, sigma)
}

/// Each of the statistics agrees to this many standard errors.
fn assert_alike<T: Real>(many: &FitInference<T>, single: &FitInference<T>, tolerance: f64) {
    assert_eq!(many.degrees_of_freedom(), single.degrees_of_freedom());
    let close = |a: T, b: T, unit: T| {
        let (a, b, unit) = (a.to_f64(), b.to_f64(), unit.to_f64());
        assert!(a == b || (a - b).abs() <= tolerance * unit, "{a} is not {b}, in units of {unit}");
    };
    for (one, other) in many.parameters().iter().zip(single.parameters()) {
        assert_eq!((&one.name, one.state), (&other.name, other.state));
        close(one.value, other.value, other.standard_error);
        close(one.standard_error, other.standard_error, other.standard_error);
        for level in [0.3, 0.95] {
            let [one_interval, interval] = [many, single].map(|fit| fit.confidence_interval(&one.name, level).unwrap());
            close(one_interval.low, interval.low, other.standard_error);
            close(one_interval.high, interval.high, other.standard_error);
        }
    }
    let [one, other] =
        [many, single].map(|fit| fit.derived(&Tie::parse("amplitude * decay - offset").unwrap()).unwrap());
    close(one.value, other.value, other.standard_error);
    close(one.standard_error, other.standard_error, other.standard_error);
    assert_eq!(one.degrees_of_freedom, other.degrees_of_freedom);
    let correlations = many.covariance().correlation();
    for (&one, &other) in correlations.iter().zip(&single.covariance().correlation()) {
        close(one, other, T::ONE);
    }
    // Where the size of the noise is not that of the residuals, all that is known is the product.
    if many.residual_standard_deviation().is_some() {
        for (&one, &other) in many.covariance().unscaled().diag().iter().zip(single.covariance().unscaled().diag()) {
            close(one, other, other);
        }
    }
    if let (Some(one), Some(other)) = (many.residual_standard_deviation(), single.residual_standard_deviation()) {
        close(one, other, other);
    }
}

fn assert_single<T: Real>(options: FitOptions<T>, has_sigma: bool, scale: i32, tolerance: f64) {
    let (x, y, sigma) = decays::<T>(scale);
    let unit = 10_f64.powi(scale);
    let start = [unit * START[0], START[1], unit * START[2]].map(T::from_f64);
    let mut fits =
        FitMany::new(ExponentialDecayOffset, &x, &y).start(&start).options(options.clone()).covariances(true);
    if has_sigma {
        fits = fits.sigma(&sigma);
    }
    let fits = fits.into_owned().fit().unwrap();
    for (fit, y) in y.rows().into_iter().enumerate() {
        let mut single =
            CurveFit::model(ExponentialDecayOffset, &x, y.as_slice().unwrap(), &start).options(options.clone());
        if has_sigma {
            single = single.sigma(&sigma);
        }
        assert_alike(&fits.inference(fit).unwrap(), single.fit().unwrap().inference(), tolerance);
    }
}

#[test]
fn of_any_options_and_units() {
    let options = FitOptions::<f64>::new;
    for scale in [-100, -3, 0, 80] {
        assert_single(options(), false, scale, 1e-4);
        assert_single(options(), true, scale, 1e-4);
        assert_single(options().absolute_sigma(true), true, scale, 1e-4);
        assert_single(options().robust(Loss::Huber), false, scale, 1e-3);
    }
    assert_single(options().fix_at("offset", 0.45), false, 0, 1e-4);
    assert_single(options().tie("offset", Tie::parse("amplitude / 9").unwrap()), true, 0, 1e-4);
    assert_single(options().bounds("decay", 1.3..), false, 0, 1e-4);
    assert_single(options().bounds("decay", ..=1.5).bounds("offset", ..=0.4), false, 0, 1e-4);
    assert_single(options().absolute_sigma(true).prior("offset", 0.4, 0.02), true, 0, 1e-4);
    assert_single(FitOptions::<f32>::new(), true, 0, 2e-2);
    assert_single(FitOptions::<f32>::new().absolute_sigma(true), true, 0, 2e-2);
}

#[test]
fn of_counts() {
    let x: Vec<f64> = (0..20).map(|i| 0.25 * f64::from(i)).collect();
    let y = Array2::from_shape_fn((3, 20), |(fit, i)| ((20.0 + fit as f64) * (-x[i]).exp() + 3.0).round());
    let fits = FitMany::new(ExponentialDecayOffset, &x, &y).start(&[15.0, 1.2, 2.0]).counts().covariances(true);
    let fits = fits.fit().unwrap();
    for (fit, y) in y.rows().into_iter().enumerate() {
        let single = CurveFit::model(ExponentialDecayOffset, &x, y.as_slice().unwrap(), &[15.0, 1.2, 2.0]).counts();
        let inference = fits.inference(fit).unwrap();
        assert_eq!(inference.residual_standard_deviation(), None);
        assert_alike(&inference, single.fit().unwrap().inference(), 1e-4);
    }
}

#[test]
fn none_where_nothing_is_known() {
    let fit = |x: &[f64], y: &Array2<f64>, covariances: bool| -> ManyFits<f64> {
        FitMany::new(ExponentialDecayOffset, x, y).start(&START).covariances(covariances).fit().unwrap()
    };
    let (x, mut y, _) = decays::<f64>(0);
    assert!(fit(&x, &y, false).inference(0).is_none());
    y[[1, 3]] = f64::NAN;
    let found = fit(&x, &y, true);
    assert!(found.inference(0).is_some() && found.inference(1).is_none() && found.inference(5).is_none());
    assert_eq!((found.degrees_of_freedom[0], found.degrees_of_freedom[1]), (22, 0));
    // As many parameters as points.
    let found = fit(&[0.0, 1.0, 2.0], &array![[4.0, 2.0, 1.2]], true);
    assert!(found.status[0].is_converged() && found.inference(0).is_none());
    assert_eq!(found.names, NAMES);
}

#[test]
fn none_where_variances_underflow() {
    let x: Vec<f32> = (0..25).map(|i| 1e8 * i as f32).collect();
    let y = Array2::from_shape_fn((1, 25), |(_, i)| 1e-13 * (1.0 + 0.3 * i as f32) + 3e-15 * (5.0 * i as f32).sin());
    let found = FitMany::new(Linear, &x, &y).start(&[3e-22, 1e-13]).covariances(true).fit().unwrap();
    let (errors, covariances) = (found.standard_errors.row(0), found.covariances.as_ref().unwrap());
    assert!(found.status[0].is_converged() && errors.iter().all(|&error| error > 0.0), "{found:?}");
    assert!(covariances.iter().any(|&entry| entry == 0.0));
    assert!(found.inference(0).is_none());
}

#[test]
fn undetermined_parameters_and_perfect_fits() {
    let x: Vec<f64> = (0..9).map(f64::from).collect();
    let line = || marquardt::Formula::parse("(amplitude + decay) * x + offset").unwrap();
    let y = Array2::from_shape_fn((1, 9), |(_, i)| 2.0 * x[i] + 0.1 * (3.0 * x[i]).sin());
    let found = FitMany::new(line(), &x, &y).start(&[1.0, 0.5, 0.0]).covariances(true).fit().unwrap();
    let single = CurveFit::model(line(), &x, y.as_slice().unwrap(), &[1.0, 0.5, 0.0]).fit().unwrap();
    let inference = found.inference(0).unwrap();
    assert_eq!(inference.covariance().undetermined(), single.covariance().undetermined());
    let states = |fit: &FitInference<f64>| fit.parameters().iter().map(|parameter| parameter.state).collect::<Vec<_>>();
    assert_eq!(states(&inference), states(single.inference()));
    assert!(inference.derived(&Tie::parse("amplitude").unwrap()).unwrap().standard_error.is_infinite());
    let [one, other] = [&inference, single.inference()].map(|fit| fit.confidence_interval("offset", 0.9).unwrap());
    assert!((one.low - other.low).abs() < 1e-9 && (one.high - other.high).abs() < 1e-9);

    let y = Array2::from_elem((1, 9), 0.0);
    let found = FitMany::new(line(), &x, &y)
        .start(&[0.0, 0.5, 0.0])
        .fix("decay")
        .tie("amplitude", Tie::parse("-decay").unwrap());
    let inference = found.covariances(true).fit().unwrap().inference(0).unwrap();
    let zero = inference.confidence_interval("offset", 0.95).unwrap();
    assert!(zero.contains(0.0) && zero.high - zero.low < 1e-100, "{zero:?}");
}
