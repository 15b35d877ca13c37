//! Reader of files with separated values.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use csv::{ReaderBuilder, Trim};

use super::column::TableColumn;
use super::error::has_thousands;
use super::lines::{Lines, Text};
use super::{Table, TableError};

/// Bytes that are read from a file at once.
const BUFFER: usize = 1 << 16;

/// Separator of the fields of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Separator {
    /// `1,2`
    Comma,
    /// `1;2`
    Semicolon,
    /// A tab.
    Tab,
    /// Separator of any number of spaces and tabs.
    Whitespace,
}

/// Reads a [`Table`] with options for its format. Feature `csv`.
///
/// ```
/// use marquardt::curve::{Separator, TableReader};
///
/// let reader =
///     TableReader::new().separator(Separator::Semicolon).heading(false).decimal_comma(true);
/// let table = reader.read("0,5;1,2\n1,0;1,9\n".as_bytes())?;
/// assert_eq!(table.column("c2")?, [1.2, 1.9]);
/// # Ok::<(), marquardt::curve::TableError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct TableReader {
    separator: Option<Separator>,
    heading: Option<bool>,
    decimal_comma: bool,
    /// Names or numbers of the columns to keep; all unless given.
    kept: Option<Vec<String>>,
}

/// The fields of a line, and its number.
type Row = (usize, Vec<String>);

impl TableReader {
    /// Finds out about separator and heading by itself.
    pub fn new() -> Self {
        Self::default()
    }

    /// Separator of the fields.
    pub fn separator(self, separator: Separator) -> Self {
        TableReader { separator: Some(separator), ..self }
    }

    /// Says that the first line has the names of the columns (`true`), or data (`false`). By default, a line without numbers is a
    /// heading.
    pub fn heading(self, heading: bool) -> Self {
        TableReader { heading: Some(heading), ..self }
    }

    /// Reads numbers written as `1,5`; the separator must then be another. Default `false`. `1.234` is then no number: it may be meant as
    /// 1234.
    pub fn decimal_comma(self, decimal_comma: bool) -> Self {
        TableReader { decimal_comma, ..self }
    }

    /// Keeps these columns alone, by name, or by number, counted from 1, so that a file of many columns takes little memory. The table
    /// knows the names of the others, but asking for one is an error. By default all are kept.
    ///
    /// ```
    /// use marquardt::curve::TableReader;
    ///
    /// let text = "time, note, dose\n0, a, 1\n1, b, 2\n";
    /// let table = TableReader::new().columns(["time", "3"]).read(text.as_bytes())?;
    /// assert_eq!(table.column("dose")?, [1.0, 2.0]);
    /// let error = table.text_column("note").unwrap_err();
    /// assert_eq!(error.to_string(), "input: column \"note\" was not kept");
    /// # Ok::<(), marquardt::curve::TableError>(())
    /// ```
    pub fn columns(self, kept: impl IntoIterator<Item = impl Into<String>>) -> Self {
        TableReader { kept: Some(kept.into_iter().map(Into::into).collect()), ..self }
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`TableError`] says what is wrong, and where.
    pub fn read_file(&self, path: impl AsRef<Path>) -> Result<Table, TableError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => self.read_named(name, file),
            Err(source) => Err(TableError::Io { source_name: name, source }),
        }
    }

    /// Reads from any reader; errors call it `input`.
    ///
    /// # Errors
    ///
    /// [`TableError`] says what is wrong, and where.
    pub fn read(&self, reader: impl Read) -> Result<Table, TableError> {
        self.read_named("input".to_owned(), reader)
    }

    /// Reads from any reader; errors call it by this name.
    ///
    /// ```
    /// use marquardt::curve::TableReader;
    ///
    /// let error = TableReader::new().read_named("survey", "x,y\n1\n".as_bytes()).unwrap_err();
    /// assert_eq!(error.to_string(), "survey, line 2: 2 fields expected, 1 found");
    /// ```
    ///
    /// # Errors
    ///
    /// [`TableError`] says what is wrong, and where.
    pub fn read_named(&self, name: impl Into<String>, reader: impl Read) -> Result<Table, TableError> {
        let source = name.into();
        let mut lines = Lines::new(BufReader::with_capacity(BUFFER, reader));
        let separator = match (self.separator, lines.peek(2)) {
            (Some(separator), Ok(_)) => separator,
            (None, Ok(first)) => detect(&first, self.decimal_comma),
            (_, Err(error)) => return Err(TableError::Io { source_name: source, source: error }),
        };
        let mut table = Table { source, columns: Vec::new(), places: HashMap::new(), lines: Vec::new() };
        match separator {
            Separator::Comma => self.fill(&mut table, split(lines, b','))?,
            Separator::Semicolon => self.fill(&mut table, split(lines, b';'))?,
            Separator::Tab => self.fill(&mut table, split(lines, b'\t'))?,
            Separator::Whitespace => self.fill(&mut table, split_at_whitespace(lines))?,
        }
        if table.lines.is_empty() {
            return Err(TableError::NoData { source_name: table.source });
        }
        Ok(table)
    }

    fn fill(&self, table: &mut Table, rows: impl Iterator<Item = io::Result<Row>>) -> Result<(), TableError> {
        for (index, row) in rows.enumerate() {
            let (line, fields) = row.map_err(|source| TableError::Io { source_name: table.source.clone(), source })?;
            if index == 0 {
                let is_heading = self.heading.unwrap_or_else(|| self.is_heading(&fields));
                name_columns(table, if is_heading { &fields } else { &[] }, fields.len())?;
                if let Some(kept) = &self.kept {
                    table.keep(kept);
                }
                if is_heading {
                    continue;
                }
            }
            let (found, expected) = (fields.len(), table.columns.len());
            if found != expected {
                return Err(TableError::RaggedRow { source_name: table.source.clone(), line, found, expected });
            }
            for (column, field) in table.columns.iter_mut().zip(fields).filter(|(column, _)| column.is_kept) {
                column.push(&field, self.parse(&field));
            }
            table.lines.push(line);
        }
        Ok(())
    }

    /// There are words, and not one number.
    fn is_heading(&self, fields: &[String]) -> bool {
        let is_word = |field: &String| self.parse(field).is_none();
        fields.iter().any(is_word) && fields.iter().all(|field| is_word(field) || is_missing(field))
    }

    fn parse(&self, field: &str) -> Option<f64> {
        if is_missing(field) {
            return Some(f64::NAN);
        }
        match self.decimal_comma {
            // A point then separates thousands, or else is no decimal comma.
            true if has_thousands(field, '.') => None,
            true => field.replace(',', ".").parse().ok(),
            false => field.parse().ok(),
        }
    }
}

fn is_missing(field: &str) -> bool {
    ["", "NA", "NaN"].iter().any(|missing| field.eq_ignore_ascii_case(missing))
}

fn name_columns(table: &mut Table, heading: &[String], count: usize) -> Result<(), TableError> {
    for index in 0..count {
        let name = heading.get(index).filter(|name| !name.is_empty()).cloned();
        let name = name.unwrap_or_else(|| format!("c{}", index + 1));
        match table.places.entry(name.clone()) {
            Entry::Occupied(first) => {
                let (first, second) = (first.get() + 1, index + 1);
                return Err(TableError::DuplicateName { source_name: table.source.clone(), name, first, second });
            }
            Entry::Vacant(place) => place.insert(index),
        };
        table.columns.push(TableColumn::new(name));
    }
    Ok(())
}

/// The separator that the first two lines have, or else the first.
fn detect(first: &[&str], decimal_comma: bool) -> Separator {
    let first: Vec<&str> = first.iter().map(|line| line.trim()).collect();
    let candidates = [Separator::Tab, Separator::Semicolon, Separator::Comma, Separator::Whitespace];
    let is_in = |separator: Separator, line: &str| match separator {
        Separator::Comma => line.contains(',') && !decimal_comma,
        Separator::Semicolon => line.contains(';'),
        Separator::Tab => line.contains('\t'),
        Separator::Whitespace => line.contains(char::is_whitespace),
    };
    let in_both = candidates.into_iter().find(|&separator| first.iter().all(|line| is_in(separator, line)));
    let in_first = || candidates.into_iter().find(|&separator| first.iter().take(1).any(|line| is_in(separator, line)));
    // A heading of several words over one column of numbers is no row of several fields.
    let several = |&separator: &Separator| separator != Separator::Whitespace;
    in_both.or_else(|| in_first().filter(several)).unwrap_or(Separator::Comma)
}

/// Rows of fields, which quotes may surround.
fn split<R: BufRead>(lines: Lines<R>, separator: u8) -> impl Iterator<Item = io::Result<Row>> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .delimiter(separator)
        .from_reader(Text::new(lines));
    let mut record = csv::StringRecord::new();
    std::iter::from_fn(move || match reader.read_record(&mut record) {
        Ok(false) => None,
        // The record's own position would be that of the empty lines before it.
        Ok(true) => Some(Ok((reader.position().line() as usize - 1, record.iter().map(str::to_owned).collect()))),
        Err(error) => Some(Err(error.into())),
    })
}

/// Rows of words.
fn split_at_whitespace<R: BufRead>(mut lines: Lines<R>) -> impl Iterator<Item = io::Result<Row>> {
    std::iter::from_fn(move || lines.take().transpose()).map(|line| {
        let (number, line) = line?;
        Ok((number, line.split_whitespace().map(str::to_owned).collect()))
    })
}
