//! Fits that are saved and loaded.

use marquardt::curve::{Comparison, StoredFit, StoredFitError};
use marquardt::models::{ExponentialDecay, Gaussian, Guess, Linear, Named, Polynomial};
use marquardt::{CurveFit, FittedCurve, Formula, GlobalFit, Loss, Model, Real, ScalarOf, Tie};
use ndarray::Array2;
use serde_json::Value;

/// Everything that a loaded fit says is what the fit says, to the last bit.
fn assert_same<T: Real>(fit: &FittedCurve<'_, T>, loaded: &StoredFit<T>, at: &Array2<T>) {
    // NaN is what it is.
    assert_eq!(format!("{:?}", loaded.summary()), format!("{:?}", fit.summary()));
    assert_eq!(loaded.to_string(), fit.to_string());
    assert_eq!(loaded.parameters(), fit.parameters());
    assert_eq!(loaded.criteria(), fit.criteria());
    assert_eq!(loaded.covariance().matrix(), fit.covariance().matrix());
    assert_eq!(loaded.covariance().undetermined(), fit.covariance().undetermined());
    assert_eq!(loaded.predict(at).unwrap(), fit.predict(at).unwrap());
    for level in [0.5, 0.99] {
        let bands = [loaded.confidence_band(at, level), fit.confidence_band(at, level)];
        let [loaded_band, band] = bands.map(|band| band.map_err(|error| error.to_string()));
        assert_eq!(loaded_band, band);
        let bands = [loaded.prediction_band(at, level), fit.prediction_band(at, level)];
        let [loaded_band, band] = bands.map(|band| band.map_err(|error| error.to_string()));
        assert_eq!(loaded_band, band);
        for parameter in fit.parameters() {
            let name = &parameter.name;
            assert_eq!(loaded.confidence_interval(name, level).unwrap(), fit.confidence_interval(name, level).unwrap());
        }
    }
    match (loaded.plot(), fit.plot()) {
        (Ok(loaded), Ok(plot)) => assert_eq!(loaded.to_svg(), plot.to_svg()),
        // A surface is drawn where the data are, which are not stored.
        (Err(error), Ok(_)) => assert!(at.ncols() == 2 && error.to_string().contains("2 predictors"), "{error}"),
        (loaded, plot) => assert_eq!(loaded.unwrap_err().to_string(), plot.unwrap_err().to_string()),
    }
}

fn reloaded<T: Real>(fit: &FittedCurve<'_, T>) -> StoredFit<T> {
    StoredFit::from_json(&fit.to_stored().to_json()).unwrap()
}

fn column<T: Real>(values: &[f64]) -> Array2<T> {
    Array2::from_shape_fn((values.len(), 1), |(row, _)| T::from_f64(values[row]))
}

/// Points of a decay with a little noise.
fn decay<T: Real>() -> (Vec<T>, Vec<T>) {
    let point = |i: usize| {
        let x = 0.3 * i as f64;
        (x, 7.0 * (-0.6 * x).exp() + 0.03 * (7.1 * i as f64).sin() + 0.1)
    };
    (0..20).map(point).map(|(x, y)| (T::from_f64(x), T::from_f64(y))).unzip()
}

#[test]
fn every_model_of_the_library_is_loaded_as_it_was_saved() {
    let (x, y) = decay::<f64>();
    let x: Vec<f64> = x.iter().map(|x| x + 0.5).collect();
    let sums = ["gaussian+linear", "gaussian+gaussian+constant"].map(|name| name.parse().unwrap());
    for model in Named::all().chain(sums) {
        let start = model.guess(&x, &y);
        let Ok(fit) = CurveFit::model(model.clone(), &x, &y, &start).fit() else { continue };
        let loaded = reloaded(&fit);
        assert_eq!(loaded.model().unwrap().name(), model.name());
        assert_same(&fit, &loaded, &column(&[0.6, 2.0, 5.5, 20.0]));
    }
}

#[test]
fn types_formulas_and_single_precision_are_stored() {
    let (x, y) = decay::<f64>();
    let fit = CurveFit::guessed(ExponentialDecay, &x, &y).fit().unwrap();
    assert_eq!(reloaded(&fit).model().unwrap().name(), "exponential_decay");
    assert_same(&fit, &reloaded(&fit).with_model(ExponentialDecay).unwrap(), &column(&[1.0, 30.0]));
    let [by_name, by_type] = [reloaded(&fit).predict(&[1.0, 3.0]), fit.predict(&[1.0, 3.0])].map(Result::unwrap);
    assert!(by_name.iter().zip(&by_type).all(|(a, b)| (a / b - 1.0).abs() < 4.0 * f64::EPSILON));

    let formula = Formula::parse("a * exp(-k * x) + if(x < 2, c, 0)").unwrap();
    let fit = CurveFit::model(formula, &x, &y, &[5.0, 1.0, 0.0]).bounds("c", 0.0..=0.05).fit().unwrap();
    assert_same(&fit, &reloaded(&fit), &column(&[1.0, 3.0]));

    let (x, y) = decay::<f32>();
    let named: Named = "exponential_decay".parse().unwrap();
    let fit = CurveFit::guessed(named, &x, &y).fit().unwrap();
    assert_same(&fit, &reloaded(&fit), &column(&[1.0, 3.0]));

    let surface = Formula::with_predictors("p * u + q * v^2", ["u", "v"]).unwrap();
    let rows = Array2::from_shape_fn((12, 2), |(row, column)| ((row * (column + 3)) % 7) as f64);
    let z: Vec<f64> = rows.rows().into_iter().map(|x| 2.0 * x[0] - x[1] * x[1] + 0.1 * (x[0] * x[1]).sin()).collect();
    let fit = CurveFit::model(surface, &rows, &z, &[1.0, 1.0]).fit().unwrap();
    assert_same(&fit, &reloaded(&fit), &ndarray::array![[0.5, 1.5], [3.0, -1.0]]);
}

#[test]
fn noise_of_all_kinds_is_stored() {
    let (x, y) = decay::<f64>();
    let at = column(&[0.5, 2.5]);
    let model: Named = "exponential_decay".parse().unwrap();
    let fit = || CurveFit::guessed(model.clone(), &x, &y);
    let sigma: Vec<f64> = (0..20).map(|i| 0.02 + 0.001 * i as f64).collect();
    let same = vec![0.04; 20];
    let fits = [
        fit().sigma(&sigma),
        fit().sigma(&sigma).absolute_sigma(true),
        fit().sigma(&same).absolute_sigma(true).prior("decay", 1.6, 0.1),
        fit().robust(Loss::Huber),
        fit().robust(Loss::Tukey),
        fit().fix_at("amplitude", 7.0),
        fit().tie("amplitude", Tie::parse("4 * decay").unwrap()),
        fit().bounds("decay", 2.0..),
        fit().data_covariance(&Array2::from_shape_fn((20, 20), |(i, j)| 0.3_f64.powi(i.abs_diff(j) as i32))),
    ];
    for fit in fits {
        let fit = fit.fit().unwrap();
        assert_same(&fit, &reloaded(&fit), &at);
    }
    let counts: Vec<f64> = y.iter().map(|y| (10.0 * y).round().max(0.0)).collect();
    let fit = CurveFit::guessed(model.clone(), &x, &counts).counts().fit().unwrap();
    assert_same(&fit, &reloaded(&fit), &at);

    // A parameter that the data do not determine, and as many parameters as observations.
    let formula = || Formula::parse("a * b * x + c").unwrap();
    let fit = CurveFit::model(formula(), &x, &y, &[1.0, 1.0, 0.0]).fit().unwrap();
    assert_eq!(fit.covariance().undetermined(), ["a", "b"]);
    assert_same(&fit, &reloaded(&fit), &at);
    let line: Named = "linear".parse().unwrap();
    let fit = CurveFit::guessed(line, &[0.0, 1.0], &[1.0, 3.0]).fit().unwrap();
    assert_same(&fit, &reloaded(&fit), &at);
}

#[test]
fn loaded_fits_are_compared() {
    let (x, y) = decay::<f64>();
    let line = CurveFit::guessed(Linear, &x, &y).fit().unwrap();
    let decay = CurveFit::guessed(ExponentialDecay, &x, &y).fit().unwrap();
    let [first, second] = [line.to_stored(), decay.to_stored()].map(|fit| fit.to_json());
    let loaded = [&first, &second].map(|text| StoredFit::<f64>::from_json(text).unwrap());
    let of_loaded = Comparison::of([("line", loaded[0].criteria()), ("decay", loaded[1].criteria())]).unwrap();
    let of_fits = Comparison::of([("line", line.criteria()), ("decay", decay.criteria())]).unwrap();
    assert_eq!(of_loaded, of_fits);
    assert_eq!(of_loaded.best().name, "decay");
}

#[test]
fn data_sets_of_a_global_fit_are_stored() {
    let (x, y) = decay::<f64>();
    let doubled: Vec<f64> = y.iter().map(|y| 2.0 * y - 0.1).collect();
    let model: Named = "exponential_decay".parse().unwrap();
    let set = |y| CurveFit::guessed(model.clone(), &x, y);
    let fit = GlobalFit::new().data_set("one", set(&y)).data_set("two", set(&doubled)).shared(["decay"]);
    let fit = fit.fit().unwrap();
    let two = fit.data_set_to_stored("two").unwrap();
    let loaded = StoredFit::<f64>::from_json(&two.to_json()).unwrap();
    assert!(fit.data_set_to_stored("three").is_none());
    let names: Vec<&str> = loaded.parameters().iter().map(|parameter| parameter.name.as_str()).collect();
    assert_eq!(names, ["two.amplitude", "decay"]);
    assert_eq!(loaded.predict(&[1.5]).unwrap(), fit.predict_data_set("two", &[1.5]).unwrap());
    let in_fit = ndarray::array![[1.0, 1.5]];
    assert_eq!(loaded.confidence_band(&[1.5], 0.9).unwrap(), fit.confidence_band(&in_fit, 0.9).unwrap());
    assert_eq!(loaded.prediction_band(&[1.5], 0.9).unwrap(), fit.prediction_band(&in_fit, 0.9).unwrap());
    assert_eq!(
        loaded.plot().unwrap().to_svg().matches("<circle").count(),
        // Of one series, the legend has a circle, too.
        fit.plot().unwrap().to_svg().matches("<circle").count() / 2 + 1
    );
}

/// A model that no file can name.
#[derive(Clone)]
struct Own;

impl Model<f64> for Own {
    fn parameter_count(&self) -> usize {
        2
    }

    fn response<S: ScalarOf<f64>>(&self, x: &[S::Real], b: &[S]) -> S {
        b[0] * (b[1] * -x[0]).exp()
    }
}

#[test]
fn models_of_ones_own_are_given_again() {
    let (x, y) = decay::<f64>();
    let fit = CurveFit::model(Own, &x, &y, &[5.0, 1.0]).fit().unwrap();
    let loaded = reloaded(&fit);
    assert!(loaded.model().is_none());
    assert_eq!(loaded.to_string(), fit.to_string());
    let message = "the fit was stored without its curve, which `with_model` or `with_curve` gives";
    assert_eq!(loaded.predict(&[1.0]).unwrap_err().to_string(), message);
    assert!(loaded.plot().unwrap_err().to_string().ends_with(message));
    assert_same(&fit, &loaded.clone().with_model(Own).unwrap(), &column(&[0.3, 4.0]));
    let error = loaded.with_model(Gaussian).unwrap_err();
    assert_eq!(error.to_string(), "the fit has 2 parameters, but the curve has 3");

    let closure = CurveFit::new(|x, [a, k]| a * (-k * x).exp(), &x, &y, [5.0, 1.0]).fit().unwrap();
    assert!(closure.to_stored().with_model(Own).unwrap().predict(&[1.0]).is_ok());
    // Names of two models have other parameters than the polynomials of their degree.
    let line = CurveFit::model(Polynomial { degree: 1 }, &x, &y, &[0.0, 0.0]).fit().unwrap();
    assert!(line.to_stored().model().is_none_or(|model| model.name() != "linear"));
}

#[test]
fn fits_without_data_are_short_and_have_no_plot() {
    let (x, y) = decay::<f64>();
    let fit = CurveFit::guessed(ExponentialDecay, &x, &y).fit().unwrap();
    let [long, short] = [fit.to_stored(), fit.to_stored().without_data()].map(|fit| fit.to_json());
    assert!(short.len() + 20 * 30 < long.len());
    assert_eq!(short, fit.to_stored_without_data().to_json());
    let loaded = StoredFit::<f64>::from_json(&short).unwrap();
    assert_eq!(loaded.predict(&[1.0]).unwrap(), fit.predict(&[1.0]).unwrap());
    assert_eq!(loaded.plot().unwrap_err().to_string(), "the fit was stored without its data, which are to be drawn");
}

#[test]
fn files_are_written_and_read() {
    let (x, y) = decay::<f64>();
    let fit = CurveFit::guessed(ExponentialDecay, &x, &y).fit().unwrap();
    let folder = std::env::temp_dir().join(format!("marquardt-stored-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("fit.json");
    fit.to_stored().save(&path).unwrap();
    let loaded = StoredFit::load(&path).unwrap().with_model(ExponentialDecay).unwrap();
    assert_same(&fit, &loaded, &column(&[1.0]));
    let absent = StoredFit::<f64>::load(folder.join("absent.json")).unwrap_err();
    assert!(matches!(absent, StoredFitError::Io { .. }) && absent.to_string().contains("absent.json"));
    assert!(fit.to_stored().save(folder.join("no/such/folder")).is_err());
    std::fs::remove_dir_all(folder).unwrap();
}

/// Whatever is changed in a file, there is a fit or an error, and no fit panics.
#[test]
fn broken_files_are_refused() {
    let refused = |text: &str| StoredFit::<f64>::from_json(text).unwrap_err().to_string();
    assert!(refused("{}").contains("missing field `version`"));
    let (x, y) = decay::<f64>();
    let fit = CurveFit::guessed(ExponentialDecay, &x, &y).fit().unwrap();
    let text = fit.to_stored().to_json();
    assert!(refused(&text.replace("\"version\": 1", "\"version\": 7")).contains("in version 7 of the format"));
    assert!(refused(&text.replace("exponential_decay", "gausian")).contains("did you mean gaussian?"));
    assert!(
        refused(&text.replace("exponential_decay", "gaussian"))
            .contains("\"gaussian\" has 3 parameters, but the fit has 2")
    );
    assert!(refused(&text[..text.len() / 2]).starts_with("it is no stored fit"));

    let whole: Value = serde_json::from_str(&text).unwrap();
    let mut paths = Vec::new();
    collect(&whole, &mut Vec::new(), &mut paths);
    assert!(paths.len() > 100);
    for path in paths {
        for other in [Value::Null, Value::from(0), Value::from(-3), Value::from("NaN"), Value::from(Vec::<u8>::new())] {
            let mut changed = whole.clone();
            *path.iter().fold(&mut changed, |value, step| match step {
                Step::Key(key) => &mut value[key.as_str()],
                Step::Index(index) => &mut value[*index],
            }) = other;
            let Ok(loaded) = StoredFit::<f64>::from_json(&changed.to_string()) else { continue };
            let _ = (loaded.predict(&[1.0]), loaded.confidence_band(&[1.0], 0.9), loaded.prediction_band(&[1.0], 0.9));
            let _ = (loaded.plot(), loaded.to_string(), loaded.covariance().correlation(), loaded.criteria().aicc());
            let _ = (loaded.summary().to_markdown(), loaded.covariance().standard_errors());
        }
    }
}

#[derive(Clone)]
enum Step {
    Key(String),
    Index(usize),
}

/// The paths of all values within a value.
fn collect(value: &Value, path: &mut Vec<Step>, paths: &mut Vec<Vec<Step>>) {
    let steps: Vec<(Step, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, value)| (Step::Key(key.clone()), value)).collect(),
        Value::Array(values) => values.iter().enumerate().map(|(index, value)| (Step::Index(index), value)).collect(),
        _ => Vec::new(),
    };
    for (step, value) in steps {
        path.push(step);
        paths.push(path.clone());
        collect(value, path, paths);
        path.pop();
    }
}
