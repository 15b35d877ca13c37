//! Layers, one after the other.

use ndarray::ArrayView2;

use super::{
    Activation, AveragePooling2D, Conv2D, Dense, Dropout, Embedding, Flatten, Function, GRU, GlobalAveragePooling1D,
    GlobalAveragePooling2D, Initializer, LSTM, Layer, LayerNormalization, Loss, Masking, MaxPooling2D, Network,
    NetworkError, Node, Normalization, Recorder, Reshape, Residual, Shape, SimpleRNN, Tape, TapeError,
};
use crate::real::Real;
use crate::variables::Variables;

/// Layers, one after the other, each taking the output of the one before.
///
/// Variables are named as in PyTorch's `nn.Sequential`, where activations count as layers: the first layer's weight is
/// `0.weight`, and if `tanh` is the second, the third's is `2.weight`. They start from one stream of random numbers, in
/// order of creation, so that a seed decides them all.
///
/// ```
/// use marquardt::{LevenbergMarquardt, Variables};
/// use marquardt::nn::{MeanSquaredError, Sequential};
/// use ndarray::array;
///
/// let mut variables = Variables::<f64>::new();
/// let mut network = Sequential::new(1).dense(20).tanh().dense(1).compile(
///     &mut variables,
///     0,
///     MeanSquaredError,
/// )?;
/// let names: Vec<&str> = variables.iter().map(|variable| variables.name(variable)).collect();
/// assert_eq!(names, ["0.weight", "0.bias", "2.weight", "2.bias"]);
/// assert_eq!(variables.values().len(), 61);
///
/// let (inputs, targets) = (array![[0.0], [0.5], [1.0]], array![[1.0], [0.0], [2.0]]);
/// network.batch(&[inputs.view()], &[targets.view()])?;
/// LevenbergMarquardt::new().minimize_variables(&mut network, &mut variables)?;
///
/// let output = network.outputs()[0];
/// let predicted = network.predict(&variables, &[array![[0.5]].view()], output)?;
/// assert!(predicted[[0, 0]].abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Networks with several inputs, outputs or losses are put together on a [`Tape`], with [`append`](Self::append).
#[derive(Debug)]
pub struct Sequential<T> {
    input: Shape,
    name: String,
    initializer: Initializer,
    layers: Vec<Box<dyn Layer<T>>>,
}

/// A recorded network, from its input to its output.
#[derive(Debug, Clone)]
pub struct Recording<T> {
    /// The tape that it is recorded on.
    pub tape: Tape<T>,
    /// Input node.
    pub input: Node,
    /// Output node, the predictions.
    pub output: Node,
}

impl<T: Real> Sequential<T> {
    /// Creates a network without layers, for inputs with `input_width` entries for each sample.
    pub fn new(input_width: usize) -> Self {
        Self::of(Shape::Row { width: input_width })
    }

    /// No layers yet, for images: each sample is a row of `channels · height · width` entries, one channel after the other,
    /// each row by row, as in PyTorch.
    ///
    /// ```
    /// use marquardt::Variables;
    /// use marquardt::nn::{MeanSquaredError, Sequential};
    ///
    /// let mut variables = Variables::<f64>::new();
    /// let features = Sequential::image(1, 28, 28).conv2d(4, [5, 5]).tanh().average_pooling2d([4, 4]);
    /// let network = features.flatten().dense(10).compile(&mut variables, 0, MeanSquaredError)?;
    /// assert_eq!(
    ///     (network.outputs()[0].width(), variables.values().len()),
    ///     (10, 4 * 26 + 10 * (4 * 36 + 1))
    /// );
    /// # Ok::<(), marquardt::nn::NetworkError>(())
    /// ```
    pub fn image(channels: usize, height: usize, width: usize) -> Self {
        Self::of(Shape::Image { channels, height, width })
    }

    /// No layers yet, for sequences: each sample is a row of `steps · features` entries, one step after the other, as in Keras.
    /// Of a measurement at each step, `features` is 1.
    pub fn sequence(steps: usize, features: usize) -> Self {
        Self::of(Shape::Sequence { steps, features })
    }

    fn of(input: Shape) -> Self {
        Sequential { input, name: String::new(), initializer: Initializer::default(), layers: Vec::new() }
    }

    /// Puts a name in front of the variables' names, `encoder.0.weight`, so that several networks can share one
    /// [`Variables`].
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Initializer of the weights of the [`dense`](Self::dense) and [`conv2d`](Self::conv2d) layers that follow start from.
    pub fn with_initializer(mut self, initializer: Initializer) -> Self {
        self.initializer = initializer;
        self
    }

    /// Adds a layer.
    pub fn push(mut self, layer: impl Layer<T> + 'static) -> Self {
        self.layers.push(Box::new(layer));
        self
    }

    /// Puts a [`Normalization`] of the inputs before the first layer, and an inverted one of the targets after the last, both adapted to these data:
    /// a training is the same in all units, and predictions have the unit of the targets. The first layer becomes the second, `1.weight`; means and
    /// deviations are variables that are not trained, and saved with the others.
    ///
    /// ```
    /// use marquardt::nn::{MeanSquaredError, Sequential};
    /// use marquardt::train::Trainer;
    /// use marquardt::{LevenbergMarquardt, Variables};
    /// use ndarray::Array2;
    ///
    /// let x = Array2::from_shape_fn((40, 1), |(i, _)| 1500.0 + 10.0 * i as f64);
    /// let y = x.mapv(|x| 2e5 + 1e5 * (x / 100.0).sin());
    ///
    /// let layers = Sequential::new(1).dense(10).tanh().dense(1).normalized(x.view(), y.view())?;
    /// let (mut variables, mut optimizer) = (Variables::new(), LevenbergMarquardt::new());
    /// let mut network = layers.compile(&mut variables, 0, MeanSquaredError)?;
    /// let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(100);
    /// trainer.fit(&[x.view()], &[y.view()])?;
    /// let errors = trainer.predict(&[x.view()])? - &y;
    /// assert!(errors.iter().all(|error: &f64| error.abs() < 2e3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Normalization::adapt`].
    pub fn normalized(mut self, inputs: ArrayView2<'_, T>, targets: ArrayView2<'_, T>) -> Result<Self, NetworkError> {
        let (first, last) = (Normalization::new().adapt(inputs)?, Normalization::new().adapt(targets)?);
        self.layers.insert(0, Box::new(first));
        Ok(self.push(last.inverted()))
    }

    /// Adds a [`Dense`] layer with `units` outputs, and biases that start at zero.
    pub fn dense(self, units: usize) -> Self {
        let initializer = self.initializer;
        self.push(Dense::new(units).with_initializer(initializer))
    }

    /// Adds a [`Conv2D`] layer with `filters` filters of this height and width, and biases that start at zero.
    pub fn conv2d(self, filters: usize, kernel: [usize; 2]) -> Self {
        let initializer = self.initializer;
        self.push(Conv2D::new(filters, kernel).with_initializer(initializer))
    }

    /// Adds [`AveragePooling2D`] with a window of this height and width, which moves by as much.
    pub fn average_pooling2d(self, size: [usize; 2]) -> Self {
        self.push(AveragePooling2D::new(size))
    }

    /// Adds [`MaxPooling2D`] with a window of this height and width, which moves by as much.
    pub fn max_pooling2d(self, size: [usize; 2]) -> Self {
        self.push(MaxPooling2D::new(size))
    }

    /// Adds [`GlobalAveragePooling2D`].
    pub fn global_average_pooling2d(self) -> Self {
        self.push(GlobalAveragePooling2D)
    }

    /// Adds [`Flatten`].
    pub fn flatten(self) -> Self {
        self.push(Flatten)
    }

    /// Adds [`Reshape`].
    pub fn reshape(self, shape: Shape) -> Self {
        self.push(Reshape(shape))
    }

    /// Adds [`LayerNormalization`], with its defaults.
    pub fn layer_normalization(self) -> Self {
        self.push(LayerNormalization::new())
    }

    /// Adds a function of every entry.
    pub fn apply(self, function: Function<T>) -> Self {
        self.push(Activation(function))
    }

    /// Adds [`Dropout`].
    pub fn dropout(self, rate: T) -> Self {
        self.push(Dropout::new(rate))
    }

    /// Adds an [`Embedding`], which must be the first layer.
    pub fn embedding(self, rows: usize, width: usize) -> Self {
        self.push(Embedding::new(rows, width))
    }

    /// Adds a [`SimpleRNN`] with `units` outputs, and its defaults.
    pub fn simple_rnn(self, units: usize) -> Self {
        self.push(SimpleRNN::new(units))
    }

    /// Adds an [`LSTM`] with `units` outputs, and its defaults.
    pub fn lstm(self, units: usize) -> Self {
        self.push(LSTM::new(units))
    }

    /// Adds a [`GRU`] with `units` outputs, and its defaults.
    pub fn gru(self, units: usize) -> Self {
        self.push(GRU::new(units))
    }

    /// Adds [`Masking`] of the steps all of whose entries are `mask_value`.
    pub fn masking(self, mask_value: T) -> Self {
        self.push(Masking::new(mask_value))
    }

    /// Adds [`GlobalAveragePooling1D`].
    pub fn global_average_pooling1d(self) -> Self {
        self.push(GlobalAveragePooling1D)
    }

    /// Adds a [`Residual`] connection around layers.
    pub fn residual(self, layers: Sequential<T>) -> Self {
        self.push(Residual::new(layers))
    }

    /// Adds the layers' variables, and records the network on a tape of its own.
    ///
    /// ```
    /// use marquardt::Variables;
    /// use marquardt::nn::{Huber, Recording, Network, Sequential};
    ///
    /// let mut variables = Variables::<f64>::new();
    /// let Recording { tape, output, .. } =
    ///     Sequential::new(1).dense(20).tanh().dense(1).build(&mut variables, 0)?;
    /// let network = Network::new(tape, &variables)?.with_loss(output, Huber::new(0.5)?)?;
    /// # let _ = network;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A [`NetworkError`] when layers do not fit each other, or there is a variable of the same name; no variables are
    /// added then.
    pub fn build(&self, variables: &mut Variables<T>, seed: u64) -> Result<Recording<T>, NetworkError> {
        if self.input.numbers() == 0 {
            return Err(TapeError::Empty { operation: "input" }.into());
        }
        let mut tape = Tape::new();
        let input = tape.input(self.input.numbers());
        let output = self.append(&mut tape, input, variables, seed)?;
        Ok(Recording { tape, input, output })
    }

    /// Adds the layers' variables, and records the network on an existing tape, behind `x`.
    ///
    /// ```
    /// use marquardt::Variables;
    /// use marquardt::nn::{Sequential, Tape};
    ///
    /// let mut variables = Variables::<f64>::new();
    /// let mut tape = Tape::new();
    /// let (word, measured) = (tape.input(1), tape.input(3));
    /// let word = Sequential::new(1).named("word").embedding(100, 4).append(
    ///     &mut tape,
    ///     word,
    ///     &mut variables,
    ///     0,
    /// )?;
    /// let both = tape.concat(&[word, measured])?;
    /// let head = Sequential::new(7).named("head").dense(8).tanh().dense(1);
    /// let output = head.append(&mut tape, both, &mut variables, 1)?;
    /// assert_eq!(output.width(), 1);
    /// assert!(variables.find("word.0.weight").is_some() && variables.find("head.2.bias").is_some());
    /// # Ok::<(), marquardt::nn::NetworkError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A [`NetworkError`] as for [`build`](Self::build); the tape and the variables are unchanged then.
    pub fn append(
        &self,
        tape: &mut Tape<T>,
        x: Node,
        variables: &mut Variables<T>,
        seed: u64,
    ) -> Result<Node, NetworkError> {
        if !tape.holds(x) {
            return Err(TapeError::ForeignNode { operation: "sequential" }.into());
        }
        let (mut recorded, mut added) = (tape.clone(), variables.clone());
        let output = self.record(&mut Recorder::new(&mut recorded, &mut added, seed, &self.name), x)?;
        (*tape, *variables) = (recorded, added);
        Ok(output)
    }

    /// Adds the layers' variables, and makes a network that minimises one loss of the last layer's output.
    ///
    /// The seed decides what dropout drops, too.
    ///
    /// # Errors
    ///
    /// A [`NetworkError`] as for [`build`](Self::build), with the variables unchanged.
    pub fn compile(
        &self,
        variables: &mut Variables<T>,
        seed: u64,
        loss: impl Loss<T> + 'static,
    ) -> Result<Network<T>, NetworkError> {
        let mut added = variables.clone();
        let Recording { tape, output, .. } = self.build(&mut added, seed)?;
        let network = Network::new(tape, &added)?.with_loss(output, loss)?.with_seed(seed);
        *variables = added;
        Ok(network)
    }

    /// Records the layers one after the other, as those of `layer`.
    pub(super) fn record_as(
        &self,
        layer: &dyn Layer<T>,
        recorder: &mut Recorder<'_, T>,
        x: Node,
    ) -> Result<Node, NetworkError> {
        let x = match (self.input, x.shape()) {
            (Shape::Row { width }, _) if width == x.width() => x,
            (Shape::Row { width: expected }, _) => {
                let (layer, found) = (recorder.describe(layer), x.width());
                return Err(NetworkError::InputWidth { layer, expected, found });
            }
            (image, shape) if image == shape => x,
            (image, Shape::Row { width }) if image.numbers() == width => recorder.tape().reshape(x, image)?,
            (expected, found) => {
                return Err(NetworkError::InputShape { layer: recorder.describe(layer), expected, found });
            }
        };
        self.layers.iter().enumerate().try_fold(x, |x, (place, layer)| recorder.layer(place, layer.as_ref(), x))
    }
}

/// A network within a network: its layers are named below its place, `1.0.weight`. Its own name is not used.
impl<T: Real> Layer<T> for Sequential<T> {
    fn kind(&self) -> &'static str {
        "sequential"
    }

    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
        self.record_as(self, recorder, x)
    }
}
