//! Errors of tables.

use std::io;

use thiserror::Error;

/// Error of a [`Table`](super::Table). Lines and columns count from 1.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// The file cannot be read.
    #[error("{source_name}: {source}")]
    Io {
        /// Name of the file.
        source_name: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A row has more or fewer fields than the first one.
    #[error("{source_name}, line {line}: {expected} fields expected, {found} found")]
    RaggedRow {
        /// Name of the file.
        source_name: String,
        /// Line at which the row ends, counted from 1.
        line: usize,
        /// Fields in the row.
        found: usize,
        /// Fields in the first row.
        expected: usize,
    },
    /// A field of a column that is used is not a number.
    #[error("{source_name}, line {line}, column {column}: {text:?} is not a number{}", remedy(text))]
    NotANumber {
        /// Name of the file.
        source_name: String,
        /// Line at which the row ends, counted from 1.
        line: usize,
        /// The column's name.
        column: String,
        /// Text of the field.
        text: String,
    },
    /// A number of a column that is used is infinite, or too large for a float.
    #[error("{source_name}, line {line}, column {column}: {text:?} is not a finite number")]
    NotFinite {
        /// Name of the file.
        source_name: String,
        /// Line at which the row ends, counted from 1.
        line: usize,
        /// The column's name.
        column: String,
        /// Text of the field.
        text: String,
    },
    /// There is no such column.
    #[error("{source_name}: there is no column {name:?}, only {}", columns.join(", "))]
    NoSuchColumn {
        /// Name of the file.
        source_name: String,
        /// The name asked for.
        name: String,
        /// The columns that there are.
        columns: Vec<String>,
    },
    /// The column is in the file, but was not [kept](super::TableReader::columns).
    #[error("{source_name}: column {column} was not kept")]
    NotKept {
        /// Name of the file.
        source_name: String,
        /// The column's name.
        column: String,
    },
    /// Two columns have the same name.
    #[error("{source_name}: columns {first} and {second} are both named {name:?}")]
    DuplicateName {
        /// Name of the file.
        source_name: String,
        /// The name.
        name: String,
        /// Index of the first column.
        first: usize,
        /// Index of the second column.
        second: usize,
    },
    /// There is no row of data.
    #[error("{source_name}: there are no data")]
    NoData {
        /// Name of the file.
        source_name: String,
    },
}

/// Names the option that reads this text as a number, if there is one.
fn remedy(text: &str) -> &'static str {
    let is_decimal_comma = text.contains(',') && text.replacen(',', ".", 1).parse::<f64>().is_ok();
    if is_decimal_comma { "; decimal commas are read by the option decimal-comma" } else { "" }
}
