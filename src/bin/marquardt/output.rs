//! Texts and pictures that go to the standard output and to files.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use marquardt::curve::Plot;

use crate::arguments::OutputArguments;
use crate::failure::Failure;

/// Prints a text, or writes it to a file; `-` is the standard output.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        return Ok(out.flush()?);
    }
    fs::write(path, text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

/// Draws a plot with the axes that are asked for.
pub fn draw(plot: Plot, output: &OutputArguments, path: &Path) -> Result<(), Failure> {
    let plot = if output.log_x { plot.log_x() } else { plot };
    let plot = if output.log_y { plot.log_y() } else { plot };
    Ok(plot.save(path)?)
}
