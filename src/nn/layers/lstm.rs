//! Long short-term memory.

use super::recurrent::{Cell, Recurrent, Step};
use crate::nn::{Node, TapeError};
use crate::real::Real;

/// Long short-term memory (Hochreiter & Schmidhuber 1997), Keras' `LSTM`.
///
/// With the logistic function `σ` and the gates `i`, `f`, `g` and `o`, in this order, as in Keras and in PyTorch:
///
/// ```text
/// i = σ(Wᵢ xₜ + Uᵢ hₜ₋₁ + bᵢ)      cₜ = f cₜ₋₁ + i g
/// f = σ(W_f xₜ + U_f hₜ₋₁ + b_f)   hₜ = o tanh(cₜ)
/// g = tanh(W_g xₜ + U_g hₜ₋₁ + b_g)
/// o = σ(Wₒ xₜ + Uₒ hₜ₋₁ + bₒ)
/// ```
///
/// ```
/// use marquardt::nn::{LSTM, MeanSquaredError, Sequential};
/// use marquardt::{LevenbergMarquardt, Variables};
/// use ndarray::Array2;
///
/// // The number that came two steps before.
/// let inputs = Array2::from_shape_fn((24, 5), |(row, step)| (1.7 * row as f64 + 2.3 * step as f64).sin());
/// let targets = Array2::from_shape_fn((24, 1), |(row, _)| inputs[[row, 2]]);
/// let mut variables = Variables::new();
/// let layers = Sequential::sequence(5, 1).push(LSTM::new(4)).dense(1);
/// let mut network = layers.compile(&mut variables, 0, MeanSquaredError)?;
/// network.batch(&[inputs.view()], &[targets.view()])?;
/// let report = LevenbergMarquardt::new().minimize_variables(&mut network, &mut variables)?;
/// assert!(report.cost < 1e-6 * report.initial_cost);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type LSTM<T> = Recurrent<LSTMCell, T>;

/// The step of an [`LSTM`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LSTMCell {
    unit_forget_bias: bool,
}

impl<T: Real> LSTM<T> {
    /// Creates a layer with `units` outputs.
    pub fn new(units: usize) -> Self {
        Recurrent::from_cell(LSTMCell { unit_forget_bias: true }, units)
    }

    /// Sets whether the bias of the forget gate starts at one (Jozefowicz et al. 2015); default true.
    pub fn with_unit_forget_bias(mut self, unit_forget_bias: bool) -> Self {
        self.cell = LSTMCell { unit_forget_bias };
        self
    }
}

impl<T: Real> Cell<T> for LSTMCell {
    const KIND: &'static str = "lstm";
    const GATES: usize = 4;
    const STATES: usize = 2;

    fn start_bias(&self, bias: &mut [T]) {
        if self.unit_forget_bias {
            let units = bias.len() / 4;
            bias[units..2 * units].fill(T::ONE);
        }
    }

    fn step(&self, step: &mut Step<'_, T>, states: &[Node]) -> Result<Vec<Node>, TapeError> {
        let (x, h) = (step.input(0..4)?, step.recurrent(states[0])?);
        let sum = step.tape().add(x, h)?;
        let mut gates = [sum; 4];
        for (k, gate) in gates.iter_mut().enumerate() {
            let part = step.gate(sum, k)?;
            *gate = if k == 2 { step.activation(part) } else { step.recurrent_activation(part) };
        }
        let [i, f, g, o] = gates;
        let (kept, new) = (step.tape().mul(f, states[1])?, step.tape().mul(i, g)?);
        let c = step.tape().add(kept, new)?;
        let seen = step.activation(c);
        Ok(vec![step.tape().mul(o, seen)?, c])
    }
}
