//! The curve door: every way in gives the same fit, and the report says what it should.

use marquardt::autodiff::Difference;
use marquardt::curve::{Curve, StatisticsError};
use marquardt::solver::Status;
use marquardt::{
    CurveFit, EvaluationError, FittedCurve, LevenbergMarquardt, Model, Real, Scalar, ScalarOf, curve_fit, model,
};
use ndarray::{Array1, Array2, ArrayView1, array, s};

const X: [f64; 8] = [0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 9.0];
const Y: [f64; 8] = [5.1, 4.0, 3.15, 1.9, 1.25, 0.7, 0.28, 0.04];
const START: [f64; 2] = [3.0, 1.0];

/// `a·exp(−k·x)`.
struct Decay;

impl Model<f64> for Decay {
    fn parameter_count(&self) -> usize {
        2
    }

    #[inline(always)]
    fn response<S: ScalarOf<f64>>(&self, x: &[S::Real], b: &[S]) -> S {
        b[0] * (-b[1] * x[0]).exp()
    }

    fn parameter_name(&self, index: usize) -> String {
        ["amplitude", "rate"][index].into()
    }
}

/// The same, with derivatives by hand, and refused before time zero.
struct DecayByHand;

impl Curve<f64> for DecayByHand {
    fn parameter_count(&self) -> usize {
        2
    }

    fn responses(&self, x: &[f64], width: usize, b: &[f64], y: &mut [f64]) -> Result<(), EvaluationError> {
        if x.iter().any(|&x| x < 0.0) {
            return Err("before the start".into());
        }
        for (y, x) in y.iter_mut().zip(x.chunks_exact(width)) {
            *y = b[0] * (-b[1] * x[0]).exp();
        }
        Ok(())
    }

    fn linearize(
        &self,
        x: &[f64],
        width: usize,
        b: &[f64],
        y: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), EvaluationError> {
        for (row, x) in jacobian.chunks_exact_mut(2).zip(x.chunks_exact(width)) {
            let decay = (-b[1] * x[0]).exp();
            row.copy_from_slice(&[decay, -b[0] * x[0] * decay]);
        }
        self.responses(x, width, b, y)
    }
}

/// Value and standard error of each parameter.
fn figures(fit: &FittedCurve<'_, f64>) -> Vec<[f64; 2]> {
    assert!(fit.report().is_converged(), "{fit}");
    fit.parameters().iter().map(|parameter| [parameter.value, parameter.standard_error]).collect()
}

fn assert_close(found: &[[f64; 2]], expected: &[[f64; 2]], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.as_flattened().iter().zip(expected.as_flattened()) {
        assert!((found / expected - 1.0).abs() <= tolerance, "{found} is not {expected}");
    }
}

fn reference() -> Vec<[f64; 2]> {
    figures(&curve_fit(|x, [a, k]| a * (-k * x).exp(), &X, &Y, START).unwrap())
}

#[test]
fn all_ways_in_give_the_same_fit() {
    let expected = reference();
    let matrix = Array2::from_shape_vec((8, 1), X.to_vec()).unwrap();
    let closure = CurveFit::new(|x, [a, k]| a * (-k * x).exp(), &X, &Y, START).fit().unwrap();
    assert_close(&figures(&closure), &expected, 0.0);
    let of_slice = CurveFit::with_predictors(|x, [a, k]| a * (-k * x[0]).exp(), &matrix, &Y, START).fit().unwrap();
    assert_close(&figures(&of_slice), &expected, 1e-12);
    assert_close(&figures(&CurveFit::model(Decay, &X, &Y, &START).fit().unwrap()), &expected, 1e-12);
    assert_close(&figures(&CurveFit::curve(DecayByHand, &X, &Y, &START).fit().unwrap()), &expected, 1e-11);
    for (difference, tolerance) in [(Difference::Central, 1e-8), (Difference::Forward, 1e-5)] {
        let numeric = CurveFit::numeric(|x, b| b[0] * (-b[1] * x[0]).exp(), difference, &X, &Y, &START).fit().unwrap();
        assert_close(&figures(&numeric), &expected, tolerance);
    }
}

#[test]
fn the_error_of_a_curve_is_passed_on() {
    let fit = CurveFit::curve(DecayByHand, &X, &Y, &START).fit().unwrap();
    assert_eq!(fit.predict(&[-1.0]).unwrap_err().to_string(), "before the start");
    for band in [fit.confidence_band(&[1.0, -1.0], 0.95), fit.prediction_band(&[1.0, -1.0], 0.95)] {
        let error = band.unwrap_err();
        assert!(matches!(&error, StatisticsError::Evaluation(_)), "{error}");
    }
}

/// Vectors, arrays, and views that skip or run backwards.
#[test]
fn all_containers_give_the_same_fit() {
    let expected = reference();
    let fit = |x: ArrayView1<'_, f64>, y: ArrayView1<'_, f64>| {
        figures(&CurveFit::new(|x, [a, k]| a * (-k * x).exp(), x, y, START).fit().unwrap())
    };
    let (x, y) = (Array1::from(X.to_vec()), Array1::from(Y.to_vec()));
    assert_close(&fit(x.view(), y.view()), &expected, 0.0);
    // Both as columns of one matrix, with another between them.
    let table = Array2::from_shape_fn((8, 3), |(i, j)| [X[i], f64::NAN, Y[i]][j]);
    assert_close(&fit(table.column(0), table.column(2)), &expected, 0.0);
    let doubled: Array1<f64> = X.iter().flat_map(|&x| [x, -1.0]).collect();
    assert_close(&fit(doubled.slice(s![..;2]), y.view()), &expected, 0.0);
    assert_close(&fit(x.slice(s![..;-1]), y.slice(s![..;-1])), &expected, 1e-12);
    // Predictors a row an observation, in column-major order.
    let transposed = Array2::from_shape_fn((1, 8), |(_, i)| X[i]);
    let model = CurveFit::model(Decay, transposed.t(), &y, &START).fit().unwrap();
    assert_close(&figures(&model), &expected, 1e-12);
    let vectors = (X.to_vec(), Y.to_vec());
    assert_close(&figures(&CurveFit::model(Decay, &vectors.0, &vectors.1, &START).fit().unwrap()), &expected, 1e-12);
}

#[test]
fn several_predictors_keep_to_their_columns() {
    let rows = array![[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, -1.0], [0.5, 3.0]];
    let y: Vec<_> = rows.rows().into_iter().map(|row| 2.0 * row[0] - 0.5 * row[1]).collect();
    let columns_first = Array2::from_shape_fn((2, 5), |(j, i)| rows[[i, j]]);
    for x in [rows.view(), columns_first.t()] {
        let plane = CurveFit::with_predictors(|x, [a, b]| a * x[0] + b * x[1], x, &y, [0.0, 0.0]).fit().unwrap();
        assert!((plane.parameters()[0].value - 2.0).abs() < 1e-14, "{plane}");
        assert!((plane.parameters()[1].value + 0.5).abs() < 1e-14, "{plane}");
        assert_eq!(plane.predict(&array![[10.0, 0.0], [0.0, 10.0]]).unwrap().len(), 2);
        assert!((plane.predict(&array![[10.0, 2.0]]).unwrap()[0] - 19.0).abs() < 1e-12);
    }
}

fn names(fit: &FittedCurve<'_, f64>) -> Vec<String> {
    fit.parameters().iter().map(|parameter| parameter.name.clone()).collect()
}

#[test]
fn parameters_have_names() {
    let unnamed = || CurveFit::numeric(|x, b| b[0] * (-b[1] * x[0]).exp(), Difference::Central, &X, &Y, &START);
    assert_eq!(names(&unnamed().fit().unwrap()), ["b1", "b2"]);
    let named = unnamed().names(["height", "decay"]).fit().unwrap();
    assert_eq!(names(&named), ["height", "decay"]);
    assert_eq!(named.parameter("decay"), Some(&named.parameters()[1]));
    assert_eq!(named.parameter("b2"), None);
    let of_model = CurveFit::model(Decay, &X, &Y, &START).fit().unwrap();
    assert_eq!(of_model.parameter("rate").unwrap().value, of_model.parameters()[1].value);
}

#[test]
fn figures_agree_with_each_other() {
    let fit = curve_fit(|x, [a, k]| a * (-k * x).exp(), &X, &Y, START).unwrap();
    let [a, k] = [0, 1].map(|j| fit.parameters()[j].value);
    let fitted = fit.fitted();
    for ((&x, &y), response) in X.iter().zip(&Y).zip(fitted) {
        assert!((response - a * (-k * x).exp()).abs() < 1e-14);
        assert!((response - y).abs() < 0.2);
    }
    assert_eq!(fit.predict(&X).unwrap(), fitted.to_vec());
    assert!((fit.predict(&[1.5]).unwrap()[0] - a * (-k * 1.5).exp()).abs() < 1e-14);
    assert_eq!(fit.observed().to_vec(), Y);
    let sum: f64 = fitted.iter().zip(&Y).map(|(f, y)| (f - y).powi(2)).sum();
    assert!((fit.report().sum_of_squares() - sum).abs() <= 1e-13 * sum);
    assert_eq!(fit.degrees_of_freedom(), 6);
    assert!((fit.residual_standard_deviation().unwrap() - (sum / 6.0).sqrt()).abs() < 1e-13);
    let errors = fit.covariance().standard_errors();
    assert_eq!([errors[0], errors[1]], [0, 1].map(|j| fit.parameters()[j].standard_error));
}

/// A variance overflows long before its root does.
#[test]
fn standard_errors_are_finite_where_variances_overflow() {
    fn errors<T: Real>(unit: f64) -> [f64; 2] {
        let of = |numbers: &[f64]| numbers.iter().map(|&number| T::from_f64(number)).collect::<Vec<T>>();
        let y: Vec<f64> = Y.iter().map(|y| y * unit).collect();
        let sigma = vec![T::from_f64(0.1 * unit); Y.len()];
        let decay = model!(|x; height, rate| height * exp(-rate * x));
        let start = of(&[START[0] * unit, START[1]]);
        let (x, y) = (of(&X), of(&y));
        let fit = CurveFit::model(decay, &x, &y, &start).sigma(&sigma).absolute_sigma(true).fit().unwrap();
        let errors = [0, 1].map(|j| fit.parameters()[j].standard_error.to_f64());
        assert_eq!(fit.covariance().standard_errors().mapv(T::to_f64).to_vec(), errors);
        [errors[0] / unit, errors[1]]
    }
    let expected = errors::<f64>(1.0);
    for (found, tolerance) in [(errors::<f64>(1e158), 1e-9), (errors::<f32>(1e22), 1e-4)] {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < tolerance, "{found:e} instead of {expected:e}");
        }
    }
}

#[test]
fn the_report_prints_its_figures() {
    let text = CurveFit::model(Decay, &X, &Y, &START).fit().unwrap().to_string();
    let fit = CurveFit::model(Decay, &X, &Y, &START).fit().unwrap();
    assert!(text.starts_with("Converged: "), "{text}");
    let correlation = fit.covariance().correlation()[[0, 1]];
    let expected = [
        format!("{:.5} ± {:.5}", fit.parameter("rate").unwrap().value, fit.parameter("rate").unwrap().standard_error),
        format!("± {:.3}", fit.parameter("amplitude").unwrap().standard_error),
        "observations                 8".into(),
        "degrees of freedom           6".into(),
        format!("residual sum of squares      {:.5}", fit.report().sum_of_squares()),
        format!("residual standard deviation  {:.5}", fit.residual_standard_deviation().unwrap()),
        format!("{correlation:+.4}"),
    ];
    for figure in expected {
        assert!(text.contains(&figure), "{figure} is missing in\n{text}");
    }
    // Twelve digits, if they are asked for.
    let rate = format!("{:.11}", fit.parameter("rate").unwrap().value);
    assert!(format!("{fit:.12}").contains(&rate[..13]), "{rate} is missing in\n{fit:.12}");
}

#[test]
fn what_is_not_determined_is_said() {
    let fit = CurveFit::new(|x, [a, b, k]| (a + b) * (-k * x).exp(), &X, &Y, [1.0, 2.0, 1.0]);
    let fit = fit.names(["first", "second", "rate"]).fit().unwrap();
    assert_eq!(fit.covariance().undetermined(), ["first", "second"]);
    assert!((fit.parameter("rate").unwrap().value - reference()[1][0]).abs() < 1e-6, "{fit}");
    let text = fit.to_string();
    assert!(text.contains("the data do not determine \"first\", \"second\""), "{text}");
    assert!(text.contains("undetermined"), "{text}");

    let exact = curve_fit(|x, [a, k]| a * (-k * x).exp(), &X[..2], &Y[..2], START).unwrap();
    assert_eq!((exact.degrees_of_freedom(), exact.residual_standard_deviation()), (0, None));
    assert!(exact.to_string().contains("no degrees of freedom"), "{exact}");
}

#[test]
fn the_solver_can_be_chosen() {
    let hasty = LevenbergMarquardt::new().with_max_iterations(1);
    let fit = CurveFit::model(Decay, &X, &Y, &START).solver(hasty).fit().unwrap();
    assert_eq!((fit.report().status, fit.report().iterations), (Status::MaxIterations, 1));
    assert!(fit.to_string().starts_with("Not converged: the iterations were used up"), "{fit}");
}

#[test]
fn single_precision_fits_too() {
    let (x, y) = (X.map(|x| x as f32), Y.map(|y| y as f32));
    let fit = curve_fit(|x, [a, k]| a * (-k * x).exp(), &x, &y, [3.0_f32, 1.0]).unwrap();
    for (parameter, [value, error]) in fit.parameters().iter().zip(reference()) {
        assert!((f64::from(parameter.value) / value - 1.0).abs() < 1e-4, "{fit}");
        assert!((f64::from(parameter.standard_error) / error - 1.0).abs() < 1e-3, "{fit}");
    }
}
