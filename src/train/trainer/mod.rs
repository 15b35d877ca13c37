//! The trainer.

mod data;
mod fit;
mod inference;
mod measured;
mod ranks;
mod resume;
mod run;
mod step;

use std::path::{Path, PathBuf};

use ndarray::ArrayView2;

use data::FitData;
use measured::Measured;

use super::{Callback, Checkpoint, CheckpointError, Metric};
use crate::nn::Network;
use crate::optim::Optimizer;
use crate::real::Real;
use crate::solver::CancelToken;
use crate::variables::Variables;

/// Trains a network, with any optimizer: the role of Keras' `Model.compile` and `Model.fit`.
///
/// Settings have the names of `fit`'s arguments. Data are borrowed, and not copied but for the minibatch at hand;
/// but for callbacks and the end of an epoch nothing is allocated after the first step.
///
/// # Ranks
///
/// With a network [over ranks](Network::with_communicator), each rank gives its shard of the data: rows that follow those
/// of the rank before, more or fewer than there, or none. `batch_size` and `validation_split` count the rows of all, the
/// order of an epoch is one of all rows, and so a training gives the same on any number of ranks, to rounding. Everything
/// else is the same program on all ranks: settings, callbacks, and [variables](Variables::mirror), which is checked. All
/// ranks see the same logs, and end together, by whatever happens on one of them. Only the first prints, draws and writes
/// files.
///
/// ```
/// use marquardt::Variables;
/// use marquardt::nn::{Sequential, SparseCategoricalCrossentropy};
/// use marquardt::optim::Adam;
/// use marquardt::train::{Accuracy, EarlyStopping, Trainer};
/// use ndarray::Array2;
///
/// // Whether a point is inside the circle.
/// let x = Array2::from_shape_fn((400, 2), |(i, k)| {
///     2.0 * (0.618034 * (i + 1) as f64 * (k as f64 + 1.3)).fract() - 1.0
/// });
/// let y = Array2::from_shape_fn((400, 1), |(i, _)| {
///     f64::from(u8::from(x[[i, 0]].hypot(x[[i, 1]]) < 0.8))
/// });
///
/// let mut variables = Variables::new();
/// let layers = Sequential::new(2).dense(16).tanh().dense(2);
/// let mut network = layers.compile(&mut variables, 0, SparseCategoricalCrossentropy)?;
/// let mut optimizer = Adam::new(0.02);
/// let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer)
///     .epochs(60)
///     .batch_size(40)
///     .validation_split(0.25)
///     .metric(Accuracy::new())
///     .callback(
///         EarlyStopping::monitor("val_loss").with_patience(10).with_restore_best_weights(true),
///     );
/// let history = trainer.fit(&[x.view()], &[y.view()])?;
/// assert!(history.last("val_accuracy").unwrap() > 0.9);
///
/// let logs = trainer.evaluate(&[x.view()], &[y.view()])?;
/// assert!(logs.get("accuracy").unwrap() > 0.9);
/// let logits = trainer.predict(&[x.view()])?;
/// assert_eq!(logits.shape(), [400, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Trainer<'a, T: Real> {
    network: &'a mut Network<T>,
    variables: &'a mut Variables<T>,
    optimizer: &'a mut dyn Optimizer<T>,
    settings: TrainerSettings,
    sample_weights: Option<&'a [T]>,
    class_weights: Option<&'a [T]>,
    validation: Option<FitData<'a, T>>,
    metrics: Vec<Measured<T>>,
    callbacks: Vec<Box<dyn Callback<T> + 'a>>,
    cancel: Option<CancelToken>,
    backup: Option<Backup<T>>,
    /// State that the next fit goes on from.
    resume: Option<Checkpoint<T>>,
    /// State in which the last fit ended.
    checkpoint: Option<Checkpoint<T>>,
}

/// Settings of a training.
#[derive(Debug, Clone, Copy)]
struct TrainerSettings {
    epochs: usize,
    initial_epoch: usize,
    batch_size: usize,
    shuffle: Option<u64>,
    drop_remainder: bool,
    validation_split: Option<f64>,
    weight_decay_by_evidence: bool,
}

/// Path, interval and format of checkpoints.
struct Backup<T> {
    path: PathBuf,
    every: usize,
    save: fn(&Checkpoint<T>, &Path) -> Result<(), CheckpointError>,
    /// Checks beforehand that the file can be written.
    check: fn(&Path) -> Result<(), CheckpointError>,
}

impl<'a, T: Real> Trainer<'a, T> {
    /// One epoch, in minibatches of 32, in an order from the seed 0.
    pub fn new(
        network: &'a mut Network<T>,
        variables: &'a mut Variables<T>,
        optimizer: &'a mut dyn Optimizer<T>,
    ) -> Self {
        let settings = TrainerSettings {
            epochs: 1,
            initial_epoch: 0,
            batch_size: 32,
            shuffle: Some(0),
            drop_remainder: false,
            validation_split: None,
            weight_decay_by_evidence: false,
        };
        Trainer {
            network,
            variables,
            optimizer,
            settings,
            sample_weights: None,
            class_weights: None,
            validation: None,
            metrics: Vec::new(),
            callbacks: Vec::new(),
            cancel: None,
            backup: None,
            resume: None,
            checkpoint: None,
        }
    }

    /// Passes over the data; 1 unless set.
    pub fn epochs(mut self, epochs: usize) -> Self {
        self.settings.epochs = epochs;
        self
    }

    /// The number of the first epoch, which the order of the data depends on; 0 unless set.
    pub fn initial_epoch(mut self, initial_epoch: usize) -> Self {
        self.settings.initial_epoch = initial_epoch;
        self
    }

    /// Rows of a minibatch; 32 unless set. The last of an epoch may have fewer.
    pub fn batch_size(mut self, batch_size: usize) -> Self {
        self.settings.batch_size = batch_size;
        self
    }

    /// Sets the seed that shuffles the data in every epoch, or `None` to keep their order; the seed 0 unless set.
    ///
    /// The order of an epoch depends on the seed and the epoch's number alone.
    pub fn shuffle(mut self, seed: impl Into<Option<u64>>) -> Self {
        self.settings.shuffle = seed.into();
        self
    }

    /// Leaves out a last minibatch that is not full; `false` unless set.
    pub fn drop_remainder(mut self, drop_remainder: bool) -> Self {
        self.settings.drop_remainder = drop_remainder;
        self
    }

    /// A weight for each row of the training data.
    pub fn sample_weights(mut self, sample_weights: &'a [T]) -> Self {
        self.sample_weights = Some(sample_weights);
        self
    }

    /// A weight for each class, Keras' `class_weight`: the weight of a training row in [`fit`](Self::fit) is multiplied by that of its class. Validation
    /// data aren't weighted. [`balanced_class_weights`] makes them such that all classes count alike. For networks with one loss.
    ///
    /// [`balanced_class_weights`]: crate::train::balanced_class_weights
    pub fn class_weights(mut self, class_weights: &'a [T]) -> Self {
        self.class_weights = Some(class_weights);
        self
    }

    /// Data that are evaluated after every epoch.
    pub fn validation<'v: 'a>(mut self, inputs: &[ArrayView2<'v, T>], targets: &[ArrayView2<'v, T>]) -> Self {
        self.validation = Some(FitData::new(inputs, targets, None));
        self
    }

    /// The fraction of the training data that is kept from training, and evaluated after every epoch: the last rows. Not
    /// used where there are [`validation`](Self::validation) data.
    pub fn validation_split(mut self, split: f64) -> Self {
        self.settings.validation_split = Some(split);
        self
    }

    /// Whether the weight decay of [`LevenbergMarquardt`](crate::LevenbergMarquardt) is the one that the evidence of the training data asks for; default false.
    ///
    /// This is Bayesian regularisation in minibatches, without rows that are held back: before every epoch, all training data are linearised once, which takes
    /// `2mn² + n³` flops and `n²` numbers of memory of `m` residuals and `n` parameters, and the weight decay goes a step towards the maximum of
    /// the evidence. The [`History`](crate::train::History) has it as `weight_decay`. Normalised inputs and targets, as by
    /// [`Sequential::normalized`](crate::nn::Sequential::normalized), are a condition: all weights decay alike.
    /// [`minimize_variables_by_evidence`](crate::LevenbergMarquardt::minimize_variables_by_evidence) searches further, for data that fit into one batch.
    ///
    /// ```
    /// use marquardt::nn::{MeanSquaredError, Sequential};
    /// use marquardt::train::Trainer;
    /// use marquardt::{LevenbergMarquardt, Variables};
    /// use ndarray::Array2;
    ///
    /// let x = Array2::from_shape_fn((60, 1), |(i, _)| i as f64 / 30.0 - 1.0);
    /// let noise = |i: usize| 0.3 * (12.9898 * (i * i) as f64).sin();
    /// let y = Array2::from_shape_fn((60, 1), |(i, _)| (3.0 * x[[i, 0]]).sin() + noise(i));
    /// let layers = Sequential::new(1).dense(20).tanh().dense(1).normalized(x.view(), y.view())?;
    /// let (mut variables, mut optimizer) = (Variables::new(), LevenbergMarquardt::new());
    /// let mut network = layers.compile(&mut variables, 0, MeanSquaredError)?;
    /// let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer)
    ///     .epochs(40)
    ///     .weight_decay_by_evidence(true);
    /// let history = trainer.fit(&[x.view()], &[y.view()])?;
    /// assert!(history.last("weight_decay").unwrap() > 1e-4);
    /// let errors = trainer.predict(&[x.view()])? - x.mapv(|x| (3.0 * x).sin());
    /// assert!(errors.iter().map(|e| e * e).sum::<f64>() / 60.0 < 0.02);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn weight_decay_by_evidence(mut self, by_evidence: bool) -> Self {
        self.settings.weight_decay_by_evidence = by_evidence;
        self
    }

    /// Adds a metric of the first output.
    ///
    /// On training data it is as in Keras: of every minibatch before its step, with dropout, for which the minibatch passes
    /// through the network once more.
    pub fn metric(self, metric: impl Metric<T> + 'static) -> Self {
        self.metric_of(0, metric)
    }

    /// Adds a metric of the output of another loss, counted from 0. Its name begins with `output_1_` for the second.
    pub fn metric_of(mut self, term: usize, metric: impl Metric<T> + 'static) -> Self {
        self.metrics.push(Measured::new(term, Box::new(metric)));
        self
    }

    /// Adds a callback: itself, or borrowed, to look at it afterwards.
    pub fn callback(mut self, callback: impl Callback<T> + 'a) -> Self {
        self.callbacks.push(Box::new(callback));
        self
    }

    /// Ends the training after the minibatch at hand when the token is used. Nothing is lost:
    /// [`checkpoint`](Self::checkpoint), and the backup if there is one, say how to go on.
    pub fn cancel_token(mut self, token: CancelToken) -> Self {
        self.cancel = Some(token);
        self
    }

    /// The variables, as they are now; [`finish`](Self::finish) gives them back.
    pub fn variables(&self) -> &Variables<T> {
        self.variables
    }

    /// Ends the training, and gives network and variables back, which the trainer has borrowed.
    ///
    /// ```
    /// # use marquardt::Variables;
    /// # use marquardt::nn::{MeanSquaredError, Sequential};
    /// # use marquardt::optim::Adam;
    /// # use marquardt::train::Trainer;
    /// # let (x, y) = (ndarray::Array2::<f64>::ones((8, 2)), ndarray::Array2::<f64>::ones((8, 1)));
    /// # let mut variables = Variables::new();
    /// # let mut network = Sequential::new(2).dense(1).compile(&mut variables, 0, MeanSquaredError)?;
    /// # let mut optimizer = Adam::new(0.02);
    /// let mut trainer = Trainer::new(&mut network, &mut variables, &mut optimizer).epochs(2);
    /// println!("{}", trainer.fit(&[x.view()], &[y.view()])?);
    /// let (network, variables) = trainer.finish();
    /// let loss = network.evaluate(variables, &[x.view()], &[y.view()])?;
    /// # assert!(loss.is_finite());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn finish(self) -> (&'a mut Network<T>, &'a mut Variables<T>) {
        (self.network, self.variables)
    }

    /// The optimizer.
    pub fn optimizer(&self) -> &dyn Optimizer<T> {
        self.optimizer
    }

    /// State in which the last fit ended, before averaged or best weights were put in, so that the training can be continued.
    pub fn checkpoint(&self) -> Option<&Checkpoint<T>> {
        self.checkpoint.as_ref()
    }

    /// Makes the next fit go on from a checkpoint. It must have the same data, callbacks and settings, but may have more
    /// epochs; it ends bit for bit as if there had been no interruption. On another number of ranks, it ends there to
    /// rounding.
    pub fn restore(mut self, checkpoint: Checkpoint<T>) -> Self {
        self.resume = Some(checkpoint);
        self
    }
}

#[cfg(feature = "safetensors")]
impl<T: Real> Trainer<'_, T> {
    /// Writes the variables into a safetensors file, feature `safetensors`, as they are now; Keras' `save_weights`. The trainer has borrowed them
    /// until it is dropped or [finished](Trainer::finish), so that `variables.save_safetensors` is an error of the compiler before.
    ///
    /// # Errors
    ///
    /// Those of [`Variables::save_safetensors`].
    pub fn save_safetensors(&self, path: impl AsRef<Path>) -> Result<(), crate::variables::SafetensorsError> {
        self.variables.save_safetensors(path)
    }
}

#[cfg(feature = "checkpoint")]
impl<T: Real + serde::Serialize + serde::de::DeserializeOwned> Trainer<'_, T> {
    /// Saves a checkpoint after every `every` epochs and at the end, feature `checkpoint`; Keras' `BackupAndRestore`.
    /// With 0, only at the end. A path that cannot be written is an error before the first epoch.
    pub fn backup(mut self, every: usize, path: impl Into<PathBuf>) -> Self {
        let save = |checkpoint: &Checkpoint<T>, path: &Path| checkpoint.save(path);
        self.backup = Some(Backup { path: path.into(), every, save, check: Checkpoint::<T>::check_path });
        self
    }
}
