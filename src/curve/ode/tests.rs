use super::{EquationFormulas, Integrator};
use crate::autodiff::Dual;
use crate::curve::{Curve, CurveFit};
use crate::problem::Evaluated;

const ALL: [Integrator; 4] = [Integrator::Rk45, Integrator::Dop853, Integrator::Radau, Integrator::Bdf];
const STIFF: [Integrator; 2] = [Integrator::Radau, Integrator::Bdf];

/// Responses and derivatives of a fit's curve at times.
fn linearized<C: Curve<f64>>(fit: CurveFit<'_, f64, C>, t: &[f64], b: &[f64]) -> Evaluated<(Vec<f64>, Vec<f64>)> {
    let mut result = None;
    fit.with_curve(|curve| {
        let count = t.len() * curve.response_count();
        let (mut y, mut jacobian) = (vec![0.0; count], vec![0.0; count * b.len()]);
        result = Some(curve.linearize(t, 1, b, &mut y, &mut jacobian).map(|()| (y, jacobian)));
    });
    result.unwrap()
}

/// Derivatives are those of responses, by central differences, to 1e-6 of the largest of each parameter and response.
#[track_caller]
fn assert_derivatives<C: Curve<f64>>(fit: CurveFit<'_, f64, C>, t: &[f64], b: &[f64]) {
    fit.with_curve(|curve| {
        let outputs = curve.response_count();
        let count = t.len() * outputs;
        let (mut y, mut jacobian) = (vec![0.0; count], vec![0.0; count * b.len()]);
        curve.linearize(t, 1, b, &mut y, &mut jacobian).unwrap();
        let at = |b: &[f64]| {
            let mut y = vec![0.0; count];
            curve.responses(t, 1, b, &mut y).unwrap();
            y
        };
        let here = at(b);
        let differs = |(y, here): (&f64, &f64)| (y - here).abs() > 1e-8 * here.abs() + 1e-10;
        assert!(!y.iter().zip(&here).any(differs), "{y:?} {here:?}");
        for j in 0..b.len() {
            let (step, mut moved) = (1e-4 * b[j], [b.to_vec(), b.to_vec()]);
            moved[0][j] -= step;
            moved[1][j] += step;
            let [low, high] = moved.map(|b| at(&b));
            for output in 0..outputs {
                let rows = || (output..count).step_by(outputs);
                let largest = rows().map(|row| jacobian[row * b.len() + j].abs()).fold(0.0, f64::max);
                for row in rows() {
                    let (slope, difference) = (jacobian[row * b.len() + j], (high[row] - low[row]) / (2.0 * step));
                    assert!((slope - difference).abs() <= 1e-6 * largest, "{row} {j}: {slope} {difference}");
                }
            }
        }
    });
}

fn prey(_: f64, [x, y]: [Dual<f64, 6>; 2], [a, b, c, d, ..]: [Dual<f64, 6>; 6]) -> [Dual<f64, 6>; 2] {
    [a * x - b * x * y, d * x * y - c * y]
}

/// Times before and after that of the initial values, in any order, some of them repeated.
#[test]
fn derivatives_are_those_of_the_responses() {
    let t = [3.0, 1.0, 7.5, 2.0, 2.0, 0.0, -1.0, 6.0];
    for integrator in ALL {
        let fit = CurveFit::differential_equations(prey, |[.., x, y]| [x, y], &[0.0], &[0.0], [1.0; 6]);
        let fit = fit.initial_time(2.0).integrator(integrator);
        assert_derivatives(fit, &t, &[0.55, 0.028, 0.84, 0.026, 33.0, 6.0]);
    }
}

#[test]
fn derivatives_of_a_stiff_system_and_of_an_observation_are_exact() {
    for integrator in STIFF {
        let fit = CurveFit::differential_equations(
            |_, [a, b, c], [k1, k2, k3]| [k2 * b * c - k1 * a, k1 * a - k2 * b * c - k3 * b * b, k3 * b * b],
            |_| [1.0, 0.0, 0.0],
            &[0.0],
            &[0.0],
            [1.0; 3],
        );
        let fit = fit.observed(|t, [a, b, c], [k1, ..]| [b * 1e4, a * k1 + c * (t * 1e-3)]).integrator(integrator);
        assert_derivatives(fit.tolerances(1e-11, 1e-15), &[0.4, 40.0, 4e3], &[0.04, 1e4, 3e7]);
    }
}

#[test]
fn solutions_are_those_of_a_formula_at_all_times() {
    let t = [2.0, -1.5, 0.0, 0.3, 0.3, f64::NAN, 1.0, -0.1];
    for integrator in ALL {
        // y = b₂ exp(b₁ sin t), with the derivatives y sin t and y / b₂.
        let fit = CurveFit::differential_equations(
            |t, [y], [a, _]| [a * y * t.cos()],
            |[_, start]| [start],
            &[0.0],
            &[0.0],
            [1.0; 2],
        );
        let (y, jacobian) = linearized(fit.integrator(integrator), &t, &[1.3, 2.0]).unwrap();
        for (row, t) in t.iter().enumerate() {
            let exact = 2.0 * (1.3 * t.sin()).exp();
            let pairs = [(y[row], exact), (jacobian[2 * row], exact * t.sin()), (jacobian[2 * row + 1], exact / 2.0)];
            for (found, exact) in pairs {
                assert!(
                    t.is_nan() && found.is_nan() || (found - exact).abs() < 2e-8,
                    "{integrator:?} {t} {found} {exact}"
                );
            }
        }
    }
}

/// Every method ends, with a reason, wherever no solution is.
#[test]
fn an_integration_that_fails_is_an_error_at_first_and_then_nan() {
    for integrator in ALL {
        let square = || {
            let fit = CurveFit::differential_equations(|_, [y], [a]| [a * y * y], |_| [1.0], &[0.0], &[0.0], [1.0]);
            fit.integrator(integrator)
        };
        // Infinite at the time 1 / b.
        let error = linearized(square(), &[0.5, 2.0], &[1.0]).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{integrator:?} ended at the time ")), "{error}");
        square().with_curve(|curve| {
            let mut y = [0.0; 2];
            curve.responses(&[0.5, 2.0], 1, &[0.1], &mut y).unwrap();
            curve.responses(&[0.5, 2.0], 1, &[1.0], &mut y).unwrap();
            assert!((y[0] - 2.0).abs() < 1e-7 && y[1].is_nan(), "{integrator:?} {y:?}");
        });
        let error = linearized(square().max_steps(3), &[0.5], &[1.0]).unwrap_err().to_string();
        assert!(error.contains("too many steps"), "{error}");
        // The root of a negative number, from the beginning and later.
        for (start, what) in [(-0.5, "not finite"), (0.5, "ended at the time")] {
            let fit = CurveFit::differential_equations(
                |_, [y], [a]: [Dual<f64, 1>; 1]| [-a - y.sqrt()],
                |_| [start],
                &[0.0],
                &[0.0],
                [1.0],
            );
            let error = linearized(fit.integrator(integrator), &[0.1, 5.0], &[1.0]).unwrap_err().to_string();
            assert!(error.contains(what), "{integrator:?}: {error}");
        }
    }
}

#[test]
fn fixed_parameters_have_no_sensitivities() {
    let (t, b) = ([1.0, 4.0], [0.55, 0.028, 0.84, 0.026, 33.0, 6.0]);
    for integrator in ALL {
        let fit = || {
            let fit = CurveFit::differential_equations(prey, |[.., x, y]| [x, y], &[0.0], &[0.0], [1.0; 6]);
            fit.integrator(integrator)
        };
        let (all, slopes) = linearized(fit(), &t, &b).unwrap();
        for free in [&[0, 2, 3, 5][..], &[]] {
            let fixed = fit().with_curve(|curve| {
                curve.keep_within(&b, &std::array::from_fn::<_, 6, _>(|j| b[j] + f64::from(free.contains(&j))))
            });
            let (y, jacobian) = linearized(fixed, &t, &b).unwrap();
            assert!(y.iter().zip(&all).all(|(y, all)| (y / all - 1.0).abs() < 1e-7), "{integrator:?} {y:?} {all:?}");
            for (entry, (found, all)) in jacobian.iter().zip(&slopes).enumerate() {
                let expected = if free.contains(&(entry % 6)) { *all } else { 0.0 };
                assert!((found - expected).abs() <= 1e-6 * all.abs(), "{integrator:?} {entry} {found} {expected}");
            }
        }
    }
}

#[test]
fn formulas_are_closures() {
    let t = [3.0, 1.0, 7.5, 2.0, 2.0, 0.0, -1.0, 6.0];
    let b = [0.5, 0.02, 0.9, 0.03, 30.0, 5.0];
    let equations = [("x", "a*x - b*x*y"), ("y", "d*x*y - c*y")];
    let system =
        EquationFormulas::parse("t", &equations, &[("y", "y0"), ("x", "x0")], &["x", "y", "x*c + sin(t)"]).unwrap();
    assert_eq!(system.parameters(), ["a", "b", "d", "c", "x0", "y0"]);
    let order = [0, 1, 3, 2, 4, 5];
    let ordered = order.map(|j| b[j]);
    for integrator in ALL {
        let closures =
            || CurveFit::differential_equations(prey, |[.., x0, y0]| [x0, y0], &[], &[], b).integrator(integrator);
        let closures = closures().observed(|t, [x, y], [_, _, c, ..]| [x, y, x * c + t.sin()]);
        let formulas = CurveFit::differential_formulas(system.clone(), &[], &[], &ordered).integrator(integrator);
        let (expected, slopes) = linearized(closures, &t, &b).unwrap();
        let (found, own_slopes) = linearized(formulas, &t, &ordered).unwrap();
        for (row, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert!((found - expected).abs() <= 1e-7 * expected.abs(), "{integrator:?} {row}: {found} {expected}");
            for (k, &j) in order.iter().enumerate() {
                let (found, expected) = (own_slopes[row * 6 + k], slopes[row * 6 + j]);
                assert!((found - expected).abs() <= 1e-5 * (1.0 + expected.abs()), "{integrator:?} {row} {j}");
            }
        }
    }
}

/// More parameters, and more states, than derivatives are carried at once.
#[test]
fn large_systems_of_formulas() {
    let states: Vec<String> = (0..11).map(|k| format!("y{k}")).collect();
    let equations: Vec<(String, String)> = (0..11)
        .map(|k| {
            let inflow = if k == 0 { String::new() } else { format!(" + k{}*y{}", k - 1, k - 1) };
            (states[k].clone(), format!("-k{k}*y{k}{inflow}"))
        })
        .collect();
    let initial: Vec<(String, String)> = states
        .iter()
        .map(|state| (state.clone(), if state == "y0" { "1".to_owned() } else { "0".to_owned() }))
        .collect();
    let system =
        EquationFormulas::parse("t", &equations, &initial, &["y2 + y10".to_owned(), "y10".to_owned()]).unwrap();
    let b: Vec<f64> = (0..11).map(|k| 0.5 + 0.1 * f64::from(k)).collect();
    for integrator in [Integrator::Dop853, Integrator::Radau] {
        let fit = CurveFit::differential_formulas(system.clone(), &[], &[], &b).integrator(integrator);
        assert_derivatives(fit, &[0.5, 1.0, 2.0, 8.0], &b);
    }
}

#[test]
fn wrong_formulas_are_named() {
    let parse = |equations: &[(&str, &str)], initial: &[(&str, &str)], observed: &[&str]| {
        EquationFormulas::parse("t", equations, initial, observed).unwrap_err().to_string()
    };
    let decay = [("a", "-k*a")];
    assert_eq!(parse(&[], &[], &[]), "there is no differential equation");
    assert_eq!(parse(&decay, &[], &[]), "the state \"a\" has no initial value");
    assert_eq!(parse(&decay, &[("b", "1")], &[]), "\"b\" has an initial value, but no equation");
    assert_eq!(parse(&[("a", "1"), ("a", "2")], &[], &[]), "the equation of \"a\" is given twice");
    assert_eq!(parse(&decay, &[("a", "1"), ("a", "2")], &[]), "the initial value of \"a\" is given twice");
    let depends = "the initial value of \"a\" depends on \"t\", but it has parameters alone";
    assert_eq!(parse(&decay, &[("a", "2*t")], &[]), depends);
    assert!(parse(&decay, &[("a", "2*a")], &[]).contains("depends on \"a\""));
    assert!(parse(&[("a", "-k*")], &[("a", "1")], &[]).starts_with("the equation of \"a\": "));
    assert!(parse(&decay, &[("a", "1")], &["sine(a)"]).starts_with("the response \"sine(a)\": there is no function"));
}
