//! Arguments for the parameters of a curve.

use std::ops::RangeInclusive;

use clap::Args;

use crate::assignments::{self, NamedValue};

#[derive(Debug, Clone, Default, Args)]
pub struct ParameterArguments {
    /// Starts of parameters; the others are guessed from the data
    #[arg(long, value_name = "NAME=VALUE,...", value_delimiter = ',', value_parser = assignments::start)]
    pub start: Vec<NamedValue<f64>>,
    /// Bounds of parameters; either end may be left out
    #[arg(long, value_name = "NAME=LOW..HIGH,...", value_delimiter = ',', value_parser = assignments::range)]
    pub bounds: Vec<NamedValue<RangeInclusive<f64>>>,
    /// Parameters that are fixed at their starts, or at a value
    #[arg(long, value_name = "NAME[=VALUE],...", value_delimiter = ',', value_parser = assignments::fix)]
    pub fix: Vec<NamedValue<Option<f64>>>,
    /// Parameter that is computed from others by a formula; may be repeated
    #[arg(long, value_name = "NAME=FORMULA", value_parser = assignments::tie)]
    pub tie: Vec<NamedValue<String>>,
    /// Linear inequality between parameters, such as 'c1<c2'; may be repeated
    #[arg(long, value_name = "INEQUALITY", allow_hyphen_values = true)]
    pub constrain: Vec<String>,
    /// Gaussian priors of parameters; they need a known size of the noise, by counts or by an absolute sigma
    #[arg(long, value_name = "NAME=MEAN~DEVIATION,...", value_delimiter = ',', value_parser = assignments::prior)]
    pub prior: Vec<NamedValue<(f64, f64)>>,
}
