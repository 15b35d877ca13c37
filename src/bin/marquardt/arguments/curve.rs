//! Arguments for the curve and its parameters.

use clap::Args;

use super::ParameterArguments;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Curve")]
pub struct CurveArguments {
    /// Model of the library, such as gaussian, or a sum such as gaussian+linear; `marquardt models` lists them
    #[arg(long)]
    pub model: Option<String>,
    /// Formula in columns and parameters, such as 'a*exp(-k*x)+c'; x is the predictor if no column is called so
    #[arg(long, conflicts_with = "model")]
    pub formula: Option<String>,
    #[command(flatten)]
    pub parameters: ParameterArguments,
}
