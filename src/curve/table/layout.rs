//! Place and form of the table in a file, found by its first lines.

use super::Separator;
use super::lines::Line;
use super::numbers::NumberFormat;
use super::reader::rows_of;
use super::units;

/// Lines that are looked at.
pub(super) const HEAD: usize = 128;

/// Separators in the order in which they are tried.
const SEPARATORS: [Separator; 4] = [Separator::Tab, Separator::Semicolon, Separator::Comma, Separator::Whitespace];

/// Place and form of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) separator: Separator,
    /// Line of the heading or, without one, of the first row, counted from 1.
    pub(super) line: usize,
    pub(super) has_heading: bool,
    /// The line below the heading has the units.
    pub(super) has_units: bool,
    /// Fields of a row; those of the first line unless known.
    pub(super) fields: Option<usize>,
}

/// The fields of a line, and its number.
pub(super) type Row = (usize, Vec<String>);

/// Search for the table in the first lines.
pub(super) struct LayoutSearch<'a> {
    pub(super) separator: Option<Separator>,
    pub(super) heading: Option<bool>,
    pub(super) format: &'a NumberFormat,
}

impl LayoutSearch<'_> {
    /// The layout of a file that begins with these lines. The table begins at the first line if all lines have the same number of fields
    /// and two columns of numbers; otherwise at the heading of the first numbers, or at the last lines with the same number of fields.
    pub(super) fn find(&self, head: &[Line]) -> Layout {
        let detected = self.separator.unwrap_or_else(|| detect(head, self.format.decimal_comma));
        // The last line that is looked at may end within quotes.
        let whole_rows = |separator| {
            let mut rows = rows_of(head.to_vec(), separator);
            rows.truncate(HEAD - 1);
            rows
        };
        let rows = whole_rows(detected);
        let has_heading = self.heading.unwrap_or_else(|| self.begins_with_heading(&rows));
        let line = head.first().map_or(0, |&(number, _)| number);
        let whole = Layout { separator: detected, line, has_heading, has_units: false, fields: None };
        match self.heading {
            Some(true) => Layout { has_units: self.has_units(&rows, 1, true), ..whole },
            Some(false) => whole,
            None if self.is_table(&rows) => whole,
            None => {
                let is_asked = |separator: &Separator| match self.separator {
                    Some(asked) => asked == *separator,
                    None => *separator != Separator::Comma || !self.format.decimal_comma,
                };
                let found = SEPARATORS.into_iter().rev().filter(is_asked).filter_map(|separator| {
                    let rows = whole_rows(separator);
                    let found = self.of_numbers(&rows, separator).or_else(|| self.of_plate(&rows, separator));
                    found.or_else(|| self.of_texts(&rows, separator))
                });
                found.max_by_key(|&(count, _)| count).map_or(whole, |(_, layout)| layout)
            }
        }
    }

    /// All rows have the same number of fields, and as many columns of numbers below the first row as a fit needs.
    fn is_table(&self, rows: &[Row]) -> bool {
        let Some(((_, first), others)) = rows.split_first() else { return true };
        let is_column = |column: &usize| others.iter().all(|(_, row)| self.format.looks_numeric(&row[*column]));
        others.iter().all(|(_, row)| row.len() == first.len())
            && (0..first.len()).filter(is_column).take(2).count() == first.len().min(2)
    }

    /// The table whose first rows of numbers, at least two, are the first ones in the file, and the number of these rows.
    fn of_numbers(&self, rows: &[Row], separator: Separator) -> Option<((usize, usize), Layout)> {
        let is_numeric = |row: &[String]| row.iter().all(|field| self.format.looks_numeric(field)) && width(row) > 1;
        let begins = |pair: &[Row]| pair.iter().all(|(_, row)| is_numeric(row)) && fits(&pair[1].1, width(&pair[0].1));
        let numbers = rows.windows(2).position(begins)?;
        let first_row = &rows[numbers].1;
        let above = numbers.checked_sub(1).map(|above| &rows[above].1);
        let fields =
            if above.is_some_and(|above| above.len() == first_row.len()) { first_row.len() } else { width(first_row) };
        let fits = |row: &[String]| fits(row, fields);
        // Rows whose predictor is a number have a text such as "failed" elsewhere.
        let is_row = |(_, row): &&Row| fits(row) && row.first().is_some_and(|field| self.format.is_number(field));
        let begin = numbers - rows[..numbers].iter().rev().take_while(is_row).count();
        let above = &rows[..begin];
        let is_words =
            |row: &[String]| fits(row) && self.is_heading(row) && !row.iter().any(|field| self.format.is_number(field));
        let heading = match above {
            [.., (_, heading)] if is_words(heading) => {
                let has_units = above.len() > 1 && is_words(&above[above.len() - 2].1);
                begin - 1 - usize::from(has_units && self.has_units(rows, begin - 1, begin == 2))
            }
            // A word and numbers, as the concentrations of a plate.
            [(_, heading)] if fits(heading) && !self.format.looks_numeric(&heading[0]) => 0,
            [.., (_, last)] if is_number_alone(last, self.format) || is_ambiguous(&rows[begin..], separator, last) => {
                return None;
            }
            _ => begin,
        };
        if rows[..heading].iter().any(|(_, row)| fits(row) && is_numeric(row)) {
            return None;
        }
        let count = rows[numbers..].iter().take_while(|(_, row)| is_numeric(row)).count();
        let layout = Layout {
            separator,
            line: rows[heading].0,
            has_heading: heading < begin,
            has_units: heading + 1 < begin,
            fields: Some(fields),
        };
        Some(((count, fields), layout))
    }

    /// The last lines with the same number of fields, below others, if they have a heading and a column of numbers.
    fn of_texts(&self, rows: &[Row], separator: Separator) -> Option<((usize, usize), Layout)> {
        let fields = rows.last()?.1.len();
        let begin = rows.len() - rows.iter().rev().take_while(|(_, row)| row.len() == fields).count();
        let is_column = |rows: &[Row], column: usize| rows.iter().all(|(_, row)| self.format.is_number(&row[column]));
        let is_table = |&heading: &usize| {
            let (below, columns) = (&rows[heading + 1..], 0..fields);
            below.len() > 1
                && self.is_heading(&rows[heading].1)
                && columns.into_iter().any(|column| is_column(below, column))
        };
        let heading = (begin..rows.len()).find(is_table).filter(|_| fields > 1 && begin > 0)?;
        let line = rows[heading].0;
        let layout = Layout { separator, line, has_heading: true, has_units: false, fields: Some(fields) };
        Some(((0, rows.len() - heading), layout))
    }

    /// The table below a word and at least three numbers, ascending or descending, whose rows begin with a text and go on with numbers. It
    /// is the first one with as many columns.
    fn of_plate(&self, rows: &[Row], separator: Separator) -> Option<((usize, usize), Layout)> {
        let is_row = |row: &[String]| {
            row.split_first().is_some_and(|(name, values)| {
                !self.format.looks_numeric(name) && values.iter().all(|value| self.format.looks_numeric(value))
            })
        };
        let is_heading = |row: &[String]| {
            let values: Option<Vec<f64>> = row.iter().skip(1).map(|field| self.format.decimal(field)).collect();
            values.is_some_and(|values| {
                values.len() > 2
                    && (values.is_sorted() || values.iter().rev().is_sorted())
                    && values[0] != values[values.len() - 1]
            })
        };
        let begin = rows.iter().position(|(_, row)| is_row(row) && is_heading(row))?;
        let fields = rows[begin].1.len();
        let count = rows[begin + 1..].iter().take_while(|(_, row)| row.len() == fields && is_row(row)).count();
        let is_first = rows[..begin].iter().all(|(_, row)| row.len() != fields);
        let line = rows[begin].0;
        let layout = Layout { separator, line, has_heading: false, has_units: false, fields: Some(fields) };
        (count > 0 && is_first).then_some(((count, fields), layout))
    }

    /// The first row is a heading; dates are none above other texts.
    fn begins_with_heading(&self, rows: &[Row]) -> bool {
        let Some((_, first)) = rows.first().filter(|(_, row)| self.is_heading(row)) else { return false };
        let are_decimals = |row: &[String]| row.iter().all(|field| self.format.decimal(field).is_some());
        !(first.iter().all(|field| self.format.is_number(field))
            && rows.get(1).is_some_and(|(_, row)| !are_decimals(row)))
    }

    /// There are words, and not one number.
    fn is_heading(&self, row: &[String]) -> bool {
        let is_word = |field: &String| self.format.decimal(field).is_none() && !self.format.is_missing(field);
        row.iter().any(is_word) && row.iter().all(|field| is_word(field) || self.format.is_missing(field))
    }

    /// The row has units of columns of numbers: one at least if the heading is the first row, else all.
    fn has_units(&self, rows: &[Row], at: usize, is_second: bool) -> bool {
        let Some((_, row)) = rows.get(at).filter(|(_, row)| self.is_heading(row)) else { return false };
        let below = &rows[at + 1..];
        let is_number = |&column: &usize| {
            below.iter().all(|(_, row)| row.get(column).is_none_or(|field| self.format.looks_numeric(field)))
        };
        let named: Vec<usize> = (0..row.len()).filter(|&column| !self.format.is_missing(&row[column])).collect();
        let mut are_units = named.iter().map(|&column| units::is_unit(&row[column]));
        let are_known = if is_second { are_units.any(|is_unit| is_unit) } else { are_units.all(|is_unit| is_unit) };
        !below.is_empty() && are_known && named.iter().all(is_number)
    }
}

/// Fields up to the last that is not empty.
fn width(row: &[String]) -> usize {
    row.iter().rposition(|field| !field.is_empty()).map_or(0, |last| last + 1)
}

/// The row has this number of fields, or empty ones besides.
fn fits(row: &[String], fields: usize) -> bool {
    row.len() == fields || row.len() > fields && (1..=fields).contains(&width(row))
}

/// A row that lacks fields, rather than a line above the table.
fn is_number_alone(row: &[String], format: &NumberFormat) -> bool {
    row.iter().all(|field| format.looks_numeric(field)) && width(row) == 1
}

/// Pairs of integers below one word may be numbers with decimal commas.
fn is_ambiguous(table: &[Row], separator: Separator, above: &[String]) -> bool {
    let is_integer = |field: &String| field.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
    separator == Separator::Comma
        && above.len() == 1
        && table.iter().all(|(_, row)| row.len() < 3 && row.iter().all(is_integer))
}

/// The separator that the first two lines have, or else the first.
fn detect(head: &[Line], decimal_comma: bool) -> Separator {
    let first: Vec<&str> = head.iter().take(2).map(|(_, line)| line.trim()).collect();
    let is_in = |separator: Separator, line: &str| match separator {
        Separator::Comma => line.contains(',') && !decimal_comma,
        Separator::Semicolon => line.contains(';'),
        Separator::Tab => line.contains('\t'),
        Separator::Whitespace => line.contains(char::is_whitespace),
    };
    let in_both = SEPARATORS.into_iter().find(|&separator| first.iter().all(|line| is_in(separator, line)));
    let in_first = || SEPARATORS.into_iter().find(|&separator| first.iter().take(1).any(|line| is_in(separator, line)));
    // A heading of several words over one column of numbers is no row of several fields.
    let several = |&separator: &Separator| separator != Separator::Whitespace;
    in_both.or_else(|| in_first().filter(several)).unwrap_or(Separator::Comma)
}
