//! Fits of complex responses.

use marquardt::curve::{ComplexModel, CurveError, FormulaProblem, PlotError};
use marquardt::{Complex, CurveFit, Dual, FitMany, Formula, GlobalFit, Model, ScalarOf, Tie, complex_model, formula};
use proptest::prelude::*;

use crate::reference::Reference;

/// Cases of `complex.csv`: the predictor, and the formula.
const CASES: [(&str, &str, &str); 6] = [
    ("randles", "w", "r0 + r1/(1 + i*w*r1*c)"),
    ("constant_phase", "w", "r0 + 1/(1/(r1 + sigma*sqrt(2)/sqrt(i*w)) + q*(i*w)^alpha)"),
    ("finite_warburg", "w", "r0 + r1*tanh(sqrt(i*w*tau))/sqrt(i*w*tau)"),
    ("resonator", "f", "1 - q/(qr + i*qi)/(1 + 2*i*q*(f - f0)/f0)"),
    ("debye", "w", "inf + jump/(1 + (i*w*tau)^a)"),
    ("damped_signal", "t", "a*exp(i*phase)*exp((2*i*pi*nu - rate)*t)"),
];

/// The names of a case's parameters, as lmfit had them.
fn names(case: &str) -> &'static [&'static str] {
    match case {
        "randles" => &["r0", "r1", "c"],
        "constant_phase" => &["r0", "r1", "sigma", "q", "alpha"],
        "finite_warburg" => &["r0", "r1", "tau"],
        "resonator" => &["f0", "q", "qr", "qi"],
        "debye" => &["inf", "jump", "tau", "a"],
        _ => &["a", "phase", "nu", "rate"],
    }
}

fn data(reference: &Reference, case: &str) -> (Vec<f64>, Vec<Complex<f64>>) {
    let [x, re, im] = ["x", "re", "im"].map(|name| reference.of(case, name));
    (x.to_vec(), re.iter().zip(im).map(|(&re, &im)| Complex::new(re, im)).collect())
}

/// Estimates, errors, sums of squares and criteria are lmfit's, from near and from the formula's own start.
#[test]
fn formulas_agree_with_lmfit() {
    let reference = Reference::read("complex.csv");
    for (case, predictor, text) in CASES {
        let (x, z) = data(&reference, case);
        let formula = Formula::complex(text, [predictor]).unwrap_or_else(|error| panic!("{error}"));
        let truth = |name: &String| {
            let index = names(case).iter().position(|known| known == name).unwrap();
            // The resonance is much narrower than a per cent.
            reference.of(case, "truth")[index] * if name == "f0" { 1.000_01 } else { 1.1 }
        };
        let start: Vec<f64> = formula.parameters().iter().map(truth).collect();
        for is_weighted in [false, true] {
            let kind = if is_weighted { format!("{case} weighted") } else { case.to_owned() };
            let fit = CurveFit::complex_formula(formula.clone(), &x, &z, &start);
            let fit = if is_weighted { fit.weight_by_modulus() } else { fit }.fit().unwrap();
            assert!(fit.report().is_converged(), "{kind}: {}", fit.report().status);
            for (index, name) in names(case).iter().enumerate() {
                let (found, of) = (fit.parameter(name).unwrap(), |column| reference.of(&kind, column)[index]);
                let (error, of_value) = (of("error"), (found.value - of("estimate")).abs());
                assert!(of_value < 1e-8 * of("estimate").abs().min(1e3 * error), "{kind} {name}: {found:?}");
                assert!((found.standard_error / error - 1.0).abs() < 1e-8, "{kind} {name}: {found:?}, {error}");
            }
            assert!((fit.chi_square() / reference.of(&kind, "chisqr")[0] - 1.0).abs() < 1e-9, "{kind}");
            assert_eq!(fit.number_of_observations(), 2 * x.len());
        }
    }
}

/// Starts of formulas are found for complex values, too; of the constant phase element beside a diffusion, they are not.
#[test]
fn formulas_find_their_starts() {
    let reference = Reference::read("complex.csv");
    for (case, predictor, text) in CASES.into_iter().filter(|case| case.0 != "constant_phase") {
        let (x, z) = data(&reference, case);
        let formula = Formula::complex(text, [predictor]).unwrap();
        let pairs: Vec<f64> = z.iter().flat_map(|z| [z.re, z.im]).collect();
        let pairs = ndarray::Array2::from_shape_vec((x.len(), 2), pairs).unwrap();
        let fit = CurveFit::guessed(formula, &x, &pairs).fit().unwrap();
        let (found, best) = (fit.chi_square(), reference.of(case, "chisqr")[0]);
        assert!((found / best - 1.0).abs() < 1e-6, "{case}: {found}, {best}");
    }
}

struct Resonator;

impl ComplexModel<f64> for Resonator {
    fn parameter_count(&self) -> usize {
        4
    }

    fn response<S: ScalarOf<f64>>(&self, x: &[S::Real], b: &[S]) -> Complex<S> {
        let (one, detuning) = (formula!(1.0), (b[0].recip() * x[0] - 1.0) * b[1] * 2.0);
        -(Complex::from(b[1]) / Complex::new(b[2], b[3]) / Complex::new(one, detuning)) + one
    }

    fn parameter_name(&self, index: usize) -> String {
        ["f0", "q", "qr", "qi"][index].to_owned()
    }
}

/// Closures, models and formulas are the same curve.
#[test]
fn closures_and_models_agree_with_lmfit() {
    let reference = Reference::read("complex.csv");
    let (x, z) = data(&reference, "resonator");
    let start = [100.001, 9e3, 8e3, -8e3];
    let closure = CurveFit::complex(
        |f, [f0, q, qr, qi]| 1.0 - q / Complex::new(qr, qi) / (1.0 + Complex::i() * (2.0 * q * (f - f0) / f0)),
        &x,
        &z,
        start,
    );
    let model = CurveFit::complex_model(Resonator, &x, &z, &start);
    let formula =
        complex_model!(|f; f0, q, qr, qi| 1 - q / (qr + i() * qi) / (1 + two * i() * q * (f - f0) / f0); two = 2.0);
    let formula = CurveFit::complex_model(formula, &x, &z, &start);
    let closure = closure.names(["f0", "q", "qr", "qi"]);
    for fit in [closure.fit().unwrap(), model.fit().unwrap(), formula.fit().unwrap()] {
        for (index, parameter) in fit.parameters().iter().enumerate() {
            let of = |column| reference.of("resonator", column)[index];
            assert!((parameter.value / of("estimate") - 1.0).abs() < 1e-8, "{parameter:?}");
            assert!((parameter.standard_error / of("error") - 1.0).abs() < 1e-8, "{parameter:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A complex formula is its two parts written out, with all derivatives, in any unit and far from everything.
    #[test]
    fn complex_formulas_are_their_parts(
        b in prop::array::uniform3(0.1..3.0_f64), w in prop::collection::vec(1e-3..30.0_f64, 4..9), unit in -3.0..3.0_f64,
    ) {
        let unit = 10.0_f64.powf(unit);
        let w: Vec<f64> = w.iter().map(|w| w * unit).collect();
        let parts = [
            ("a + b/(1 + i*w*c)", "a + b/(1 + w^2*c^2)", "-b*w*c/(1 + w^2*c^2)"),
            ("(a + i*w)/(b - i*c)", "(a*b - w*c)/(b^2 + c^2)", "(a*c + w*b)/(b^2 + c^2)"),
            ("exp(-(a + i*b)*w)*c", "c*exp(-a*w)*cos(b*w)", "-c*exp(-a*w)*sin(b*w)"),
            ("conj(a + i*w)^2*b + re(i*c)", "b*(a^2 - w^2)", "-2*a*b*w + 0*c"),
            ("(i*w)^a*b + i*c", "b*w^a*cos(pi/2*a)", "b*w^a*sin(pi/2*a) + c"),
            ("sqrt(i*w*a)*b - c*j", "b*sqrt(w*a/2)", "b*sqrt(w*a/2) - c"),
            ("abs(a + i*w)*(b + i*c)", "b*sqrt(a^2 + w^2)", "c*sqrt(a^2 + w^2)"),
            ("ln(a + i*w) + b*i*im(c + 3*i)", "ln(a^2 + w^2)/2 + 0*b*c", "atan2(w, a) + 3*b"),
            ("w < 1 ? a + i*b : c*i", "w < 1 ? a : 0", "w < 1 ? b : c"),
            ("2*i^3*a + i^(-1)*b + c^i", "cos(ln(c))", "-2*a - b + sin(ln(c))"),
        ];
        let values = |formula: &Formula| -> Vec<Dual<f64, 3>> {
            let all = Dual::variables(b);
            formula.parameters().iter().map(|name| all["abc".find(name.as_str()).unwrap()]).collect()
        };
        for (text, re, im) in parts {
            let complex = Formula::complex(text, ["w"]).unwrap();
            let [re, im] = [re, im].map(|text| Formula::with_predictors(text, ["w"]).unwrap());
            for &w in &w {
                let found = complex.complex_value(&[w], &values(&complex));
                for (found, part) in [(found.re, &re), (found.im, &im)] {
                    let expected = Model::<f64>::response(part, &[w], &values(part));
                    let size = 1.0 + w * w + expected.value.abs();
                    prop_assert!((found.value - expected.value).abs() <= 1e-12 * size, "{text} at {w}: {found:?}, {expected:?}");
                    for (found, expected) in found.gradient.iter().zip(expected.gradient) {
                        prop_assert!((found - expected).abs() <= 1e-11 * (size + w * w + expected.abs()), "{text} at {w}");
                    }
                }
            }
        }
    }
}

#[test]
fn single_precision_far_starts_and_absurd_units() {
    let w: Vec<f64> = (0..40).map(|k| 10.0_f64.powf(-1.0 + 0.2 * f64::from(k))).collect();
    let z: Vec<Complex<f64>> = w.iter().map(|&w| 100.0 / Complex::new(1.0, w * 1e-3) + 10.0).collect();
    let text = "r0 + r1/(1 + i*w*tau)";
    for start in [[1.0, 1.0, 1.0], [1e4, 1e-3, 1e-7], [0.1, 1e6, 1e-3]] {
        let formula = Formula::complex(text, ["w"]).unwrap();
        let fit = CurveFit::complex_formula(formula, &w, &z, &start).bounds_of_all(0.0..).weight_by_modulus();
        let fit = fit.fit().unwrap();
        assert!(
            fit.report().is_converged() && (fit.parameters()[2].value * 1e3 - 1.0).abs() < 1e-6,
            "{start:?}: {fit}"
        );
    }
    // In kiloohms, in single precision.
    let single: Vec<Complex<f32>> = z.iter().map(|z| Complex::new((z.re * 1e3) as f32, (z.im * 1e3) as f32)).collect();
    let w: Vec<f32> = w.iter().map(|&w| w as f32).collect();
    let formula = Formula::complex("r0 + 1/(1/r1 + i*w*c)", ["w"]).unwrap();
    let fit = CurveFit::complex_formula(formula, &w, &single, &[1e3, 3e5, 1e-8]).fit().unwrap();
    assert!((fit.parameters()[2].value * 1e8 - 1.0).abs() < 1e-3, "{fit}");
}

#[test]
fn all_forms_of_data_are_one() {
    let w = [1.0, 2.0, 4.0, 8.0, 16.0_f64];
    let (re, im) = ([9.2, 7.1, 4.4, 2.1, 1.3], [-2.7, -3.9, -4.0, -2.7, -1.5]);
    let z: Vec<Complex<f64>> = re.iter().zip(im).map(|(&re, im)| Complex::new(re, im)).collect();
    let theirs: Vec<_> = z.iter().map(|z| marquardt::nalgebra::Complex::new(z.re, z.im)).collect();
    let columns = ndarray::Array2::from_shape_fn((5, 2), |(row, part)| if part == 0 { re[row] } else { im[row] });
    let curve = |w: f64, [a, b, c]: [Dual<f64, 3>; 3]| a + b / (1.0 + Complex::i() * (c * w));
    let start = [1.0, 5.0, 0.5];
    let fits = [
        CurveFit::complex(curve, &w, &z, start).fit().unwrap(),
        CurveFit::complex(curve, &w, &theirs, start).fit().unwrap(),
        CurveFit::complex(curve, &w, &columns, start).fit().unwrap(),
        CurveFit::complex(curve, &w, (&re, &im), start).fit().unwrap(),
    ];
    assert!(fits.iter().all(|fit| fit.parameters() == fits[0].parameters()));
    let predicted = fits[0].predict_complex(&[3.0]).unwrap();
    let both = fits[0].predict(&[3.0]).unwrap();
    assert_eq!((predicted.len(), vec![predicted[0].re, predicted[0].im]), (1, both));
    // A sigma is for both parts, or one for each.
    let sigma = [0.1, 0.2, 0.1, 0.2, 0.1];
    let each = ndarray::Array2::from_shape_fn((5, 2), |(row, _)| sigma[row]);
    let one = CurveFit::complex(curve, &w, &z, start).sigma(&sigma).fit().unwrap();
    let other = CurveFit::complex(curve, &w, &z, start).sigma(&each).fit().unwrap();
    assert_eq!(one.parameters(), other.parameters());
    // A column that is too short has missing numbers.
    let short = CurveFit::complex(curve, &w, (&re, &im[..4]), start).fit();
    assert!(matches!(short, Err(CurveError::NonFiniteDatum { row: 4, .. })), "{short:?}");
    // Data of other frequencies join in a fit of several data sets.
    let mut both = GlobalFit::new();
    for (name, range) in [("low", 0..3), ("high", 2..5)] {
        both = both.data_set(name, CurveFit::complex(curve, &w[range.clone()], &z[range], start));
    }
    assert_eq!(both.shared(["b1", "b2", "b3"]).fit().unwrap().number_of_observations(), 12);
}

#[test]
fn wrong_uses_are_errors() {
    let text = |text: &str| Formula::complex(text, ["w"]).unwrap_err().problem().clone();
    let place = |place: &str| FormulaProblem::ComplexNumber { place: place.to_owned() };
    assert_eq!(text("floor(a + i*w)"), place("floor"));
    assert_eq!(text("i < w ? 1 : a"), place("a comparison"));
    assert_eq!(text("a + erf(i)"), place("erf"));
    assert_eq!(text("max(w, i)"), place("max"));
    assert!(matches!(text("re + 1"), FormulaProblem::BareFunction { .. }));
    // Elsewhere, these are names like any other.
    assert_eq!(Formula::parse("i*re + j*arg*x").unwrap().parameters(), ["i", "re", "j", "arg"]);
    assert!(Formula::parse("re(x)").is_err());
    assert_eq!(Formula::complex("\"i\"*i + i_1", ["w"]).unwrap().parameters(), ["i", "i_1"]);
    assert_eq!(Formula::complex("i + a", ["i"]).unwrap().parameters(), ["a"]);
    // A real value has one response.
    let modulus = Formula::complex("abs(1/(1 + i*w*tau))", ["w"]).unwrap();
    assert!(!modulus.is_complex() && modulus.used_predictors().eq(["w"]));
    let fit = CurveFit::model(modulus, &[1.0, 2.0, 4.0], &[0.9, 0.7, 0.4_f64], &[1.0]).fit().unwrap();
    assert!((fit.parameters()[0].value - 0.5).abs() < 0.1);
    // A complex value has two.
    let complex = || Formula::complex("1/(1 + i*w*tau)", ["w"]).unwrap();
    let one = CurveFit::model(complex(), &[1.0, 2.0], &[0.9, 0.7_f64], &[1.0]).fit().unwrap_err();
    assert!(matches!(one, CurveError::ResponseCount { curve: 2, data: 1 }), "{one}");
    let rows = ndarray::array![[0.9, 0.7, 0.5_f64]];
    let many = FitMany::new(complex(), &[1.0, 2.0, 3.0], &rows).start(&[1.0]).fit().unwrap_err();
    assert!(many.to_string().contains("complex"), "{many}");
    let at_zero = [Complex::new(0.0, 0.0), Complex::new(1.0, 1.0)];
    let weighted = CurveFit::complex_formula(complex(), &[1.0, 2.0], &at_zero, &[1.0]).weight_by_modulus().fit();
    assert!(matches!(weighted, Err(CurveError::Weight { row: 0, .. })), "{weighted:?}");
}

#[test]
fn plots_of_complex_curves() {
    let reference = Reference::read("complex.csv");
    let (x, z) = data(&reference, "resonator");
    let formula = Formula::complex(CASES[3].2, ["f"]).unwrap();
    let start = [9e3, 8e3, -8e3, 100.001];
    let fit =
        CurveFit::complex_formula(formula, &x, &z, &start).derive("qe", Tie::parse("qr + qi").unwrap()).fit().unwrap();
    let svg = fit.plot().unwrap().to_svg();
    assert!(svg.contains("real part") && svg.contains("imaginary part"));
    let nyquist = fit.nyquist_plot().unwrap().title("S₂₁").to_svg();
    assert!(nyquist.contains("−imaginary part") && nyquist.matches("<circle").count() > 90);
    let bode = fit.bode_plot().unwrap().x_label("frequency (Hz)").to_svg();
    assert!(bode.contains("modulus") && bode.contains("phase (°)") && bode.matches("frequency (Hz)").count() == 2);
    let line = marquardt::curve_fit(|x, [a]| a * x, &[1.0, 2.0], &[1.0, 2.1_f64], [1.0]).unwrap();
    assert!(matches!(line.nyquist_plot(), Err(PlotError::NotComplex { responses: 1 })));
    assert!(line.predict_complex(&[1.0]).is_err());
    // A fit that was stored has the same plots.
    let stored = marquardt::curve::StoredFit::<f64>::from_json(&fit.to_stored().to_json()).unwrap();
    assert_eq!(stored.nyquist_plot().unwrap(), fit.nyquist_plot().unwrap());
    assert_eq!(stored.predict_complex(&[100.0]).unwrap(), fit.predict_complex(&[100.0]).unwrap());
}
