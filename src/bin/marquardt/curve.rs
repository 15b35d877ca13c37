//! The curve that is fitted: a model of the library, or a formula.

use std::path::Path;

use marquardt::Formula;
use marquardt::curve::Table;
use marquardt::models::{AnyModel, UnknownModel};

use crate::arguments::{CurveArguments, DataArguments};
use crate::data::{ENZYME_MODEL, column_name};
use crate::failure::Failure;
use crate::needed_columns::writable;

/// A curve, and the columns of its predictors and of its response.
pub struct Chosen {
    pub curve: AnyModel,
    pub x_names: Vec<String>,
    pub y_name: String,
}

/// The curve that the arguments name. Data that come with the program have a model of their own.
pub fn choose(arguments: &CurveArguments, table: &Table, data: &DataArguments) -> Result<Chosen, Failure> {
    if let Some(formula) = &arguments.formula {
        return in_columns(formula, table, data);
    }
    let name = match (&arguments.model, data.file.as_deref()) {
        (Some(name), _) => name,
        (None, None) => ENZYME_MODEL,
        (None, Some(_)) => {
            return Err(Failure::new("--model or --formula is needed; `marquardt models` lists models"));
        }
    };
    of_model(name, table, data)
}

/// A model of the library, of one predictor.
pub fn of_model(name: &str, table: &Table, data: &DataArguments) -> Result<Chosen, Failure> {
    let (curve, x_name) = (named(name)?, only_predictor(table, data)?);
    let y_name = response(table, data, &[&x_name])?;
    Ok(Chosen { curve, x_names: vec![x_name], y_name })
}

/// A formula over columns of a table.
pub fn in_columns(formula: &str, table: &Table, data: &DataArguments) -> Result<Chosen, Failure> {
    let asked: Vec<String> = data.x.iter().map(|name| column_name(table, Some(name), 1)).collect();
    let columns: Vec<String> = writable(table).map(str::to_owned).collect();
    let over_all = parsed(formula, if asked.is_empty() { &columns } else { &asked })?;
    let mut x_names: Vec<String> = over_all.used_predictors().map(str::to_owned).collect();
    // Any column may be called x.
    let is_called_x = |x_names: &[String]| {
        x_names.is_empty() && asked.len() < 2 && over_all.parameters().iter().any(|name| name == "x")
    };
    let unused = asked.iter().find(|name| !x_names.contains(name));
    if let Some(name) = unused.filter(|_| !is_called_x(&x_names)) {
        return Err(Failure::new(format!("--x has {name}, but the formula has not")));
    }
    let taken: Vec<&str> = x_names.iter().chain(&asked).map(String::as_str).collect();
    let y_name = response(table, data, &taken)?;
    x_names.retain(|name| *name != y_name);
    if is_called_x(&x_names) {
        let curve = AnyModel::Formula(parsed(formula, &["x".to_owned()])?);
        return Ok(Chosen { curve, x_names: vec![column_name(table, asked.first().map(String::as_str), 1)], y_name });
    }
    if x_names.is_empty() {
        return Err(Failure::new("the formula has no predictor: neither a column nor x is in it"));
    }
    Ok(Chosen { curve: AnyModel::Formula(parsed(formula, &x_names)?), x_names, y_name })
}

/// The column of the response: the first one from the second on that is not taken, unless one is asked for.
fn response(table: &Table, data: &DataArguments, taken: &[&str]) -> Result<String, Failure> {
    if data.y.is_some() || table.column_names().len() < 2 {
        return Ok(column_name(table, data.y.as_deref(), 2));
    }
    let left = table.column_names().skip(1).find(|name| !taken.contains(name));
    let none = || Failure::new("no column is left for the response; --y names it");
    left.map(str::to_owned).ok_or_else(none)
}

fn parsed(formula: &str, predictors: &[String]) -> Result<Formula, Failure> {
    Formula::with_predictors(formula, predictors).map_err(Failure::of_formula("--formula"))
}

/// The model of this name.
pub fn named(name: &str) -> Result<AnyModel, Failure> {
    name.parse().map(AnyModel::Named).map_err(|unknown: UnknownModel| {
        let remedy = if unknown.near.is_empty() { "; `marquardt models` lists all" } else { "" };
        Failure::new(format!("{unknown}{remedy}"))
    })
}

/// The column of the only predictor of a model.
fn only_predictor(table: &Table, data: &DataArguments) -> Result<String, Failure> {
    match &data.x[..] {
        [] => Ok(column_name(table, None, 1)),
        [name] => Ok(column_name(table, Some(name), 1)),
        several => Err(Failure::new(format!("--x names {} columns, but a model has one predictor", several.len()))),
    }
}

/// Reads the predictor of many fits: the first column of a file.
pub fn read_predictor(path: &Path) -> Result<Vec<f64>, Failure> {
    if path.extension().is_some_and(|extension| extension == "npy") {
        return Ok(marquardt::npy::read::<f64, ndarray::Ix1>(path)?.to_vec());
    }
    let table = Table::from_csv(path)?;
    Ok(table.column("1")?.to_vec())
}
