//! Formulas of columns, with a value for each row.

use marquardt::curve::Table;
use marquardt::{Formula, Model};

use crate::failure::{Failure, quoted};
use crate::needed_columns::writable;

/// A formula over the columns of a table alone.
pub struct RowFormula<'t> {
    formula: Formula,
    /// Columns that occur, by their places among the predictors.
    columns: Vec<(usize, &'t [f64])>,
}

impl<'t> RowFormula<'t> {
    /// Parses a text, which `option` has given.
    pub fn parse(text: &str, table: &'t Table, option: &'static str) -> Result<Self, Failure> {
        let formula = Formula::with_predictors(text, writable(table)).map_err(Failure::of_formula(option))?;
        if let Some(name) = formula.parameters().first() {
            let known = quoted(&table.column_names().collect::<Vec<_>>());
            return Err(Failure::new(format!("{option}: there is no column {name:?}, only {known}")));
        }
        Self::of(&formula, table, |name| name)
    }

    /// A formula of no parameters, with a column for each name that occurs in it.
    pub fn of<'n>(
        formula: &'n Formula,
        table: &'t Table,
        column: impl Fn(&'n str) -> &'n str,
    ) -> Result<Self, Failure> {
        let mut columns = Vec::new();
        for name in formula.used_predictors() {
            let place = formula.predictors().iter().position(|predictor| predictor == name);
            columns.push((place.expect("it is one of them"), table.column(column(name))?));
        }
        Ok(RowFormula { formula: formula.clone(), columns })
    }

    /// The values of rows; NaN where a number is missing.
    pub fn values(&self, rows: impl IntoIterator<Item = usize>) -> Vec<f64> {
        let mut x = vec![f64::NAN; self.formula.predictors().len()];
        let value = |row: usize| {
            self.columns.iter().for_each(|&(place, values)| x[place] = values[row]);
            let is_missing = self.columns.iter().any(|(place, _)| x[*place].is_nan());
            if is_missing { f64::NAN } else { self.formula.response(&x, &[]) }
        };
        rows.into_iter().map(value).collect()
    }
}
