//! Attention.

use super::{Dense, Layer, NetworkError, Recorder};
use crate::nn::pooling::{Pooling, Windows};
use crate::nn::sample_product::ProductSizes;
use crate::nn::tape::steps_and_features;
use crate::nn::{Initializer, Node, Shape, Tape, TapeError};
use crate::real::Real;

/// Dot-product attention with several heads (Vaswani et al. 2017), Keras' `MultiHeadAttention`.
///
/// The layer's input is the query; unless said otherwise, it is also key and value. Each head has the output
/// `softmax(Q Kᵀ / √key_dim) V`; a last dense layer combines the heads. Key steps that the key's or value's mask leaves out take
/// no part; a query all of whose keys are left out has zeros for each head. The output has the query's mask.
///
/// The variables are those of the dense layers `query`, `key`, `value` and `output`: `query.weight` is Keras' `query/kernel` as a
/// matrix of `features × (heads · key_dim)`, transposed, and so on.
///
/// ```
/// use marquardt::Variables;
/// use marquardt::nn::{GlobalAveragePooling1D, MultiHeadAttention, Sequential, Shape};
///
/// let attention = MultiHeadAttention::new(2, 4).with_causal_mask(true);
/// let layers = Sequential::new(12)
///     .embedding(100, 8)
///     .push(attention)
///     .push(GlobalAveragePooling1D)
///     .dense(1);
/// let mut variables = Variables::<f64>::new();
/// layers.build(&mut variables, 0)?;
/// let query = variables.find("1.query.weight").unwrap();
/// assert_eq!(variables.shape(query), [8, 8]);
/// # Ok::<(), marquardt::nn::NetworkError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MultiHeadAttention {
    heads: usize,
    key_dim: usize,
    value_dim: usize,
    output_width: Option<usize>,
    initializer: Initializer,
    bias: bool,
    causal: bool,
    key: Option<Node>,
    value: Option<Node>,
}

impl MultiHeadAttention {
    /// Attention with this number of heads, whose queries and keys have `key_dim` entries.
    pub fn new(heads: usize, key_dim: usize) -> Self {
        MultiHeadAttention {
            heads,
            key_dim,
            value_dim: key_dim,
            output_width: None,
            initializer: Initializer::GlorotUniform,
            bias: true,
            causal: false,
            key: None,
            value: None,
        }
    }

    /// Sets the number of entries of a head's values; default `key_dim`.
    pub fn with_value_dim(mut self, value_dim: usize) -> Self {
        self.value_dim = value_dim;
        self
    }

    /// Sets the number of features of the output, Keras' `output_shape`; default those of the query.
    pub fn with_output_width(mut self, output_width: usize) -> Self {
        self.output_width = Some(output_width);
        self
    }

    /// Initializer of the weights.
    pub fn with_initializer(mut self, initializer: Initializer) -> Self {
        self.initializer = initializer;
        self
    }

    /// No biases.
    pub fn without_bias(mut self) -> Self {
        self.bias = false;
        self
    }

    /// Sets whether a step of the query sees only the key's steps up to its own place, Keras' `use_causal_mask`; default false.
    pub fn with_causal_mask(mut self, causal: bool) -> Self {
        self.causal = causal;
        self
    }

    /// Sets the sequence that values come from, and keys unless they have one of their own: a node of the same tape.
    pub fn with_value(mut self, value: Node) -> Self {
        self.value = Some(value);
        self
    }

    /// Sets the sequence that keys come from, with as many steps as the values: a node of the same tape.
    pub fn with_key(mut self, key: Node) -> Self {
        self.key = Some(key);
        self
    }

    /// A projection for all heads: `heads · width` rows of the weight.
    fn project<T: Real>(
        &self,
        recorder: &mut Recorder<'_, T>,
        name: &str,
        x: Node,
        width: usize,
    ) -> Result<Node, NetworkError> {
        let dense = Dense::new(width).with_initializer(self.initializer);
        recorder.layer(name, &if self.bias { dense } else { dense.without_bias() }, x)
    }
}

impl<T: Real> Layer<T> for MultiHeadAttention {
    fn kind(&self) -> &'static str {
        "multi-head attention"
    }

    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
        let operation = Layer::<T>::kind(self);
        let (heads, value) = (self.heads, self.value.unwrap_or(x));
        let key = self.key.unwrap_or(value);
        let [queries, features] = steps_and_features(operation, x)?;
        let [steps, _] = steps_and_features(operation, value)?;
        let [keys, _] = steps_and_features(operation, key)?;
        if heads == 0 || self.key_dim == 0 || self.value_dim == 0 {
            return Err(TapeError::Empty { operation }.into());
        }
        if keys != steps {
            return Err(TapeError::Shapes { operation, left: key.shape(), right: value.shape() }.into());
        }
        let pairs = heads.saturating_mul(queries).saturating_mul(keys);
        if pairs >= Windows::MOST {
            return Err(TapeError::TooLarge { operation, found: x.shape() }.into());
        }
        let query = self.project(recorder, "query", x, heads * self.key_dim)?;
        let projected_key = self.project(recorder, "key", key, heads * self.key_dim)?;
        let projected_value = self.project(recorder, "value", value, heads * self.value_dim)?;

        let tape = recorder.tape();
        let query = tape.scale(query, T::from_f64(self.key_dim as f64).sqrt().recip());
        let [query, projected_key, projected_value] = [
            by_heads(tape, query, heads)?,
            by_heads(tape, projected_key, heads)?,
            by_heads(tape, projected_value, heads)?,
        ];
        let sizes = ProductSizes { blocks: heads, rows: queries, depth: self.key_dim, columns: keys, transposed: true };
        let scores = tape.product(query, projected_key, sizes, row(pairs));
        let mut masks = [tape.mask(key), tape.mask(value)];
        if key == value {
            masks[1] = None;
        }
        let seen = self.seen(tape, masks, [queries, keys])?;
        let shares = softmax(tape, scores, seen, [heads, queries, keys])?;
        let sizes = ProductSizes { depth: keys, columns: self.value_dim, transposed: false, ..sizes };
        let outputs = tape.product(shares, projected_value, sizes, row(heads * queries * self.value_dim));
        let width = heads * self.value_dim;
        // Head after head at each step, where it was step after step for each head.
        let places = (0..queries * width).map(|place| {
            let (step, head, k) = (place / width, place % width / self.value_dim, place % self.value_dim);
            (head * queries + step) * self.value_dim + k
        });
        let shape = Shape::Sequence { steps: queries, features: width };
        let combined = tape.take(outputs, places, shape)?;
        self.project(recorder, "output", combined, self.output_width.unwrap_or(features))
    }
}

impl MultiHeadAttention {
    /// For each step of the query, which steps of the key it sees: ones and zeros; `None` if all.
    fn seen<T: Real>(
        &self,
        tape: &mut Tape<T>,
        masks: [Option<Node>; 2],
        [queries, keys]: [usize; 2],
    ) -> Result<Option<Node>, TapeError> {
        let places = || (0..queries * keys).map(|place| [place / keys, place % keys]);
        let mut seen = None;
        if self.causal {
            let row: Vec<T> = places().map(|[query, key]| if key <= query { T::ONE } else { T::ZERO }).collect();
            seen = Some(tape.constant(&row));
        }
        for mask in masks.into_iter().flatten() {
            let mask = tape.take(mask, places().map(|[_, key]| key), row(queries * keys))?;
            seen = Some(seen.map_or(Ok(mask), |seen| tape.mul(seen, mask))?);
        }
        Ok(seen)
    }
}

fn row(width: usize) -> Shape {
    Shape::Row { width }
}

/// The entries of a sequence head after head, each with all of its steps.
fn by_heads<T: Real>(tape: &mut Tape<T>, x: Node, heads: usize) -> Result<Node, TapeError> {
    let [steps, features] = steps_and_features("multi-head attention", x)?;
    let width = features / heads;
    let places = (0..steps * features).map(|place| {
        let (head, step, k) = (place / (steps * width), place / width % steps, place % width);
        step * features + head * width + k
    });
    tape.take(x, places, row(steps * features))
}

/// Softmax over the keys that are seen, for each head and query; zeros where none is.
fn softmax<T: Real>(
    tape: &mut Tape<T>,
    scores: Node,
    seen: Option<Node>,
    [heads, queries, keys]: [usize; 3],
) -> Result<Node, TapeError> {
    let (count, groups) = (scores.width(), row(heads * queries));
    let seen =
        seen.map(|seen| tape.take(seen, (0..count).map(|place| place % (queries * keys)), row(count))).transpose()?;
    let mut scores = scores;
    if let Some(seen) = seen {
        // A score that is not seen is so low that its exponential is zero, whatever the others.
        let low = tape.shift(seen, -T::ONE);
        let low = tape.scale(low, T::MIN_POSITIVE.recip());
        let kept = tape.mul(scores, seen)?;
        scores = tape.add(kept, low)?;
    }
    let each = |node, tape: &mut Tape<T>| tape.take(node, (0..count).map(|place| place / keys), row(count));
    let largest = tape.reduce(Pooling::Maximum, scores, 0..count, keys, groups)?;
    let largest = each(largest, tape)?;
    let shifted = tape.sub(scores, largest)?;
    let mut weights = tape.exp(shifted);
    if let Some(seen) = seen {
        weights = tape.mul(weights, seen)?;
    }
    let mean = tape.reduce(Pooling::Average, weights, 0..count, keys, groups)?;
    let mut sum = tape.scale(mean, T::from_f64(keys as f64));
    if let Some(seen) = seen {
        let any = tape.reduce(Pooling::Maximum, seen, 0..count, keys, groups)?;
        let negative = tape.negate(any);
        let none = tape.shift(negative, T::ONE);
        sum = tape.add(sum, none)?;
    }
    let sum = each(sum, tape)?;
    tape.div(weights, sum)
}
