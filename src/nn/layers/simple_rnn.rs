//! The plain recurrent layer.

use super::recurrent::{Cell, Recurrent, Step};
use crate::nn::{Node, TapeError};
use crate::real::Real;

/// A plain recurrent layer, Keras' `SimpleRNN`: `hₜ = tanh(W xₜ + U hₜ₋₁ + b)`.
pub type SimpleRNN<T> = Recurrent<SimpleRNNCell, T>;

/// The step of a [`SimpleRNN`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimpleRNNCell;

impl<T: Real> SimpleRNN<T> {
    /// Creates a layer with `units` outputs.
    pub fn new(units: usize) -> Self {
        Recurrent::from_cell(SimpleRNNCell, units)
    }
}

impl<T: Real> Cell<T> for SimpleRNNCell {
    const KIND: &'static str = "simple rnn";
    const GATES: usize = 1;
    const STATES: usize = 1;

    fn step(&self, step: &mut Step<'_, T>, states: &[Node]) -> Result<Vec<Node>, TapeError> {
        let (x, h) = (step.input(0..1)?, step.recurrent(states[0])?);
        let sum = step.tape().add(x, h)?;
        Ok(vec![step.activation(sum)])
    }
}
