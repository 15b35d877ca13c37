//! Layer normalisation.

use super::{Layer, NetworkError, Recorder};
use crate::nn::pooling::Pooling;
use crate::nn::{Initializer, Node, Shape, Tape, TapeError};
use crate::real::Real;
use crate::variables::Variable;

/// Layer normalisation: a sample's entries, less their mean, over `√(variance + epsilon)`; then times a weight of their
/// own, plus a bias of their own.
///
/// It is over all entries of a sample, of an image, too, of a sequence over those of each step, and never over samples: every row
/// of a Jacobian belongs to one. The variables are `weight`, which starts at one, and `bias`, which starts at zero, of the shape `[width]`, or
/// `[channels, height, width]` for an image, as those of PyTorch's `LayerNorm` of that shape.
///
/// ```
/// use marquardt::Variables;
/// use marquardt::nn::{LayerNormalization, Sequential};
///
/// let mut variables = Variables::<f64>::new();
/// let plain = LayerNormalization::new().with_epsilon(1e-3).without_affine();
/// Sequential::new(2).dense(8).layer_normalization().tanh().push(plain).build(&mut variables, 0)?;
/// let names: Vec<_> = variables.iter().map(|variable| variables.name(variable)).collect();
/// assert_eq!(names, ["0.weight", "0.bias", "1.weight", "1.bias"]);
/// # Ok::<(), marquardt::nn::NetworkError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerNormalization {
    epsilon: f64,
    weight: bool,
    bias: bool,
}

impl Default for LayerNormalization {
    fn default() -> Self {
        Self::new()
    }
}

impl LayerNormalization {
    /// Creates the layer with an epsilon of 1e-5, as in PyTorch; Keras has 1e-3.
    pub fn new() -> Self {
        LayerNormalization { epsilon: 1e-5, weight: true, bias: true }
    }

    /// Stability constant `ε`, added to the variance: a positive number.
    pub fn with_epsilon(mut self, epsilon: f64) -> Self {
        self.epsilon = epsilon;
        self
    }

    /// No biases.
    pub fn without_bias(mut self) -> Self {
        self.bias = false;
        self
    }

    /// Neither weights nor biases.
    pub fn without_affine(mut self) -> Self {
        (self.weight, self.bias) = (false, false);
        self
    }
}

impl<T: Real> Layer<T> for LayerNormalization {
    fn kind(&self) -> &'static str {
        "layer normalization"
    }

    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
        let epsilon = T::from_f64(self.epsilon);
        if !(epsilon > T::ZERO && epsilon.is_finite()) {
            let (of, setting, requirement) = ("layer normalization", "epsilon", "positive and finite");
            return Err(TapeError::Setting { of, setting, requirement, value: self.epsilon }.into());
        }
        let tape = recorder.tape();
        let mean = mean(tape, x)?;
        let centred = tape.sub(x, mean)?;
        let squares = tape.square(centred);
        let variance = self::mean(tape, squares)?;
        let shifted = tape.shift(variance, epsilon);
        let deviation = tape.sqrt(shifted);
        let mut y = tape.div(centred, deviation)?;

        let image;
        let shape = match x.shape() {
            Shape::Row { width } | Shape::Sequence { features: width, .. } => &[width][..],
            Shape::Image { channels, height, width } => {
                image = [channels, height, width];
                &image
            }
        };
        let width = shape.iter().product();
        if self.weight {
            let weight = recorder.variable("weight", shape, width, width, Initializer::Ones)?;
            let weight = at_every_step(recorder.tape(), weight, x)?;
            y = recorder.tape().mul(y, weight)?;
        }
        if self.bias {
            let bias = recorder.variable("bias", shape, width, width, Initializer::Zeros)?;
            let bias = at_every_step(recorder.tape(), bias, x)?;
            y = recorder.tape().add(y, bias)?;
        }
        Ok(y)
    }
}

/// The mean over a sample's entries, or over those of each step at all of its entries.
fn mean<T: Real>(tape: &mut Tape<T>, x: Node) -> Result<Node, TapeError> {
    let Shape::Sequence { steps, features } = x.shape() else {
        let sum = tape.row_sum(x);
        return Ok(tape.scale(sum, T::from_f64(x.width() as f64).recip()));
    };
    let means = tape.reduce(Pooling::Average, x, 0..x.width(), features, Shape::Row { width: steps })?;
    tape.take(means, (0..x.width()).map(|place| place / features), x.shape())
}

/// A variable with an entry for each of `x`, or for each of a step's.
fn at_every_step<T: Real>(tape: &mut Tape<T>, variable: Variable, x: Node) -> Result<Node, TapeError> {
    let row = tape.variable(variable);
    match x.shape() {
        Shape::Sequence { features, .. } => tape.take(row, (0..x.width()).map(|place| place % features), x.shape()),
        _ => Ok(row),
    }
}
