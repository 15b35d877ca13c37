//! The hyperparameters of an optimizer.

use super::state_reader::refuse;
use super::{Hyperparameter, HyperparameterError, HyperparameterSpec, OptimizerError, OptimizerResult};

/// Hyperparameters as set, and their values in the step at work.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HyperparameterTable {
    optimizer: &'static str,
    specs: Vec<HyperparameterSpec>,
    set: Vec<Hyperparameter>,
    now: Vec<f64>,
}

impl HyperparameterTable {
    /// All defaults.
    pub(super) fn new(optimizer: &'static str, specs: Vec<HyperparameterSpec>) -> Self {
        let (set, now) = (specs.iter().map(|spec| spec.default.into()).collect(), vec![0.0; specs.len()]);
        HyperparameterTable { optimizer, specs, set, now }
    }

    pub(super) fn names(&self) -> Vec<&'static str> {
        self.specs.iter().map(|spec| spec.name).collect()
    }

    /// Names and values as set.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&'static str, &Hyperparameter)> {
        self.specs.iter().map(|spec| spec.name).zip(&self.set)
    }

    /// Values as set.
    pub(super) fn values(&self) -> &[Hyperparameter] {
        &self.set
    }

    fn place(&self, name: &str) -> OptimizerResult<usize> {
        let found = self.specs.iter().position(|spec| spec.name == name);
        found.ok_or_else(|| {
            let (optimizer, name, known) = (self.optimizer, name.to_owned(), self.names());
            OptimizerError::UnknownHyperparameter { optimizer, name, known }
        })
    }

    pub(super) fn get(&self, name: &str) -> OptimizerResult<&Hyperparameter> {
        Ok(&self.set[self.place(name)?])
    }

    /// Sets without a check, for builders.
    ///
    /// # Panics
    ///
    /// For a name that is not there.
    pub(super) fn put(&mut self, name: &str, value: Hyperparameter) {
        let place = self.place(name).unwrap_or_else(|error| panic!("{error}"));
        self.set[place] = value;
    }

    pub(super) fn set(&mut self, name: &str, value: Hyperparameter) -> OptimizerResult<()> {
        let place = self.place(name)?;
        self.specs[place].check(&value)?;
        self.set[place] = value;
        Ok(())
    }

    /// Refuses numbers and schedules that make no sense.
    pub(super) fn check(&self) -> Result<(), HyperparameterError> {
        self.specs.iter().zip(&self.set).try_for_each(|(spec, value)| spec.check(value))
    }

    /// The values for the step after `iterations` others.
    pub(super) fn at(&mut self, iterations: u64) -> Result<&[f64], HyperparameterError> {
        for ((spec, set), now) in self.specs.iter().zip(&self.set).zip(&mut self.now) {
            *now = set.at(iterations);
            spec.check_number(*now)?;
        }
        Ok(&self.now)
    }

    /// Takes over the values of a saved state, without a check.
    pub(super) fn take_over(&mut self, saved: &[(String, Hyperparameter)]) -> OptimizerResult<()> {
        let (expected, found) = (self.specs.len(), saved.len());
        if expected != found {
            return refuse(format!("it has {found} hyperparameters, not {expected}"));
        }
        for ((spec, value), (found, saved)) in self.specs.iter().zip(&mut self.set).zip(saved) {
            if spec.name != found {
                return refuse(format!("it has the hyperparameter {found} in place of {}", spec.name));
            }
            value.clone_from(saved);
        }
        Ok(())
    }
}

/// Defines builders that set the hyperparameters of these names to a number or a schedule, by `with_hyperparameter`.
macro_rules! hyperparameter_builders {
    ($($(#[$attribute:meta])* $builder:ident = $name:literal;)*) => {
        $(
            $(#[$attribute])*
            pub fn $builder(self, value: impl Into<Hyperparameter>) -> Self {
                self.with_hyperparameter($name, value)
            }
        )*
    };
}

pub(super) use hyperparameter_builders;
