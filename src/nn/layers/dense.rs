//! The dense layer.

use super::{Layer, NetworkError, Recorder};
use crate::nn::{Initializer, Node, Shape, TapeError};
use crate::real::Real;

/// A dense (affine) layer: `x Wᵀ + b`, of a sequence at every step.
///
/// Its variables are `weight`, of the shape `[units, inputs]`, and `bias`, of the shape `[units]`, as in PyTorch. Unless
/// said otherwise, weights start from [`Initializer::GlorotUniform`] and biases from zero, as in Keras.
///
/// ```
/// use marquardt::Variables;
/// use marquardt::nn::{Dense, Initializer, Sequential};
///
/// let hidden = Dense::new(20).with_initializer(Initializer::HeNormal);
/// let last = Dense::new(1).without_bias();
///
/// let mut variables = Variables::<f64>::new();
/// Sequential::new(4).push(hidden).relu().push(last).build(&mut variables, 0)?;
/// let named: Vec<_> = variables
///     .iter()
///     .map(|variable| (variables.name(variable), variables.shape(variable)))
///     .collect();
/// assert_eq!(named, [("0.weight", &[20, 4][..]), ("0.bias", &[20]), ("2.weight", &[1, 20])]);
/// # Ok::<(), marquardt::nn::NetworkError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dense {
    units: usize,
    initializer: Initializer,
    bias: Option<Initializer>,
}

impl Dense {
    /// Creates a layer with `units` outputs.
    pub fn new(units: usize) -> Self {
        Dense { units, initializer: Initializer::default(), bias: Some(Initializer::Zeros) }
    }

    /// Initializer of the weights.
    pub fn with_initializer(mut self, initializer: Initializer) -> Self {
        self.initializer = initializer;
        self
    }

    /// Initializer of the biases. The fans are the layer's, as for the weights.
    pub fn with_bias_initializer(mut self, initializer: Initializer) -> Self {
        self.bias = Some(initializer);
        self
    }

    /// No biases.
    pub fn without_bias(mut self) -> Self {
        self.bias = None;
        self
    }
}

impl<T: Real> Layer<T> for Dense {
    fn kind(&self) -> &'static str {
        "dense"
    }

    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
        let units = self.units;
        let inputs = match x.shape() {
            Shape::Sequence { features, .. } => features,
            shape => shape.numbers(),
        };
        if units == 0 {
            return Err(TapeError::Empty { operation: "dense" }.into());
        }
        let weight = recorder.variable("weight", &[units, inputs], inputs, units, self.initializer)?;
        let bias = self.bias.map(|start| recorder.variable("bias", &[units], inputs, units, start)).transpose()?;
        Ok(recorder.tape().dense(x, weight, bias)?)
    }
}
