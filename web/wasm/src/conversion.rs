//! Files as text. A page turns spreadsheets, records in JSON and compressed files into text by itself.

use std::io::Read;

use crate::failure::Failure;

/// Bytes of a file as text.
pub struct Converted {
    pub bytes: Box<dyn Read>,
    /// The file was none of text.
    pub is_converted: bool,
}

impl Converted {
    /// Text stays as it is.
    pub fn of(bytes: Box<dyn Read>, _: &str, _: Option<&str>) -> Result<Self, Failure> {
        Ok(Converted { bytes, is_converted: false })
    }
}
