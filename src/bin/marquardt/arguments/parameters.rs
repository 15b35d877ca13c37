//! Arguments for the parameters of a curve.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use clap::Args;
use marquardt::Tie;
use marquardt::curve::{FitOptions, Relation};

use crate::assignments::{self, NamedValue};
use crate::failure::Failure;

#[derive(Debug, Clone, Default, Args)]
pub struct ParameterArguments {
    /// Starts of parameters; the others are guessed from the data
    #[arg(long, value_name = "NAME=VALUE,...", value_delimiter = ',', value_parser = assignments::start)]
    pub start: Vec<NamedValue<f64>>,
    /// Bounds of parameters; an end may be left out
    #[arg(long, value_name = "NAME=LOW..HIGH,...", value_delimiter = ',', value_parser = assignments::range)]
    pub bounds: Vec<NamedValue<RangeInclusive<f64>>>,
    /// Parameters that stay at their starts, or at a value
    #[arg(long, value_name = "NAME[=VALUE],...", value_delimiter = ',', value_parser = assignments::fix)]
    pub fix: Vec<NamedValue<Option<f64>>>,
    /// Parameter that follows from others by a formula; may be repeated
    #[arg(long, value_name = "NAME=FORMULA", value_parser = assignments::tie)]
    pub tie: Vec<NamedValue<String>>,
    /// Linear inequality between parameters, such as 'c1<c2'; may be repeated
    #[arg(long, value_name = "INEQUALITY", allow_hyphen_values = true)]
    pub constrain: Vec<String>,
    /// Gaussian priors of parameters; the size of the noise must be known, as that of counts is
    #[arg(long, value_name = "NAME=MEAN~DEVIATION,...", value_delimiter = ',', value_parser = assignments::prior)]
    pub prior: Vec<NamedValue<(f64, f64)>>,
}

impl ParameterArguments {
    /// Each option with each parameter that it names.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let starts = self.start.iter().map(|start| ("--start", start.name.as_str()));
        let bounds = self.bounds.iter().map(|bounds| ("--bounds", bounds.name.as_str()));
        let fixes = self.fix.iter().map(|fix| ("--fix", fix.name.as_str()));
        let ties = self.tie.iter().map(|tie| ("--tie", tie.name.as_str()));
        let priors = self.prior.iter().map(|prior| ("--prior", prior.name.as_str()));
        starts.chain(bounds).chain(fixes).chain(ties).chain(priors)
    }

    /// Returns true if the parameter is fixed or tied.
    pub fn holds(&self, name: &str) -> bool {
        self.named().any(|(option, named)| matches!(option, "--fix" | "--tie") && named == name)
    }

    /// The arguments as options of a fit.
    pub fn options(&self) -> Result<FitOptions<f64>, Failure> {
        check_once(self.named())?;
        let mut options = FitOptions::new();
        for NamedValue { name, value } in &self.start {
            options = options.start(name, *value);
        }
        for NamedValue { name, value } in &self.bounds {
            options = options.bounds(name, value.clone());
        }
        for NamedValue { name, value } in &self.fix {
            options = match value {
                Some(value) => options.fix_at(name, *value),
                None => options.fix(name),
            };
        }
        for NamedValue { name, value } in &self.tie {
            options = options.tie(name, Tie::parse(value).map_err(Failure::of_formula("--tie"))?);
        }
        for text in &self.constrain {
            let relation = Relation::parse(text).map_err(|error| Failure::new(format!("--constrain: {error}")))?;
            options = options.constrain(relation);
        }
        for NamedValue { name, value: (mean, deviation) } in &self.prior {
            options = options.prior(name, *mean, *deviation);
        }
        Ok(options)
    }
}

/// Refuses an option that says two things of one parameter.
pub fn check_once<'n>(mut named: impl Iterator<Item = (&'static str, &'n str)>) -> Result<(), Failure> {
    let mut known = HashSet::new();
    match named.find(|named| !known.insert(*named)) {
        Some((option, name)) => Err(Failure::new(format!("{option} has {name:?} twice"))),
        None => Ok(()),
    }
}
