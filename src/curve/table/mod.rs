//! Tables of numbers, read from files of separated values.

mod error;
mod reader;

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

pub use error::TableError;
pub use reader::{Separator, TableReader};

/// Columns of numbers by name, read from a file of separated values. Feature `csv`.
///
/// | in the file | what becomes of it |
/// |---|---|
/// | a first line without any number | the names of the columns; without it they are `c1`, `c2`, … |
/// | a line that begins with `#`, an empty line | nothing |
/// | comma, semicolon, tab or spaces | the separator, found by looking at the first lines |
/// | an empty field, `NA`, `NaN` | a missing value, NaN |
/// | other text, a number that is not finite such as `1e999` | an error, if the column is asked for |
///
/// [`TableReader`] reads what is written in another way.
///
/// ```
/// use marquardt::Table;
///
/// let text = "sample, conc, rate\nA, 0.5, 1.2\nB, 1.0, 1.9\nC, 2.0, NA\n";
/// let table = Table::from_reader(text.as_bytes())?;
/// assert_eq!(table.column("conc")?, [0.5, 1.0, 2.0]);
/// assert!(table.column("rate")?[2].is_nan());
/// assert_eq!(
///     table.column("sample").unwrap_err().to_string(),
///     "input, line 2, column sample: \"A\" is not a number"
/// );
/// # Ok::<(), marquardt::TableError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What errors call the file.
    source: String,
    columns: Vec<Column>,
    /// The places of the columns by their names.
    places: HashMap<String, usize>,
    rows: usize,
}

/// One column of a table.
#[derive(Debug, Clone, PartialEq)]
struct Column {
    name: String,
    /// NaN where the value is missing, or is no finite number.
    values: Vec<f64>,
    /// The first field that is no finite number.
    flaw: Option<Flaw>,
}

/// A field that is no finite number.
#[derive(Debug, Clone, PartialEq)]
struct Flaw {
    line: usize,
    text: String,
    is_number: bool,
}

impl Table {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`TableError`] says what is wrong, and where.
    pub fn from_csv(path: impl AsRef<Path>) -> Result<Table, TableError> {
        TableReader::new().read_file(path)
    }

    /// Reads from any reader; errors call it `input`.
    ///
    /// # Errors
    ///
    /// [`TableError`] says what is wrong, and where.
    pub fn from_reader(reader: impl Read) -> Result<Table, TableError> {
        TableReader::new().read(reader)
    }

    /// Number of rows, without the heading.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The names of the columns, in order.
    pub fn column_names(&self) -> impl ExactSizeIterator<Item = &str> + '_ {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The column of that name, or else of that number, counted from 1; NaN where values are missing.
    ///
    /// # Errors
    ///
    /// [`TableError::NoSuchColumn`] lists the columns that there are; [`TableError::NotANumber`] and
    /// [`TableError::NotFinite`] say where there is text, or a number too large for a float.
    pub fn column(&self, name: &str) -> Result<&[f64], TableError> {
        let by_name = self.places.get(name).map(|&place| &self.columns[place]);
        let by_number = || self.columns.get(name.parse::<usize>().ok()?.checked_sub(1)?);
        let source_name = || self.source.clone();
        let column = by_name.or_else(by_number).ok_or_else(|| TableError::NoSuchColumn {
            source_name: source_name(),
            name: name.to_owned(),
            columns: self.column_names().map(str::to_owned).collect(),
        })?;
        let Some(Flaw { line, text, is_number }) = column.flaw.clone() else { return Ok(&column.values) };
        let (source_name, column) = (source_name(), column.name.clone());
        Err(match is_number {
            true => TableError::NotFinite { source_name, line, column, text },
            false => TableError::NotANumber { source_name, line, column, text },
        })
    }
}
