//! Arguments for files of settings.

use std::path::PathBuf;

use clap::Args;

/// Both are looked at before all other arguments.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Settings")]
pub struct SettingsArguments {
    /// File of settings in TOML, options by their names, such as model = "hill"; those of the command line come first
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Writes the options of this run to a file for --config
    #[arg(long, value_name = "FILE")]
    pub write_config: Option<PathBuf>,
}
