//! The trait.

use ndarray::ArrayViewD;

use super::{Hyperparameter, OptimizerError, OptimizerResult, OptimizerState, StepReport};
use crate::pass_on::{behind_pointer, pass_on};
use crate::problem::Objective;
use crate::real::Real;
use crate::variables::{Gradients, Variable, Variables};

/// Updates variables, one minibatch at a time: the role of Keras' `Optimizer`.
///
/// Object safe: a training loop takes a `Box<dyn Optimizer<T>>` and is the same for every optimizer. After the first step
/// no step allocates. A step that fails leaves variables and slots as they were.
///
/// ```
/// use marquardt::{LevenbergMarquardt, Variables};
/// use marquardt::nn::{MeanSquaredError, Sequential};
/// use marquardt::optim::{Adam, Optimizer};
/// use ndarray::Array2;
///
/// let x = Array2::from_shape_fn((20, 1), |(i, _)| i as f64 / 10.0 - 1.0);
/// let y = x.mapv(|x| x * x);
/// let optimizers: [Box<dyn Optimizer<f64>>; 2] =
///     [Box::new(LevenbergMarquardt::new()), Box::new(Adam::new(0.05))];
/// for mut optimizer in optimizers {
///     let mut variables = Variables::new();
///     let mut network = Sequential::new(1).dense(4).tanh().dense(1).compile(
///         &mut variables,
///         0,
///         MeanSquaredError,
///     )?;
///     for _ in 0..100 {
///         let minibatch = network.batch(&[x.view()], &[y.view()])?;
///         let report = optimizer.step(minibatch, &mut variables)?;
///         assert!(report.loss.is_finite());
///     }
///     assert!(network.evaluate(&variables, &[x.view()], &[y.view()])? < 0.01);
///     assert_eq!(optimizer.iterations(), 100);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Optimizer<T: Real>: Send {
    /// The optimizer's name, in snake case.
    fn name(&self) -> &'static str;

    /// Makes slots and workspace for these variables and forgets earlier ones. Called by the first step if need be.
    ///
    /// # Errors
    ///
    /// [`OptimizerError`] for settings that make no sense.
    fn build(&mut self, variables: &Variables<T>) -> OptimizerResult<()>;

    /// One step on a minibatch. Keras calls it `minimize`.
    ///
    /// # Errors
    ///
    /// [`OptimizerError`] says why no step was made.
    fn step(&mut self, batch: &mut dyn Objective<T>, variables: &mut Variables<T>) -> OptimizerResult<StepReport<T>>;

    /// Applies gradients, or a direction, that were computed elsewhere.
    ///
    /// # Errors
    ///
    /// As [`step`](Self::step), or [`OptimizerError::NeedsObjective`] by [`LevenbergMarquardt`](crate::LevenbergMarquardt), which makes no step from
    /// gradients alone.
    fn apply_gradients(&mut self, gradients: &Gradients<T>, variables: &mut Variables<T>) -> OptimizerResult<()>;

    /// Steps made.
    fn iterations(&self) -> u64;

    /// Names of the hyperparameters.
    fn hyperparameters(&self) -> Vec<&'static str>;

    /// A hyperparameter, as set: a number or a schedule.
    ///
    /// # Errors
    ///
    /// [`OptimizerError::UnknownHyperparameter`].
    fn hyperparameter(&self, name: &str) -> OptimizerResult<Hyperparameter>;

    /// Sets a hyperparameter to a number or a schedule, from the next step on.
    ///
    /// # Errors
    ///
    /// [`OptimizerError::UnknownHyperparameter`], or [`OptimizerError::Hyperparameter`] for a value that it cannot have.
    fn set_hyperparameter(&mut self, name: &str, value: Hyperparameter) -> OptimizerResult<()>;

    /// Names of the slots: arrays in the shapes of the variables, such as a momentum.
    fn slots(&self) -> Vec<&'static str>;

    /// A slot of one variable, in its shape.
    ///
    /// # Errors
    ///
    /// [`OptimizerError::UnknownSlot`], or [`OptimizerError::NotBuilt`].
    fn slot(&self, variable: Variable, name: &str) -> OptimizerResult<ArrayViewD<'_, T>>;

    /// The whole state.
    fn state(&self) -> OptimizerState<T> {
        let mut state = OptimizerState::default();
        self.save_into(&mut state);
        state
    }

    /// Writes the [`state`](Self::state) into an earlier one of the same optimizer, whose memory is used again where the
    /// optimizer knows how. [`Groups`](super::Groups) saves states with it before every step, to restore them if one of its
    /// optimizers fails.
    fn save_into(&self, state: &mut OptimizerState<T>);

    /// Takes over a saved state.
    ///
    /// # Errors
    ///
    /// [`OptimizerError::State`] when it belongs to another optimizer or to other variables; nothing is changed then.
    fn restore(&mut self, state: &OptimizerState<T>, variables: &Variables<T>) -> OptimizerResult<()>;

    /// Writes averaged weights into the variables, if the optimizer keeps an average that is meant to replace them. Call it once,
    /// after the last step. Keras calls it `finalize_variable_values`.
    ///
    /// # Errors
    ///
    /// [`OptimizerError::OtherVariables`].
    fn finalize(&mut self, variables: &mut Variables<T>) -> OptimizerResult<()> {
        let _ = variables;
        Ok(())
    }

    /// Sets the hyperparameter `weight_decay` to the one that the evidence of all training data asks for at the variables, one update of
    /// [Bayesian regularisation](crate::LevenbergMarquardt::minimize_variables_by_evidence), and returns it.
    /// [`Trainer::weight_decay_by_evidence`](crate::train::Trainer::weight_decay_by_evidence) calls it before every epoch.
    ///
    /// # Errors
    ///
    /// [`OptimizerError::NoEvidence`] for optimizers other than [`LevenbergMarquardt`](crate::LevenbergMarquardt), for a weight decay that follows a schedule, and where the data have no
    /// evidence.
    fn adapt_weight_decay(&mut self, data: &mut dyn Objective<T>, variables: &Variables<T>) -> OptimizerResult<f64> {
        let _ = (data, variables);
        Err(OptimizerError::NoEvidence { reason: format!("{} does not find its own", self.name()) })
    }

    /// Returns true if a step is [`apply_gradients`](Self::apply_gradients) of the loss's gradient, so that optimizers for
    /// several groups of variables can share one gradient.
    fn is_first_order(&self) -> bool;
}

/// A boxed optimizer is an optimizer, so that wrappers take either.
impl<T: Real, O: Optimizer<T> + ?Sized> Optimizer<T> for Box<O> {
    pass_on! { behind_pointer
        ref name() -> &'static str;
        mut build(variables: &Variables<T>) -> OptimizerResult<()>;
        mut step(batch: &mut dyn Objective<T>, variables: &mut Variables<T>) -> OptimizerResult<StepReport<T>>;
        mut apply_gradients(gradients: &Gradients<T>, variables: &mut Variables<T>) -> OptimizerResult<()>;
        ref iterations() -> u64;
        ref hyperparameters() -> Vec<&'static str>;
        ref hyperparameter(name: &str) -> OptimizerResult<Hyperparameter>;
        mut set_hyperparameter(name: &str, value: Hyperparameter) -> OptimizerResult<()>;
        ref slots() -> Vec<&'static str>;
        ref slot(variable: Variable, name: &str) -> OptimizerResult<ArrayViewD<'_, T>>;
        ref state() -> OptimizerState<T>;
        ref save_into(state: &mut OptimizerState<T>) -> ();
        mut restore(state: &OptimizerState<T>, variables: &Variables<T>) -> OptimizerResult<()>;
        mut finalize(variables: &mut Variables<T>) -> OptimizerResult<()>;
        mut adapt_weight_decay(data: &mut dyn Objective<T>, variables: &Variables<T>) -> OptimizerResult<f64>;
        ref is_first_order() -> bool;
    }
}
