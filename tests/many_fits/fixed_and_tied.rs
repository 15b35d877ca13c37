//! Parameters that are fixed or tied, covariances, and robust losses: each fit is what `CurveFit` makes of it.

use marquardt::curve::{FitManyError, FitOptions, ManyFits};
use marquardt::models::{ExponentialDecayOffset, Named};
use marquardt::solver::FitStatus;
use marquardt::{Bounds, CurveError, CurveFit, FitMany, Formula, Model, Real, Tie, model};
use ndarray::{Array2, Axis, array};

use crate::curves::within;

/// Two decays over a background, with a little noise: a row for each fit.
fn decays<T: Real>(fits: usize) -> (Vec<T>, Array2<T>) {
    let x: Vec<f64> = (0..40).map(|i| 0.15 * i as f64).collect();
    let y = Array2::from_shape_fn((fits, 40), |(fit, i)| {
        let height = 3.0 + 0.1 * fit as f64;
        let noise = 0.01 * ((13 * fit + 7 * i) as f64).sin();
        T::from_f64(height * (-x[i] * 0.7).exp() + 0.5 * height * (-x[i] * 2.1).exp() + 0.3 + noise)
    });
    (x.into_iter().map(T::from_f64).collect(), y)
}

const START: [f64; 5] = [3.0, 0.6, 1.5, 2.3, 0.3];

/// What is said of the parameters, by their names.
#[derive(Clone, Copy)]
enum Said {
    Fix(&'static str),
    FixAt(&'static str, f64),
    Tie(&'static str, &'static str),
}

impl Said {
    fn name(&self) -> &'static str {
        match *self {
            Said::Fix(name) | Said::FixAt(name, _) | Said::Tie(name, _) => name,
        }
    }
}

fn many<'a, T: Real, M: Model<T> + Sync>(fits: FitMany<'a, T, M>, said: &[Said]) -> FitMany<'a, T, M> {
    said.iter().fold(fits, |fits, said| match *said {
        Said::Fix(name) => fits.fix(name),
        Said::FixAt(name, value) => fits.fix_at(name, T::from_f64(value)),
        Said::Tie(name, text) => fits.tie(name, Tie::parse(text).unwrap()),
    })
}

/// Each of the fits is the single fit with the same said of its parameters.
fn assert_single<T: Real, M: Model<T> + Clone>(
    model: &M,
    x: &[T],
    y: &Array2<T>,
    said: &[Said],
    bounds: Option<&Bounds<T>>,
    found: &ManyFits<T>,
    tolerance: f64,
) {
    let start = START.map(T::from_f64);
    let covariances = found.covariances.as_ref().unwrap();
    for (fit, y) in y.rows().into_iter().enumerate() {
        assert_eq!(found.status[fit], FitStatus::Converged, "fit {fit}");
        let mut single = CurveFit::model(model.clone(), x, y.as_slice().unwrap(), &start[..model.parameter_count()]);
        for said in said {
            single = match *said {
                Said::Fix(name) => single.fix(name),
                Said::FixAt(name, value) => single.fix_at(name, T::from_f64(value)),
                Said::Tie(name, text) => single.tie(name, Tie::parse(text).unwrap()),
            };
        }
        for (index, name) in found.names.iter().enumerate() {
            if let Some(bounds) = bounds.filter(|_| !said.iter().any(|said| said.name() == name)) {
                let (lower, upper) = (bounds.lower()[index], bounds.upper()[index]);
                single = single.bounds(name, lower..=upper).start(name, start[index].max(lower));
            }
        }
        let single = single.fit().unwrap();
        let close = |a: T, b: T, scale: T| (a - b).abs().to_f64() <= tolerance * (1e-300 + scale.abs().to_f64());
        let matrix = single.covariance().matrix();
        for (index, parameter) in single.parameters().iter().enumerate() {
            let (value, error) = (found.parameters[[fit, index]], found.standard_errors[[fit, index]]);
            assert!(close(value, parameter.value, T::ONE), "{fit} {}: {value} {}", parameter.name, parameter.value);
            let expected = parameter.standard_error;
            assert!(close(error, expected, expected), "{fit} {}: ± {error} {expected}", parameter.name);
            for other in 0..found.names.len() {
                let scale = (matrix[[index, index]] * matrix[[other, other]]).sqrt();
                // Twice the relative error of the standard errors, and that of two correlated parameters.
                assert!(close(covariances[[fit, index, other]], matrix[[index, other]], scale * T::from_f64(5.0)));
            }
        }
        assert!(close(found.cost[fit], single.report().cost, single.report().cost));
    }
}

/// Whatever is said, by whatever model, and in both precisions.
fn all_said<T: Real>(tolerance: f64) {
    let (x, y) = decays::<T>(37);
    let start = START.map(T::from_f64);
    let cases: [&[Said]; 6] = [
        &[],
        &[Said::FixAt("c", 0.3)],
        &[Said::Fix("c")],
        &[Said::Tie("l", "3 * k")],
        &[Said::Tie("b", "a / 2"), Said::Tie("l", "3 * k")],
        &[Said::FixAt("k", 0.7), Said::Tie("l", "2 * k + b / a")],
    ];
    let in_lanes = model!(|x; a, k, b, l, c| a * exp(-k * x) + b * exp(-l * x) + c);
    let formula = Formula::parse("a * exp(-k * x) + b * exp(-l * x) + c").unwrap();
    for said in cases {
        let fits = || many(FitMany::new(in_lanes, &x, &y).start(&start).covariances(true), said);
        assert_single(&in_lanes, &x, &y, said, None, &fits().fit().unwrap(), tolerance);
        let fits = many(FitMany::new(formula.clone(), &x, &y).start(&start).covariances(true), said);
        assert_single(&formula, &x, &y, said, None, &fits.fit().unwrap(), tolerance);

        // Within bounds, of which one holds the background where it is fitted.
        let is_said = |name: &str| said.iter().any(|said| said.name() == name);
        let end = |name: &str, end: f64| if is_said(name) { f64::INFINITY } else { end };
        let lower = ["a", "k", "b", "l", "c"].map(|name| -end(name, if name == "c" { -0.35 } else { 0.0 }));
        let upper = ["a", "k", "b", "l", "c"].map(|name| end(name, 9.0));
        let bounds = Bounds::new(lower.map(T::from_f64).to_vec(), upper.map(T::from_f64).to_vec()).unwrap();
        let mut start = start;
        if !is_said("c") {
            start[4] = T::from_f64(0.4);
        }
        let fits = many(
            FitMany::new(in_lanes, &x, &y).start(&start).options(within(&in_lanes, &bounds)).covariances(true),
            said,
        );
        let fits = fits.fit().unwrap();
        assert_single(&in_lanes, &x, &y, said, Some(&bounds), &fits, tolerance);
        assert!(is_said("c") || fits.parameters.column(4).iter().all(|&c| c == T::from_f64(0.35)));
    }
}

#[test]
fn parameters_are_fixed_and_tied_as_in_a_single_fit() {
    all_said::<f64>(1e-6);
}

#[test]
fn parameters_are_fixed_and_tied_in_single_precision() {
    all_said::<f32>(2e-2);
}

/// Models that are evaluated one by one, and starts of their own.
#[test]
fn each_fit_keeps_the_start_of_its_own() {
    let x: Vec<f64> = (0..25).map(|i| 0.2 * i as f64).collect();
    let true_values = array![[3.0, 1.5, 0.2], [4.0, 2.5, 0.7], [5.0, 0.8, -0.3]];
    let y = Array2::from_shape_fn((3, 25), |(fit, i)| {
        let of = |j| true_values[[fit, j]];
        of(0) * (-x[i] / of(1)).exp() + of(2)
    });
    let start = Array2::from_shape_fn((3, 3), |(fit, j)| if j == 2 { true_values[[fit, 2]] } else { 1.0 });
    let named: Named = "exponential_decay_offset".parse().unwrap();
    let check = |fits: ManyFits<f64>| {
        assert_eq!(fits.converged(), 3);
        let pairs = fits.parameters.iter().zip(&true_values);
        assert!(
            pairs.into_iter().all(|(found, value): (&f64, &f64)| (found - value).abs() < 1e-8),
            "{}",
            fits.parameters
        );
        assert_eq!(fits.parameters.column(2), start.column(2));
        assert!(fits.standard_errors.column(2).iter().all(|&error| error == 0.0));
    };
    check(FitMany::new(ExponentialDecayOffset, &x, &y).start(&start).fix("offset").fit().unwrap());
    check(FitMany::new(named, &x, &y).start(&start).fix("offset").fit().unwrap());
    // Guessed starts give way to a value that is given.
    let fits = FitMany::new(ExponentialDecayOffset, &x, &y).guessed().fix_at("offset", 0.2).fit().unwrap();
    assert!((fits.parameters[[0, 1]] - 1.5).abs() < 1e-8 && fits.parameters.column(2) == array![0.2, 0.2, 0.2]);
}

/// As many as the lockstep takes, and more.
#[test]
fn many_parameters_are_tied() {
    for peaks in [3, 5, 7] {
        let text: Vec<String> = (0..peaks).map(|j| format!("a{j} * exp(-((x - c{j}) / w{j})^2)")).collect();
        let formula = Formula::parse(&text.join(" + ")).unwrap();
        let x: Vec<f64> = (0..90).map(|i| 0.1 * i as f64).collect();
        let center = |j: usize| 0.5 + 8.0 / peaks as f64 * j as f64;
        let y = Array2::from_shape_fn((5, 90), |(fit, i)| {
            let peak = |j: usize| (2.0 + j as f64 + 0.1 * fit as f64) * (-((x[i] - center(j)) / 0.3).powi(2)).exp();
            (0..peaks).map(peak).sum::<f64>()
        });
        let start: Vec<f64> = (0..peaks).flat_map(|j| [2.0, center(j) + 0.02, 0.35]).collect();
        let mut fits = FitMany::new(formula, &x, &y).start(&start);
        for j in 1..peaks {
            fits = fits.tie(&format!("w{j}"), Tie::parse("w0").unwrap());
        }
        let fits = fits.fit().unwrap();
        assert_eq!(fits.converged(), 5, "{peaks} peaks");
        for fit in 0..5 {
            for j in 0..peaks {
                let of_peak = fits.parameters.row(fit);
                let found = [of_peak[3 * j], of_peak[3 * j + 1], of_peak[3 * j + 2]];
                let expected = [2.0 + j as f64 + 0.1 * fit as f64, center(j), 0.3];
                assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-8), "{found:?} {expected:?}");
            }
        }
    }
}

#[test]
fn covariances_are_those_of_the_standard_errors() {
    let (x, y) = decays::<f64>(20);
    let in_lanes = model!(|x; a, k, b, l, c| a * exp(-k * x) + b * exp(-l * x) + c);
    let fits = FitMany::new(in_lanes, &x, &y).start(&START).covariances(true).fit().unwrap();
    let without = FitMany::new(in_lanes, &x, &y).start(&START).fit().unwrap();
    assert!(without.covariances.is_none());
    assert_eq!(without.standard_errors, fits.standard_errors);
    let covariances = fits.covariances.as_ref().unwrap();
    for fit in 0..20 {
        for j in 0..5 {
            let error = fits.standard_errors[[fit, j]];
            assert!((covariances[[fit, j, j]].sqrt() / error - 1.0).abs() < 1e-12);
            for k in 0..j {
                assert_eq!(covariances[[fit, j, k]], covariances[[fit, k, j]]);
                assert!(covariances[[fit, j, k]].abs() <= error * fits.standard_errors[[fit, k]]);
            }
        }
    }
    // Where there was no fit there is none.
    let mut broken = y.clone();
    broken[[3, 0]] = f64::NAN;
    let fits = FitMany::new(in_lanes, &x, &broken).start(&START).covariances(true).fit().unwrap();
    assert!(fits.covariances.as_ref().unwrap().index_axis(ndarray::Axis(0), 3).iter().all(|c| c.is_nan()));
}

#[test]
fn what_makes_no_sense_is_refused_by_name() {
    let (x, y) = decays::<f64>(3);
    let decay = model!(|x; a, k, c| a * exp(-k * x) + c);
    let fits = || FitMany::new(decay, &x, &y).start(&[3.0, 1.0, 0.3]);
    let tie = |text: &str| Tie::parse(text).unwrap();
    let refused = |fits: FitMany<'_, f64, _>| match fits.fit().unwrap_err() {
        FitManyError::Options(error) => *error,
        error => panic!("{error}"),
    };
    assert!(matches!(refused(fits().fix("rate")), CurveError::NoSuchParameter { name, .. } if name == "rate"));
    assert!(matches!(refused(fits().tie("k", tie("z"))), CurveError::UnknownInTie { of, .. } if of == "z"));
    assert!(
        matches!(refused(fits().fix("k").tie("k", tie("a"))), CurveError::Contradiction { name, .. } if name == "k")
    );
    let circle = refused(fits().tie("k", tie("a")).tie("a", tie("k")));
    assert!(matches!(circle, CurveError::TieToItself { .. }));
    assert!(matches!(refused(fits().fix("a").fix("k").fix_at("c", 0.0)), CurveError::NothingToFit));
    assert!(refused(fits().fix_at("c", f64::NAN)).to_string().contains("c"));
    assert!(matches!(refused(fits().tie("k", tie("a")).bounds("k", 0.0..5.0)), CurveError::TiedAndBounded { .. }));
    assert!(matches!(refused(fits().bounds("k", 5.0..0.0)), CurveError::CrossedBounds { .. }));
    assert!(refused(fits().fix_at("c", -1.0).bounds("c", 0.0..5.0)).to_string().contains("c"));
    // A tie that has no value at the start of one fit is that fit's own fault.
    let start = array![[3.0, 1.0, 0.3], [-3.0, 1.0, 0.3], [3.0, 1.0, 0.3]];
    let many = FitMany::new(decay, &x, &y).start(&start).tie("c", tie("ln(a)")).fit().unwrap();
    assert_eq!(many.status[1], FitStatus::NonFiniteStart);
    assert!(many.parameters.row(1)[2].is_nan() && many.status[0] != FitStatus::NonFiniteStart);
}

/// As many points as free parameters say nothing of the noise; what is fixed has no error even so.
#[test]
fn nothing_is_nan_without_degrees_of_freedom() {
    let (x, y) = ([1.0, 2.0], array![[0.3, 0.7], [1e-3, 5.1], [-3.0, 0.1], [0.2, 0.2]]);
    let line = model!(|x; a, b, c| a + b * x + c * x * x);
    let fits = FitMany::new(line, &x, &y).start(&[1.0, 1.0, 0.1]).fix("c").covariances(true).fit().unwrap();
    let covariances = fits.covariances.as_ref().unwrap();
    for fit in 0..4 {
        let errors = fits.standard_errors.row(fit);
        assert!(fits.status[fit].is_converged(), "{}", fits.status[fit]);
        assert_eq!(errors.to_vec(), [f64::INFINITY, f64::INFINITY, 0.0], "{fit}");
        for ((i, j), &covariance) in covariances.index_axis(Axis(0), fit).indexed_iter() {
            let expected = if i == j && i < 2 { f64::INFINITY } else { 0.0 };
            assert_eq!(covariance, expected, "{fit}: {i}, {j}");
        }
    }
}

/// Priors, and starts by name, are those of single fits, in both precisions and for counts, too.
#[test]
fn options_of_parameters_are_those_of_single_fits() {
    fn options_in<T: Real>(tolerance: f64) {
        let (x, y) = decays::<T>(3);
        let (of, sigma) = (T::from_f64, vec![T::from_f64(0.05); x.len()]);
        let decay = model!(|x; a, k, c| a * exp(-k * x) + c);
        let noise = FitOptions::new().absolute_sigma(true).prior("k", of(0.9), of(0.01));
        let options = [
            noise.clone(),
            noise.clone().start("a", of(2.0)).bounds("c", of(0.0)..),
            noise.clone().fix_at("c", of(0.3)).scale("a", of(8.0)),
            noise.tie("c", Tie::parse("a / 10").unwrap()).prior("c", of(0.4), of(0.2)),
        ];
        for options in options {
            let fits = FitMany::new(decay, &x, &y).options(options.clone()).sigma(&sigma);
            let fits = fits.start(&[3.0, 1.0, 0.3].map(of)).fit().unwrap();
            for (fit, y) in y.rows().into_iter().enumerate() {
                let one = CurveFit::model(decay, &x, y.as_slice().unwrap(), &[3.0, 1.0, 0.3].map(of));
                let one = one.options(options.clone()).sigma(&sigma).fit().unwrap();
                for (j, parameter) in one.parameters().iter().enumerate() {
                    let (value, error) = (fits.parameters[[fit, j]], fits.standard_errors[[fit, j]]);
                    assert!((value - parameter.value).abs().to_f64() < tolerance, "{fit} {}", parameter.name);
                    assert!((error - parameter.standard_error).abs().to_f64() < tolerance, "{fit} {}", parameter.name);
                }
                assert!((fits.cost[fit] / one.report().cost - T::ONE).abs().to_f64() < tolerance);
            }
        }
    }
    options_in::<f64>(1e-8);
    options_in::<f32>(1e-3);
}

#[test]
fn names_may_be_given() {
    let (x, y) = decays::<f64>(2);
    let decay = model!(|x; a, k, c| a * exp(-k * x) + c);
    let fits =
        |names: &[&'static str]| FitMany::new(decay, &x, &y).start(&[3.0, 1.0, 0.3]).names(names.iter().copied());
    let found = fits(&["height", "rate", "dark"]).bounds("rate", 1.0..).fit().unwrap();
    assert_eq!(found.names, ["height", "rate", "dark"]);
    assert!(found.parameters.column(1).iter().all(|&rate| rate == 1.0));
    let error = fits(&["height", "rate"]).fit().unwrap_err();
    assert!(error.to_string().contains("2 names"), "{error}");
}
