//! Errors of tables.

use std::io;

use thiserror::Error;

use super::DateOrder;
use super::numbers::has_thousands;
use super::times::Moment;
use crate::curve::quoted::quoted;

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
    #[error("{source_name}, line {line}, column {column:?}: {text:?} is not a number{}", remedy(text))]
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
    #[error("{source_name}, line {line}, column {column:?}: {text:?} is not a finite number")]
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
    /// Times of a column cannot count from an origin.
    #[error("{source_name}, column {column:?}, times since {origin:?}: {problem}")]
    Origin {
        /// Name of the file.
        source_name: String,
        /// The column's name.
        column: String,
        /// Text of the origin.
        origin: String,
        /// Reason.
        problem: &'static str,
    },
    /// A table without a number in its heading cannot be unpivoted.
    #[error("{source_name}: no heading is a number")]
    NoNumberInHeading {
        /// Name of the file.
        source_name: String,
    },
    /// There is no such column.
    #[error("{source_name}: there is no column {name:?}, only {}", quoted(columns))]
    NoSuchColumn {
        /// Name of the file.
        source_name: String,
        /// The name asked for.
        name: String,
        /// The columns that there are.
        columns: Vec<String>,
    },
    /// The column is in the file, but was not [kept](super::TableReader::columns).
    #[error("{source_name}: column {column:?} was not kept")]
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
    /// A column that is added has another number of rows.
    #[error("{source_name}: column {name:?} has {found} numbers for {expected} rows")]
    ColumnLength {
        /// Name of the file.
        source_name: String,
        /// The name.
        name: String,
        /// Rows of the table.
        expected: usize,
        /// Numbers of the column.
        found: usize,
    },
    /// There is no row of data.
    #[error("{source_name}: there are no data")]
    NoData {
        /// Name of the file.
        source_name: String,
    },
}

/// Characters that may separate thousands or decimals, the other one, their names, and what to do in either case.
const SEPARATORS: [(char, char, &str, &str); 2] = [
    (',', '.', "comma", "take the option thousands or the option decimal-comma"),
    ('.', ',', "point", "take the option thousands, or leave out the option decimal-comma"),
];

/// Separators of thousands that are in no number otherwise.
const OTHER_SEPARATORS: [char; 5] = [' ', '\u{a0}', '\u{202f}', '\'', '_'];

/// Texts for values below a limit of detection or of quantification.
const BELOW: [&str; 8] = ["LOD", "LOQ", "BDL", "BLQ", "BLD", "ND", "n.d.", "n/d"];

/// Texts of instruments for values above their range.
const ABOVE: [&str; 6] = ["OVER", "OVRFLW", "OVERFLOW", "Overload", "SAT", "Saturated"];

/// Advice for a text that a person may mean as a number. A text that could be one of two numbers is taken for neither.
fn remedy(text: &str) -> String {
    let thousands = SEPARATORS.into_iter().find(|&(separator, decimal, ..)| has_thousands(text, separator, decimal));
    if let Some((separator, _, name, advice)) = thousands {
        let without = text.replace(separator, "");
        return match without.len() + 1 == text.len() && without.parse::<i64>().is_ok() {
            true => {
                let decimal = text.replace(separator, ".");
                format!(
                    "; it is {without} if the {name} separates thousands, and {decimal} if it is a decimal {name}: {advice}"
                )
            }
            false => format!("; separators of thousands are read by the option thousands: it is {without}"),
        };
    }
    let other = OTHER_SEPARATORS
        .into_iter()
        .find(|&separator| [',', '.'].into_iter().any(|decimal| has_thousands(text, separator, decimal)));
    if let Some(separator) = other {
        return format!(
            "; separators of thousands are read by the option thousands: it is {}",
            text.replace(separator, "")
        );
    }
    let limit =
        text.strip_prefix('<').map(|limit| ("below", limit)).or(text.strip_prefix('>').map(|limit| ("above", limit)));
    if let Some((side, limit)) = limit {
        let kind = if side == "below" { " of detection" } else { "" };
        return format!(
            "; it is {side} the limit{kind} {:?}: the option missing {:?} reads it as a missing value",
            limit.trim(),
            format!("{}*", &text[..1])
        );
    }
    if BELOW.iter().any(|below| text.eq_ignore_ascii_case(below)) {
        return format!(
            "; it is below the limit of detection: the option missing {text:?} reads it as a missing value"
        );
    }
    if ABOVE.iter().any(|above| text.eq_ignore_ascii_case(above)) {
        return format!(
            "; it is above the range of the instrument: the option missing {text:?} reads it as a missing value"
        );
    }
    let orders = [DateOrder::DayMonthYear, DateOrder::MonthDayYear];
    if orders.into_iter().any(|order| Moment::parse(text, Some(order)).is_some()) {
        return match Moment::parse(text, None) {
            None => "; it is a date if the option date-order says where day and month are".to_owned(),
            Some(_) => "; it is a date or a time, but the first value of the column is of another kind".to_owned(),
        };
    }
    let is_decimal_comma = text.contains(',') && text.replacen(',', ".", 1).parse::<f64>().is_ok();
    if is_decimal_comma { "; decimal commas are read by the option decimal-comma".to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_names_the_option() {
        for (text, expected) in [
            ("12,777", "12777"),
            ("12,777", "12.777"),
            ("1,234,567", "option thousands: it is 1234567"),
            ("1,234.5", "option thousands: it is 1234.5"),
            ("1 234", "option thousands: it is 1234"),
            ("1,5", "; decimal commas are read by the option decimal-comma"),
            ("<0.5", "below the limit of detection \"0.5\": the option missing \"<*\""),
            (">100", "above the limit \"100\""),
            ("LOD", "the option missing \"LOD\""),
            ("Over", "above the range of the instrument: the option missing \"Over\""),
            ("03/04/2024", "option date-order"),
            ("2024-01-01", "the first value of the column is of another kind"),
        ] {
            assert!(remedy(text).contains(expected), "{text}: {}", remedy(text));
        }
        assert_eq!(remedy("none at all"), "");
    }
}
