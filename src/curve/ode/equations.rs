//! Systems of differential equations.

use crate::autodiff::Dual;

/// Right sides, initial values and responses, over numbers with up to `L` derivatives.
pub trait Equations<const L: usize>: Send + Sync {
    /// Number of states.
    fn states(&self) -> usize;

    /// Number of parameters.
    fn parameters(&self) -> usize;

    /// Name of a parameter.
    fn parameter_name(&self, index: usize) -> String {
        format!("b{}", index + 1)
    }

    /// Number of responses at a time.
    fn outputs(&self) -> usize;

    /// Fills in the derivatives of the states by the time.
    fn derivative(&self, time: f64, states: &[Dual<f64, L>], b: &[Dual<f64, L>], slopes: &mut [Dual<f64, L>]);

    /// The states at the initial time.
    fn initial(&self, b: &[Dual<f64, L>]) -> Vec<Dual<f64, L>>;

    /// The responses at a time.
    fn observed(&self, time: f64, states: &[Dual<f64, L>], b: &[Dual<f64, L>]) -> Vec<Dual<f64, L>>;
}
