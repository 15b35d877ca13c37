//! The settings that only training has.

use crate::optim::{Hyperparameter, hyperparameter_builders};
use crate::real::Real;
use crate::solver::{Curvature, HYPERPARAMETERS, LevenbergMarquardt};

/// # Training
///
/// As an [`Optimizer`](crate::optim::Optimizer), one step is one iteration on the minibatch at hand, the same as a full
/// solve repeats: linearise, solve the damped system, try the step, and try again with more damping until one lowers the
/// loss *of that minibatch* or the attempts are used up. Then the step is not taken. Damping and scaling are carried from
/// batch to batch.
///
/// The learning rate, momentum and clipping act on the step before it is tried, and the gain ratio is judged on what is
/// tried. Weight decay is part of the damped system: `½ · weight_decay · ‖x‖²` is added to the loss.
///
/// In single precision, normal equations cannot be solved with a damping below about `1e-4`. If a step asks for less, QR takes
/// their place for the rest of the training (with [`LinearSolver::Auto`](crate::linear::LinearSolver::Auto), where QR is affordable). A
/// step then takes two to three times as long.
impl<T: Real, D> LevenbergMarquardt<T, D> {
    hyperparameter_builders! {
        /// Factor of the step when training. One by default: the damped step is taken whole.
        with_learning_rate = "learning_rate";
        /// Sets the momentum: the damping draws each step towards this multiple of the last one, `λ‖D(δ − momentum · last)‖²`, instead of
        /// towards nothing. Zero by default.
        ///
        /// Directions that the minibatch determines are decided by the minibatch; along all other directions, of which there are many with
        /// fewer residuals than parameters, the last step goes on. This is SPRING's momentum (Goldshlager, Abrahamsen & Lin 2024;
        /// its dual form: arXiv:2505.12149). It helps a fit without noise; for classification it was measured to do harm.
        with_momentum = "momentum";
        /// Adds `½ · weight_decay · ‖x‖²` to the loss, when training and in a full solve over variables. Zero by default.
        with_weight_decay = "weight_decay";
        /// The least damping `λ` when training. Zero by default.
        with_minimum_damping = "minimum_damping";
        /// Sets the lower bound of `λ` relative to the loss, for minibatches with fewer residuals than parameters; 0.1 by default. With
        /// targets in a small unit, whose loss is above `‖J‖²`, nothing moves: normalise them, or set it to zero.
        ///
        /// Such a minibatch can be fitted exactly, noise and all, at the expense of all others, and a step that is judged by the
        /// minibatch alone would do so. A floor in proportion to the loss holds back as long as there is something to fit, and
        /// lets go where everything fits (Fan & Yuan 2005 damp by the residuals for the latter reason).
        with_loss_damping = "loss_damping";
        /// The longest step when training; longer ones are shortened. Zero, the default, stands for any length.
        with_global_clipnorm = "global_clipnorm";
    }

    /// Sets the curvature of training steps; [`Curvature::Auto`] by default, with which the first minibatch decides. [`curvature`](Self::curvature) has the decision.
    ///
    /// Kronecker steps are those of [`KroneckerLevenbergMarquardt`](crate::optim::KroneckerLevenbergMarquardt) with its defaults, but for the
    /// learning rate, the weight decay and the clipping, which are passed on. Other settings are for exact steps, and with one of them [`Curvature::Auto`] is exact.
    pub fn with_curvature(mut self, curvature: Curvature) -> Self {
        self.settings.training.curvature = curvature;
        self.carried = None;
        self
    }

    /// Patterns of the names of variables that do not decay, such as `*.bias`; `*` stands for any characters.
    pub fn exclude_from_weight_decay<P: Into<String>>(mut self, patterns: impl IntoIterator<Item = P>) -> Self {
        self.settings.training.exclusions = patterns.into_iter().map(Into::into).collect();
        self.carried = None;
        self
    }

    /// Whether the learning rate falls once steps fit no more than the noise of their own minibatch; true by default.
    ///
    /// That is so where steps remove more than a sixth of the loss of their minibatch, but losses before the steps have not fallen by a tenth over half as many steps again as those
    /// before (10, 15, 23, …); a twelfth suffices the second time. After `s` more steps the rate is `(1 + s)^(−3/4)` of the one that was set, as in a mean of what the minibatches ask
    /// for. Of data without noise, and of minibatches with many times as many residuals as parameters, it stays as it is.
    /// [`DampedStep::learning_rate`](crate::optim::DampedStep::learning_rate) has the rate of a step.
    pub fn with_noise_averaging(mut self, averages_noise: bool) -> Self {
        self.settings.training.averages_noise = averages_noise;
        self
    }

    /// Whether [`minimize_variables_by_evidence`](Self::minimize_variables_by_evidence) finds a weight decay for each variable, such as the weights of a layer and its biases,
    /// instead of one for all; false by default.
    pub fn with_decay_per_variable(mut self, decay_per_variable: bool) -> Self {
        self.settings.training.decay_per_variable = decay_per_variable;
        self
    }

    /// Trials for each minibatch when training. Eight by default.
    pub fn with_attempts(self, attempts: usize) -> Self {
        self.with_hyperparameter("attempts", attempts as f64)
    }

    /// Sets a hyperparameter, which is checked by the first step.
    fn with_hyperparameter(mut self, name: &str, value: impl Into<Hyperparameter>) -> Self {
        if let Some(place) = HYPERPARAMETERS.iter().position(|spec| spec.name == name) {
            self.settings.training.hyperparameters[place] = value.into();
        }
        self
    }
}
