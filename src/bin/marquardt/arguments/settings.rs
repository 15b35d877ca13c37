//! Arguments for files of settings.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

/// Both are looked at before all other arguments.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Settings")]
pub struct SettingsArguments {
    /// File of settings in TOML, with options by their names, such as model = "hill"; options of the command line override them
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Writes the options of this run to a file for --config
    #[arg(long, value_name = "FILE")]
    pub write_config: Option<PathBuf>,
    /// Words of the command line with those of the file.
    #[arg(skip)]
    pub words: Vec<OsString>,
    #[arg(skip)]
    pub options: Vec<GivenOption>,
}

/// An option that was given.
#[derive(Debug, Clone)]
pub struct GivenOption {
    pub name: String,
    pub value: String,
    /// It comes from the file of settings, and not from the command line.
    pub is_of_file: bool,
}
