//! Origin of a report. The package adds the command line that does the same.

use std::path::Path;

use serde_json::{Value, json};

use crate::arguments::SettingsArguments;
use crate::failure::Failure;
use crate::source;

/// Version of the program, and name of the data.
pub fn of(file: Option<&Path>, _: bool, _: &SettingsArguments) -> Result<Value, Failure> {
    let name = file.map_or_else(|| "enzyme.csv, which comes with the program".to_owned(), source::name);
    Ok(json!({ "version": env!("CARGO_PKG_VERSION"), "file": name, "options": [] }))
}
