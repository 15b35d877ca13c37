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
        /// Which file.
        source_name: String,
        /// Why not.
        source: io::Error,
    },
    /// A row has more or fewer fields than the first one.
    #[error("{source_name}, line {line}: {expected} fields expected, {found} found")]
    RaggedRow {
        /// Which file.
        source_name: String,
        /// Line at which the row ends, counted from 1.
        line: usize,
        /// Fields in the row.
        found: usize,
        /// Fields in the first row.
        expected: usize,
    },
    /// There is text in a column that is asked for.
    #[error("{source_name}, line {line}, column {column}: {text:?} is not a number")]
    NotANumber {
        /// Which file.
        source_name: String,
        /// Line at which the row ends, counted from 1.
        line: usize,
        /// The column's name.
        column: String,
        /// Text of the field.
        text: String,
    },
    /// There is a number in a column that is asked for, but it is infinite, or too large for a float.
    #[error("{source_name}, line {line}, column {column}: {text:?} is not a finite number")]
    NotFinite {
        /// Which file.
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
        /// Which file.
        source_name: String,
        /// The name asked for.
        name: String,
        /// The columns that there are.
        columns: Vec<String>,
    },
    /// The column is in the file, but was not [kept](super::TableReader::columns).
    #[error("{source_name}: column {column} was not kept")]
    NotKept {
        /// Which file.
        source_name: String,
        /// The column's name.
        column: String,
    },
    /// Two columns have the same name.
    #[error("{source_name}: columns {first} and {second} are both named {name:?}")]
    DuplicateName {
        /// Which file.
        source_name: String,
        /// The name.
        name: String,
        /// The one column.
        first: usize,
        /// The other.
        second: usize,
    },
    /// There is no row of data.
    #[error("{source_name}: there are no data")]
    NoData {
        /// Which file.
        source_name: String,
    },
}
