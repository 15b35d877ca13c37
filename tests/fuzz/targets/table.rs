//! Tables of numbers. The first byte chooses how they are read.

use marquardt::curve::{Separator, TableError, TableReader};

use crate::choices::Choices;

pub const WORDS: &[&str] = &[
    "1e999", "-inf", "NaN", "NA", "0,5", "1e-400", "\"", "\"\"", "#", "\r\n", "\n\n", ";", "\t", "c1", "\u{feff}", "é",
];

pub fn run(bytes: &[u8]) -> bool {
    let mut choices = Choices(bytes);
    let mut reader = TableReader::new();
    let options = choices.byte();
    let separators = [Separator::Comma, Separator::Semicolon, Separator::Tab, Separator::Whitespace];
    if let Some(&separator) = separators.get(usize::from(options % 8)) {
        reader = reader.separator(separator);
    }
    reader = match options / 8 % 4 {
        0 => reader.heading(true),
        1 => reader.heading(false),
        _ => reader,
    };
    let table = match reader.decimal_comma(options >= 192).read(choices.0) {
        Ok(table) => table,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    assert!(table.rows() > 0);
    let names: Vec<&str> = table.column_names().collect();
    for name in &names {
        match table.column(name) {
            Ok(values) => {
                assert_eq!(values.len(), table.rows());
                assert!(!values.iter().any(|value| value.is_infinite()));
            }
            Err(TableError::NotANumber { column, line, .. } | TableError::NotFinite { column, line, .. }) => {
                assert!(column == *name && line > 0);
            }
            Err(error) => panic!("{error}"),
        }
    }
    true
}
