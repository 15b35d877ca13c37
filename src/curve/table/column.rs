//! One column of a table.

use super::numbers::NumberFormat;
use super::times::{Moment, Times};
use crate::curve::quoted::quoted;

/// Codes of missing values that a note names.
const MOST_CODES: usize = 6;

/// The fields of a column, as text and as numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TableColumn {
    pub(super) name: String,
    /// Unit of measurement; empty unless the file has it.
    pub(super) unit: String,
    /// Fields are added.
    pub(super) is_kept: bool,
    /// NaN where the value is missing, or is no finite number.
    pub(super) values: Vec<f64>,
    /// The fields that are no finite numbers, in order.
    flaws: Vec<Flaw>,
    /// Dates and times, if the first value is one.
    times: Option<Times>,
    /// Texts that were read as missing values, the first of them, but for nothing, NA and NaN.
    codes: Vec<String>,
    /// A percentage that was read as a fraction.
    percentage: Option<String>,
    /// All fields, one after the other.
    text: String,
    /// End of each field in the text.
    ends: Vec<usize>,
}

/// A field that is no finite number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Flaw {
    pub(super) row: usize,
    /// True for a number that is infinite or too large for a float.
    pub(super) is_number: bool,
}

impl TableColumn {
    /// A column without fields.
    pub(super) fn new(name: String) -> Self {
        TableColumn {
            name,
            unit: String::new(),
            is_kept: true,
            values: Vec::new(),
            flaws: Vec::new(),
            times: None,
            codes: Vec::new(),
            percentage: None,
            text: String::new(),
            ends: Vec::new(),
        }
    }

    /// Reads a field: a number, or a date or time if the first value is one.
    pub(super) fn read(&mut self, field: &str, format: &NumberFormat) {
        let mut value = format.parse(field);
        let is_first = || self.flaws.is_empty() && self.values.iter().all(|value| value.is_nan());
        if value.is_none()
            && (self.times.is_some() || is_first())
            && let Some(moment) = format.moment(field)
        {
            value = self.times.get_or_insert_with(|| Times::new(moment, field)).since_first(moment);
        } else if value.is_some_and(|value| !value.is_nan()) && self.times.is_some() {
            // A number is no date.
            value = None;
        }
        let is_plain = || ["", "NA", "NaN"].iter().any(|code| code.eq_ignore_ascii_case(field));
        if value.is_some_and(f64::is_nan) && !is_plain() && self.codes.len() <= MOST_CODES {
            if !self.codes.iter().any(|code| code == field) {
                self.codes.push(field.to_owned());
            }
        } else if value.is_some() && self.percentage.is_none() && field.ends_with('%') {
            self.percentage = Some(field.to_owned());
        }
        self.push(field, value);
    }

    /// The name, and the unit or the origin of times if there is one.
    pub(super) fn label(&self) -> String {
        match &self.times {
            Some(times) => format!("{} ({})", self.name, times.description()),
            None if self.unit.is_empty() => self.name.clone(),
            None => format!("{} ({})", self.name, self.unit),
        }
    }

    /// Origin of the times.
    pub(super) fn origin(&self) -> Option<Moment> {
        self.times.as_ref().map(Times::origin)
    }

    /// Counts times from another origin; `false` if there are none of its kind.
    pub(super) fn count_since(&mut self, origin: Moment, text: &str) -> bool {
        let Some((factor, summand)) = self.times.as_mut().and_then(|times| times.move_to(origin, text)) else {
            return false;
        };
        self.values.iter_mut().for_each(|value| *value = *value * factor + summand);
        true
    }

    /// Texts that were read as something else, as sentences.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        let codes = match &self.codes[..] {
            [] => None,
            [first @ .., _] if first.len() == MOST_CODES => {
                Some(format!("{} and others are missing values", quoted(first)))
            }
            codes => Some(format!("missing values are written as {}", quoted(codes))),
        };
        let times = self.times.as_ref().map(|times| format!("it has times, in {}", times.description()));
        let percentage =
            self.percentage.as_ref().map(|text| format!("percentages are fractions: {text:?} is read as a hundredth"));
        times.into_iter().chain(percentage).chain(codes)
    }

    /// Adds a field: its text, and the number that it is, NaN where it is missing.
    pub(super) fn push(&mut self, field: &str, value: Option<f64>) {
        let is_sound = value.is_some_and(|value| !value.is_infinite());
        if !is_sound {
            self.flaws.push(Flaw { row: self.values.len(), is_number: value.is_some() });
        }
        self.values.push(value.filter(|_| is_sound).unwrap_or(f64::NAN));
        self.text.push_str(field);
        self.ends.push(self.text.len());
    }

    /// The field of a row, without the spaces around it.
    pub(super) fn field(&self, row: usize) -> &str {
        let begin = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[begin..self.ends[row]]
    }

    /// The first field that is no finite number.
    pub(super) fn flaw(&self) -> Option<Flaw> {
        self.flaws.first().copied()
    }

    /// The field of a row, if it is no finite number.
    pub(super) fn flaw_of(&self, row: usize) -> Option<Flaw> {
        self.flaws.binary_search_by_key(&row, |flaw| flaw.row).ok().map(|index| self.flaws[index])
    }

    /// Selects rows.
    pub(super) fn select(&self, rows: &[usize]) -> Self {
        let mut selected =
            TableColumn { unit: self.unit.clone(), is_kept: self.is_kept, ..TableColumn::new(self.name.clone()) };
        (selected.times, selected.codes) = (self.times.clone(), self.codes.clone());
        selected.percentage.clone_from(&self.percentage);
        for &row in rows.iter().filter(|_| self.is_kept) {
            selected.push_row(self, row);
        }
        selected
    }

    /// Adds the field of a row of another column.
    pub(super) fn push_row(&mut self, other: &TableColumn, row: usize) {
        let value = match other.flaw_of(row) {
            None => Some(other.values[row]),
            Some(Flaw { is_number: true, .. }) => Some(f64::INFINITY),
            Some(_) => None,
        };
        self.push(other.field(row), value);
    }
}
