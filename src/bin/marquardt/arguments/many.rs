//! Arguments of `marquardt many`.

use std::path::PathBuf;

use clap::Args;

use marquardt::Loss;

use super::ParameterArguments;
use super::method::losses;

#[derive(Debug, Clone, Args)]
#[command(
    after_help = "The last axis of the array holds the points of a curve; every position on the axes before is a fit.
Results are the parameters, their standard errors, the cost and 1 for converged fits, a row each.

Examples:
  marquardt many stack.npy --model exponential_decay --out fits.npy
  marquardt many stack.npy --x times.csv --formula 'a*exp(-k*x)+c' --start k=0.3 --bounds k=0..
  marquardt many photons.npy --formula 'a*exp(-k*x)+c' --start a=100,k=0.3 --counts --fix c=1 --prior k=0.3~0.1
  marquardt many stack.npy --formula 'a*x+b' --tie 'b=a/10' --robust=huber --omit-missing
  marquardt many stack.npy --formula 'a*exp(-k*x)+c' --start a=1,k=0.3,c=0.5 --constrain 'c<=a'
  marquardt many wide.csv --formula 'a*x/(k+x)' --out fits.csv --report fits.html
  marquardt many big.npy --model linear --max-iterations 50 --block 4096 --out fits.csv"
)]
pub struct ManyArguments {
    /// Array of responses in a .npy file, or a table: its first column is the predictor, and each other column is a data set
    pub stack: PathBuf,
    /// Predictor: the first column of a file (.npy, or a table as for `marquardt fit`). Default for an array: 0, 1, 2, ...
    #[arg(long, value_name = "FILE")]
    pub x: Option<PathBuf>,
    /// Model of the library, or a sum such as gaussian+linear
    #[arg(long)]
    pub model: Option<String>,
    /// Formula in x and parameters, such as 'a*exp(-k*x)+c'
    #[arg(long, conflicts_with = "model")]
    pub formula: Option<String>,
    #[command(flatten)]
    pub parameters: ParameterArguments,
    /// Robust loss, which gives outliers little weight; takes many times longer
    #[arg(long, value_name = "LOSS", value_parser = losses(), num_args = 0..=1, require_equals = true,
          default_missing_value = "tukey")]
    pub robust: Option<Loss>,
    /// Treats the responses as counts and maximises the Poisson likelihood
    #[arg(long)]
    pub counts: bool,
    /// Leaves out missing points (NaN)
    #[arg(long)]
    pub omit_missing: bool,
    /// Largest number of iterations of each fit
    #[arg(long, value_name = "NUMBER")]
    pub max_iterations: Option<usize>,
    /// Number of fits that are read, solved and written at a time
    #[arg(long, value_name = "NUMBER", default_value_t = 16384)]
    pub block: usize,
    /// File for the results, .npy or .csv. Default: CSV on the standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Writes a report, one .html page without other files: maps and distributions of the parameters, a sample of the fits, and the failed
    /// fits
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}
