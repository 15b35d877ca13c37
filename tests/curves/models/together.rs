//! Sums, products, and formulas of one's own.

use marquardt::models::{
    Constant, ExponentialDecay, Gaussian, Guess, Linear, Lorentzian, Named, Prefixed, Product, Sine, Sum,
};
use marquardt::{CurveFit, Dual, Model, model};

use super::cases::even;

fn names(model: &impl Model<f64>) -> Vec<String> {
    (0..model.parameter_count()).map(|index| model.parameter_name(index)).collect()
}

fn responses(model: &impl Model<f64>, x: &[f64], b: &[f64]) -> Vec<f64> {
    x.iter().map(|&x| model.response(&[x], b)).collect()
}

/// The fit of exact data from the guess finds these parameters.
fn finds(model: impl Guess<f64> + Copy, x: &[f64], truth: &[f64]) {
    finds_any(&model, x, truth, &[truth]);
}

/// The fit of exact data from the guess finds one of these sets of parameters.
fn finds_any<M: Guess<f64> + Clone>(model: &M, x: &[f64], truth: &[f64], equals: &[&[f64]]) {
    let y = responses(model, x, truth);
    let start = model.guess(x, &y);
    // Parts of a kind have names in common.
    let numbered = (0..start.len()).map(|index| format!("b{index}"));
    let fit = CurveFit::model(model.clone(), x, &y, &start).names(numbered).fit().unwrap();
    let found: Vec<f64> = fit.parameters().iter().map(|parameter| parameter.value).collect();
    let near =
        |truth: &&[f64]| found.iter().zip(*truth).all(|(found, truth)| (found - truth).abs() < 1e-6 * truth.abs());
    assert!(equals.iter().any(near), "{found:?} from {start:?} instead of {truth:?}");
}

#[test]
fn sums_and_products_are_exact() {
    let sum = Gaussian.prefixed("p_") + Linear + Sine.prefixed("s_") * Constant;
    assert_eq!(
        names(&sum),
        ["p_amplitude", "p_center", "p_sigma", "slope", "intercept", "s_amplitude", "s_frequency", "s_shift", "c"]
    );
    let b = [3.0, 1.0, 0.5, -0.2, 4.0, 2.0, 7.0, 0.3, 1.5];
    let dual: [Dual<f64, 9>; 9] = Dual::variables(b);
    for x in even(-2.0, 3.0, 11) {
        let x = [x];
        let parts = Gaussian.response(&x, &dual[..3])
            + Linear.response(&x, &dual[3..5])
            + Sine.response(&x, &dual[5..8]) * Constant.response(&x, &dual[8..]);
        let whole = sum.response(&x, &dual);
        assert_eq!(whole.value, parts.value);
        assert_eq!(whole.gradient, parts.gradient);
    }
    let linear = Guess::<f64>::linear_parameters(&sum);
    assert_eq!(linear, [0, 3, 4, 5]);
    assert_eq!(Guess::<f64>::linear_parameters(&Product(model_without_guess(), Linear)), [1, 2]);
}

/// A part that is not linear in anything, with a guess by hand.
fn model_without_guess() -> impl Guess<f64> {
    #[derive(Clone, Copy)]
    struct Square;

    impl Model<f64> for Square {
        fn parameter_count(&self) -> usize {
            1
        }

        #[inline(always)]
        fn response<S: marquardt::ScalarOf<f64>>(&self, x: &[S::Real], b: &[S]) -> S {
            b[0] * b[0] * x[0]
        }
    }

    impl Guess<f64> for Square {
        fn guess(&self, _x: &[f64], _y: &[f64]) -> Vec<f64> {
            vec![1.0]
        }
    }

    Square
}

#[test]
fn a_peak_on_a_background_is_found() {
    let x = even(0.0, 10.0, 100);
    finds(Gaussian + Linear, &x, &[2.0, 6.0, 0.4, 0.3, 1.0]);
    finds(Gaussian + Linear, &x, &[2.0, 3.0, 0.3, -4.0, 60.0]);
    finds(Lorentzian + Constant, &x, &[-2.0, 8.0, 0.5, 100.0]);
    finds(Linear + Lorentzian, &x, &[1.0, -3.0, 4.0, 2.5, 0.6]);
    finds(Gaussian + ExponentialDecay, &x, &[2.0, 6.0, 0.4, 8.0, 3.0]);
}

#[test]
fn two_peaks_are_found() {
    let x = even(0.0, 10.0, 80);
    let one = [2.0, 3.0, 0.4, 3.0, 6.5, 0.6];
    let other = [3.0, 6.5, 0.6, 2.0, 3.0, 0.4];
    finds_any(&(Gaussian + Gaussian), &x, &one, &[&one, &other]);
    let close = [2.0, 4.0, 0.5, 1.0, 5.3, 0.4];
    let swapped = [1.0, 5.3, 0.4, 2.0, 4.0, 0.5];
    finds_any(&(Gaussian + Gaussian), &x, &close, &[&close, &swapped]);
}

#[test]
fn two_peaks_on_a_line_are_found() {
    let x = even(0.0, 10.0, 80);
    let one = [2.0, 3.0, 0.4, 3.0, 6.5, 0.6, 0.2, 1.0];
    let other = [3.0, 6.5, 0.6, 2.0, 3.0, 0.4, 0.2, 1.0];
    finds_any(&(Lorentzian + Gaussian + Linear), &x, &one, &[&one]);
    finds_any(&(Gaussian.prefixed("a_") + Gaussian.prefixed("b_") + Linear), &x, &one, &[&one, &other]);
}

#[test]
fn a_product_is_found() {
    let x = even(0.0, 20.0, 200);
    let ringing = Named::of_name("sine").unwrap() * model_of_decay();
    let y = responses(&ringing, &x, &[2.0, 3.0, 0.5, 15.0]);
    let start = ringing.guess(&x, &y);
    let fit = CurveFit::model(ringing, &x, &y, &start).fit().unwrap();
    let found: Vec<f64> = fit.parameters().iter().map(|parameter| parameter.value).collect();
    assert!((found[1] - 3.0).abs() < 1e-8 && (found[3] - 15.0).abs() < 1e-6, "{found:?}");
}

/// A decay without an amplitude.
fn model_of_decay() -> impl Guess<f64> {
    #[derive(Clone, Copy)]
    struct Decay;

    impl Model<f64> for Decay {
        fn parameter_count(&self) -> usize {
            1
        }

        #[inline(always)]
        fn response<S: marquardt::ScalarOf<f64>>(&self, x: &[S::Real], b: &[S]) -> S {
            (S::constant(-x[0]) / b[0]).exp()
        }
    }

    impl Guess<f64> for Decay {
        fn guess(&self, x: &[f64], y: &[f64]) -> Vec<f64> {
            vec![ExponentialDecay.guess(x, y)[1]]
        }
    }

    Decay
}

#[test]
fn a_formula_is_the_closure_bit_for_bit() {
    let formula = model!(|x; a, b| 2 * a * (1 - exp(-b * x)) / (x + 0.5) - 3);
    let b: [Dual<f64, 2>; 2] = Dual::variables([1.7, 0.3]);
    let [a, rate] = b;
    for x in even(0.1, 5.0, 23) {
        let by_hand = 2.0 * a * (1.0 - (-rate * x).exp()) / (x + 0.5) - 3.0;
        let response = formula.response(&[x], &b);
        assert_eq!(response.value, by_hand.value);
        assert_eq!(response.gradient, by_hand.gradient);
    }
    assert_eq!(names(&formula), ["a", "b"]);
}

#[test]
fn a_formula_has_several_predictors_and_numbers_on_either_side() {
    let formula = model!(|x, z; a, b, c| x * a + b * 2 * z - 1 / 4 * pow(c, 2) * (3 - x).powi(3) - -1.5e1);
    let response: f64 = formula.response(&[2.0, 5.0], &[1.0, 2.0, 4.0]);
    assert_eq!(response, 2.0 + 20.0 - 4.0 + 15.0);
    let single: f32 = formula.response(&[2.0, 5.0], &[1.0, 2.0, 4.0]);
    assert_eq!(single, 33.0);
}

#[test]
fn a_formula_has_branches_and_constants() {
    let (edge, slope) = (2, 0.5_f32);
    let hinge = model!(|x; level| select_less(x, edge, level, level + k * (x - edge)); edge = edge, k = slope);
    assert_eq!(responses(&hinge, &[1.0, 2.0, 6.0], &[3.0]), [3.0, 3.0, 5.0]);
}

#[test]
fn a_formula_adds_and_multiplies() {
    let wave = model!(|x; f| cos(2 * f * x));
    let sum = wave + Linear;
    assert_eq!(names(&sum), ["f", "slope", "intercept"]);
    let product = Constant * wave * Prefixed::new(wave, "w_");
    assert_eq!(names(&product), ["c", "f", "w_f"]);
    let x = 0.7_f64;
    let response: f64 = product.response(&[x], &[3.0, 2.0, 5.0]);
    assert_eq!(response, 3.0 * (2.0 * 2.0 * x).cos() * (2.0 * 5.0 * x).cos());
    let both: f64 = Sum(wave, wave).response(&[x], &[2.0, 5.0]);
    assert_eq!(both, (2.0 * 2.0 * x).cos() + (2.0 * 5.0 * x).cos());
}

#[test]
fn sums_have_names() {
    let parameters = |name: &str| Named::of_name(name).unwrap().parameters().to_vec();
    assert_eq!(parameters("gaussian+linear"), ["amplitude", "center", "sigma", "slope", "intercept"]);
    assert_eq!(
        parameters("gaussian + lorentzian"),
        [
            "gaussian_amplitude",
            "gaussian_center",
            "gaussian_sigma",
            "lorentzian_amplitude",
            "lorentzian_center",
            "lorentzian_sigma"
        ]
    );
    assert_eq!(parameters("linear+constant+constant"), ["slope", "intercept", "constant1_c", "constant2_c"]);
    let sum = Named::of_name("constant+quadratic").unwrap();
    assert_eq!(sum.formula(), "constant_c + quadratic_a x^2 + quadratic_b x + quadratic_c");
    assert_eq!(names(&sum), sum.parameters());
    assert_eq!(sum.to_string(), "constant+quadratic");
    let commas = Named::of_name("pseudo_voigt+linear").unwrap();
    assert!(commas.formula().starts_with('[') && commas.formula().ends_with("each of area 1] + slope x + intercept"));
}

#[test]
fn sums_by_name_are_those_by_type() {
    let by_name = Named::of_name("lorentzian+gaussian+linear").unwrap();
    let by_type = Lorentzian.prefixed("lorentzian_") + Gaussian.prefixed("gaussian_") + Linear;
    assert_eq!(names(&by_name), names(&by_type));
    let x = even(0.0, 10.0, 80);
    let truth = [2.0, 3.0, 0.4, 3.0, 6.5, 0.6, 0.2, 1.0];
    let y = responses(&by_type, &x, &truth);
    assert_eq!(responses(&by_name, &x, &truth), y);
    assert_eq!(by_name.guess(&x, &y), by_type.guess(&x, &y));
    assert_eq!(Guess::<f64>::linear_parameters(&by_name), Guess::<f64>::linear_parameters(&by_type));
}

#[test]
fn what_is_no_model_is_named() {
    let unknown = |name: &str| name.parse::<Named>().unwrap_err();
    assert_eq!(unknown("gaussian+lin").name, "lin");
    assert!(unknown("gaussian+lin").near.contains(&"linear"));
    assert_eq!(unknown("gaussian+").to_string(), "there is no model \"\"");
    assert_eq!(unknown("michaelis").to_string(), "there is no model \"michaelis\"; did you mean michaelis_menten?");
    assert_eq!(Named::of_name("+"), None);
}
