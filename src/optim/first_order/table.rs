//! The hyperparameters of a first-order optimizer.

use crate::optim::{Hyperparameter, HyperparameterDomain, HyperparameterError, HyperparameterSpec, OptimizerError};

/// First the learning rate, then those of the rule, then these, which all have. Zero means "off", but for the last.
const SHARED: [HyperparameterSpec; 6] = [
    HyperparameterSpec::new("weight_decay", 0.0, HyperparameterDomain::NonNegative),
    HyperparameterSpec::new("l2", 0.0, HyperparameterDomain::NonNegative),
    HyperparameterSpec::new("clipvalue", 0.0, HyperparameterDomain::NonNegative),
    HyperparameterSpec::new("clipnorm", 0.0, HyperparameterDomain::NonNegative),
    HyperparameterSpec::new("global_clipnorm", 0.0, HyperparameterDomain::NonNegative),
    HyperparameterSpec::new("ema_momentum", 0.99, HyperparameterDomain::Fraction),
];
const CLIPS: [&str; 3] = ["clipvalue", "clipnorm", "global_clipnorm"];
const LEARNING_RATE: HyperparameterSpec =
    HyperparameterSpec::new("learning_rate", 0.0, HyperparameterDomain::NonNegative);

/// Hyperparameters as set, and their values in the step at work.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    specs: Vec<HyperparameterSpec>,
    set: Vec<Hyperparameter>,
    now: Vec<f64>,
}

/// The hyperparameters of one step.
pub(super) struct Now<'a> {
    pub(super) learning_rate: f64,
    /// The rule's own.
    pub(super) rule: &'a [f64],
    pub(super) weight_decay: f64,
    pub(super) l2: f64,
    pub(super) clipvalue: f64,
    pub(super) clipnorm: f64,
    pub(super) global_clipnorm: f64,
    pub(super) ema_momentum: f64,
}

impl Table {
    /// All defaults, but for the learning rate.
    pub(super) fn new(rule: &[HyperparameterSpec], learning_rate: Hyperparameter) -> Self {
        let specs: Vec<_> = [LEARNING_RATE].iter().chain(rule).chain(&SHARED).copied().collect();
        let mut set: Vec<Hyperparameter> = specs.iter().map(|spec| spec.default.into()).collect();
        set[0] = learning_rate;
        let now = vec![0.0; specs.len()];
        Table { specs, set, now }
    }

    pub(super) fn names(&self) -> Vec<&'static str> {
        self.specs.iter().map(|spec| spec.name).collect()
    }

    /// Names and values as set.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&'static str, &Hyperparameter)> {
        self.specs.iter().map(|spec| spec.name).zip(&self.set)
    }

    /// The rule's own, as set.
    pub(super) fn of_rule(&self) -> &[Hyperparameter] {
        &self.set[1..self.set.len() - SHARED.len()]
    }

    fn place(&self, optimizer: &str, name: &str) -> Result<usize, OptimizerError> {
        let found = self.specs.iter().position(|spec| spec.name == name);
        found.ok_or_else(|| OptimizerError::unknown_hyperparameter(optimizer, name, self.names()))
    }

    pub(super) fn get(&self, optimizer: &str, name: &str) -> Result<&Hyperparameter, OptimizerError> {
        Ok(&self.set[self.place(optimizer, name)?])
    }

    /// Sets without a check, for builders.
    ///
    /// # Panics
    ///
    /// For a name that is not there.
    pub(super) fn put(&mut self, optimizer: &str, name: &str, value: Hyperparameter) {
        let place = self.place(optimizer, name).unwrap_or_else(|error| panic!("{error}"));
        self.set[place] = value;
    }

    pub(super) fn set(&mut self, optimizer: &str, name: &str, value: Hyperparameter) -> Result<(), OptimizerError> {
        let place = self.place(optimizer, name)?;
        self.specs[place].check(&value)?;
        let before = std::mem::replace(&mut self.set[place], value);
        self.check_clips().inspect_err(|_| self.set[place] = before)
    }

    /// Refuses numbers and schedules that make no sense.
    pub(super) fn check(&self) -> Result<(), OptimizerError> {
        self.specs.iter().zip(&self.set).try_for_each(|(spec, value)| spec.check(value))?;
        self.check_clips()
    }

    /// Checks that there is at most one kind of clipping.
    fn check_clips(&self) -> Result<(), OptimizerError> {
        let mut on = self.iter().filter(|(name, value)| CLIPS.contains(name) && **value != Hyperparameter::Number(0.0));
        match (on.next(), on.next()) {
            (Some((first, _)), Some((second, value))) => Err(HyperparameterError::Value {
                name: second.to_owned(),
                requirement: format!("0 where {first} is set"),
                value: value.at(0),
            }
            .into()),
            _ => Ok(()),
        }
    }

    /// The values for the step after `iterations` others.
    pub(super) fn at(&mut self, iterations: u64) -> Result<Now<'_>, OptimizerError> {
        for ((spec, set), now) in self.specs.iter().zip(&self.set).zip(&mut self.now) {
            *now = set.at(iterations);
            spec.check_number(*now)?;
        }
        let [learning_rate, rule @ .., weight_decay, l2, clipvalue, clipnorm, global_clipnorm, ema_momentum] =
            self.now.as_slice()
        else {
            unreachable!("the learning rate and the shared hyperparameters are always there")
        };
        Ok(Now {
            learning_rate: *learning_rate,
            rule,
            weight_decay: *weight_decay,
            l2: *l2,
            clipvalue: *clipvalue,
            clipnorm: *clipnorm,
            global_clipnorm: *global_clipnorm,
            ema_momentum: *ema_momentum,
        })
    }
}
