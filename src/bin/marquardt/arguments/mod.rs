//! The command line.

mod bundle;
mod contour;
mod curve;
mod data;
#[cfg(feature = "ode")]
mod equations;
mod fit;
mod formats;
mod graph;
mod many;
mod memory;
mod method;
mod output;
mod parameters;
mod predict;
mod settings;

pub use bundle::BundleArguments;
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
pub use contour::ContourArguments;
pub use curve::CurveArguments;
pub use data::DataArguments;
#[cfg(feature = "ode")]
pub use equations::EquationArguments;
pub use fit::FitArguments;
pub use formats::FormatArguments;
pub use graph::GraphArguments;
pub use many::ManyArguments;
pub use memory::memory_option;
pub use method::MethodArguments;
pub use output::OutputArguments;
pub use parameters::ParameterArguments;
pub use predict::PredictArguments;
pub use settings::{GivenOption, SettingsArguments};

use crate::assignments::{self, NamedValue};

/// Fits curves to data in files, with standard errors, intervals, tests and plots.
///
/// Exit codes: 0 if every fit converged, 1 if one did not or was interrupted, 2 for input that cannot be used, 3 if nothing can be
/// concluded from a fit: a parameter ran away, or a constant describes the data better.
#[derive(Debug, Parser)]
#[command(name = "marquardt", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Examples:
  marquardt fit                                     the data that come with the program
  marquardt fit data.csv --model michaelis_menten   columns 1 and 2 of a file
  marquardt models decay                            models whose name or formula has \"decay\" in it")]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Fits a curve to columns of a file, or to each group of its rows
    Fit(Box<FitArguments>),
    /// Fits several models to the same columns and ranks them by AICc; where residuals show a second peak, sums of two as well
    Compare(Box<CompareArguments>),
    /// Fits a curve to each row or pixel of an array in a .npy file, or to each column of a table
    Many(Box<ManyArguments>),
    /// Predicts from a stored fit, with bands
    Predict(Box<PredictArguments>),
    /// Solves a pose graph: computes poses from measured relative poses, for example of a robot
    Graph(GraphArguments),
    /// Bundle adjustment: fits cameras and points to the observations of the points in images
    Bundle(BundleArguments),
    /// Lists the models, their parameters and formulas
    Models(ModelsArguments),
    /// Prints completions for a shell, for example: marquardt completions bash > marquardt.bash
    Completions { shell: Shell },
    /// Prints the manual page, for example: marquardt man > marquardt.1
    Man,
}

/// Arguments of `marquardt compare`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  marquardt compare data.csv --models linear,quadratic,exponential_decay
  marquardt compare peak.csv --models gaussian+linear,lorentzian+linear,voigt+linear --csv
  marquardt compare data.csv --formula 'a*exp(-k*x)' --formula 'a/(1+k*x)' --start k=0.1")]
pub struct CompareArguments {
    #[command(flatten)]
    pub data: DataArguments,
    /// Models to compare, such as linear,gaussian+linear. Default: all curves of the library
    #[arg(long, value_name = "MODEL,...", value_delimiter = ',')]
    pub models: Vec<String>,
    /// Formula to compare, such as 'a*exp(-k*x)+c'; may be repeated
    #[arg(long)]
    pub formula: Vec<String>,
    /// Starts of parameters, for all curves with these parameters; the others are guessed from the data
    #[arg(long, value_name = "NAME=VALUE,...", value_delimiter = ',', value_parser = assignments::start)]
    pub start: Vec<NamedValue<f64>>,
    #[command(flatten)]
    pub method: MethodArguments,
    #[command(flatten)]
    pub formats: FormatArguments,
    #[command(flatten)]
    pub settings: SettingsArguments,
}

/// Arguments of `marquardt models`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  marquardt models
  marquardt models exp --json")]
pub struct ModelsArguments {
    /// Lists only models with this text in their name, parameters or formula
    pub text: Option<String>,
    /// Prints JSON
    #[arg(long)]
    pub json: bool,
}
