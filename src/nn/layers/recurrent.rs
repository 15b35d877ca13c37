//! Recurrent layers: a cell, applied to one step of a sequence after the other.

use std::fmt::Debug;
use std::ops::Range;

use super::{Layer, NetworkError, Recorder};
use crate::nn::tape::steps_and_features;
use crate::nn::{Function, Initializer, Node, Shape, Tape, TapeError};
use crate::real::Real;
use crate::variables::Variable;

/// A recurrent layer: [`SimpleRNN`](super::SimpleRNN), [`LSTM`](super::LSTM) or [`GRU`](super::GRU), with Keras' equations,
/// settings and defaults.
///
/// It takes a sequence, and is unrolled on the tape: derivatives are exact, sample by sample, whatever the length. Unless said
/// otherwise, its output is that of the last step. Steps that a mask leaves out change neither output nor states.
///
/// | variable | shape | starts from |
/// |---|---|---|
/// | `weight` | `[gates · units, features]` | [`Initializer::GlorotUniform`] |
/// | `recurrent_weight` | `[gates · units, units]` | [`Initializer::Orthogonal`] |
/// | `bias` | `[gates · units]` | zeros |
/// | `recurrent_bias`, of a `GRU` that resets after its product | `[gates · units]` | zeros |
///
/// Gates are in Keras' order, one below the other: `weight` is Keras' `kernel` transposed, `recurrent_weight` its
/// `recurrent_kernel` transposed; the rows of the `bias` of Keras' `GRU` are `bias` and `recurrent_bias`.
///
/// Keras' `stateful` does not exist: samples would depend on the batch before. Pass states by
/// [`with_initial_state`](Self::with_initial_state) and [`with_return_state`](Self::with_return_state).
#[derive(Debug, Clone, PartialEq)]
pub struct Recurrent<C, T> {
    pub(super) cell: C,
    pub(super) units: usize,
    activation: Function<T>,
    recurrent_activation: Function<T>,
    initializer: Initializer,
    recurrent_initializer: Initializer,
    bias: Option<Initializer>,
    pub(super) return_sequences: bool,
    pub(super) return_state: bool,
    pub(super) go_backwards: bool,
    pub(super) initial_state: Vec<Node>,
}

/// The computation of one step of a [`Recurrent`] layer.
pub trait Cell<T: Real>: Debug + Clone + Send {
    /// Kind of the layer, for messages.
    const KIND: &'static str;
    /// Number of blocks of `units` rows in the weights.
    const GATES: usize;
    /// Number of states. The first is the output.
    const STATES: usize;

    /// Returns true if the product with the recurrent weight has a bias of its own.
    fn has_recurrent_bias(&self) -> bool {
        false
    }

    /// Changes the bias that the layer starts from.
    fn start_bias(&self, _bias: &mut [T]) {}

    /// Records the states after a step.
    ///
    /// # Errors
    ///
    /// A [`TapeError`] when operations do not fit each other.
    fn step(&self, step: &mut Step<'_, T>, states: &[Node]) -> Result<Vec<Node>, TapeError>;
}

/// A step of a recurrent layer while it is recorded.
#[derive(Debug)]
pub struct Step<'a, T> {
    tape: &'a mut Tape<T>,
    units: usize,
    activation: Function<T>,
    recurrent_activation: Function<T>,
    recurrent_weight: Variable,
    recurrent_bias: Option<Variable>,
    /// Products of all steps with the weight, with the bias.
    projected: Node,
    /// First entry of this step.
    start: usize,
}

impl<T: Real> Step<'_, T> {
    /// The tape.
    pub fn tape(&mut self) -> &mut Tape<T> {
        self.tape
    }

    /// Some gates of the product of the step's input with the weight, with the bias.
    ///
    /// # Errors
    ///
    /// [`TapeError::Slice`] for gates that the cell does not have.
    pub fn input(&mut self, gates: Range<usize>) -> Result<Node, TapeError> {
        let at = |gate: usize| self.start + gate * self.units;
        self.tape.slice(self.projected, at(gates.start)..at(gates.end))
    }

    /// All gates of the product of a state with the recurrent weight, with the recurrent bias.
    ///
    /// # Errors
    ///
    /// [`TapeError::Weight`] for a node of another width.
    pub fn recurrent(&mut self, state: Node) -> Result<Node, TapeError> {
        self.tape.dense(state, self.recurrent_weight, self.recurrent_bias)
    }

    /// One gate of a node that has all of them.
    ///
    /// # Errors
    ///
    /// [`TapeError::Slice`] for a gate that the node does not have.
    pub fn gate(&mut self, gates: Node, gate: usize) -> Result<Node, TapeError> {
        self.tape.slice(gates, gate * self.units..(gate + 1) * self.units)
    }

    /// The layer's activation.
    pub fn activation(&mut self, x: Node) -> Node {
        self.tape.apply(self.activation, x)
    }

    /// The layer's activation of gates.
    pub fn recurrent_activation(&mut self, x: Node) -> Node {
        self.tape.apply(self.recurrent_activation, x)
    }
}

impl<C, T: Real> Recurrent<C, T> {
    /// Creates a layer with `units` outputs of a cell, Keras' `RNN(cell)`.
    pub fn from_cell(cell: C, units: usize) -> Self {
        Recurrent {
            cell,
            units,
            activation: Function::Tanh,
            recurrent_activation: Function::Sigmoid,
            initializer: Initializer::GlorotUniform,
            recurrent_initializer: Initializer::Orthogonal { gain: 1.0 },
            bias: Some(Initializer::Zeros),
            return_sequences: false,
            return_state: false,
            go_backwards: false,
            initial_state: Vec::new(),
        }
    }

    /// Sets the activation of the output; default `tanh`.
    pub fn with_activation(mut self, activation: Function<T>) -> Self {
        self.activation = activation;
        self
    }

    /// Sets the activation of the gates; default `sigmoid`. A [`SimpleRNN`](super::SimpleRNN) has none.
    pub fn with_recurrent_activation(mut self, activation: Function<T>) -> Self {
        self.recurrent_activation = activation;
        self
    }

    /// Initializer of `weight`.
    pub fn with_initializer(mut self, initializer: Initializer) -> Self {
        self.initializer = initializer;
        self
    }

    /// Initializer of `recurrent_weight`.
    pub fn with_recurrent_initializer(mut self, initializer: Initializer) -> Self {
        self.recurrent_initializer = initializer;
        self
    }

    /// Initializer of the biases.
    pub fn with_bias_initializer(mut self, initializer: Initializer) -> Self {
        self.bias = Some(initializer);
        self
    }

    /// No biases.
    pub fn without_bias(mut self) -> Self {
        self.bias = None;
        self
    }

    /// Sets whether the output is the sequence of all steps' outputs instead of the last one; default false.
    pub fn with_return_sequences(mut self, return_sequences: bool) -> Self {
        self.return_sequences = return_sequences;
        self
    }

    /// Sets whether the states after the last step follow the output; default false. The output is a row then, to be taken apart
    /// by [`Tape::slice`]: the output's entries, and `units` entries of each state.
    pub fn with_return_state(mut self, return_state: bool) -> Self {
        self.return_state = return_state;
        self
    }

    /// Sets whether the steps are taken from the last to the first; default false. A sequence of outputs is in the order in which
    /// the steps were taken.
    pub fn with_go_backwards(mut self, go_backwards: bool) -> Self {
        self.go_backwards = go_backwards;
        self
    }

    /// Sets the states before the first step, nodes of the tape with `units` entries each; default zeros. An [`LSTM`](super::LSTM)
    /// has two, the output and the cell's; the others have one.
    pub fn with_initial_state(mut self, states: &[Node]) -> Self {
        self.initial_state = states.to_vec();
        self
    }
}

impl<T: Real, C: Cell<T>> Recurrent<C, T> {
    fn check_states(states: &[Node]) -> Result<(), TapeError> {
        let (operation, expected, found) = (C::KIND, C::STATES, states.len());
        if found == expected { Ok(()) } else { Err(TapeError::States { operation, expected, found }) }
    }

    /// The states before the first step.
    fn first_states(&self, recorder: &mut Recorder<'_, T>) -> Result<Vec<Node>, NetworkError> {
        if self.initial_state.is_empty() {
            let zeros = recorder.tape().constant(&vec![T::ZERO; self.units]);
            return Ok(vec![zeros; C::STATES]);
        }
        Self::check_states(&self.initial_state)?;
        if let Some(state) = self.initial_state.iter().find(|state| state.width() != self.units) {
            let (layer, expected) = (recorder.describe(self), Shape::Row { width: self.units });
            return Err(NetworkError::InputShape { layer, expected, found: state.shape() });
        }
        Ok(self.initial_state.iter().map(|&state| recorder.tape().flatten(state)).collect())
    }

    /// Adds the biases, of the input and of the recurrent product.
    fn biases(&self, recorder: &mut Recorder<'_, T>, features: usize) -> Result<[Option<Variable>; 2], NetworkError> {
        let Some(start) = self.bias else { return Ok([None, None]) };
        let width = C::GATES * self.units;
        let mut values = recorder.draw(&[width], features, width, start);
        if let Some(values) = values.as_slice_mut() {
            self.cell.start_bias(values);
        }
        let bias = recorder.started_variable("bias", values.view())?;
        let recurrent = self.cell.has_recurrent_bias();
        let add =
            |recorder: &mut Recorder<'_, T>| recorder.variable("recurrent_bias", &[width], self.units, width, start);
        Ok([Some(bias), recurrent.then(|| add(recorder)).transpose()?])
    }
}

impl<T: Real, C: Cell<T>> Layer<T> for Recurrent<C, T> {
    fn kind(&self) -> &'static str {
        C::KIND
    }

    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
        let [steps, features] = steps_and_features(C::KIND, x)?;
        let units = self.units;
        if units == 0 {
            return Err(TapeError::Empty { operation: C::KIND }.into());
        }
        let mut states = self.first_states(recorder)?;
        let width = C::GATES * units;
        let weight = recorder.variable("weight", &[width, features], features, width, self.initializer)?;
        let shape = [width, units];
        let recurrent_weight =
            recorder.variable("recurrent_weight", &shape, units, width, self.recurrent_initializer)?;
        let [bias, recurrent_bias] = self.biases(recorder, features)?;

        let tape = recorder.tape();
        let mask = tape.mask(x);
        let projected = tape.dense(x, weight, bias)?;
        let (mut outputs, mut counted) = (Vec::with_capacity(steps), Vec::new());
        for taken in 0..steps {
            let step = if self.go_backwards { steps - 1 - taken } else { taken };
            let mut next = Step {
                tape,
                units,
                activation: self.activation,
                recurrent_activation: self.recurrent_activation,
                recurrent_weight,
                recurrent_bias,
                projected,
                start: step * width,
            };
            let mut after = self.cell.step(&mut next, &states)?;
            Self::check_states(&after)?;
            if let Some(mask) = mask {
                let counts = tape.slice(mask, step..step + 1)?;
                for (after, &before) in after.iter_mut().zip(&states) {
                    *after = select(tape, counts, *after, before)?;
                }
                counted.push(counts);
            }
            states = after;
            outputs.push(states[0]);
        }
        let mut output = states[0];
        if self.return_sequences {
            let row = tape.concat(&outputs)?;
            output = tape.reshape(row, Shape::Sequence { steps, features: units })?;
            if mask.is_some() {
                let mask = tape.concat(&counted)?;
                tape.set_mask(output, mask)?;
            }
        }
        if self.return_state {
            let parts: Vec<Node> = std::iter::once(tape.flatten(output)).chain(states).collect();
            output = tape.concat(&parts)?;
        }
        Ok(output)
    }
}

/// `a` where a step counts, `b` where it does not: without rounding.
fn select<T: Real>(tape: &mut Tape<T>, counts: Node, a: Node, b: Node) -> Result<Node, TapeError> {
    let negative = tape.negate(counts);
    let rest = tape.shift(negative, T::ONE);
    let (a, b) = (tape.mul(a, counts)?, tape.mul(b, rest)?);
    tape.add(a, b)
}
