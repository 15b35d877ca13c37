//! Texts and pictures that go to the standard output and to files.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use marquardt::curve::{Plot, PlotError};

use crate::arguments::{FitArguments, FormatArguments, OutputArguments};
use crate::failure::Failure;
use crate::table::{Format, ResultTable};

/// Prints a text, or writes it to a file; `-` is the standard output.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        return Ok(out.flush()?);
    }
    fs::write(path, text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

/// Prints results or writes them to files, in the requested formats; by default, prints the text.
pub fn print(
    formats: &FormatArguments,
    render: impl Fn(Format) -> Result<String, Failure>,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    let mut has_printed = false;
    for (format, path) in formats.all() {
        write(path, &render(format)?)?;
        has_printed |= path.as_os_str() == "-";
    }
    if has_printed { Ok(()) } else { write(Path::new("-"), &text()) }
}

/// Prints a table or writes it to files, in the requested formats.
pub fn print_table(formats: &FormatArguments, table: &ResultTable) -> Result<(), Failure> {
    print(formats, |format| table.render(format), || format!("{table}\n"))
}

/// Refuses, before anything is read, outputs that could not be written, would get mixed up, or would replace the data.
pub fn check(arguments: &FitArguments) -> Result<(), Failure> {
    let output = &arguments.output;
    check_formats(output.formats.all())?;
    let regions = &arguments.regions;
    let plots = output
        .plot
        .iter()
        .chain(&output.nyquist)
        .chain(&output.bode)
        .chain(&regions.contour_plot)
        .chain(&regions.profile_plot);
    let tables = output.residuals.iter().chain(&regions.contour_points);
    if let Some(path) = plots.clone().find(|path| !matches!(extension(path).as_deref(), Some("svg" | "png"))) {
        return Err(PlotError::UnknownFormat { path: path.clone() }.into());
    }
    tables.clone().try_for_each(|path| check_extension(path, Format::Csv.extensions()))?;
    output.report.iter().try_for_each(|path| check_report(path))?;
    let files = output.formats.all().map(|(_, path)| path).chain(plots).chain(tables).chain(&output.report);
    let inputs: Vec<&Path> = arguments.data.file.as_deref().into_iter().collect();
    files.into_iter().try_for_each(|path| check_file(path, &inputs))
}

/// Extension of a file, in small letters.
pub fn extension(path: &Path) -> Option<String> {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase())
}

/// Refuses a file whose extension promises another format than is written; one without an extension promises nothing.
pub fn check_extension(path: &Path, known: &[&str]) -> Result<(), Failure> {
    match extension(path) {
        Some(extension) if !known.contains(&extension.as_str()) => {
            let (path, known) = (path.display(), known.join(", ."));
            Err(Failure::new(format!(
                "{path}: no format is known by the extension {extension:?}; take one of .{known}"
            )))
        }
        _ => Ok(()),
    }
}

/// Refuses a report that is no page. A browser prints a page as PDF.
pub fn check_report(path: &Path) -> Result<(), Failure> {
    match extension(path).as_deref() {
        Some("pdf") => {
            let page = path.with_extension("html");
            Err(Failure::new(format!(
                "{}: a report is a page; --report {} writes it, and a browser prints it as PDF",
                path.display(),
                page.display()
            )))
        }
        _ => check_extension(path, &["html", "htm"]),
    }
}

/// Formats have files of their extensions, and at most one goes to the standard output.
pub fn check_formats<'p>(formats: impl Iterator<Item = (Format, &'p PathBuf)>) -> Result<(), Failure> {
    let formats: Vec<_> = formats.collect();
    formats.iter().try_for_each(|(format, path)| check_extension(path, format.extensions()))?;
    match formats.iter().filter(|(_, path)| path.as_os_str() == "-").count() {
        0 | 1 => Ok(()),
        _ => Err(Failure::new(
            "one format goes to the standard output; write the others to files, such as --json=fit.json",
        )),
    }
}

/// Refuses a file without a folder, and one that is read.
pub fn check_file(path: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let refuse = |reason: &str| Err(Failure::new(format!("{}: {reason}", path.display())));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        return refuse("there is no such folder");
    }
    let place = |path: &Path| path.canonicalize().ok();
    match place(path).is_some() && inputs.iter().any(|input| place(input) == place(path)) {
        true => refuse("it is read, and would be replaced"),
        false => Ok(()),
    }
}

/// Draws a plot with the axes and the size that are asked for.
pub fn draw(plot: Plot, output: &OutputArguments, path: &Path) -> Result<(), Failure> {
    let plot = if output.log_x { plot.log_x() } else { plot };
    let plot = if output.log_y { plot.log_y() } else { plot };
    Ok(sized(plot, output).save(path)?)
}

/// A plot with the size and the place of the legend that are asked for.
pub fn sized(plot: Plot, output: &OutputArguments) -> Plot {
    let plot = output.size.into_iter().fold(plot, |plot, (width, height)| plot.size(width, height));
    output.legend.into_iter().fold(plot, |plot, place| plot.legend(place.into()))
}
