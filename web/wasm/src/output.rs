//! Results of a request.

use std::cell::RefCell;
use std::path::Path;

use serde_json::{Map, Value};

use crate::arguments::{FitArguments, FormatArguments};
use crate::failure::Failure;
use crate::table::{Format, ResultTable};

thread_local! {
    static RESULTS: RefCell<Map<String, Value>> = RefCell::new(Map::new());
}

/// Adds a result.
pub fn put(name: &str, value: Value) {
    RESULTS.with_borrow_mut(|results| results.insert(name.to_owned(), value));
}

/// The results since the last call.
pub fn take() -> Map<String, Value> {
    RESULTS.take()
}

/// Adds a report: as text, JSON, Markdown, and the table of parameters as CSV.
pub fn print(
    _: &FormatArguments,
    render: impl Fn(Format) -> Result<String, Failure>,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    put("json", serde_json::from_str(&render(Format::Json)?)?);
    put("text", text().into());
    put("markdown", render(Format::Markdown)?.into());
    put("csv", render(Format::Csv)?.into());
    Ok(())
}

/// Adds a table.
pub fn print_table(formats: &FormatArguments, table: &ResultTable) -> Result<(), Failure> {
    print(formats, |format| table.render(format), || format!("{table}\n"))?;
    put("table", table.to_json_rows());
    Ok(())
}

pub fn check(_: &FitArguments) -> Result<(), Failure> {
    Ok(())
}

pub fn check_formats<T>(_: impl Iterator<Item = T>) -> Result<(), Failure> {
    Ok(())
}

/// Extension of a file, in small letters.
pub fn extension(path: &Path) -> Option<String> {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase())
}
