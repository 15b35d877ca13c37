//! Arguments for the curve and its parameters.

use clap::Args;

use crate::assignments::{Bounds, Fix, Prior, Start, Tied};

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Curve")]
pub struct CurveArguments {
    /// Model of the library, such as gaussian, or a sum such as gaussian+linear; `marquardt models` lists them
    #[arg(long)]
    pub model: Option<String>,
    /// Formula in columns and parameters, such as 'a*exp(-k*x)+c'; x is the predictor if no column is called so
    #[arg(long, conflicts_with = "model")]
    pub formula: Option<String>,
    /// Starts of parameters; the others are guessed from the data
    #[arg(long, value_name = "NAME=VALUE,...", value_delimiter = ',')]
    pub start: Vec<Start>,
    /// Bounds of parameters; an end may be left out
    #[arg(long, value_name = "NAME=LOW..HIGH,...", value_delimiter = ',')]
    pub bounds: Vec<Bounds>,
    /// Parameters that stay at their starts, or at a value
    #[arg(long, value_name = "NAME[=VALUE],...", value_delimiter = ',')]
    pub fix: Vec<Fix>,
    /// Parameter that follows from others by a formula; may be repeated
    #[arg(long, value_name = "NAME=FORMULA")]
    pub tie: Vec<Tied>,
    /// Gaussian priors of parameters; needs --sigma or --counts
    #[arg(long, value_name = "NAME=MEAN~DEVIATION,...", value_delimiter = ',')]
    pub prior: Vec<Prior>,
}

impl CurveArguments {
    /// Options of these parameters alone.
    pub fn of_parameters(mut self, names: &[String]) -> Self {
        self.start.retain(|start| names.contains(&start.name));
        self
    }
}
