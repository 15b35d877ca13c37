//! Conditions on the rows of a table.

use std::str::FromStr;

use marquardt::Formula;
use marquardt::curve::{Table, TableError, TableRow};
use thiserror::Error;

use crate::failure::Failure;
use crate::row_formula::RowFormula;

/// Reason why a text is no condition.
#[derive(Debug, Error, PartialEq)]
#[error("{text:?} is not a condition such as 'conc > 0', 'plate == A and rate != 3'")]
pub struct ConditionError {
    text: String,
}

/// A condition on rows: alternatives, each of which is a list of comparisons of columns with values; or any condition of a formula.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// Formula that is one where the condition holds, and otherwise zero; none if it has texts.
    formula: Option<String>,
    /// Joined by `or`; empty if the condition has another form.
    alternatives: Vec<Vec<ColumnTest>>,
}

/// Comparison of a column with a value.
#[derive(Debug, Clone, PartialEq)]
struct ColumnTest {
    column: String,
    relation: Relation,
    value: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Relation {
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    Unequal,
}

/// Longer ones first, as they begin with the shorter ones.
const RELATIONS: [(&str, Relation); 8] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("==", Relation::Equal),
    ("!=", Relation::Unequal),
    ("<>", Relation::Unequal),
    ("<", Relation::Less),
    (">", Relation::Greater),
    ("=", Relation::Equal),
];

impl Condition {
    /// Returns true if a table has all columns that occur.
    pub fn is_over(&self, table: &Table) -> bool {
        let compares = self.compares_columns_of(table);
        compares || self.formula().is_some_and(|formula| RowFormula::parse(formula, table, "--where").is_ok())
    }

    /// The condition is made of comparisons with columns that the table has.
    fn compares_columns_of(&self, table: &Table) -> bool {
        let is_column = |name: &str| !matches!(table.column(name), Err(TableError::NoSuchColumn { .. }));
        !self.alternatives.is_empty() && self.columns().all(is_column)
    }

    /// The rows of a table that fulfil the condition.
    pub fn filter(&self, table: Table) -> Result<Table, Failure> {
        match &self.formula {
            Some(formula) if !self.compares_columns_of(&table) => {
                let holds = RowFormula::parse(formula, &table, "--where")?.values(0..table.rows());
                Ok(table.filter(|row| Ok(holds[row.index()] == 1.0))?)
            }
            _ => Ok(table.filter(|row| self.holds(row))?),
        }
    }

    /// The condition as a formula.
    pub fn formula(&self) -> Option<&str> {
        self.formula.as_deref()
    }

    /// Returns true if a row fulfils the condition. Texts are equal or not; numbers are compared by size, and a missing one
    /// fulfils nothing but `!=`.
    fn holds(&self, row: TableRow<'_>) -> Result<bool, TableError> {
        for alternative in &self.alternatives {
            let mut all = true;
            for comparison in alternative {
                all = all && comparison.holds(row)?;
            }
            if all {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The columns that are compared, by name or number.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.alternatives.iter().flatten().map(|comparison| comparison.column.as_str())
    }
}

impl ColumnTest {
    fn holds(&self, row: TableRow<'_>) -> Result<bool, TableError> {
        let is_equality = matches!(self.relation, Relation::Equal | Relation::Unequal);
        let Ok(value) = self.value.parse::<f64>() else {
            return Ok((row.text(&self.column)? == self.value) == (self.relation == Relation::Equal));
        };
        if is_equality && row.number(&self.column).is_err() {
            // A text is equal to no number; a column that is not there is an error.
            return Ok((row.text(&self.column)? == self.value) == (self.relation == Relation::Equal));
        }
        let number = row.number(&self.column)?;
        Ok(match self.relation {
            Relation::Less => number < value,
            Relation::AtMost => number <= value,
            Relation::Greater => number > value,
            Relation::AtLeast => number >= value,
            Relation::Equal => number == value,
            Relation::Unequal => number != value,
        })
    }
}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let alternatives = split(text, &["||", " or "]).into_iter();
        let alternative = |part| split(part, &["&&", " and "]).into_iter().map(comparison).collect::<Option<Vec<_>>>();
        let alternatives = alternatives.map(alternative).collect::<Option<Vec<_>>>();
        let formula = Some(format!("({text}) ? 1 : 0")).filter(|formula| Formula::parse(formula).is_ok());
        match (alternatives, formula) {
            (None, None) => Err(ConditionError { text: text.to_owned() }),
            (alternatives, formula) => Ok(Condition { formula, alternatives: alternatives.unwrap_or_default() }),
        }
    }
}

fn split<'t>(text: &'t str, separators: &[&str]) -> Vec<&'t str> {
    separators.iter().fold(vec![text], |parts, separator| parts.iter().flat_map(|part| part.split(separator)).collect())
}

fn comparison(text: &str) -> Option<ColumnTest> {
    let at = text.find(['<', '>', '=', '!'])?;
    let (column, rest) = text.split_at(at);
    let (sign, relation) = RELATIONS.into_iter().find(|(sign, _)| rest.starts_with(sign))?;
    let (column, value) = (column.trim(), rest[sign.len()..].trim());
    let is_quoted = |quote| value.len() > 1 && value.starts_with(quote) && value.ends_with(quote);
    let value = if is_quoted('"') || is_quoted('\'') { &value[1..value.len() - 1] } else { value };
    let is_ordered = !matches!(relation, Relation::Equal | Relation::Unequal);
    let is_sound =
        !column.is_empty() && !value.contains(['<', '>', '=']) && (!is_ordered || value.parse::<f64>().is_ok());
    is_sound.then(|| ColumnTest { column: column.to_owned(), relation, value: value.to_owned() })
}

#[cfg(test)]
mod tests {
    use marquardt::curve::Table;

    use super::*;

    fn lines(condition: &str) -> Vec<usize> {
        let table = Table::from_reader("plate,conc\nA,1\nB,2\nA,\nC,-3\n".as_bytes()).unwrap();
        let condition: Condition = condition.parse().unwrap();
        condition.filter(table).unwrap().lines().to_vec()
    }

    #[test]
    fn rows_are_chosen_by_numbers_and_texts() {
        assert_eq!(lines("conc > 0"), [2, 3]);
        assert_eq!(lines("conc<=1"), [2, 5]);
        assert_eq!(lines("plate == A"), [2, 4]);
        assert_eq!(lines("plate = 'A' and conc > 0"), [2]);
        assert_eq!(lines("plate=A && conc>0 || plate != A and conc < 0"), [2, 5]);
        assert_eq!(lines("conc != 1"), [3, 4, 5]);
        assert_eq!(lines("plate == 3"), [0; 0]);
        // Missing numbers fulfil nothing.
        assert_eq!(lines("(conc > 1 or abs(conc) == 3) and conc < 3"), [3, 5]);
        assert_eq!(lines("2*conc <= 2"), [2, 5]);
        assert_eq!(lines("conc^2 < conc + 3 && !(conc < 0)"), [2, 3]);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "conc", "> 0", "0 < conc < 3", "conc ! 3", "conc > 0 and"] {
            let error = text.parse::<Condition>().unwrap_err();
            assert!(error.to_string().starts_with(&format!("{text:?} is not a condition")), "{error}");
        }
    }
}
