//! Settings of the optimizer.

use super::{KroneckerLevenbergMarquardt, NAME};
use crate::optim::hyperparameter_table::HyperparameterTable;
use crate::optim::{
    Hyperparameter, HyperparameterDomain, HyperparameterError, HyperparameterSpec, NonFinite, hyperparameter_builders,
};
use crate::problem::kronecker::form::RANK;
use crate::real::Real;

/// All hyperparameters.
const HYPERPARAMETERS: [HyperparameterSpec; 13] = [
    HyperparameterSpec::new("learning_rate", 1.0, HyperparameterDomain::Positive),
    HyperparameterSpec::new("momentum", 0.3, HyperparameterDomain::FractionBelowOne),
    HyperparameterSpec::new("weight_decay", 0.0, HyperparameterDomain::NonNegative),
    HyperparameterSpec::new("loss_damping", 0.01, HyperparameterDomain::NonNegative),
    HyperparameterSpec::new("minimum_damping", 1e-6, HyperparameterDomain::Positive),
    HyperparameterSpec::new("damping", 0.003, HyperparameterDomain::Positive),
    HyperparameterSpec::new("global_clipnorm", 0.0, HyperparameterDomain::NonNegative),
    HyperparameterSpec::new("effective_parameters", 1.0, HyperparameterDomain::NonNegative),
    HyperparameterSpec::new("factor_decay", 0.95, HyperparameterDomain::FractionBelowOne),
    HyperparameterSpec::new("factor_share", 0.5, HyperparameterDomain::Positive),
    HyperparameterSpec::new("factor_interval", 10.0, HyperparameterDomain::Count),
    HyperparameterSpec::new("inverse_interval", 10.0, HyperparameterDomain::Count),
    HyperparameterSpec::new("model_interval", 10.0, HyperparameterDomain::Count),
];

/// Rule for the length of a step, and the damping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum KroneckerStep {
    /// Damping in proportion to a moving average of the loss, by a factor that leaves as many effective parameters as a minibatch
    /// can tell; the length is a moving average of the minimum of the quadratic
    /// model along the preconditioned gradient. Momentum is a hyperparameter.
    #[default]
    Averaged,
    /// Martens and Grosse's: preconditioned gradient and last step are combined at the minimum of the quadratic model in
    /// their plane, and the gain ratio of every fifth step moves the damping. For data that can be fitted nearly without errors:
    /// the gain ratio of a minibatch does not see that its noise is fitted, and other data were learnt slowly. Minibatches should have
    /// 64 rows or more: on noise, the loss rose with eight.
    Quadratic,
}

/// Settings of the optimizer.
#[derive(Debug, Clone)]
pub(super) struct KroneckerSettings {
    pub(super) hyperparameters: HyperparameterTable,
    /// Patterns of the names of variables that do not decay.
    pub(super) exclusions: Vec<String>,
    pub(super) step: KroneckerStep,
    pub(super) non_finite: NonFinite,
    /// Rows of a sketch.
    pub(super) rank: usize,
    pub(super) seed: u64,
}

/// The hyperparameters of one step.
#[derive(Debug, Clone, Copy)]
pub(super) struct KroneckerHyperparameters {
    pub(super) learning_rate: f64,
    pub(super) momentum: f64,
    pub(super) weight_decay: f64,
    pub(super) loss_damping: f64,
    pub(super) minimum_damping: f64,
    pub(super) damping: f64,
    pub(super) global_clipnorm: f64,
    pub(super) effective_parameters: f64,
    pub(super) factor_decay: f64,
    pub(super) factor_share: f64,
    /// Steps from one estimate of the factors to the next, from inverse to inverse, and from length to length.
    pub(super) intervals: [u64; 3],
}

impl Default for KroneckerSettings {
    fn default() -> Self {
        KroneckerSettings {
            hyperparameters: HyperparameterTable::new(NAME, HYPERPARAMETERS.to_vec()),
            exclusions: Vec::new(),
            step: KroneckerStep::default(),
            non_finite: NonFinite::default(),
            rank: RANK,
            seed: 0,
        }
    }
}

impl KroneckerSettings {
    /// The values for the step after `steps` others.
    pub(super) fn at(&mut self, steps: u64) -> Result<KroneckerHyperparameters, HyperparameterError> {
        let &[learning_rate, momentum, weight_decay, loss_damping, minimum_damping, damping, ref others @ ..] =
            self.hyperparameters.at(steps)?
        else {
            unreachable!("the table has all of them")
        };
        let &[global_clipnorm, effective_parameters, factor_decay, factor_share, factors, inverses, models] = others
        else {
            unreachable!("the table has all of them")
        };
        Ok(KroneckerHyperparameters {
            learning_rate,
            momentum,
            weight_decay,
            loss_damping,
            minimum_damping,
            damping,
            global_clipnorm,
            effective_parameters,
            factor_decay,
            factor_share,
            intervals: [factors, inverses, models].map(|interval| interval as u64),
        })
    }
}

/// Settings. They are checked when the optimizer is [built](crate::optim::Optimizer::build), and forget what was built
/// before.
impl<T: Real> KroneckerLevenbergMarquardt<T> {
    /// Sets the rule for length and damping of a step; [`KroneckerStep::Averaged`] unless set.
    pub fn with_step(self, step: KroneckerStep) -> Self {
        self.changed(|settings| settings.step = step)
    }

    hyperparameter_builders! {
        /// Factor of the step; 1 unless set.
        with_learning_rate = "learning_rate";
        /// Part of the last step that is kept, `v ← μ v − (1 − μ) κ U`; 0.3 unless set. Not used by
        /// [`KroneckerStep::Quadratic`], which computes it.
        with_momentum = "momentum";
        /// Adds `½ · weight_decay · ‖x‖²` to the loss; 0 unless set. Rows of a table decay where they are looked up.
        with_weight_decay = "weight_decay";
        /// Sets the ratio at which the search for the damping `λ` of the first step begins, to the loss; 0.01 unless set. The factor of
        /// the moving average of the loss is adjusted by [`with_effective_parameters`](Self::with_effective_parameters), from a
        /// twentieth of this to thirty times as much, and more for minibatches of fewer than 64 rows, in inverse proportion.
        with_loss_damping = "loss_damping";
        /// The least damping, relative to the mean of the diagonal of the Gauss–Newton matrix, so that it is the same in all units of the loss; 1e-6 unless set.
        with_minimum_damping = "minimum_damping";
        /// The damping of the first step of [`KroneckerStep::Quadratic`]; 0.003 unless set.
        with_damping = "damping";
        /// The longest step; longer ones are shortened. Zero, the default, stands for any length.
        with_global_clipnorm = "global_clipnorm";
        /// Effective number of parameters for each row of a minibatch that the damping aims at; 1 unless set. With more, steps fit
        /// the noise of a minibatch; with fewer, they are shorter than necessary. With 0, the damping stays [a fixed
        /// part](Self::with_loss_damping) of the loss.
        with_effective_parameters = "effective_parameters";
        /// Part of the averaged factors that is kept when new ones come; 0.95 unless set.
        with_factor_decay = "factor_decay";
        /// Part of a minibatch's rows that factors are estimated from; 0.5 unless set. More than 1 counts as 1.
        with_factor_share = "factor_share";
    }

    /// Patterns of the names of variables that do not decay, such as `*.bias`; `*` stands for any characters.
    pub fn exclude_from_weight_decay<P: Into<String>>(self, patterns: impl IntoIterator<Item = P>) -> Self {
        self.changed(|settings| settings.exclusions = patterns.into_iter().map(Into::into).collect())
    }

    /// Steps from one estimate of the factors to the next; 10 unless set. The first, the second and the fourth step all have one.
    pub fn with_factor_interval(self, steps: u64) -> Self {
        self.with_hyperparameter("factor_interval", steps as f64)
    }

    /// Steps from one inversion of the factors to the next; 10 unless set. The first, the second and the fourth step all have one.
    pub fn with_inverse_interval(self, steps: u64) -> Self {
        self.with_hyperparameter("inverse_interval", steps as f64)
    }

    /// Steps from one evaluation of the quadratic model to the next; 10 unless set. The first, the second and the fourth step all
    /// have one.
    pub fn with_model_interval(self, steps: u64) -> Self {
        self.with_hyperparameter("model_interval", steps as f64)
    }

    /// Rows of the sketch `S` that stands for a factor `A ≈ SᵀS` where a step with the matrix itself is estimated to cost more than twice
    /// as much, as with several hundred inputs or outputs; 32 unless set. With more rows than inputs, all factors are matrices. At least 1.
    pub fn with_factor_rank(self, rank: usize) -> Self {
        self.changed(|settings| settings.rank = rank.max(1))
    }

    /// Policy for NaN and infinity; an error unless set.
    pub fn with_non_finite(self, non_finite: NonFinite) -> Self {
        self.changed(|settings| settings.non_finite = non_finite)
    }

    /// Seed of the random signs; 0 unless set.
    pub fn with_seed(self, seed: u64) -> Self {
        self.changed(|settings| settings.seed = seed)
    }

    fn with_hyperparameter(self, name: &str, value: impl Into<Hyperparameter>) -> Self {
        self.changed(|settings| settings.hyperparameters.put(name, value.into()))
    }

    fn changed(mut self, change: impl FnOnce(&mut KroneckerSettings)) -> Self {
        change(&mut self.settings);
        self.memory = None;
        self.iterations = 0;
        self
    }
}
