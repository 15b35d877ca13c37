//! Reader of files with separated values.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use csv::{ReaderBuilder, Trim};

use super::column::TableColumn;
use super::encoding::decoded;
use super::layout::{HEAD, Layout, LayoutSearch, Row};
use super::lines::{Line, Lines, Text};
use super::numbers::NumberFormat;
use super::units::without_brackets;
use super::{Table, TableError};

/// Beginnings of comments, in a line that is no row.
const COMMENTS: [&str; 4] = ["%", ";", "//", "!"];

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

/// Order of day and month in dates such as `03/04/2024`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DateOrder {
    /// The third of April.
    DayMonthYear,
    /// The fourth of March.
    MonthDayYear,
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
    skipped: usize,
    format: NumberFormat,
    /// Names or numbers of the columns to keep; all unless given.
    kept: Option<Vec<String>>,
}

impl TableReader {
    /// Creates a reader that detects separator and heading.
    pub fn new() -> Self {
        Self::default()
    }

    /// Separator of the fields.
    pub fn separator(self, separator: Separator) -> Self {
        TableReader { separator: Some(separator), ..self }
    }

    /// Sets whether the first line has the names of the columns (`true`) or data (`false`). Default: a line without numbers is a heading.
    pub fn heading(self, heading: bool) -> Self {
        TableReader { heading: Some(heading), ..self }
    }

    /// Sets the number of lines to skip at the beginning of the file. By default, lines about the instrument are detected: the heading is
    /// the line above the first rows of numbers with the same number of fields.
    ///
    /// ```
    /// use marquardt::curve::TableReader;
    ///
    /// let table = TableReader::new().skip(2).read("1,2\n2,3\nt,y\n5,6\n".as_bytes())?;
    /// assert_eq!((table.column("y")?, table.lines()), (&[6.0][..], &[4][..]));
    /// # Ok::<(), marquardt::curve::TableError>(())
    /// ```
    pub fn skip(self, lines: usize) -> Self {
        TableReader { skipped: lines, ..self }
    }

    /// Sets whether numbers have a decimal comma, such as `1,5`; default `false`. The separator must then be another character, and `1.234`
    /// is an error, because it may mean 1234.
    pub fn decimal_comma(self, decimal_comma: bool) -> Self {
        TableReader { format: NumberFormat { decimal_comma, ..self.format }, ..self }
    }

    /// Sets the separator of thousands, such as the comma of `1,234.5`. By default such numbers are errors, because `1,234` may mean 1.234.
    /// A space stands for all kinds of spaces.
    ///
    /// ```
    /// use marquardt::curve::TableReader;
    ///
    /// let reader = TableReader::new().thousands(',');
    /// assert_eq!(reader.read("x;y\n1;1,234.5\n".as_bytes())?.column("y")?, [1234.5]);
    /// # Ok::<(), marquardt::curve::TableError>(())
    /// ```
    pub fn thousands(self, separator: char) -> Self {
        TableReader { format: NumberFormat { thousands: Some(separator), ..self.format }, ..self }
    }

    /// Adds texts that mean a missing value to the default ones, which [`Table`] lists. A number matches all its spellings; an asterisk at
    /// the end matches any text.
    ///
    /// ```
    /// use marquardt::curve::TableReader;
    ///
    /// let reader = TableReader::new().missing(["<*", "-999"]);
    /// let table = reader.read("x,y\n1,<0.5\n2,-999.0\n".as_bytes())?;
    /// assert!(table.column("y")?.iter().all(|y| y.is_nan()));
    /// # Ok::<(), marquardt::curve::TableError>(())
    /// ```
    pub fn missing(self, codes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let missing = codes.into_iter().map(Into::into).collect();
        TableReader { format: NumberFormat { missing, ..self.format }, ..self }
    }

    /// Order of day and month in dates whose parts are separated by `/` or `-`, unless they begin with the year. By default, such dates are
    /// errors.
    pub fn date_order(self, order: DateOrder) -> Self {
        TableReader { format: NumberFormat { date_order: Some(order), ..self.format }, ..self }
    }

    /// Sets the columns to keep, by name, or by number counted from 1, so that a file of many columns takes little memory; default: all.
    /// The table has the names of the other columns, but reading one of them is an error.
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
        let in_file = |error| TableError::Io { source_name: source.clone(), source: error };
        let text = decoded(BufReader::with_capacity(BUFFER, reader)).map_err(in_file)?;
        let mut lines = Lines::new(text, self.skipped);
        let head = lines.peek(HEAD).map_err(in_file)?;
        let other_encoding = lines.other_encoding();
        let search = LayoutSearch { separator: self.separator, heading: self.heading, format: &self.format };
        let layout = search.find(&head);
        lines.begin_at(layout.line);
        let mut table = Table {
            source,
            columns: Vec::new(),
            places: HashMap::new(),
            lines: Vec::new(),
            has_heading: layout.has_heading,
            notes: Vec::new(),
        };
        if head.first().is_some_and(|&(first, _)| first < layout.line) {
            let first = if layout.has_heading { "heading" } else { "first row" };
            table.notes.push(format!("the lines above line {}, the {first}, were skipped", layout.line));
        }
        match layout.separator {
            Separator::Whitespace => self.fill(&mut table, layout, split_at_whitespace(lines))?,
            separator => self.fill(&mut table, layout, split(lines, separator))?,
        }
        if let Some(line) = other_encoding.get() {
            table.notes.push(format!("line {line}, which is no UTF-8, is read as Windows-1252"));
        }
        if table.lines.is_empty() {
            return Err(TableError::NoData { source_name: table.source });
        }
        Ok(table)
    }

    fn fill(
        &self,
        table: &mut Table,
        layout: Layout,
        rows: impl Iterator<Item = io::Result<Row>>,
    ) -> Result<(), TableError> {
        let mut comments = 0;
        for (index, row) in rows.enumerate() {
            let (line, mut fields) =
                row.map_err(|source| TableError::Io { source_name: table.source.clone(), source })?;
            let expected = layout.fields.filter(|_| index == 0).unwrap_or(table.columns.len());
            // Separators at the end of a line; a row without anything is none.
            let is_longer = index > 0 || layout.fields.is_some();
            if is_longer && fields.len() > expected && fields[..expected].iter().any(|field| !field.is_empty()) {
                let others = fields[expected..].iter().rposition(|field| !field.is_empty()).map_or(0, |last| last + 1);
                fields.truncate(expected + others);
            }
            if index == 0 {
                name_columns(table, if layout.has_heading { &fields } else { &[] }, fields.len())?;
                if let Some(kept) = &self.kept {
                    table.keep(kept);
                }
                if layout.has_heading {
                    if self.heading.is_none() && fields.iter().any(|field| self.format.is_number(field)) {
                        table.notes.push(format!("line {line}, which has numbers, is the heading"));
                    }
                    continue;
                }
            }
            let found = fields.len();
            if index == 1 && layout.has_units {
                let mut units = Vec::new();
                for (column, unit) in table.columns.iter_mut().zip(&fields) {
                    if !self.format.is_missing(unit) {
                        column.unit = without_brackets(unit).to_owned();
                        units.push(column.unit.as_str());
                    }
                }
                table.notes.push(format!("line {line} has the units {}", units.join(", ")));
                continue;
            }
            let expected = table.columns.len();
            if found != expected {
                let mut begin = fields.iter().map(String::as_str).filter(|field| !field.is_empty());
                let is_comment = |field: &str| COMMENTS.iter().any(|comment| field.starts_with(comment));
                if begin.next().is_some_and(is_comment) {
                    comments += 1;
                    continue;
                }
                return Err(TableError::RaggedRow { source_name: table.source.clone(), line, found, expected });
            }
            for (column, field) in table.columns.iter_mut().zip(fields).filter(|(column, _)| column.is_kept) {
                column.read(&field, &self.format);
            }
            table.lines.push(line);
        }
        if comments > 0 {
            table.notes.push(format!("lines of comments between the rows were skipped: {comments}"));
        }
        Ok(())
    }
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

/// The rows of lines at the beginning of a file, up to the first that cannot be read.
pub(super) fn rows_of(lines: Vec<Line>, separator: Separator) -> Vec<Row> {
    let lines = Lines::of(lines);
    match separator {
        Separator::Whitespace => split_at_whitespace(lines).map_while(Result::ok).collect(),
        separator => split(lines, separator).map_while(Result::ok).collect(),
    }
}

/// Rows of fields, which quotes may surround.
fn split<R: BufRead>(lines: Lines<R>, separator: Separator) -> impl Iterator<Item = io::Result<Row>> {
    let delimiter = match separator {
        Separator::Semicolon => b';',
        Separator::Tab => b'\t',
        _ => b',',
    };
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .delimiter(delimiter)
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
