//! Arguments of `marquardt predict`.

use std::path::PathBuf;

use clap::Args;

use super::DataArguments;
use crate::table::Format;

#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  marquardt fit data.csv --model michaelis_menten --json=fit.json
  marquardt predict fit.json --at 0.5,1,2
  marquardt predict fit.json new.csv --csv=predicted.csv
  marquardt predict groups.json new.csv --group A --x dose --json")]
pub struct PredictArguments {
    /// Fit that `marquardt fit --json=FILE` wrote
    pub fit: PathBuf,
    #[command(flatten)]
    pub data: DataArguments,
    /// Predictors, instead of a file
    #[arg(
        long,
        value_name = "NUMBER,...",
        value_delimiter = ',',
        allow_negative_numbers = true,
        conflicts_with = "file"
    )]
    pub at: Vec<f64>,
    /// Group of a fit by groups
    #[arg(long)]
    pub group: Option<String>,
    /// Prints CSV instead of a table, or writes it to a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub csv: Option<PathBuf>,
    /// Prints JSON instead of a table, or writes it to a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Prints Markdown instead of a table, or writes it to a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub markdown: Option<PathBuf>,
}

impl PredictArguments {
    /// The formats asked for, and where they go.
    pub fn formats(&self) -> impl Iterator<Item = (Format, &PathBuf)> {
        let csv = self.csv.as_ref().map(|path| (Format::Csv, path));
        let json = self.json.as_ref().map(|path| (Format::Json, path));
        let markdown = self.markdown.as_ref().map(|path| (Format::Markdown, path));
        [csv, json, markdown].into_iter().flatten()
    }
}
