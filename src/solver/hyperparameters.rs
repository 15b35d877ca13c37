//! The settings that only training has.

use super::Curvature;
use crate::hyperparameters::{Hyperparameter, HyperparameterDomain, HyperparameterError, HyperparameterSpec};

/// The hyperparameters of training.
pub(crate) const HYPERPARAMETERS: [HyperparameterSpec; 7] = [
    HyperparameterSpec::new("learning_rate", 1.0, HyperparameterDomain::Positive),
    HyperparameterSpec::new("momentum", 0.0, HyperparameterDomain::FractionBelowOne),
    HyperparameterSpec::new("weight_decay", 0.0, HyperparameterDomain::NonNegative),
    HyperparameterSpec::new("minimum_damping", 0.0, HyperparameterDomain::NonNegative),
    HyperparameterSpec::new("loss_damping", 0.1, HyperparameterDomain::NonNegative),
    HyperparameterSpec::new("global_clipnorm", 0.0, HyperparameterDomain::NonNegative),
    HyperparameterSpec::new("attempts", 8.0, HyperparameterDomain::Count),
];

/// The settings that only training has.
#[derive(Debug, Clone)]
pub(crate) struct TrainingSettings {
    /// Hyperparameters in the order of [`HYPERPARAMETERS`].
    pub(crate) hyperparameters: [Hyperparameter; 7],
    pub(crate) curvature: Curvature,
    /// Patterns of the names of variables that do not decay.
    pub(crate) exclusions: Vec<String>,
    /// Steps become shorter where they fit the noise of their minibatches.
    pub(crate) averages_noise: bool,
    /// The evidence has a weight decay of its own for each variable.
    pub(crate) decay_per_variable: bool,
}

impl Default for TrainingSettings {
    fn default() -> Self {
        let hyperparameters = HYPERPARAMETERS.map(|spec| spec.default.into());
        TrainingSettings {
            hyperparameters,
            curvature: Curvature::default(),
            exclusions: Vec::new(),
            averages_noise: true,
            decay_per_variable: false,
        }
    }
}

impl TrainingSettings {
    /// All hyperparameters, for the step after `steps` others.
    ///
    /// # Errors
    ///
    /// [`HyperparameterError`] when a schedule leaves its domain.
    pub(crate) fn at(&self, steps: u64) -> Result<[f64; 7], HyperparameterError> {
        let now = self.hyperparameters.each_ref().map(|hyperparameter| hyperparameter.at(steps));
        HYPERPARAMETERS.iter().zip(now).try_for_each(|(spec, value)| spec.check_number(value))?;
        Ok(now)
    }
}
