//! First-order optimizers: one shell around every update rule.

mod apply;
mod clipping;
mod memory;
mod optimizer;
mod saving;
mod slots;
mod step_settings;
mod undo_log;
mod update_rule;

pub use slots::Slots;
pub use update_rule::{SlotSpec, StepContext, UpdateRule};

use memory::FirstOrderMemory;
use step_settings::StepSettings;

use super::hyperparameter_table::HyperparameterTable;
use super::{Convention, Hyperparameter, hyperparameter_builders};
use crate::real::Real;

/// An optimizer that updates every variable from its gradient, by a [rule](UpdateRule): [`Sgd`](super::Sgd),
/// [`Adam`](super::Adam), [`AdamW`](super::AdamW), [`RmsProp`](super::RmsProp), [`Adagrad`](super::Adagrad), or your own.
///
/// A step does what Keras 3 does, in this order:
///
/// 1. looks for NaN and infinity in the gradients (see [`NonFinite`]),
/// 2. [accumulates](Self::with_gradient_accumulation_steps) them,
/// 3. sums rows of sparse gradients that come more than once,
/// 4. clips: [`clipvalue`](Self::with_clipvalue), [`clipnorm`](Self::with_clipnorm) or
///    [`global_clipnorm`](Self::with_global_clipnorm),
/// 5. adds the gradient of an [`l2`](Self::with_l2) penalty,
/// 6. lets weights decay: `w ← w − w · weight_decay · learning_rate`,
/// 7. updates every variable by the rule,
/// 8. moves the [average](Self::with_ema) of the weights,
/// 9. counts the step.
///
/// Every hyperparameter is a number or a [schedule](super::Schedule), which sees the count of the steps made before. A step
/// is made as a whole or not at all: where an error is returned, variables, slots and the count are what they were.
/// Frozen variables and their slots stay as they are, as do variables without a gradient, which do not decay either.
///
/// A sparse gradient gives the same step as a dense one with zeros in the other rows, unless the rule is
/// [lazy](UpdateRule::is_lazy). Decay and averages are always of whole variables.
///
/// Where gradients are accumulated, everything counts updates; Keras' schedules count single gradients there.
///
/// ```
/// use marquardt::Variables;
/// use marquardt::optim::{Adam, Optimizer};
/// use marquardt::variables::Gradients;
/// use ndarray::array;
///
/// let mut variables = Variables::new();
/// let w = variables.add("w", array![3.0, -4.0].view())?;
/// let mut gradients = Gradients::new(&variables);
///
/// let mut optimizer = Adam::new(0.1).with_beta_1(0.8).with_clipnorm(1.0);
/// for _ in 0..200 {
///     // The loss is ½‖w‖², and its gradient w.
///     gradients.clear();
///     gradients.dense_mut(w).copy_from_slice(variables.values());
///     optimizer.apply_gradients(&gradients, &mut variables)?;
/// }
/// assert!(variables.values().iter().all(|w: &f64| w.abs() < 0.05));
/// assert_eq!(optimizer.iterations(), 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct FirstOrder<T, R> {
    rule: R,
    /// The rule's, read once so that saving a state takes nothing from the heap.
    switches: Vec<(&'static str, bool)>,
    convention: Convention,
    hyperparameters: HyperparameterTable,
    non_finite: NonFinite,
    accumulation_steps: u64,
    /// Patterns of the names of variables that do not decay.
    exclusions: Vec<String>,
    ema: bool,
    ema_overwrite_frequency: Option<u64>,
    iterations: u64,
    memory: Option<FirstOrderMemory<T>>,
}

/// Policy for a loss, a gradient or a new value that is NaN or infinite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NonFinite {
    /// The step fails with an error that names the variable.
    #[default]
    Error,
    /// The step is passed over; nothing changes, and it is not counted.
    Skip,
}

/// Settings. They are checked when the optimizer is [built](super::Optimizer::build), and forget what was built before.
impl<T: Real, R: UpdateRule<T>> FirstOrder<T, R> {
    /// An optimizer with this rule, at a learning rate or a schedule of it.
    pub fn from_rule(rule: R, learning_rate: impl Into<Hyperparameter>) -> Self {
        let mut hyperparameters = StepSettings::table(R::NAME, R::HYPERPARAMETERS);
        hyperparameters.put("learning_rate", learning_rate.into());
        FirstOrder {
            hyperparameters,
            switches: rule.switches(),
            rule,
            convention: Convention::default(),
            non_finite: NonFinite::default(),
            accumulation_steps: 1,
            exclusions: Vec::new(),
            ema: false,
            ema_overwrite_frequency: None,
            iterations: 0,
            memory: None,
        }
    }

    /// Sets any hyperparameter, such as one of an own rule.
    ///
    /// # Panics
    ///
    /// When there is none of this name.
    pub fn with_hyperparameter(self, name: &str, value: impl Into<Hyperparameter>) -> Self {
        self.changed(|optimizer| optimizer.hyperparameters.put(name, value.into()))
    }

    /// Sets the convention of the formulas; Keras' unless set.
    pub fn with_convention(self, convention: Convention) -> Self {
        self.changed(|optimizer| optimizer.convention = convention)
    }

    hyperparameter_builders! {
        /// Decoupled weight decay: `w ← w − w · weight_decay · learning_rate` before every update, which the gradient does not
        /// see.
        with_weight_decay = "weight_decay";
        /// A penalty `½ l2 ‖w‖²` on all weights, through the gradient, after it was clipped. PyTorch calls this
        /// `weight_decay`, but for AdamW.
        with_l2 = "l2";
        /// Limits every entry of the gradients to `±clipvalue`. At most one kind of clipping can be on.
        with_clipvalue = "clipvalue";
        /// Limits the norm of every variable's gradient.
        with_clipnorm = "clipnorm";
        /// Limits the norm of all gradients together.
        with_global_clipnorm = "global_clipnorm";
    }

    /// Patterns of the names of variables that do not decay, such as `*.bias`; `*` stands for any characters.
    pub fn exclude_from_weight_decay<P: Into<String>>(self, patterns: impl IntoIterator<Item = P>) -> Self {
        self.changed(|optimizer| optimizer.exclusions = patterns.into_iter().map(Into::into).collect())
    }

    /// Keeps a moving average of the weights in the slot `average`: `momentum · average + (1 − momentum) · w` after every
    /// step, and the weights themselves after the first. [`finalize`](super::Optimizer::finalize) writes it into the
    /// variables.
    pub fn with_ema(self, momentum: impl Into<Hyperparameter>) -> Self {
        self.with_hyperparameter("ema_momentum", momentum).changed(|optimizer| optimizer.ema = true)
    }

    /// Sets the number of steps after which the weights are replaced by their moving average.
    pub fn with_ema_overwrite_frequency(self, steps: u64) -> Self {
        self.changed(|optimizer| optimizer.ema_overwrite_frequency = Some(steps))
    }

    /// Sets the number of gradients whose mean is applied, after the last of them.
    pub fn with_gradient_accumulation_steps(self, steps: u64) -> Self {
        self.changed(|optimizer| optimizer.accumulation_steps = steps)
    }

    /// Policy for NaN and infinity; an error unless set.
    pub fn with_non_finite(self, non_finite: NonFinite) -> Self {
        self.changed(|optimizer| optimizer.non_finite = non_finite)
    }

    /// The rule.
    pub fn rule(&self) -> &R {
        &self.rule
    }

    /// Changes the rule.
    pub(super) fn with_rule(self, change: impl FnOnce(&mut R)) -> Self {
        self.changed(|optimizer| {
            change(&mut optimizer.rule);
            optimizer.switches = optimizer.rule.switches();
        })
    }

    fn changed(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self.memory = None;
        self.iterations = 0;
        self
    }
}
