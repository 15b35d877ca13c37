//! Hyperparameters: numbers, or schedules of them.

use super::{HyperparameterError, Schedule};

/// The value of a hyperparameter: a number, or a schedule that gives one for every step.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Hyperparameter {
    /// A number that is the same for every step.
    Number(f64),
    /// A schedule of the number of steps made before.
    Schedule(Schedule),
}

impl Hyperparameter {
    /// The value for the step after `iterations` others.
    pub fn at(&self, iterations: u64) -> f64 {
        match self {
            Hyperparameter::Number(number) => *number,
            Hyperparameter::Schedule(schedule) => schedule.at(iterations),
        }
    }
}

impl Default for Hyperparameter {
    fn default() -> Self {
        Hyperparameter::Number(0.0)
    }
}

impl From<f64> for Hyperparameter {
    fn from(number: f64) -> Self {
        Hyperparameter::Number(number)
    }
}

impl From<Schedule> for Hyperparameter {
    fn from(schedule: Schedule) -> Self {
        Hyperparameter::Schedule(schedule)
    }
}

/// A hyperparameter that an optimizer has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HyperparameterSpec {
    /// Its name, in snake case.
    pub name: &'static str,
    /// Default value.
    pub default: f64,
    /// Values allowed.
    pub domain: HyperparameterDomain,
}

impl HyperparameterSpec {
    /// Creates a hyperparameter with its default and its domain.
    pub const fn new(name: &'static str, default: f64, domain: HyperparameterDomain) -> Self {
        HyperparameterSpec { name, default, domain }
    }

    /// Refuses a number outside the domain.
    pub(crate) fn check_number(&self, value: f64) -> Result<(), HyperparameterError> {
        if self.domain.contains(value) {
            return Ok(());
        }
        let requirement = self.domain.requirement().to_owned();
        Err(HyperparameterError::Value { name: self.name.to_owned(), requirement, value })
    }

    /// Refuses a number outside of the domain, and a schedule with invalid arguments or a start outside of it.
    pub(crate) fn check(&self, value: &Hyperparameter) -> Result<(), HyperparameterError> {
        if let Hyperparameter::Schedule(schedule) = value {
            schedule.check()?;
        }
        self.check_number(value.at(0))
    }
}

/// Domain of a hyperparameter. NaN and infinite values are never allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HyperparameterDomain {
    /// Any finite number.
    Finite,
    /// `x > 0`.
    Positive,
    /// `x ≥ 0`.
    NonNegative,
    /// `0 ≤ x ≤ 1`.
    Fraction,
    /// `0 ≤ x < 1`.
    FractionBelowOne,
    /// 1, 2, 3, …
    Count,
}

impl HyperparameterDomain {
    /// Returns true if a hyperparameter may have this value.
    pub fn contains(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                HyperparameterDomain::Finite => true,
                HyperparameterDomain::Positive => value > 0.0,
                HyperparameterDomain::NonNegative => value >= 0.0,
                HyperparameterDomain::Fraction => (0.0..=1.0).contains(&value),
                HyperparameterDomain::FractionBelowOne => (0.0..1.0).contains(&value),
                HyperparameterDomain::Count => value >= 1.0 && value.fract() == 0.0,
            }
    }

    /// Describes the requirement, after "must be".
    fn requirement(self) -> &'static str {
        match self {
            HyperparameterDomain::Finite => "finite",
            HyperparameterDomain::Positive => "positive",
            HyperparameterDomain::NonNegative => "at least 0",
            HyperparameterDomain::Fraction => "between 0 and 1",
            HyperparameterDomain::FractionBelowOne => "at least 0 and below 1",
            HyperparameterDomain::Count => "a whole number from 1",
        }
    }
}
