//! The hyperparameters that all first-order optimizers have.

use crate::optim::hyperparameter_table::HyperparameterTable;
use crate::optim::{Hyperparameter, HyperparameterDomain, HyperparameterError, HyperparameterSpec, OptimizerResult};

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

/// The hyperparameters of one step.
pub(super) struct StepSettings<'a> {
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

impl StepSettings<'_> {
    /// All defaults, for an optimizer whose rule has these hyperparameters.
    pub(super) fn table(optimizer: &'static str, rule: &[HyperparameterSpec]) -> HyperparameterTable {
        HyperparameterTable::new(optimizer, [LEARNING_RATE].iter().chain(rule).chain(&SHARED).copied().collect())
    }

    /// The rule's own, as set.
    pub(super) fn of_rule(table: &HyperparameterTable) -> &[Hyperparameter] {
        &table.values()[1..table.values().len() - SHARED.len()]
    }

    /// Checks that there is at most one kind of clipping.
    pub(super) fn check_clips(table: &HyperparameterTable) -> OptimizerResult<()> {
        let mut on =
            table.iter().filter(|(name, value)| CLIPS.contains(name) && **value != Hyperparameter::Number(0.0));
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
    pub(super) fn at(
        table: &mut HyperparameterTable,
        iterations: u64,
    ) -> Result<StepSettings<'_>, HyperparameterError> {
        let values = table.at(iterations)?;
        let (own, &[weight_decay, l2, clipvalue, clipnorm, global_clipnorm, ema_momentum]) =
            values.split_last_chunk().expect("the table has the shared ones");
        let (learning_rate, rule) = (own[0], &own[1..]);
        Ok(StepSettings { learning_rate, rule, weight_decay, l2, clipvalue, clipnorm, global_clipnorm, ema_momentum })
    }
}
