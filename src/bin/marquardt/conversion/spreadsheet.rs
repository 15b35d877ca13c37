//! Sheets of Excel and OpenDocument.

use std::io::Cursor;

use calamine::{Data, Reader, open_workbook_auto_from_rs};

use super::Fields;
use crate::failure::{Failure, quoted};
use crate::terminal::note;

/// Rows of a sheet, of the first one unless its name is given. The first row is that of the sheet.
pub fn rows(bytes: Vec<u8>, name: &str, sheet: Option<&str>) -> Result<Vec<Fields>, Failure> {
    let mut book = open_workbook_auto_from_rs(Cursor::new(bytes))?;
    let names = book.sheet_names();
    let sheet = match sheet {
        Some(sheet) if names.iter().any(|name| name == sheet) => sheet,
        Some(sheet) => {
            return Err(Failure::new(format!("--sheet: there is no sheet {sheet:?}, only {}", quoted(&names))));
        }
        None => {
            let first = names.first().ok_or_else(|| Failure::new("the spreadsheet has no sheet"))?;
            if names.len() > 1 {
                note(format_args!(
                    "note: {name}: the sheet {first:?} is read, of {}; --sheet names one",
                    quoted(&names)
                ));
            }
            first
        }
    };
    let range = book.worksheet_range(sheet)?;
    let above = range.start().map_or(0, |(row, _)| row as usize);
    let below = range.rows().map(|row| row.iter().map(text).collect());
    Ok(std::iter::repeat_n(Vec::new(), above).chain(below).collect())
}

/// The text of a cell; that of a date is in the form of ISO 8601.
fn text(cell: &Data) -> String {
    match cell {
        Data::DateTime(time) if time.is_datetime() => {
            let (year, month, day, hour, minute, second, millisecond) = time.to_ymd_hms_milli();
            let clock = format!("{hour:02}:{minute:02}:{second:02}.{millisecond:03}");
            match time.as_f64() {
                // A time of day alone.
                serial if serial < 1.0 => clock,
                serial if serial.fract() == 0.0 => format!("{year:04}-{month:02}-{day:02}"),
                _ => format!("{year:04}-{month:02}-{day:02}T{clock}"),
            }
        }
        Data::DateTime(duration) => duration.as_f64().to_string(),
        Data::Float(number) => number.to_string(),
        cell => cell.to_string(),
    }
}
