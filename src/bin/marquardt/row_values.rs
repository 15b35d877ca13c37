//! A number for each row: a constant, a column, or a formula over columns.

use marquardt::Formula;
use marquardt::curve::Table;

use crate::failure::Failure;
use crate::needed_columns::writable;
use crate::row_formula::RowFormula;

/// Name of the response in formulas, unless a column is called so.
const RESPONSE: &str = "y";

/// Numbers as they are asked for.
#[derive(Debug, Clone)]
pub enum RowValues<'t> {
    /// One number for all rows.
    Same(f64),
    Column(&'t str),
    /// A formula over columns and, as `y`, the response.
    Formula(Formula),
}

impl<'t> RowValues<'t> {
    /// A column, if one is called so; otherwise a number, or a formula of columns alone.
    pub fn of(table: &Table, text: &'t str) -> Self {
        if table.column_names().any(|column| column == text) {
            return RowValues::Column(text);
        }
        if let Ok(value) = text.parse() {
            return RowValues::Same(value);
        }
        let names = writable(table).chain((!table.column_names().any(|name| name == RESPONSE)).then_some(RESPONSE));
        match Formula::with_predictors(text, names) {
            Ok(formula) if formula.parameters().is_empty() => RowValues::Formula(formula),
            _ => RowValues::Column(text),
        }
    }

    /// Columns that it takes.
    pub fn columns(&self) -> Vec<&str> {
        match self {
            RowValues::Same(_) => Vec::new(),
            RowValues::Column(name) => vec![name],
            RowValues::Formula(formula) => formula.used_predictors().collect(),
        }
    }

    /// The column that it is.
    pub fn column(&self) -> Option<&'t str> {
        if let RowValues::Column(name) = self { Some(name) } else { None }
    }

    /// The number for a response alone, if no column occurs but the response itself.
    pub fn of_response(&self, table: &Table, response: &str) -> Option<Formula> {
        let RowValues::Formula(formula) = self else { return None };
        formula.used_predictors().all(|name| of_table(table, name, response) == response).then(|| formula.clone())
    }

    /// The numbers of these rows.
    pub fn values(&self, table: &Table, rows: &[usize], response: &str) -> Result<Vec<f64>, Failure> {
        match self {
            RowValues::Same(value) => Ok(vec![*value; rows.len()]),
            RowValues::Column(name) => {
                let values = table.column(name)?;
                Ok(rows.iter().map(|&row| values[row]).collect())
            }
            RowValues::Formula(formula) => {
                let formula = RowFormula::of(formula, table, |name| of_table(table, name, response))?;
                Ok(formula.values(rows.iter().copied()))
            }
        }
    }
}

/// The column of a name in a formula.
pub fn of_table<'n>(table: &Table, name: &'n str, response: &'n str) -> &'n str {
    if name == RESPONSE && !table.column_names().any(|column| column == name) { response } else { name }
}
