//! Columns of a large file that are needed, found by its first lines.

use std::collections::HashSet;
use std::io::{Cursor, Read};

use marquardt::Formula;
use marquardt::curve::{Table, TableError, TableReader};

use crate::arguments::DataArguments;
use crate::assignments::NamedValue;
use crate::condition::Condition;
use crate::wildcard::matches;

/// Bytes at the beginning of a file that are looked at. A shorter file is read as a whole.
const HEAD: u64 = 1 << 16;

/// Reads a table, of a long file the needed columns alone: those of the arguments, those that a formula names, the others that are asked
/// for, and those of texts, which may name groups.
pub fn read(
    reader: &TableReader,
    name: String,
    mut bytes: Box<dyn Read>,
    arguments: &DataArguments,
    needs: &Needs<'_>,
    wide: WideTables,
) -> Result<Table, TableError> {
    let mut head = Vec::new();
    let reads = bytes.as_mut().take(HEAD).read_to_end(&mut head);
    // An error comes again where the rest is read.
    let is_long = reads.is_ok_and(|count| count as u64 == HEAD);
    let lines = head.iter().rposition(|&byte| byte == b'\n').map_or(&head[..], |end| &head[..=end]);
    let first = if is_long { reader.read(lines).ok() } else { None };
    let first = first.filter(|first| !wide.are_like(first));
    let needed = first.map(|first| needed(&first, arguments, needs));
    let all = Cursor::new(head).chain(bytes);
    match needed {
        Some(needed) => reader.clone().columns(needed).read_named(name, all),
        None => reader.read_named(name, all),
    }
}

impl DataArguments {
    /// Columns, numbers or formulas that have a value for each row besides its predictors and response.
    pub fn of_rows(&self) -> impl Iterator<Item = &str> {
        let deviations = self.sigma.iter().chain(&self.weights).chain(&self.sigma_x);
        deviations.chain(&self.replicates).chain(&self.sd).map(String::as_str)
    }

    /// Returns true if formulas are of complex numbers.
    pub fn is_complex(&self) -> bool {
        self.complex || self.y.len() > 1
    }
}

/// Columns that a subcommand needs besides those of its [`DataArguments`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Needs<'n> {
    pub formulas: &'n [&'n str],
    /// Columns by name or number.
    pub columns: &'n [&'n str],
    /// Origins of times by columns, unless `--since` gives one.
    pub origins: &'n [(&'n str, &'n str)],
}

/// Tables whose headings are taken for predictors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WideTables {
    #[default]
    Never,
    /// Those in which this is plain.
    Plain,
    All,
}

impl WideTables {
    /// Returns true if the headings of this table are predictors.
    pub fn are_like(self, table: &Table) -> bool {
        match self {
            WideTables::Never => false,
            WideTables::Plain => table.has_predictors_in_heading(),
            WideTables::All => true,
        }
    }
}

fn needed(first: &Table, arguments: &DataArguments, needs: &Needs<'_>) -> HashSet<String> {
    let DataArguments { x, y, conditions, .. } = arguments;
    let by_arguments = x.iter().chain(y).map(String::as_str).chain(arguments.of_rows());
    let by_conditions = conditions.iter().flat_map(|condition| condition.columns());
    let texts = first.column_names().filter(|name| first.column(name).is_err());
    let replicates = first.column_names().filter(|name| y.iter().any(|pattern| matches(pattern, name)));
    let asked = by_arguments.chain(by_conditions).chain(texts).chain(replicates).chain(needs.columns.iter().copied());
    let mut needed: HashSet<String> = asked.map(str::to_owned).collect();
    let mut predictors = x.len() + usize::from(arguments.is_complex());
    let computed = arguments.computed.iter().map(|NamedValue { value, .. }| value.as_str());
    let of_conditions = conditions.iter().filter_map(Condition::formula);
    for text in needs.formulas.iter().copied().chain(arguments.of_rows()).chain(computed).chain(of_conditions) {
        // What is wrong with a formula is said later.
        let formula = match arguments.is_complex() {
            true => Formula::complex(text, writable(first)),
            false => Formula::with_predictors(text, writable(first)),
        };
        if let Ok(formula) = formula {
            predictors += formula.used_predictors().count();
            needed.extend(formula.used_predictors().map(str::to_owned));
        }
    }
    // Unless something is said, the first is a predictor, and the response the first one after it that is none.
    needed.extend((1..=2 + predictors).map(|number| number.to_string()));
    needed
}

/// Names of columns that a formula can have.
pub fn writable(table: &Table) -> impl Iterator<Item = &str> {
    table.column_names().filter(|name| !name.contains(|c: char| c == '"' || c.is_control()))
}
