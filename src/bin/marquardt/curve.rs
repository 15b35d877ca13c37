//! The curve that is fitted: a model of the library, or a formula.

use std::path::Path;

use marquardt::Formula;
use marquardt::curve::{Table, TableError};
use marquardt::models::{AnyModel, UnknownModel};

use crate::arguments::{CurveArguments, DataArguments};
use crate::assignments::NamedValue;
use crate::data::{ENZYME_MODEL, column_name};
use crate::failure::{Failure, quoted};
use crate::needed_columns::writable;
use crate::output;
use crate::row_values::RowValues;
use crate::terminal::note;
use crate::wildcard::matches;

/// Names of columns in a note.
const MOST_NAMED: usize = 6;

/// Reason why no parameter is called `pi`, although the formula may have it.
pub const ABOUT_PI: &str = "pi is a number in formulas, and a parameter in double quotes only";

/// A curve, and the columns of its predictors and of its response, which are two if it is complex, and more for replicates.
pub struct Chosen {
    /// Name of the model, or the formula.
    pub name: String,
    pub curve: AnyModel,
    pub x_names: Vec<String>,
    pub y_names: Vec<String>,
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

/// A model of the library, of one predictor or of several.
pub fn of_model(name: &str, table: &Table, data: &DataArguments) -> Result<Chosen, Failure> {
    if let Some(curve @ AnyModel::Formula(_)) = AnyModel::of_name(name) {
        let x_names = several_predictors(&curve, table, data)?;
        let y_names = responses(&curve, table, data, &x_names.iter().map(String::as_str).collect::<Vec<_>>())?;
        return Ok(Chosen { name: name.to_owned(), curve, x_names, y_names });
    }
    let (curve, x_name) = (named(name)?, only_predictor(table, data)?);
    let y_names = responses(&curve, table, data, &[&x_name])?;
    Ok(Chosen { name: curve.to_string(), curve, x_names: vec![x_name], y_names })
}

/// A formula over columns of a table.
pub fn in_columns(formula: &str, table: &Table, data: &DataArguments) -> Result<Chosen, Failure> {
    let asked: Vec<String> = data.x.iter().map(|name| column_name(table, Some(name), 1)).collect();
    let columns: Vec<String> = writable(table).map(str::to_owned).collect();
    let over_all = parsed(formula, if asked.is_empty() { &columns } else { &asked }, data)?;
    let mut x_names: Vec<String> = over_all.used_predictors().map(str::to_owned).collect();
    // Any column may be called x.
    let is_called_x = |x_names: &[String]| {
        x_names.is_empty() && asked.len() < 2 && over_all.parameters().iter().any(|name| name == "x")
    };
    let unused = asked.iter().find(|name| !x_names.contains(name));
    if let Some(name) = unused.filter(|_| !is_called_x(&x_names)) {
        return Err(Failure::new(format!("--x has {name:?}, but the formula has not")));
    }
    let taken: Vec<&str> = x_names.iter().chain(&asked).map(String::as_str).collect();
    let y_names = responses(&AnyModel::Formula(over_all.clone()), table, data, &taken)?;
    x_names.retain(|name| !y_names.contains(name));
    if is_called_x(&x_names) {
        let curve = AnyModel::Formula(parsed(formula, &["x".to_owned()], data)?);
        let name = formula.to_owned();
        return Ok(Chosen {
            name,
            curve,
            x_names: vec![column_name(table, asked.first().map(String::as_str), 1)],
            y_names,
        });
    }
    if x_names.is_empty() {
        let known = quoted(&columns);
        return Err(Failure::new(format!(
            "the formula has no predictor: neither x nor a column is in it, which are {known}"
        )));
    }
    let curve = AnyModel::Formula(parsed(formula, &x_names, data)?);
    Ok(Chosen { name: formula.to_owned(), curve, x_names, y_names })
}

/// A note of which column is the response where nobody has said so, if other columns of numbers are left out.
pub fn note_of_response(table: &Table, chosen: &Chosen, data: &DataArguments, by: Option<&str>) -> Option<String> {
    let conditions = data.conditions.iter().flat_map(|condition| condition.columns());
    let asked = conditions.chain(by).chain(data.sigma.as_deref()).map(|name| column_name(table, Some(name), 1));
    let of_rows = data.of_rows().map(|text| RowValues::of(table, text));
    let of_rows = of_rows.flat_map(|values| values.columns().into_iter().map(str::to_owned).collect::<Vec<_>>());
    let used: Vec<String> = asked.chain(of_rows).chain(chosen.x_names.iter().chain(&chosen.y_names).cloned()).collect();
    // Columns of a long file that are not kept are numbers.
    let is_number = |name: &&str| match table.column(name) {
        Ok(values) => values.iter().any(|value| !value.is_nan()),
        Err(error) => matches!(error, TableError::NotKept { .. }),
    };
    let is_left = |name: &&str| !used.iter().any(|used| used == name);
    let left: Vec<&str> = table.column_names().filter(is_left).filter(is_number).collect();
    if !data.y.is_empty() || left.is_empty() {
        return None;
    }
    let more = match left.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (y, left) = (quoted(&chosen.y_names), quoted(&left[..left.len().min(MOST_NAMED)]));
    Some(format!("note: the response is column {y}; left out: {left}{more}; --y names another column"))
}

/// Says that `e` and `i` are parameters, if no start shows that this is known.
pub fn note_of_constants(curve: &AnyModel, starts: &[NamedValue<f64>]) {
    let AnyModel::Formula(formula) = curve else { return };
    let remedies = [("e", "Euler's number is exp(1)"), ("i", "--complex makes it the imaginary unit")];
    for (constant, remedy) in remedies {
        let is_constant = |name: &String| name == constant;
        if formula.parameters().iter().any(is_constant) && !starts.iter().any(|start| is_constant(&start.name)) {
            note(format_args!("note: {constant:?} is a parameter; {remedy}"));
        }
    }
}

/// The columns of the responses of a curve.
fn responses(curve: &AnyModel, table: &Table, data: &DataArguments, taken: &[&str]) -> Result<Vec<String>, Failure> {
    let count = curve.response_count();
    if count == 1 && data.y.is_empty() && table.column_names().len() < 2 {
        return Ok(vec![column_name(table, None, 2)]);
    }
    response_columns(count, table, data, taken, |asked| match (count, asked) {
        (_, None) => "no column is left for the response; --y names it".to_owned(),
        (1, Some(asked)) => format!("--y names {asked} columns, but the value of {curve} is real"),
        _ => {
            "the value of the formula is complex: --y names two columns, of the real and the imaginary part".to_owned()
        }
    })
}

/// The columns of `count` responses, or of the replicates of one response if `--y` is a pattern: the columns of `--y`, or else the first
/// columns, from the second on, that are not taken. `problem` is the message for another number of columns; its argument is the number of
/// columns of `--y`, if that is given.
pub fn response_columns(
    count: usize,
    table: &Table,
    data: &DataArguments,
    taken: &[&str],
    problem: impl FnOnce(Option<usize>) -> String,
) -> Result<Vec<String>, Failure> {
    let found: Vec<String> = match &data.y[..] {
        [pattern] if count == 1 && pattern.contains('*') && table.column_names().all(|name| name != pattern) => {
            let found = table.column_names().filter(|name| matches(pattern, name) && !taken.contains(name));
            let found: Vec<String> = found.map(str::to_owned).collect();
            let names = || quoted(&table.column_names().collect::<Vec<_>>());
            return match found.is_empty() {
                true => Err(Failure::new(format!("--y: no column is like {pattern:?}; there are {}", names()))),
                false => Ok(found),
            };
        }
        [] => {
            let left = table.column_names().skip(1).filter(|name| !taken.contains(name));
            left.take(count).map(str::to_owned).collect()
        }
        asked => asked.iter().map(|name| column_name(table, Some(name), 2)).collect(),
    };
    match found.len() == count {
        true => Ok(found),
        false => Err(Failure::new(problem((!data.y.is_empty()).then_some(found.len())))),
    }
}

fn parsed(formula: &str, predictors: &[String], data: &DataArguments) -> Result<Formula, Failure> {
    let formula = match data.is_complex() {
        true => Formula::complex(formula, predictors),
        false => Formula::with_predictors(formula, predictors),
    };
    formula.map_err(Failure::of_formula("--formula"))
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

/// The columns of the predictors of a model that has several: those of their names, unless others are asked for.
fn several_predictors(curve: &AnyModel, table: &Table, data: &DataArguments) -> Result<Vec<String>, Failure> {
    let AnyModel::Formula(formula) = curve else { return Ok(Vec::new()) };
    let (predictors, asked) = (formula.predictors(), &data.x);
    if asked.len() == predictors.len() {
        return Ok(asked.iter().map(|name| column_name(table, Some(name), 1)).collect());
    }
    if asked.is_empty() && predictors.iter().all(|name| table.column_names().any(|column| column == name)) {
        return Ok(predictors.to_vec());
    }
    Err(Failure::new(format!(
        "the model has the predictors {}; --x names their columns in this order",
        quoted(predictors)
    )))
}

/// Reads the predictor of many fits: the first column of a file.
pub fn read_predictor(path: &Path) -> Result<Vec<f64>, Failure> {
    if output::extension(path).as_deref() == Some("npy") {
        return Ok(marquardt::npy::read::<f64, ndarray::Ix1>(path)?.to_vec());
    }
    let table = Table::from_csv(path)?;
    Ok(table.column("1")?.to_vec())
}
