//! Curves without data: models, formulas, starts and values.

use std::borrow::Cow;

use marquardt::models::{AnyModel, Guess, Named};
use marquardt::{Formula, Model};
use serde_json::{Value, json};

use crate::arguments::FitArguments;
use crate::curve;
use crate::failure::Failure;
use crate::fit;
use crate::memory::Exchange;
use crate::selected_data::SelectedData;

use super::member;

/// The models of the library.
pub fn models() -> Value {
    let of_one = Named::all().map(|model| {
        json!({
            "name": model.name(), "parameters": model.parameters(), "formula": model.formula(), "predictors": ["x"],
            "isReparameterized": model.is_reparameterized(),
            "derived": model.derived_quantities().into_iter().map(|(name, _)| name).collect::<Vec<_>>(),
        })
    });
    let of_several = AnyModel::of_several_predictors().map(|(name, formula)| {
        json!({
            "name": name, "parameters": formula.parameters(), "formula": formula.text(), "predictors": formula.predictors(),
            "isReparameterized": false, "derived": [],
        })
    });
    of_one.chain(of_several).collect()
}

/// A model by its name, or a formula over predictors.
pub fn chosen(request: &Value) -> Result<AnyModel, Failure> {
    if let Some(name) = request["model"].as_str() {
        return AnyModel::of_name(name).map_or_else(|| curve::named(name), Ok);
    }
    let text: Cow<'_, str> = member(request, "formula")?;
    let predictors: Vec<String> =
        if request["predictors"].is_null() { vec!["x".to_owned()] } else { member(request, "predictors")? };
    let formula = match request["complex"].as_bool() {
        Some(true) => Formula::complex(&text, predictors),
        _ => Formula::with_predictors(&text, predictors),
    };
    Ok(AnyModel::Formula(formula.map_err(Failure::of_formula("formula"))?))
}

/// Names of the parameters of a model.
pub fn names(request: &Value) -> Result<Value, Failure> {
    Ok(json!(chosen(request)?.parameters()))
}

/// Parameters and predictors of a formula, or the place where it is wrong.
pub fn formula(request: &Value) -> Result<Value, Failure> {
    let text: String = member(request, "formula")?;
    let predictors: Vec<String> = member(request, "predictors")?;
    let formula = match request["complex"].as_bool() {
        Some(true) => Formula::complex(&text, predictors),
        _ => Formula::with_predictors(&text, predictors),
    };
    Ok(match formula {
        Ok(formula) => {
            json!({ "parameters": formula.parameters(), "predictors": formula.used_predictors().collect::<Vec<_>>() })
        }
        Err(error) => json!({ "problem": error.problem().to_string(), "position": error.position() }),
    })
}

/// The curve and the columns that the settings mean, with starts: those given, and guesses for the others.
pub fn guess(settings: Value) -> Result<Value, Failure> {
    let arguments = FitArguments::of(settings)?;
    let (table, chosen, by) = fit::read(&arguments)?;
    let data = SelectedData::select(&table, &arguments.data, chosen.x_names.clone(), chosen.y_names.clone())?;
    let (x, y): (Vec<f64>, Vec<f64>) = (data.x.iter().copied().collect(), data.y.iter().copied().collect());
    let guessed = Guess::<f64>::guess(&chosen.curve, &x, &y);
    let given = |name: &String| {
        let parameters = &arguments.curve.parameters;
        let start = parameters.start.iter().find(|start| start.name == *name).map(|start| start.value);
        start.or_else(|| parameters.fix.iter().find(|fix| fix.name == *name)?.value)
    };
    let starts = chosen.curve.parameters().iter().zip(&guessed).map(|(name, guess)| {
        let value = given(name).unwrap_or(*guess);
        json!({ "name": name, "value": if value.is_finite() { value } else { 1.0 } })
    });
    Ok(json!({
        "name": chosen.name, "formula": chosen.curve.formula(), "parameters": starts.collect::<Vec<_>>(), "x": chosen.x_names,
        "y": chosen.y_names, "groupBy": by,
    }))
}

/// Values of a curve at predictors, which slot 1 has row by row.
pub fn values(request: &Value, exchange: &mut Exchange) -> Result<Value, Failure> {
    let curve = chosen(request)?;
    let b: Vec<f64> = member(request, "parameters")?;
    let (width, expected) = (curve.predictor_count(), curve.parameters().len());
    if b.len() != expected {
        let (found, name) = (b.len(), curve.name());
        return Err(Failure::new(format!("{name} has {expected} parameters, and {found} values are given")));
    }
    let x = exchange.numbers(1);
    if curve.response_count() != 1 || width == 0 || !x.len().is_multiple_of(width) {
        return Err(Failure::new(format!("{} takes {width} predictors in a row, and has real values", curve.name())));
    }
    let values = x.chunks_exact(width).map(|row| Model::<f64>::response::<f64>(&curve, row, &b)).collect();
    exchange.results.push(values);
    Ok(Value::Null)
}
