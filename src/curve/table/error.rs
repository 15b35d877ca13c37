//! Errors of tables.

use std::io;

use thiserror::Error;

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

/// Characters that may separate thousands or decimals, their names, and what to do in either case.
const SEPARATORS: [(char, &str, &str); 2] = [
    (',', "comma", "write it without, or take the option decimal-comma"),
    ('.', "point", "write it without, or leave out the option decimal-comma"),
];

/// Advice for a text that a person may mean as a number. A text that could be one of two numbers is taken for neither.
fn remedy(text: &str) -> String {
    let thousands = SEPARATORS.into_iter().find(|&(separator, ..)| has_thousands(text, separator));
    if let Some((separator, name, advice)) = thousands {
        let without = text.replace(separator, "");
        return match without.len() + 1 == text.len() && without.parse::<i64>().is_ok() {
            true => {
                let decimal = text.replace(separator, ".");
                format!(
                    "; it is {without} if the {name} separates thousands, and {decimal} if it is a decimal {name}: {advice}"
                )
            }
            false => format!("; separators of thousands are not read: write {without}"),
        };
    }
    let is_decimal_comma = text.contains(',') && text.replacen(',', ".", 1).parse::<f64>().is_ok();
    if is_decimal_comma { "; decimal commas are read by the option decimal-comma".to_owned() } else { String::new() }
}

/// Returns true for groups of three digits with this separator between them, and possibly decimals after the other separator.
pub(super) fn has_thousands(text: &str, separator: char) -> bool {
    let other = if separator == ',' { '.' } else { ',' };
    let (integer, decimals) = text.split_once(other).unwrap_or((text, ""));
    let mut groups = integer.strip_prefix(['+', '-']).unwrap_or(integer).split(separator);
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_first = |group: &str| (1..=3).contains(&group.len()) && are_digits(group) && !group.starts_with('0');
    let begins = groups.next().is_some_and(is_first) && integer.contains(separator);
    begins && are_digits(decimals) && groups.all(|group| group.len() == 3 && are_digits(group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_told_from_decimals() {
        for text in ["12,777", "-1,234", "+999,000", "1,234,567", "1,234.5"] {
            assert!(has_thousands(text, ',') && !has_thousands(text, '.'), "{text}");
        }
        for text in ["1,5", "0,125", "1234,567", "1,2345", "1,234,56", ",777", "1,", "", "1234", "1,234e5", "a,bcd"] {
            assert!(!has_thousands(text, ','), "{text}");
        }
        assert!(has_thousands("1.234", '.') && has_thousands("1.234,5", '.') && has_thousands("1.234.567", '.'));
        assert!(remedy("12,777").contains("12777") && remedy("12,777").contains("12.777"));
        assert_eq!(remedy("1,234,567"), "; separators of thousands are not read: write 1234567");
        assert_eq!(remedy("1,234.5"), "; separators of thousands are not read: write 1234.5");
        assert_eq!(remedy("1,5"), "; decimal commas are read by the option decimal-comma");
        assert_eq!(remedy("none"), "");
    }
}
