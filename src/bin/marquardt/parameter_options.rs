//! Arguments for parameters as options of a fit.

use std::collections::HashSet;

use marquardt::Tie;
use marquardt::curve::{FitOptions, Relation};

use crate::arguments::ParameterArguments;
use crate::assignments::NamedValue;
use crate::failure::Failure;

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
