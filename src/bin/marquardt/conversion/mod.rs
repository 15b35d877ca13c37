//! Files that are no text, as comma-separated values.

mod arrays;
mod records;
#[cfg(feature = "excel")]
mod spreadsheet;
mod zip;

use std::io::{Cursor, Read};

use csv::{QuoteStyle, WriterBuilder};

use crate::failure::Failure;

/// First bytes of archives, which spreadsheets and several arrays are.
const ZIP: &[u8] = b"PK\x03\x04";

/// First bytes of spreadsheets of Excel before 2007.
const OLD_EXCEL: &[u8] = b"\xd0\xcf\x11\xe0";

/// First bytes of an array of NumPy.
pub const NPY: &[u8] = b"\x93NUMPY";

/// A row of fields.
type Fields = Vec<String>;

/// Bytes of a file as text.
pub struct Converted {
    pub bytes: Box<dyn Read>,
    /// The file was none of text, and its fields now have commas between them and points in numbers.
    pub is_converted: bool,
}

impl Converted {
    /// Turns a spreadsheet, records in JSON or arrays of NumPy into text; text stays as it is.
    pub fn of(mut bytes: Box<dyn Read>, name: &str, sheet: Option<&str>) -> Result<Self, Failure> {
        let refuse = |error: Failure| Failure::new(format!("{name}: {}", error.one_line()));
        let mut head = Vec::new();
        // An error comes again where the rest is read.
        let _ = bytes.as_mut().take(512).read_to_end(&mut head);
        let text: String = String::from_utf8_lossy(&head).split_whitespace().collect();
        let is_records = text.starts_with("[{") || text.starts_with("{\"");
        let is_sheet = head.starts_with(OLD_EXCEL) || head.starts_with(ZIP) && !zip::begins_with_array(&head);
        let is_other = is_records || is_sheet || head.starts_with(ZIP) || head.starts_with(NPY);
        let is_npy = head.starts_with(NPY);
        let mut all = Cursor::new(head).chain(bytes);
        if sheet.is_some() && !is_sheet {
            return Err(refuse(Failure::new("--sheet is given, but it is no spreadsheet")));
        }
        if !is_other {
            return Ok(Converted { bytes: Box::new(all), is_converted: false });
        }
        let mut bytes = Vec::new();
        all.read_to_end(&mut bytes).map_err(|error| refuse(error.into()))?;
        let rows = match (is_records, is_sheet) {
            (true, _) => records::rows(&bytes),
            (_, true) => sheet_rows(bytes, name, sheet),
            _ if is_npy => arrays::rows(&[(String::new(), bytes)]),
            _ => zip::entries(&bytes).and_then(|entries| arrays::rows(&entries)),
        };
        let text = written(rows.map_err(refuse)?)?;
        Ok(Converted { bytes: Box::new(Cursor::new(text)), is_converted: true })
    }
}

#[cfg(feature = "excel")]
fn sheet_rows(bytes: Vec<u8>, name: &str, sheet: Option<&str>) -> Result<Vec<Fields>, Failure> {
    spreadsheet::rows(bytes, name, sheet)
}

#[cfg(not(feature = "excel"))]
fn sheet_rows(_: Vec<u8>, _: &str, _: Option<&str>) -> Result<Vec<Fields>, Failure> {
    Err(Failure::new(
        "it is a spreadsheet, which this program reads if it is built with the feature excel; save it as CSV",
    ))
}

/// Rows as lines, of which those without fields are empty.
fn written(rows: Vec<Fields>) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    for row in rows {
        if row.iter().any(|field| !field.is_empty()) {
            // In quotes, no field begins a comment.
            let mut writer = WriterBuilder::new().quote_style(QuoteStyle::NonNumeric).from_writer(&mut text);
            writer.write_record(row.iter().map(|field| field.replace(['\n', '\r'], " ")))?;
            writer.flush()?;
        } else {
            text.push(b'\n');
        }
    }
    Ok(text)
}
