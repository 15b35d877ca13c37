//! Curves that are solutions of differential equations.

use marquardt::curve::{Curve, Integrator, IntervalEnd};
use marquardt::{CurveFit, Dual, FittedCurve, GlobalFit, Loss, Tie};
use ndarray::{Array2, arr2};

/// Estimates are those of SciPy's `solve_ivp` and `curve_fit` to 2e-6 standard errors, and standard errors to 1e-6, by relative tolerances
/// of 1e-12 and derivatives by sensitivities.
#[track_caller]
fn assert_scipy(fit: &FittedCurve<'_, f64>, expected: &[(f64, f64)]) {
    assert!(fit.report().is_converged() && fit.attempts().count == 1, "{fit}");
    for (parameter, (value, error)) in fit.parameters().iter().zip(expected) {
        assert!((parameter.value - value).abs() < 2e-6 * error, "{parameter:?}");
        assert!((parameter.standard_error / error - 1.0).abs() < 1e-6, "{parameter:?}");
    }
}

const DAYS: [f64; 10] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0];
const COUNTS: [f64; 10] = [1.1, 2.23, 3.97, 6.23, 8.5, 10.06, 11.1, 11.94, 11.91, 11.93];

fn logistic(_: f64, [n]: [Dual<f64, 3>; 1], [rate, capacity, _]: [Dual<f64, 3>; 3]) -> [Dual<f64, 3>; 1] {
    [rate * n * (1.0 - n / capacity)]
}

fn growth() -> CurveFit<'static, f64, impl Curve<f64> + Clone + 'static> {
    CurveFit::differential_equations(logistic, |[.., start]| [start], &DAYS, &COUNTS, [0.5, 10.0, 1.0])
        .names(["rate", "capacity", "start"])
}

#[test]
fn logistic_growth() {
    let expected = [(0.791242558019, 0.01083116763), (12.0120190248, 0.0406509835), (1.10564520954, 0.03178350605)];
    assert_scipy(&growth().fit().unwrap(), &expected);
}

#[test]
fn lotka_volterra_with_unknown_initial_values() {
    let t: Vec<f64> = (0..21).map(f64::from).collect();
    let prey = [
        33.0, 47.49, 62.49, 60.37, 33.31, 18.07, 13.16, 13.43, 15.6, 21.78, 32.69, 48.47, 64.26, 55.29, 30.9, 15.09,
        11.94, 14.78, 17.53, 24.16, 36.25,
    ];
    let predators = [
        6.3, 6.45, 12.52, 32.31, 45.35, 37.7, 22.71, 14.99, 8.65, 5.33, 5.79, 7.99, 14.7, 33.12, 46.1, 35.14, 21.46,
        12.69, 9.58, 6.34, 6.15,
    ];
    let y = Array2::from_shape_fn((21, 2), |(row, k)| if k == 0 { prey[row] } else { predators[row] });
    let fit = CurveFit::differential_equations(
        |_, [x, y], [a, b, c, d, ..]| [a * x - b * x * y, d * x * y - c * y],
        |[.., x, y]| [x, y],
        &t,
        &y,
        [0.5, 0.02, 0.9, 0.03, 30.0, 5.0],
    );
    let expected = [
        (0.554941156794, 0.01031727897),
        (0.0284726812675, 0.0004837341798),
        (0.836974081065, 0.01603251926),
        (0.0263656560084, 0.0004898836584),
        (32.2807037942, 0.344191671),
        (5.88950030561, 0.1623283142),
    ];
    assert_scipy(&fit.fit().unwrap(), &expected);
}

const HOURS: [f64; 12] = [0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0];
const LEVELS: [f64; 12] = [1.254, 2.122, 3.003, 3.252, 3.235, 2.761, 2.274, 1.472, 0.83, 0.487, 0.339, 0.134];

fn by_mouth(dose: f64, start: [f64; 3]) -> CurveFit<'static, f64, impl Curve<f64> + 'static> {
    CurveFit::differential_equations(
        |_, [gut, blood], [ka, ke, _]| [-ka * gut, ka * gut - ke * blood],
        move |_| [dose, 0.0],
        &HOURS,
        &LEVELS,
        start,
    )
    .observed(|_, [_, blood], [.., volume]| [blood / volume])
    .names(["absorption", "elimination", "volume"])
}

#[test]
fn one_compartment() {
    let expected = [(1.23109709058, 0.03090652847), (0.243820152991, 0.004951670649), (20.4271143138, 0.2752677141)];
    assert_scipy(&by_mouth(100.0, [1.0, 0.1, 10.0]).fit().unwrap(), &expected);
}

#[test]
fn two_compartments() {
    let t = [0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0];
    let y = [5.897, 4.96, 3.791, 2.995, 2.48, 1.847, 1.567, 1.316, 1.107, 0.883, 0.743, 0.486, 0.314, 0.105];
    let fit = CurveFit::differential_equations(
        |_, [c, p], [k10, k12, k21, _]| [-(k10 + k12) * c + k21 * p, k12 * c - k21 * p],
        |_| [100.0, 0.0],
        &t,
        &y,
        [0.5, 0.5, 0.5, 10.0],
    );
    let expected = [
        (0.352540447186, 0.005404670537),
        (0.91960094583, 0.01346058235),
        (0.511168604709, 0.01318485916),
        (14.9405822173, 0.05953907377),
    ];
    assert_scipy(&fit.observed(|_, [c, _], [.., volume]| [c / volume]).fit().unwrap(), &expected);
}

/// Robertson's reactions, with rates nine orders of magnitude apart.
#[test]
fn a_stiff_system() {
    let t = [0.4, 1.0, 4.0, 10.0, 40.0, 100.0, 400.0, 1000.0, 4000.0, 1e4, 4e4];
    let y = arr2(&[
        [0.985, 0.342, 0.012],
        [0.958, 0.303, 0.024],
        [0.906, 0.237, 0.09],
        [0.835, 0.167, 0.162],
        [0.717, 0.083, 0.284],
        [0.624, 0.048, 0.378],
        [0.432, 0.019, 0.531],
        [0.335, 0.007, 0.666],
        [0.185, 0.007, 0.792],
        [0.102, 0.004, 0.894],
        [0.024, -0.003, 0.951],
    ]);
    let fit = CurveFit::differential_equations(
        |_, [a, b, c], [k1, k2, k3]| [k2 * b * c - k1 * a, k1 * a - k2 * b * c - k3 * b * b, k3 * b * b],
        |_| [1.0, 0.0, 0.0],
        &t,
        &y,
        [0.05, 8e3, 2e7],
    );
    let fit = fit.observed(|_, [a, b, c], _| [a, b * 1e4, c]).integrator(Integrator::Radau);
    let expected = [(0.0403442199553, 0.002826471515), (10157.5363474, 953.8880764), (29830397.7693, 1446057.132)];
    assert_scipy(&fit.fit().unwrap(), &expected);
}

/// The solution of the equations is known: the fits are the same, with all that a fit can be asked for.
#[test]
fn it_is_the_fit_of_the_solution() {
    let formula = || {
        CurveFit::new(
            |t, [rate, capacity, start]: [Dual<f64, 3>; 3]| {
                capacity / (1.0 + (capacity / start - 1.0) * (-rate * t).exp())
            },
            &DAYS,
            &COUNTS,
            [0.5, 10.0, 1.0],
        )
        .names(["rate", "capacity", "start"])
    };
    #[track_caller]
    fn assert_same(one: &FittedCurve<'_, f64>, other: &FittedCurve<'_, f64>) {
        for (one, other) in one.parameters().iter().zip(other.parameters()) {
            assert!((one.value - other.value).abs() <= 1e-6 * other.standard_error.max(1e-3), "{one:?} {other:?}");
            assert!(
                (one.standard_error - other.standard_error).abs() <= 1e-6 * other.standard_error,
                "{one:?} {other:?}"
            );
        }
    }
    macro_rules! same {
        (|$fit:ident| $options:expr) => {{
            let [one, other] = [
                {
                    let $fit = growth();
                    $options.fit().unwrap()
                },
                {
                    let $fit = formula();
                    $options.fit().unwrap()
                },
            ];
            assert_same(&one, &other);
            (one, other)
        }};
    }
    same!(|fit| fit.bounds("capacity", 0.0..=11.9));
    same!(|fit| fit.fix_at("start", 1.0));
    same!(|fit| fit.tie("start", Tie::parse("capacity / 11").unwrap()));
    same!(|fit| fit.sigma(&[0.1; 10]).absolute_sigma(true).prior("rate", 0.7, 0.01));
    same!(|fit| fit.robust(Loss::Huber).f_scale(0.05));
    let (one, other) = same!(|fit| fit.into_owned());
    let [a, b] = [&one, &other].map(|fit| fit.profile_interval("rate", 0.95).unwrap());
    assert!(a.low_end == IntervalEnd::Level && (a.low - b.low).abs() < 1e-7 && (a.high - b.high).abs() < 1e-7);
    let t = [20.0, 0.5, 7.0, -2.0];
    let [a, b] = [&one, &other].map(|fit| fit.confidence_band(&t, 0.95).unwrap());
    let predicted = one.predict(&t).unwrap();
    for ((a, b), predicted) in a.iter().zip(&b).zip(predicted) {
        assert!((a.value - b.value).abs() < 1e-7 && (a.low - b.low).abs() < 1e-6 && (a.value - predicted).abs() < 1e-9);
    }
    let moved = std::thread::spawn(|| growth().into_owned().fit()).join().unwrap().unwrap();
    assert_same(&moved, &one);
}

/// Two doses, of which each has samples of its own.
#[test]
fn data_sets_share_parameters() {
    let names = ["absorption", "elimination", "volume"];
    let both = GlobalFit::new()
        .data_set("once", by_mouth(100.0, [1.0, 0.1, 10.0]))
        .data_set("twice", by_mouth(200.0, [1.0, 0.1, 10.0]))
        .shared(names[..2].iter().copied())
        .fit()
        .unwrap();
    let one = by_mouth(100.0, [1.0, 0.1, 10.0]).fit().unwrap();
    for name in &names[..2] {
        let [shared, alone] = [&both, &one].map(|fit| fit.parameter(name).unwrap().value);
        assert!((shared / alone - 1.0).abs() < 1e-7, "{name} {shared} {alone}");
    }
    let volumes = ["once.volume", "twice.volume"].map(|name| both.parameter(name).unwrap().value);
    assert!((volumes[1] / volumes[0] - 2.0).abs() < 1e-6, "{volumes:?}");
}

/// A trial step leads to solutions that end before the data do; the fit takes shorter ones.
#[test]
fn a_fit_avoids_solutions_that_end() {
    // y = 1 / (1 / y₀ - b t), infinite at the time 1 / (b y₀).
    let t = [0.0, 0.5, 1.0, 1.5, 1.9];
    let y = t.map(|t| 1.0 / (1.0 - 0.5 * t));
    let fit = CurveFit::differential_equations(|_, [y], [b]| [b * y * y], |_| [1.0], &t, &y, [0.01]).fit().unwrap();
    assert!((fit.parameters()[0].value - 0.5).abs() < 1e-9, "{fit}");
}

#[test]
fn what_is_wrong_is_said() {
    let growth = || CurveFit::differential_equations(logistic, |[.., start]| [start], &DAYS, &COUNTS, [0.5, 10.0, 1.0]);
    let told = [
        (growth().tolerances(0.0, 1e-9).fit(), "the relative tolerance must be between 0 and 1, not 0"),
        (growth().tolerances(1e-9, -1.0).fit(), "the absolute tolerance must be positive and finite, not -1"),
        (growth().max_steps(0).fit(), "no integration has 0 steps from the initial time 0"),
        (growth().max_steps(2).fit(), "Dop853 ended at the time"),
        (growth().initial_time(f64::NAN).fit(), "the initial time NaN"),
        (growth().start("b3", 1e300).fit(), "are not finite"),
    ];
    for (ended, message) in told {
        let error = ended.unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let x = Array2::from_shape_fn((10, 2), |(row, _)| DAYS[row]);
    let two = CurveFit::differential_equations(logistic, |[.., start]| [start], &x, &COUNTS, [0.5, 10.0, 1.0]);
    assert!(two.fit().unwrap_err().to_string().contains("have one predictor, the time, not 2"));
}
