//! Data of the page of a report, which JavaScript draws.

#[path = "../../../src/bin/marquardt/page/fit_on_page.rs"]
mod fit_on_page;
#[path = "../../../src/bin/marquardt/page/fit_page.rs"]
mod fit_page;
#[path = "../../../src/bin/marquardt/page/map_layer.rs"]
mod map_layer;
mod origin;
#[path = "../../../src/bin/marquardt/page/points.rs"]
mod points;
#[path = "../../../src/bin/marquardt/page/surface.rs"]
mod surface;

use std::path::Path;

pub use fit_on_page::FitOnPage;
pub use fit_page::FitPage;

use crate::failure::Failure;
use crate::output;

/// Adds the data of a page to the answer, as a text in JSON.
fn write_page(_: &Path, data: &str) -> Result<(), Failure> {
    output::put("page", data.into());
    Ok(())
}
