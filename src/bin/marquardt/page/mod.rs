//! Reports to hand on: one page for a browser, which needs no other file.

mod fit_on_page;
mod origin;
mod points;

use std::path::Path;

pub use fit_on_page::FitOnPage;
use serde_json::{Value, json};

use crate::arguments::FitArguments;
use crate::failure::Failure;
use crate::output;
use crate::table::ResultTable;

/// The page, with places for style, script and data.
const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// Charts, and the page that they are on.
const SCRIPTS: [&str; 2] = [include_str!("chart.js"), include_str!("page.js")];

/// Writes a page with these fits, and the tests of what differs between them.
pub fn write(
    path: &Path,
    arguments: &FitArguments,
    title: &str,
    fits: Vec<Value>,
    tests: Option<&ResultTable>,
) -> Result<(), Failure> {
    let data = json!({
        "origin": origin::of(&arguments.data)?,
        "title": title,
        "group_by": arguments.groups.group_by,
        "log": [arguments.output.log_x, arguments.output.log_y],
        "fits": fits,
        "tests": tests.map(ResultTable::to_json_rows),
    });
    // No text of the data may end the script element.
    let data = data.to_string().replace('<', "\\u003c");
    let page = PAGE.replace("/*style*/", STYLE).replace("/*script*/", &SCRIPTS.concat());
    output::write(path, &page.replacen("/*data*/", &data, 1))
}
