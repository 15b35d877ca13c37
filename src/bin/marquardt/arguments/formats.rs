//! Arguments for the formats of results.

use std::path::PathBuf;

use clap::Args;

use crate::table::Format;

#[derive(Debug, Clone, Args)]
pub struct FormatArguments {
    /// Prints JSON instead of the report, or writes it to a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Prints CSV instead of the report, or writes it to a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub csv: Option<PathBuf>,
    /// Prints Markdown instead of the report, or writes it to a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub markdown: Option<PathBuf>,
}

impl FormatArguments {
    /// The requested formats and their destinations.
    pub fn all(&self) -> impl Iterator<Item = (Format, &PathBuf)> {
        let json = self.json.as_ref().map(|path| (Format::Json, path));
        let csv = self.csv.as_ref().map(|path| (Format::Csv, path));
        let markdown = self.markdown.as_ref().map(|path| (Format::Markdown, path));
        [json, csv, markdown].into_iter().flatten()
    }
}
