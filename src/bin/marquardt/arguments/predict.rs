//! Arguments of `marquardt predict`.

use std::path::PathBuf;

use clap::Args;

use super::{DataArguments, FormatArguments};

#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  marquardt fit data.csv --model michaelis_menten --json=fit.json
  marquardt predict fit.json later.csv --x time --since 2024-05-01
  marquardt predict fit.json --at 0.5,1,2
  marquardt predict fit.json new.csv --csv=predicted.csv
  marquardt predict groups.json new.csv --group A --x dose --json")]
pub struct PredictArguments {
    /// File of a fit, written by `marquardt fit --json=FILE`
    pub fit: PathBuf,
    #[command(flatten)]
    pub data: DataArguments,
    /// Values of the predictor, in place of a file
    #[arg(
        long,
        value_name = "NUMBER,...",
        value_delimiter = ',',
        allow_negative_numbers = true,
        conflicts_with = "file"
    )]
    pub at: Vec<f64>,
    /// Name of the group whose fit is used
    #[arg(long)]
    pub group: Option<String>,
    #[command(flatten)]
    pub formats: FormatArguments,
}
