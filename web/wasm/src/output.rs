//! Results of a request.

use std::cell::RefCell;
use std::path::Path;

use serde_json::{Map, Value};

use crate::arguments::{FitArguments, FormatArguments};
use crate::failure::Failure;
use crate::table::{Format, ResultTable};

thread_local! {
    static RESULTS: RefCell<Map<String, Value>> = RefCell::new(Map::new());
    static FORMS: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Sets the forms in which reports are asked for; `None` means all.
pub fn ask(forms: Option<Vec<String>>) {
    FORMS.set(forms);
}

fn is_asked(form: &str) -> bool {
    FORMS.with_borrow(|forms| forms.as_ref().is_none_or(|forms| forms.iter().any(|asked| asked == form)))
}

/// Adds a result.
pub fn put(name: &str, value: Value) {
    RESULTS.with_borrow_mut(|results| results.insert(name.to_owned(), value));
}

/// The results since the last call.
pub fn take() -> Map<String, Value> {
    RESULTS.take()
}

/// Adds a report in the forms that are asked for: text, JSON as a text, Markdown, and the table of parameters as CSV.
pub fn print(
    _: &FormatArguments,
    render: impl Fn(Format) -> Result<String, Failure>,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    if is_asked("json") {
        put("json", render(Format::Json)?.into());
    }
    if is_asked("text") {
        put("text", text().into());
    }
    for (name, format) in [("markdown", Format::Markdown), ("csv", Format::Csv)] {
        if is_asked(name) {
            put(name, render(format)?.into());
        }
    }
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
