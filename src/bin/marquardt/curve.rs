//! The curve that is fitted: a model of the library, or a formula.

use std::path::Path;

use marquardt::Formula;
use marquardt::curve::Table;
use marquardt::models::{AnyModel, UnknownModel};

use crate::arguments::{CurveArguments, DataArguments};
use crate::data::{ENZYME_MODEL, column_name};
use crate::failure::Failure;

/// A curve, and the columns of its predictors.
pub struct Chosen {
    pub curve: AnyModel,
    pub x_names: Vec<String>,
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
    Ok(Chosen { curve: named(name)?, x_names: vec![only_predictor(table, data)?] })
}

/// A formula over columns of a table.
pub fn in_columns(formula: &str, table: &Table, data: &DataArguments) -> Result<Chosen, Failure> {
    let names = Formula::with_predictors(formula, [""; 0])?.parameters().to_vec();
    let has = |name: &str| names.iter().any(|known| known == name);
    let y_name = column_name(table, data.y.as_deref(), 2);
    let asked: Vec<String> = data.x.iter().map(|name| column_name(table, Some(name), 1)).collect();
    let columns: Vec<String> = match asked.is_empty() {
        true => table.column_names().filter(|name| *name != y_name && has(name)).map(str::to_owned).collect(),
        false => asked.iter().filter(|name| has(name)).cloned().collect(),
    };
    let x_names = match (columns.is_empty(), &asked[..]) {
        (false, asked) if asked.is_empty() || asked.len() == columns.len() => columns,
        // Any column may be called x.
        (true, [one]) if has("x") => vec![one.clone()],
        (true, []) if has("x") => vec![column_name(table, None, 1)],
        (_, []) => return Err(Failure::new("the formula has no predictor: neither a column nor x is in it")),
        (_, asked) => {
            let missing = asked.iter().find(|name| !has(name)).map_or("x", String::as_str);
            return Err(Failure::new(format!("--x has {missing}, but the formula has not")));
        }
    };
    let is_called_x = !has(&x_names[0]);
    let predictors = if is_called_x { vec!["x".to_owned()] } else { x_names.clone() };
    Ok(Chosen { curve: AnyModel::Formula(Formula::with_predictors(formula, predictors)?), x_names })
}

/// The model of this name.
pub fn named(name: &str) -> Result<AnyModel, Failure> {
    name.parse().map(AnyModel::Named).map_err(|unknown: UnknownModel| {
        let remedy = if unknown.near.is_empty() { "; `marquardt models` lists all" } else { "" };
        Failure::new(format!("{unknown}{remedy}"))
    })
}

/// The column of the only predictor of a model.
pub fn only_predictor(table: &Table, data: &DataArguments) -> Result<String, Failure> {
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
