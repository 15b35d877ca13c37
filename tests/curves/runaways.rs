//! Kinds of parameters that run away, and of parameters that are uncertain or undetermined without having done so.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::curve::Warning;
use marquardt::{CurveFit, Formula, Real};
use rand_distr::{Distribution, StandardNormal};

/// A fitted formula: the names of the parameters that ran away, all warnings, and the report.
struct Fitted {
    runaways: Vec<String>,
    warnings: Vec<Warning>,
    report: String,
}

/// The curve at `1, 2, … 20`, with noise.
fn data(curve: impl Fn(f64) -> f64, noise: f64, seed: u64) -> [Vec<f64>; 2] {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut noise = || noise * Distribution::<f64>::sample(&StandardNormal, &mut random);
    let x: Vec<f64> = (1..=20).map(f64::from).collect();
    let y = x.iter().map(|&x| curve(x) + noise()).collect();
    [x, y]
}

fn fitted<T: Real>(formula: &str, [x, y]: &[Vec<f64>; 2], start: &[f64]) -> Fitted {
    let [x, y, start] = [x, y, start].map(|of| of.iter().map(|&value| T::from_f64(value)).collect::<Vec<T>>());
    let fit = CurveFit::model(Formula::parse(formula).unwrap(), &x, &y, &start).retry(false).fit().unwrap();
    let runaways = fit.warnings().iter().filter_map(|warning| match warning {
        Warning::RanAway { parameter, .. } => Some(parameter.clone()),
        _ => None,
    });
    assert_eq!(fit.is_unusable(), runaways.clone().count() > 0, "{fit}");
    Fitted { runaways: runaways.collect(), warnings: fit.warnings().to_vec(), report: fit.to_string() }
}

#[test]
fn a_step_between_two_points_has_any_steepness() {
    let [x, mut y] = data(|x| if x < 10.5 { 0.0 } else { 1.0 }, 0.02, 1);
    // The points beside the step overshoot.
    [y[9], y[10]] = [-0.01, 1.01];
    let step = [x, y];
    for formula in ["a/(1+exp(-k*(x-m)))", "a*(1+tanh(k*(x-m)))"] {
        let Fitted { runaways, report, .. } = fitted::<f64>(formula, &step, &[1.0, 1.0, 10.0]);
        assert_eq!(runaways, ["k"], "{formula}: {report}");
    }
}

#[test]
fn all_parameters_that_go_to_infinity_together_are_named() {
    // Growth without a plateau, whose middle goes as the logarithm of the plateau.
    let growth = data(|x| (0.2 * x).exp(), 0.05, 2);
    let logistic = fitted::<f64>("a/(1+exp(-k*(x-m)))", &growth, &[100.0, 0.2, 10.0]);
    assert_eq!(logistic.runaways, ["a", "m"], "{}", logistic.report);
    // A line that is bent the other way than a decay: a rate of zero is far from nothing.
    let bent = data(|x| 5.0 - 0.3 * x - 0.02 * x * x, 0.05, 3);
    let decay = fitted::<f64>("a*exp(-k*x)+c", &bent, &[5.0, 0.1, 0.5]);
    assert_eq!(decay.runaways, ["a", "c"], "{}", decay.report);
    for text in ["\"a\" ran away to ", "\"c\" ran away to -", "and is not determined"] {
        assert!(decay.report.contains(text), "{}", decay.report);
    }
}

#[test]
fn units_do_not_matter() {
    for unit in [1e-9, 1.0, 1e9] {
        let bent = data(|x| unit * (2.0 * x + 0.03 * x * x), 0.3 * unit, 4);
        let saturation = fitted::<f64>("a*x/(b+x)", &bent, &[50.0 * unit, 20.0]);
        assert_eq!(saturation.runaways, ["a", "b"], "{}", saturation.report);
    }
}

/// A Jacobian that is singular at the end leaves no standard errors.
#[test]
fn a_perfect_line_is_no_hyperbola() {
    let line = data(|x| 2.0 * x, 0.0, 0);
    for Fitted { runaways, warnings, report } in
        [fitted::<f64>("a*x/(b+x)", &line, &[1.0, 1.0]), fitted::<f32>("a*x/(b+x)", &line, &[1.0, 1.0])]
    {
        assert_eq!(runaways, ["a", "b"], "{report}");
        assert!(!report.contains("inf"), "{report}");
        let undetermined = Warning::Undetermined { parameters: vec!["a".into(), "b".into()] };
        assert!(warnings.contains(&undetermined), "{report}");
        assert!(report.contains("the data do not determine \"a\", \"b\""), "{report}");
    }
}

/// A sum or a quotient is determined, its parts are not, and are no farther away than they have to be.
#[test]
fn redundant_parameters_have_not_run_away() {
    let line = data(|x| 1e6 + 3e4 * x, 1e3, 5);
    for formula in ["a+b+c*x", "a*b+c*x", "a/b+c*x"] {
        let ones = [1.0; 3];
        for Fitted { runaways, warnings, report } in
            [fitted::<f64>(formula, &line, &ones), fitted::<f32>(formula, &line, &ones)]
        {
            assert!(runaways.is_empty(), "{formula}: {report}");
            let undetermined = Warning::Undetermined { parameters: vec!["a".into(), "b".into()] };
            assert!(warnings.contains(&undetermined), "{formula}: {report}");
        }
    }
}

/// Parameters that are zero, or almost, keep their influence if they grow.
#[test]
fn small_parameters_have_not_run_away() {
    type Case = (&'static str, fn(f64) -> f64, [f64; 3]);
    let cases: [Case; 5] = [
        ("a*exp(-k*x)+c", |x| 3.0 * (-0.3 * x).exp(), [2.0, 0.5, 0.1]),
        ("a*x^b+c", |x| 2.0 * x.sqrt(), [1.0, 0.7, 1e-6]),
        ("a*exp(b*x)+c*x", |x| (-0.2 * x).exp(), [1.0, -0.1, 1e-9]),
        ("a+b*x+c*x^2", |_| 0.0, [1e-9, 1.0, 1e-9]),
        ("a*sin(x+c)+b*x", |x| 2.0 * x.sin(), [1.0, 0.5, 0.1]),
    ];
    for seed in 0..40 {
        for (formula, curve, start) in cases {
            let data = data(curve, 0.05, seed);
            for Fitted { warnings, report, .. } in
                [fitted::<f64>(formula, &data, &start), fitted::<f32>(formula, &data, &start)]
            {
                assert!(warnings.is_empty(), "{formula}, seed {seed}: {report}");
            }
        }
    }
}
