//! Tests of the meaning of formulas, and of their errors.

use proptest::prelude::*;

use super::*;
use crate::autodiff::tests::cases;
use crate::autodiff::{Dual, Taylor};
use crate::curve::model_rows;
use crate::curve::{CurveFit, Tie};
use crate::kernels::registers::tests::in_all;
use crate::model;

fn value(text: &str) -> f64 {
    Formula::parse(text).unwrap_or_else(|error| panic!("{error}")).response(&[3.0], &[])
}

fn message(text: &str) -> String {
    Formula::parse(text).unwrap_err().to_string()
}

#[test]
fn operators_have_the_precedences_of_mathematics() {
    for (text, expected) in [
        ("1 + 2*3", 7.0),
        ("-2^2", -4.0),
        ("2^3^2", 512.0),
        ("2**-1", 0.5),
        ("2^-3^2", 2.0_f64.powi(-9)),
        ("8/4/2", 1.0),
        ("8 - 4 - 2", 2.0),
        ("--+-x", -3.0),
        ("(1 + 2)*x", 9.0),
        ("2e1*.5 + 1.", 11.0),
        ("x < 4 ? 1 : x < 5 ? 2 : 3", 1.0),
        ("if(x >= 3, 1, 2) + if(x > 3, 10, 20) + if(x <= 3, 100, 200) + if(x < 3, 1000, 2000)", 2121.0),
        ("if(x == 3, 1, 2) + if(x != 3, 10, 20) + (x == 4 ? 100 : x != 2 ? 200 : 300)", 221.0),
        ("step(x - 3) + step(x - 3.1)", 1.0),
        ("mod(x, 2) + 10*mod(-x, 2) + 100*mod(x, -2) + 1000*mod(x, 1.5)", -89.0),
        ("floor(x/2) + 10*floor(-x/2) + 100*ceil(x/2) + 1000*ceil(x)", 3181.0),
        ("sign(x - 4) + 10*sign(x - 3) + 100*sign(x)", 99.0),
        ("sinc(x - 3) + sinc(x)*x - sin(x) + sinc(0.4*x)*0.4*x - sin(0.4*x)", 1.0),
        ("if(x > 2 and x < 4, 1, 2) + if(x > 2 && x > 4, 10, 20) + if(x < 2 or x < 4, 100, 200)", 121.0),
        ("x < 2 || x > 4 ? 1 : 2", 2.0),
        ("x == 3 or x < 1 and x > 9 ? 1 : 2", 1.0),
        ("(x == 3 or x < 1) and x > 9 ? 1 : 2", 2.0),
        ("!(x < 3) && !!(x < 4) and not x == 5 ? 1 : 2", 1.0),
        ("x > 1 and x > 2 and x > 3 ? 1 : 2", 2.0),
        ("voigt(x - 3, -0.5, 0)*sqrt(pi/2)", 1.0),
        ("max(x, 5) - min(x, 5) + hypot(x, 4)", 7.0),
        ("pow(x, 0.5)^2 + atan2(0, x) + select_less(x, 4, 1, 2)", 4.0),
        ("log(exp(1)) + cos(pi)", 0.0),
        ("beta(2, x) * 12 + gamma(5) + lgamma(2) + erf(0) + erfc(0) + j0(0) + j1(0)", 27.0),
        ("if(x < 5, 2, sqrt(x - 5))", 2.0),
        ("jn(0, x) - j0(x) + jv(-1, x) + besj1(x) + besjn(3 - 2, x) - j1(x) + in(2, 0)", 0.0),
        (
            "besy0(x) - yn(0, x) + y1(x) - yv(1, x) + besyn(2, x) - yn(-2, x) + kn(0, x) - k0(x) + k1(x) - kv(-1, x)",
            0.0,
        ),
        ("i0(x) - in(0, x) + besi1(x) - iv(1, x) + besi0(x) - besin(0, x) + i1(x) - besy1(x) + y1(x) - i1(x)", 0.0),
        (
            "igamma(1, x) + gammaincc(1, x) - gammainc(1, x) + ibeta(1, 2, x/4) + betainc(2, 1, x/4)",
            1.5 + (-3.0_f64).exp(),
        ),
        ("x^0 + x^2 + x^2.5/sqrt(x)", 19.0),
        ("7", 7.0),
        ("x", 3.0),
    ] {
        assert!((value(text) - expected).abs() < 1e-14 * (1.0 + expected.abs()), "{text}: {}", value(text));
    }
}

#[test]
fn names_are_predictors_or_parameters() {
    let formula = Formula::with_predictors(" b_2*t + a*exp(-t/τ) + b_2", ["t", "unused"]).unwrap();
    assert_eq!(
        (formula.parameters(), formula.predictors()),
        (&["b_2", "a", "τ"].map(str::to_owned)[..], &["t", "unused"].map(str::to_owned)[..])
    );
    assert_eq!(formula.to_string(), "b_2*t + a*exp(-t/τ) + b_2");
    assert_eq!("k*x".parse::<Formula>().unwrap().parameters(), ["k"]);
    // What is given as a predictor is one.
    assert!(Formula::with_predictors("e*pi", ["e", "pi"]).unwrap().parameters().is_empty());
    assert!(Formula::with_predictors("beta*gamma(beta)", ["beta"]).unwrap().parameters().is_empty());
    let quoted = Formula::with_predictors("\"pi\" * \"dose (µM)\" + pi*\"k on\"", ["dose (µM)"]).unwrap();
    assert_eq!(quoted.parameters(), ["pi", "k on"]);
    let value: f64 = quoted.response(&[2.0], &[3.0, 1.0]);
    assert_eq!(value, 6.0 + std::f64::consts::PI);
    for names in [&["x", "x"][..], &["a\"b"], &[""]] {
        let error = Formula::with_predictors("1", names.to_vec()).unwrap_err();
        assert!(matches!(error.problem(), FormulaProblem::Predictor { .. }), "{error}");
    }
}

/// An exponent belongs to its number; any other `e` is a name.
#[test]
fn e_is_a_parameter() {
    let isotherm = Formula::with_predictors("Q*e*X/(1+e*X)", ["X"]).unwrap();
    assert_eq!(isotherm.parameters(), ["Q", "e"]);
    let response: f64 = isotherm.response(&[2.0], &[3.0, 0.5]);
    assert_eq!(response, 1.5);
    for (text, expected) in [("1e1*x + e", 32.0), ("2e-1*e*x", 1.2), ("e^2 + 1E0", 5.0), ("e*e - 2.e+1", -16.0)] {
        let formula = Formula::parse(text).unwrap();
        assert_eq!(formula.parameters(), ["e"], "{text}");
        let response: f64 = formula.response(&[3.0], &[2.0]);
        assert!((response - expected).abs() < 1e-14, "{text}: {response}");
    }
    assert!(message("2e*x").starts_with("an operator is expected, but \"e\" found"));
}

#[test]
fn errors_point_at_the_character() {
    for (text, expected) in [
        ("a*(x", "a closing parenthesis is expected, but the end found\n  a*(x\n      ^"),
        ("a x", "an operator is expected, but \"x\" found\n  a x\n    ^"),
        ("2x", "an operator is expected, but \"x\" found\n  2x\n   ^"),
        ("µ * § ", "a number, a name or an operator is expected, but § found\n  µ * §\n      ^"),
        ("", "a number, a name or a parenthesis is expected, but the end found\n  \n  ^"),
        ("2*\"a", "a number, a name or an operator is expected, but \" found\n  2*\"a\n    ^"),
        ("2 \"a b\"", "an operator is expected, but \"a b\" found\n  2 \"a b\"\n    ^"),
        ("exp + 1", "exp is a function: write exp(…), or give the parameter another name\n  exp + 1\n  ^"),
        ("k(x)", "there is no function \"k\"; a product takes a *\n  k(x)\n  ^"),
        ("1 + sqr(x)", "there is no function \"sqr\"; did you mean sqrt?\n  1 + sqr(x)\n      ^"),
        ("pow(x)", "pow takes 2 arguments, but 1 found\n  pow(x)\n  ^"),
        ("exp(1, 2)", "exp takes 1 argument, but 2 found\n  exp(1, 2)\n  ^"),
        ("if(x, 1, 2)", "a comparison, such as x < a, is expected\n  if(x, 1, 2)\n     ^"),
        ("x and 1 ? 1 : 2", "a comparison, such as x < a, is expected\n  x and 1 ? 1 : 2\n  ^"),
        ("x < 1 or !2 ? 1 : 2", "a comparison, such as x < a, is expected\n  x < 1 or !2 ? 1 : 2\n            ^"),
        ("x ? 1 : 2", "a comparison, such as x < a, is expected\n  x ? 1 : 2\n  ^"),
        ("a < x", "a comparison stands in if(a < b, then, otherwise) or in a < b ? then : otherwise\n  a < x\n  ^"),
        (
            "1 + (a < x)",
            "a comparison stands in if(a < b, then, otherwise) or in a < b ? then : otherwise\n  1 + (a < x)\n      ^",
        ),
        ("a + jn(x, 2)", "the order of jn is a constant integer, from -10000 to 10000\n  a + jn(x, 2)\n         ^"),
        ("kn(1.5, x)", "the order of kn is a constant integer, from -10000 to 10000\n  kn(1.5, x)\n     ^"),
        ("1 + besin0(x)", "there is no function \"besin0\"; did you mean besin or besi0?\n  1 + besin0(x)\n      ^"),
        (
            "gamainc(a, x)",
            "there is no function \"gamainc\"; did you mean gammainc or gammaincc?\n  gamainc(a, x)\n  ^",
        ),
        ("a < x ? 1", "a colon, and what holds otherwise, is expected, but the end found\n  a < x ? 1\n           ^"),
    ] {
        assert_eq!(message(text), expected);
    }
    assert!(message(&"(".repeat(100_000)).starts_with("parentheses, powers and conditions are more than 40 deep"));
    assert!(message(&"x^".repeat(100_000)).starts_with("parentheses, powers and conditions are more than 40 deep"));
    assert!(message(&"exp(".repeat(1000)).starts_with("parentheses, powers and conditions are more than 40 deep"));
    let long: String = (0..20_000).map(|i| format!("a{i} + ")).collect();
    assert!(message(&long).starts_with("the formula takes more than 10000 operations"));
    assert_eq!(value(&format!("{}x", "-".repeat(100_000))), 3.0);
}

#[test]
fn what_is_equal_is_worked_out_once() {
    let formula = Formula::parse("a*exp(-x/t) + b*exp(-x/t) + sqrt(2*8)").unwrap();
    let count = |wanted: fn(&program::Instruction) -> bool| {
        formula.program.instructions.iter().filter(|instruction| wanted(instruction)).count()
    };
    assert_eq!(count(|instruction| matches!(instruction, program::Instruction::Apply(..))), 1);
    assert_eq!(count(|instruction| matches!(instruction, program::Instruction::Constant(_))), 1);
}

/// The program in lanes and in reverse, against the same in dual numbers.
fn is_differentiated<const N: usize>(text: &str, x: &[f64], b: [f64; N], tolerance: f64) {
    let formula = Formula::parse(text).unwrap();
    let mut y = vec![0.0; x.len()];
    let mut jacobian = vec![0.0; N * x.len()];
    super::super::model_rows::backwards(formula.program(), x, 1, &b, &mut y, &mut jacobian);
    for ((&x, &y), row) in x.iter().zip(&y).zip(jacobian.chunks_exact(N)) {
        let expected: Dual<f64, N> = Model::<f64>::response(&formula, &[x], &Dual::variables(b));
        let close = |found: f64, expected: f64| (found - expected).abs() <= tolerance * (1.0 + expected.abs());
        assert!(close(y, expected.value), "{text} at {x}: {y} instead of {}", expected.value);
        for (&found, expected) in row.iter().zip(expected.gradient) {
            assert!(close(found, expected), "{text} at {x}: {row:?} instead of {:?}", expected);
        }
    }
}

/// The program of a text in lanes and in reverse, against derivatives computed by mpmath, to the ends of each domain.
fn derivatives_keep_the_bound<T: Real>() {
    let all = cases::<T>(None);
    for cases in all.chunk_by(|a, b| a.function == b.function && (a.y.is_none() || a.y == b.y)) {
        let name = &cases[0].function;
        let texts = match cases[0].y {
            None => vec![format!("{name}(a + x)")],
            // Constant exponents have instructions of their own.
            Some(p) if name == "pow" => vec!["pow(a + x, b + y)".to_owned(), format!("(a + x)^({p:e}) + 0*b*y")],
            Some(_) => vec![format!("{name}(a + x, b + y)")],
        };
        let rows: Vec<T> = cases.iter().flat_map(|case| [case.x, case.y.unwrap_or(0.0)].map(T::from_f64)).collect();
        for text in texts {
            let Ok(formula) = Formula::with_predictors(&text, ["x", "y"]) else { continue };
            let parameters = formula.parameters().len();
            let [mut y, mut jacobian] = [1, parameters].map(|width| vec![T::ZERO; width * cases.len()]);
            let b = vec![T::ZERO; parameters];
            model_rows::backwards(formula.program(), &rows, 2, &b, &mut y, &mut jacobian);
            for (case, derivatives) in cases.iter().zip(jacobian.chunks_exact(parameters)) {
                let is_constant = text.contains("0*b");
                case.holds(&text, &derivatives[..if is_constant { 1 } else { parameters }], &[]);
            }
        }
    }
}

#[test]
fn derivatives_keep_the_bound_in_all_registers() {
    in_all(|| {
        derivatives_keep_the_bound::<f64>();
        derivatives_keep_the_bound::<f32>();
    });
}

#[test]
fn all_functions_are_differentiated() {
    let x: Vec<f64> = (1..=77).map(|i| 0.011 * f64::from(i)).collect();
    for name in function::Function::NAMES.iter().filter(|name| !name.ends_with("acosh") && **name != "arccosh") {
        is_differentiated(&format!("a*{name}(b*x) + {name}(a*x)^2"), &x, [0.9, 0.7], 1e-13);
    }
    is_differentiated("acosh(1 + a*x) * b", &x, [0.9, 0.7], 1e-13);
    for text in [
        "(a*x)^b - x^(a - b)",
        "a/(b + x) - (a - x)/b",
        "atan2(a*x, b - x)",
        "hypot(a, b*x)",
        "max(a*x, b) + min(a, b*x^2)",
        "beta(a + x, b)",
        "if(x < a*b, sqrt(a - x), (b*x)^1.5)",
        "if(x < a, ln(a - x + 1e-9)*b, ln(x - a)/b)",
        "(a*x)^-3 + (b*x)^0 + (a*b)^2.5",
        "-a*x/b + a",
        "step(x - a)*b + a",
        "jn(3, a*x)*b + yn(2, b*x) + in(-2, a*x)*kn(4, b*x) + k0(a*x) - y0(b)",
        "gammainc(a, b*x) + b*gammaincc(a*x, b)",
        "betainc(a, b, x) + betainc(b*x, 3, a) + betainc(2, a, x)",
        "if(x < a, gammainc(a - x, b), betainc(a, b, x - a))",
    ] {
        is_differentiated(text, &x, [0.6, 0.7], 1e-12);
    }
}

/// The names of Bessel functions are often those of parameters.
#[test]
fn functions_of_short_names_are_called_only() {
    let formula = Formula::parse("y0 + k1*x + kn - k1(x)").unwrap();
    assert_eq!(formula.parameters(), ["y0", "k1", "kn"]);
    assert!(message("gammainc + 1").starts_with("gammainc is a function"));
}

/// Directional second derivatives of Taylor numbers against differences of first ones, with all arguments moving.
#[test]
fn special_functions_have_second_derivatives() {
    for text in
        ["jn(2, a*b)*in(1, a) + yn(1, b) - kn(3, a*b)", "gammainc(a, a*b) - gammaincc(b, a)", "betainc(a, b, a*b/2)"]
    {
        let formula = Formula::parse(text).unwrap();
        let along = |t: f64| -> Taylor<f64> {
            Model::<f64>::response(&formula, &[0.0], &[Taylor::along(0.7 + t, 1.0), Taylor::along(1.3 - 0.5 * t, -0.5)])
        };
        let [before, here, after] = [-1e-5, 0.0, 1e-5].map(along);
        let [first, second] = [after.value - before.value, after.first - before.first].map(|change| change / 2e-5);
        for (found, expected) in [(here.first, first), (here.second, second)] {
            assert!((found - expected).abs() < 1e-8 * (1.0 + found.abs()), "{text}: {here:?}, {first}, {second}");
        }
    }
}

fn fits_special_functions<T: Real>(tolerance: f64) {
    let float = |values: Vec<f64>| values.into_iter().map(T::from_f64).collect::<Vec<T>>();
    let x: Vec<f64> = (1..=40).map(|i| 0.25 * f64::from(i)).collect();
    for (text, start, expected) in [
        ("gammainc(shape, x/scale)", [1.0, 1.0], [2.5, 1.4]),
        ("betainc(a, b, x/11)", [1.0, 1.0], [2.5, 0.6]),
        ("h*jn(2, k*x)", [1.0, 1.0], [2.5, 1.2]),
        ("h*i0(k*x)*k1(x)", [1.0, 1.0], [2.5, 0.8]),
    ] {
        let formula = Formula::parse(text).unwrap();
        let y: Vec<f64> = x.iter().map(|&x| Model::<f64>::response(&formula, &[x], &expected)).collect();
        let (x, y) = (float(x.clone()), float(y));
        let fit = CurveFit::model(formula, &x, &y, &float(start.to_vec())).fit().unwrap();
        for (estimate, expected) in fit.report.x.iter().zip(expected) {
            assert!((estimate.to_f64() - expected).abs() < tolerance, "{text}: {estimate} instead of {expected}");
        }
    }
}

#[test]
fn special_functions_are_fitted() {
    fits_special_functions::<f64>(1e-9);
    fits_special_functions::<f32>(1e-4);
    let x: Vec<f64> = (1..=40).map(|i| 25.0 * f64::from(i)).collect();
    let formula = Formula::parse("top*gammainc(shape, x/scale)").unwrap();
    let y: Vec<f64> = x.iter().map(|&x| Model::<f64>::response(&formula, &[x], &[7.0, 2.5, 140.0])).collect();
    let fit = CurveFit::guessed(formula, &x, &y).fit().unwrap();
    assert!((fit.parameter("scale").unwrap().value - 140.0).abs() < 1e-6);
}

/// A thread's evaluations have memory in common, but nothing in it.
#[test]
fn composed_functions_are_differentiated() {
    for a in [-3.0, -0.51, -0.49, -1e-3, 0.0, 1e-9, 0.2, 0.6, 12.0] {
        is_differentiated("sinc(a*x)", &[1.0], [a], 1e-12);
        let sinc = Formula::parse("sinc(a*x)").unwrap();
        let found = Model::<f64>::response(&sinc, &[1.0], &Dual::<f64, 1>::variables([a]));
        let slope = if a.abs() < 0.01 { a.powi(3) / 30.0 - a / 3.0 } else { (a.cos() - a.sin() / a) / a };
        assert!((found.value - if a == 0.0 { 1.0 } else { a.sin() / a }).abs() < 1e-15, "{a}: {found:?}");
        assert!((found.gradient[0] - slope).abs() < 2e-15, "{a}: {found:?} instead of {slope}");
    }
    is_differentiated("voigt(x - c, s, g)", &[0.7], [0.4, 0.3, 0.2], 1e-12);
    is_differentiated("a*mod(x, c) + floor(a*x)*c", &[0.7], [2.0, 0.3], 1e-13);
    is_differentiated("a*sign(x - c) + (x > c and a > 0 ? a*x : c)", &[0.7], [2.0, 0.3], 1e-13);
    let peak = Formula::parse("voigt(x - c, s, g)").unwrap();
    let [found, expected] = [
        Model::<f64>::response(&peak, &[0.7], &[0.4, 0.3, 0.2]),
        Model::<f64>::response(&crate::models::Voigt, &[0.7], &[1.0, 0.4, 0.3, 0.2]),
    ];
    assert!((found - expected).abs() < 1e-14);
}

#[test]
fn formulas_of_equal_length_keep_their_constants() {
    for text in ["2*a*x + b", "3*a*x + b", "7*x*b - a"] {
        is_differentiated(text, &[0.5, 1.5], [0.6, 0.7], 1e-15);
    }
}

/// A branch that is not chosen may have no value.
#[test]
fn what_is_not_chosen_has_no_part_in_the_derivatives() {
    let formula = Formula::parse("if(x < b, a*x, a*sqrt(x - b)^3 * ln(x - b))").unwrap();
    let (x, mut y, mut jacobian) = ([1.0, 2.0, 3.0], [0.0; 3], [0.0; 6]);
    super::super::model_rows::backwards(formula.program(), &x, 1, &[10.0, 2.0], &mut y, &mut jacobian);
    assert_eq!((y, jacobian), ([2.0, 4.0, 6.0], [0.0, 1.0, 0.0, 2.0, 0.0, 3.0]));
}

#[test]
fn a_row_with_too_few_predictors_is_nan() {
    let formula = Formula::with_predictors("a*u*v", ["u", "v"]).unwrap();
    let response: f64 = formula.response(&[1.0], &[1.0]);
    assert!(response.is_nan());
    let mut y = [0.0_f64];
    super::super::model_rows::backwards(formula.program(), &[1.0], 1, &[1.0], &mut y, &mut []);
    assert!(y[0].is_nan());
}

/// As NumPy's `maximum` and `minimum`, whichever argument is NaN; values, derivatives and lanes.
#[test]
fn extremes_of_nan_are_nan() {
    let text = |call: &str| Formula::parse(&format!("{call}(a, x)")).unwrap();
    let (nan, infinity) = (f64::NAN, f64::INFINITY);
    for (a, x) in
        [(nan, 1.0), (1.0, nan), (nan, infinity), (-infinity, nan), (nan, -infinity), (infinity, nan), (nan, nan)]
    {
        for call in ["max", "min"] {
            assert!(text(call).response(&[x], &[a]).is_nan(), "{call}({a}, {x})");
        }
        let [larger, smaller] =
            [model!(|x; a| max(a, x)).response(&[x], &[a]), model!(|x; a| min(a, x)).response(&[x], &[a])];
        assert!(larger.is_nan() && smaller.is_nan());
    }
    for (a, x) in
        [(1.0, 2.0), (2.0, 1.0), (-infinity, 1.0), (1.0, infinity), (-infinity, infinity), (infinity, infinity)]
    {
        assert_eq!([text("max").response(&[x], &[a]), text("min").response(&[x], &[a])], [a.max(x), a.min(x)]);
        let [larger, smaller] = ["max", "min"].map(|call| text(call).response(&[x], &[Dual::<f64, 1>::variable(a, 0)]));
        if a.is_finite() && x.is_finite() {
            let expected = [a >= x, a <= x].map(|is_own| [f64::from(u8::from(is_own))]);
            assert_eq!([larger.gradient, smaller.gradient], expected);
        }
    }
}

#[test]
fn a_fit_of_a_formula_is_that_of_the_macro() {
    let x: Vec<f64> = (0..200).map(|i| 0.05 * f64::from(i)).collect();
    let y: Vec<f64> =
        x.iter().map(|x| 3.0 * (-(x - 4.0) * (x - 4.0) / 0.5).exp() + 0.3 + 0.01 * (9.0 * x).sin()).collect();
    let start = [2.0, 4.3, 0.7, 0.0];
    let formula = Formula::parse("height*exp(-((x - center)/width)^2) + base").unwrap();
    let by_text = CurveFit::model(formula, &x, &y, &start).fit().unwrap();
    let of_macro = model!(|x; height, center, width, base| height * exp(-pow((x - center) / width, 2)) + base);
    let by_macro = CurveFit::model(of_macro, &x, &y, &start).fit().unwrap();
    for (found, expected) in by_text.parameters().iter().zip(by_macro.parameters()) {
        assert_eq!(found.name, expected.name);
        assert!((found.value - expected.value).abs() < 1e-9 * expected.value.abs());
        assert!((found.standard_error - expected.standard_error).abs() < 1e-7 * expected.standard_error);
    }
}

#[test]
fn a_tie_of_a_text_is_that_of_the_macro() {
    let (by_text, by_macro) =
        (Tie::<f64>::parse("1 - a * exp(2 * c)").unwrap(), crate::tie!(|a, c| 1 - a * exp(2 * c)));
    let [mut found, mut expected] = [[0.0; 2]; 2];
    let at = [0.3, -0.7];
    assert!((by_text.value(&at, Some(&mut found)) - by_macro.value(&at, Some(&mut expected))).abs() < 1e-15);
    assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-15));
    assert_eq!(by_text.value(&at, None), by_text.value(&at, Some(&mut found)));
    assert_eq!(by_text.to_string(), "1 - a * exp(2 * c)");
}

/// Texts that are nearly formulas.
fn texts() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "a", "x", "b1", "1", "2.5", "1e", "1e-3", ".", "+", "-", "*", "**", "/", "^", "(", ")", ",", "<", "<=", ">",
        "==", "!=", "=", "?", ":", "exp", "sin(", "pow(", "if(", "max", " ", "é", "§", "e", "pi", "gamma(", "\"",
        "\"a b\"", "&&", " and ", "||", "!", "not ",
    ]);
    prop::collection::vec(words, 0..40).prop_map(|words| words.concat())
}

type OfThree = fn(f64, f64, f64) -> f64;

/// An expression over `x`, `a` and `b`, and its value.
fn expressions() -> impl Strategy<Value = (&'static str, OfThree)> {
    prop::sample::select(vec![
        ("x + a*b", (|x, a, b| x + a * b) as OfThree),
        ("(x + a)*b", |x, a, b| (x + a) * b),
        ("-x^2/a - b", |x, a, b| -(x * x) / a - b),
        ("exp(-a*x) + ln(b)", |x, a, b| (-a * x).exp() + b.ln()),
        ("a > b ? a^x : b^-x", |x, a, b| if a > b { a.powf(x) } else { b.powf(-x) }),
        ("sin(a)*cos(b) - tanh(x)/sqrt(b)", |x, a, b| a.sin() * b.cos() - x.tanh() / b.sqrt()),
    ])
}

/// A point, and the value and the derivatives of the macro there and of the same text.
type Compared = fn(f64, [f64; 2]) -> (&'static str, Dual<f64, 2>, Dual<f64, 2>);

/// Each model once for the compiler and once as a text.
macro_rules! in_both {
    ($([$($model:tt)*])*) => {
        [$(|x, b| {
            let (model, b) = (model!($($model)*), Dual::variables(b));
            let text = stringify!($($model)*).rsplit_once('|').expect("predictors and parameters come first").1;
            let by_text = Formula::parse(text).unwrap_or_else(|error| panic!("{error}"));
            // Parameters of a formula come in the order in which they occur.
            assert_eq!(by_text.parameters(), ["a", "b"], "{text}");
            (text, Model::<f64>::response(&model, &[x], &b), Model::<f64>::response(&by_text, &[x], &b))
        }),*]
    };
}

const COMPARED: [Compared; 14] = in_both! {
    [|x; a, b| a * exp(-b * x) + 1]
    [|x; a, b| a / (1 + pow(x / b, 2)) - 2.5e-1]
    [|x; a, b| (x + a) * (x - b) / (1 + x * x)]
    [|x; a, b| sin(a * x) * cos(b) + tan(0.3 * x)]
    [|x; a, b| ln(a + x) / log10(2 + b) - log2(1 + x)]
    [|x; a, b| sqrt(a * x) * cbrt(b) - abs(x - 2)]
    [|x; a, b| tanh(a) + sinh(x * b / 9) - cosh(0.1 * x)]
    [|x; a, b| erf(a * x) - erfc(b * x) * 3]
    [|x; a, b| gamma(1 + a) / lgamma(3 + b * x)]
    [|x; a, b| beta(a + x, b)]
    [|x; a, b| j0(a * x) + j1(b + x)]
    [|x; a, b| atan2(a * x, b) + hypot(x, 2)]
    [|x; a, b| max(a, x) * min(x, b)]
    [|x; a, b| select_less(x, a, x * x, b / (1 + x))]
};

/// A formula in the making, to be written as a text and to be worked out.
#[derive(Debug, Clone)]
enum Tree {
    Number(f64),
    Name(usize),
    Negative(Box<Tree>),
    Function(&'static str, fn(f64) -> f64, Box<Tree>),
    Joined(&'static str, Box<[Tree; 2]>),
    Choice(&'static str, Box<[Tree; 4]>),
}

impl Tree {
    /// With all parentheses; comparisons and choices in one of the two ways.
    fn text(&self) -> String {
        match self {
            Tree::Number(value) => format!("{value:?}"),
            Tree::Name(index) => ["x", "a", "b"][*index].to_owned(),
            Tree::Negative(of) => format!("(-{})", of.text()),
            Tree::Function(name, _, of) => format!("{name}({})", of.text()),
            Tree::Joined(operator, of) => format!("({} {operator} {})", of[0].text(), of[1].text()),
            Tree::Choice(relation, of) => {
                let [a, b, then, otherwise] = of.each_ref().map(Tree::text);
                format!("({a} {relation} {b} ? {then} : {otherwise})")
            }
        }
    }

    fn value(&self, at: &[f64; 3]) -> f64 {
        match self {
            Tree::Number(value) => *value,
            Tree::Name(index) => at[*index],
            Tree::Negative(of) => -of.value(at),
            Tree::Function(_, function, of) => function(of.value(at)),
            Tree::Joined(operator, of) => {
                let [a, b] = of.each_ref().map(|of| of.value(at));
                match *operator {
                    "+" => a + b,
                    "-" => a - b,
                    "*" => a * b,
                    _ => a / b,
                }
            }
            Tree::Choice(relation, of) => {
                let [a, b, then, otherwise] = of.each_ref().map(|of| of.value(at));
                // No choice is right.
                if a.is_nan() || b.is_nan() {
                    return f64::NAN;
                }
                let holds = match *relation {
                    "<" => a < b,
                    "<=" => a <= b,
                    ">" => a > b,
                    ">=" => a >= b,
                    "==" => a == b,
                    _ => a != b,
                };
                if holds { then } else { otherwise }
            }
        }
    }
}

/// Formulas of smooth functions, in which nothing overflows.
fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![(0.1..4.0).prop_map(Tree::Number), (0..3_usize).prop_map(Tree::Name)];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        let functions = prop::sample::select(vec![
            ("sin", f64::sin as fn(f64) -> f64),
            ("cos", f64::cos),
            ("tanh", f64::tanh),
            ("atan", f64::atan),
            ("abs", f64::abs),
        ]);
        let operators = prop::sample::select(vec!["+", "-", "*", "/"]);
        let relations = prop::sample::select(vec!["<", "<=", ">", ">=", "==", "!="]);
        prop_oneof![
            boxed.clone().prop_map(Tree::Negative),
            (functions, boxed).prop_map(|((name, function), of)| Tree::Function(name, function, of)),
            (operators, [inner.clone(), inner.clone()]).prop_map(|(operator, of)| Tree::Joined(operator, Box::new(of))),
            (relations, [inner.clone(), inner.clone(), inner.clone(), inner])
                .prop_map(|(relation, of)| Tree::Choice(relation, Box::new(of))),
        ]
    })
}

proptest! {
    /// Values and derivatives.
    #[test]
    fn a_formula_is_the_macro(x in 0.1..4.0, a in 0.1..3.0, b in 0.1..3.0) {
        for compared in COMPARED {
            let (text, of_macro, by_text) = compared(x, [a, b]);
            let close = |found: f64, expected: f64| (found - expected).abs() <= 1e-13 * (1.0 + expected.abs());
            prop_assert!(close(by_text.value, of_macro.value), "{}: {:?} instead of {:?}", text, by_text, of_macro);
            for (found, expected) in by_text.gradient.into_iter().zip(of_macro.gradient) {
                prop_assert!(close(found, expected), "{}: {:?} instead of {:?}", text, by_text, of_macro);
            }
        }
    }

    #[test]
    fn any_formula_has_the_value_of_its_tree(tree in trees(), x in -4.0..4.0, a in 0.1..3.0, b in 0.1..3.0) {
        let (text, expected) = (tree.text(), tree.value(&[x, a, b]));
        let formula = Formula::with_predictors(&text, ["x", "a", "b"]).unwrap();
        let found: f64 = formula.response(&[x, a, b], &[]);
        // The functions of formulas and those of the standard library round each in its own way.
        let is_close = (found - expected).abs() <= 1e-9 * (1.0 + expected.abs());
        prop_assert!(is_close || !expected.is_finite() || expected.abs() > 1e6, "{}: {} instead of {}", text, found, expected);
    }

    #[test]
    fn no_text_panics(text in texts()) {
        if let Err(error) = Formula::parse(&text) {
            prop_assert!(error.position() <= text.chars().count() + 1);
            prop_assert!(error.to_string().lines().count() == 3);
        }
    }

    #[test]
    fn no_unicode_panics(text in "\\PC{0,30}") {
        let _ = Formula::parse(&text).map_err(|error| error.to_string());
    }

    #[test]
    fn a_formula_has_the_value_that_it_says((text, expected) in expressions(), x in 0.1..4.0, a in 0.1..3.0, b in 0.1..3.0) {
        let formula = Formula::with_predictors(text, ["x", "a", "b"]).unwrap();
        let (found, expected): (f64, f64) = (formula.response(&[x, a, b], &[]), expected(x, a, b));
        prop_assert!((found - expected).abs() <= 1e-13 * (1.0 + expected.abs()), "{} instead of {}", found, expected);
    }
}
