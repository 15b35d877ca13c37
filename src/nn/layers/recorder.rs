//! The recorder that a layer is given.

use std::fmt::{Display, Write};

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use ndarray::{ArrayD, ArrayViewD};

use super::{Layer, NetworkError};
use crate::nn::{Initializer, Node, Tape};
use crate::real::Real;
use crate::variables::{Variable, VariableError, Variables};

/// Recorder of a [`Layer`]: the tape, the variables, the random numbers that they start from, and the layer's
/// place in the network, which the variables' names begin with.
#[derive(Debug)]
pub struct Recorder<'a, T> {
    tape: &'a mut Tape<T>,
    variables: &'a mut Variables<T>,
    random: ChaCha8Rng,
    path: String,
}

impl<'a, T: Real> Recorder<'a, T> {
    /// Recording begins at `path`, with the random numbers of `seed`.
    pub(crate) fn new(tape: &'a mut Tape<T>, variables: &'a mut Variables<T>, seed: u64, path: &str) -> Self {
        Recorder { tape, variables, random: ChaCha8Rng::seed_from_u64(seed), path: path.to_owned() }
    }

    /// The tape.
    pub fn tape(&mut self) -> &mut Tape<T> {
        self.tape
    }

    /// The layer's place in the network: `2`, or `encoder.2`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Adds a variable under the layer's place in the network and its own name: `2.weight`.
    ///
    /// It starts from the next numbers of the seed's stream.
    ///
    /// # Errors
    ///
    /// [`VariableError::Duplicate`], or [`VariableError::NonFinite`] when the initialiser makes such numbers.
    pub fn variable(
        &mut self,
        name: &str,
        shape: &[usize],
        fan_in: usize,
        fan_out: usize,
        initializer: Initializer,
    ) -> Result<Variable, VariableError> {
        let values = self.draw(shape, fan_in, fan_out, initializer);
        self.started_variable(name, values.view())
    }

    /// The next numbers of the seed's stream.
    pub(crate) fn draw(
        &mut self,
        shape: &[usize],
        fan_in: usize,
        fan_out: usize,
        initializer: Initializer,
    ) -> ArrayD<T> {
        initializer.draw(shape, fan_in, fan_out, &mut self.random)
    }

    /// Adds a variable that starts from these values.
    pub(crate) fn started_variable(
        &mut self,
        name: &str,
        values: ArrayViewD<'_, T>,
    ) -> Result<Variable, VariableError> {
        self.variables.add(self.below(name), values)
    }

    /// Adds a variable with these values that is not trained, under the layer's place and its own name.
    ///
    /// # Errors
    ///
    /// As [`variable`](Self::variable).
    pub fn constant(&mut self, name: &str, values: ArrayViewD<'_, T>) -> Result<Variable, VariableError> {
        let constant = self.started_variable(name, values)?;
        self.variables.set_trainable(constant, false);
        Ok(constant)
    }

    /// Records a layer within this one, at the place `name` below it.
    ///
    /// # Errors
    ///
    /// Those of the layer.
    pub fn layer(&mut self, name: impl Display, layer: &dyn Layer<T>, x: Node) -> Result<Node, NetworkError> {
        let place = self.below(name);
        let among_layers = self.tape.begin_layer(&place, layer.kind());
        let outer = std::mem::replace(&mut self.path, place);
        let result = layer.record(self, x).map_err(|error| match error {
            NetworkError::Tape(source) => NetworkError::Layer { layer: self.describe(layer), source },
            other => other,
        });
        self.path = outer;
        self.tape.end_layer(among_layers, result.as_ref().ok().copied());
        if let Ok(y) = result {
            self.tape.carry_mask(x, y);
        }
        result
    }

    /// Name of a layer at the current place in messages.
    pub(crate) fn describe(&self, layer: &dyn Layer<T>) -> String {
        match self.path.as_str() {
            "" => layer.kind().to_owned(),
            path => format!("{path} ({})", layer.kind()),
        }
    }

    fn below(&self, name: impl Display) -> String {
        let mut path = self.path.clone();
        if !path.is_empty() {
            path.push('.');
        }
        write!(path, "{name}").expect("a string can be written to");
        path
    }
}
