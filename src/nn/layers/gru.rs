//! Gated recurrent units.

use super::recurrent::{Cell, Recurrent, Step};
use crate::nn::{Node, TapeError};
use crate::real::Real;

/// Gated recurrent units (Cho et al. 2014), Keras' `GRU`.
///
/// With the logistic function `σ` and the gates `z`, `r` and `g`, in this order; PyTorch has `r` before `z`:
///
/// ```text
/// z = σ(W_z xₜ + b_z + U_z hₜ₋₁ + c_z)
/// r = σ(Wᵣ xₜ + bᵣ + Uᵣ hₜ₋₁ + cᵣ)
/// g = tanh(W_g xₜ + b_g + r (U_g hₜ₋₁ + c_g))
/// hₜ = z hₜ₋₁ + (1 − z) g
/// ```
///
/// The biases `b` and `c` are `bias` and `recurrent_bias`. [`with_reset_after(false)`](Self::with_reset_after) has `U_g (r hₜ₋₁)` instead, and no `c`.
pub type GRU<T> = Recurrent<GRUCell, T>;

/// The step of a [`GRU`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GRUCell {
    reset_after: bool,
}

impl<T: Real> GRU<T> {
    /// Creates a layer with `units` outputs.
    pub fn new(units: usize) -> Self {
        Recurrent::from_cell(GRUCell { reset_after: true }, units)
    }

    /// Sets whether the reset gate is applied after the product with the recurrent weight, as in cuDNN and PyTorch; default true.
    pub fn with_reset_after(mut self, reset_after: bool) -> Self {
        self.cell = GRUCell { reset_after };
        self
    }
}

impl<T: Real> Cell<T> for GRUCell {
    const KIND: &'static str = "gru";
    const GATES: usize = 3;
    const STATES: usize = 1;

    fn has_recurrent_bias(&self) -> bool {
        self.reset_after
    }

    fn step(&self, step: &mut Step<'_, T>, states: &[Node]) -> Result<Vec<Node>, TapeError> {
        let h = states[0];
        let product = step.recurrent(h)?;
        let mut gates = [h; 2];
        for (k, gate) in gates.iter_mut().enumerate() {
            let (x, h) = (step.input(k..k + 1)?, step.gate(product, k)?);
            let sum = step.tape().add(x, h)?;
            *gate = step.recurrent_activation(sum);
        }
        let [z, r] = gates;
        let recurrent = if self.reset_after {
            let own = step.gate(product, 2)?;
            step.tape().mul(r, own)?
        } else {
            // The weight is one variable: of a second product, the last gate alone counts.
            let reset = step.tape().mul(r, h)?;
            let product = step.recurrent(reset)?;
            step.gate(product, 2)?
        };
        let x = step.input(2..3)?;
        let sum = step.tape().add(x, recurrent)?;
        let g = step.activation(sum);
        let negative = step.tape().negate(z);
        let rest = step.tape().shift(negative, T::ONE);
        let (kept, new) = (step.tape().mul(z, h)?, step.tape().mul(rest, g)?);
        Ok(vec![step.tape().add(kept, new)?])
    }
}
