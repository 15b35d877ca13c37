//! Arguments for the output: reports, plots and files.

use std::path::PathBuf;

use clap::Args;

use crate::table::Format;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArguments {
    /// Draws data, curve, bands and residuals into a .svg or .png file
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Logarithmic axis of the predictor
    #[arg(long, requires = "plot")]
    pub log_x: bool,
    /// Logarithmic axis of the response
    #[arg(long, requires = "plot")]
    pub log_y: bool,
    /// Title of report and plot
    #[arg(long)]
    pub title: Option<String>,
    /// Prints JSON instead of the report, or writes it to a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Prints the parameters as CSV instead of the report, or writes them to a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub csv: Option<PathBuf>,
    /// Prints Markdown instead of the report, or writes it to a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub markdown: Option<PathBuf>,
    /// Writes each row used with the fitted value and the residual as CSV
    #[arg(long, value_name = "FILE")]
    pub residuals: Option<PathBuf>,
    /// Significant digits of numbers in the report; as many as the standard errors leave meaningful unless given
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=17))]
    pub digits: Option<u8>,
}

impl OutputArguments {
    /// The formats asked for, and where they go.
    pub fn formats(&self) -> impl Iterator<Item = (Format, &PathBuf)> {
        let json = self.json.as_ref().map(|path| (Format::Json, path));
        let csv = self.csv.as_ref().map(|path| (Format::Csv, path));
        let markdown = self.markdown.as_ref().map(|path| (Format::Markdown, path));
        [json, csv, markdown].into_iter().flatten()
    }
}
