//! Reports of steps.

use crate::linear::LinearForm;

/// Report of one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepReport<T> {
    /// The loss on the minibatch before the step.
    pub loss: T,
    /// The loss on the same minibatch after it, where the optimizer knows it without another evaluation.
    pub loss_after: Option<T>,
    /// True if the variables were changed. A step is not taken when no trial improved the loss, when a non-finite gradient was
    /// skipped, or while gradients are accumulated.
    pub applied: bool,
    /// Details of a Levenberg–Marquardt step.
    pub damped: Option<DampedStep<T>>,
    /// Details of a step with Kronecker factors.
    pub factored: Option<FactoredStep<T>>,
}

/// Details of a step with Kronecker factors, of [`KroneckerLevenbergMarquardt`](super::KroneckerLevenbergMarquardt), or of
/// [`LevenbergMarquardt`](crate::LevenbergMarquardt) where its [curvature](crate::solver::Curvature) has them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FactoredStep<T> {
    /// The damping `λ`.
    pub damping: T,
    /// Moving average of the length `κ` of steps along the preconditioned gradient; 1 for a quadratic model that needs no correction.
    pub length: T,
}

/// Details of a Levenberg–Marquardt step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DampedStep<T> {
    /// The damping `λ` of the last trial.
    pub damping: T,
    /// Factor of the step: the learning rate, less what the [noise of minibatches](crate::LevenbergMarquardt::with_noise_averaging) takes.
    pub learning_rate: T,
    /// Actual over predicted reduction of the last trial, for the step as applied; zero where none was
    /// predicted, or the damped system could not be solved.
    pub gain_ratio: T,
    /// Trials made.
    pub attempts: usize,
    /// Form of the damped system.
    pub linear_form: LinearForm,
    /// Residuals, the rows of the Jacobian.
    pub rows: usize,
    /// Adjusted parameters, the columns of the Jacobian.
    pub columns: usize,
}
