//! Reports to hand on: one page for a browser, which needs no other file.

mod distribution;
mod fit_on_page;
mod fit_page;
mod many_page;
mod map_layer;
mod origin;
mod points;
mod surface;

use std::path::Path;

pub use fit_on_page::FitOnPage;
pub use fit_page::FitPage;
pub use many_page::ManyPage;

use crate::failure::Failure;
use crate::output;

/// The page, with places for style, script and data.
const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// Charts, the data, what both kinds of pages have, maps, views of complex curves, both kinds, and the start.
const SCRIPTS: [&str; 8] = [
    include_str!("chart.js"),
    include_str!("data.js"),
    include_str!("parts.js"),
    include_str!("map.js"),
    include_str!("views.js"),
    include_str!("fits.js"),
    include_str!("many.js"),
    include_str!("page.js"),
];

/// Writes a page with data in JSON.
fn write_page(path: &Path, data: &str) -> Result<(), Failure> {
    // No text of the data may end the script element.
    let data = data.replace('<', "\\u003c");
    let page = PAGE.replace("/*style*/", STYLE).replace("/*script*/", &SCRIPTS.concat());
    output::write(path, &page.replacen("/*data*/", &data, 1))
}
