//! The trainer.

mod data;
mod fit;
mod inference;
mod measured;
mod ranks;
mod resume;
mod run;
mod step;
mod units;

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

/// Trains a network with any optimizer. Counterpart of Keras' `Model.compile` and `Model.fit`.
///
/// Settings have the names of the arguments of `Model.fit`. Data are borrowed; only the current minibatch is copied. After the first step,
/// memory is allocated only by callbacks and at the end of an epoch.
///
/// # Ranks
///
/// With a network [over ranks](Network::with_communicator), each rank passes its shard of the data: the rows after those of the previous
/// rank, in any number, or none. `batch_size` and `validation_split` count the rows of all ranks, and an epoch shuffles all rows, so that
/// the result does not depend on the number of ranks, except for rounding errors. Settings, callbacks and [variables](Variables::mirror)
/// must be the same on all ranks, which is checked. All ranks have the same logs and end together. Only the first rank prints, draws and
/// writes files.
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
    /// Creates a trainer with the defaults: 1 epoch, minibatches of 32 rows, shuffled with the seed 0.
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

    /// Sets the number of epochs, passes over the data; default 1.
    pub fn epochs(mut self, epochs: usize) -> Self {
        self.settings.epochs = epochs;
        self
    }

    /// Sets the index of the first epoch, on which the order of the data depends; default 0.
    pub fn initial_epoch(mut self, initial_epoch: usize) -> Self {
        self.settings.initial_epoch = initial_epoch;
        self
    }

    /// Sets the number of rows of a minibatch; default 32. The last minibatch of an epoch may have fewer.
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

    /// Sets whether a last minibatch with fewer rows is left out; default `false`.
    pub fn drop_remainder(mut self, drop_remainder: bool) -> Self {
        self.settings.drop_remainder = drop_remainder;
        self
    }

    /// Sets a weight for each row of the training data; default 1.
    pub fn sample_weights(mut self, sample_weights: &'a [T]) -> Self {
        self.sample_weights = Some(sample_weights);
        self
    }

    /// Sets a weight for each class, Keras' `class_weight`; default: all 1. The weight of a training row in [`fit`](Self::fit) is multiplied by that of its class. Validation
    /// data are not weighted. [`balanced_class_weights`] makes them such that all classes count alike. For networks with one loss.
    ///
    /// [`balanced_class_weights`]: crate::train::balanced_class_weights
    pub fn class_weights(mut self, class_weights: &'a [T]) -> Self {
        self.class_weights = Some(class_weights);
        self
    }

    /// Sets validation data, which are evaluated after every epoch; default: none.
    pub fn validation<'v: 'a>(mut self, inputs: &[ArrayView2<'v, T>], targets: &[ArrayView2<'v, T>]) -> Self {
        self.validation = Some(FitData::new(inputs, targets, None));
        self
    }

    /// Sets the fraction of the training data used for validation, between 0 and 1; default: none. The last rows are not trained on, and are
    /// evaluated after every epoch. It has no effect if [`validation`](Self::validation) data are set.
    pub fn validation_split(mut self, split: f64) -> Self {
        self.settings.validation_split = Some(split);
        self
    }

    /// Enables Bayesian regularisation of [`LevenbergMarquardt`](crate::LevenbergMarquardt): the weight decay follows from the evidence of the training data; default `false`.
    ///
    /// Minibatches are trained without rows that are held back. Before every epoch, all training data are linearised once, which takes
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
    /// On training data it is computed as in Keras: for every minibatch before its step, with dropout. This takes one more forward pass for
    /// each minibatch.
    pub fn metric(self, metric: impl Metric<T> + 'static) -> Self {
        self.metric_of(0, metric)
    }

    /// Adds a metric of the output of the loss with this index, counted from 0. For index 1, its name begins with `output_1_`.
    pub fn metric_of(mut self, term: usize, metric: impl Metric<T> + 'static) -> Self {
        self.metrics.push(Measured::new(term, Box::new(metric)));
        self
    }

    /// Adds a callback, by value or as a mutable reference; the latter can be read after the training.
    pub fn callback(mut self, callback: impl Callback<T> + 'a) -> Self {
        self.callbacks.push(Box::new(callback));
        self
    }

    /// Sets a token that ends the training after the current minibatch. The training can be resumed from [`checkpoint`](Self::checkpoint),
    /// or from the backup if there is one.
    pub fn cancel_token(mut self, token: CancelToken) -> Self {
        self.cancel = Some(token);
        self
    }

    /// The current variables; [`finish`](Self::finish) returns them.
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

    /// Makes the next fit continue from a checkpoint. Data, callbacks and settings must be the same, but the number of epochs may be
    /// larger. The result is the same, bit for bit, as without an interruption; on another number of ranks, it is the same to rounding.
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
    /// Saves a checkpoint after every `every` epochs and at the end (Keras' `BackupAndRestore`); with `every = 0`, at the end only. Feature
    /// `checkpoint`. If the path is not writable, the training fails before the first epoch.
    pub fn backup(mut self, every: usize, path: impl Into<PathBuf>) -> Self {
        let save = |checkpoint: &Checkpoint<T>, path: &Path| checkpoint.save(path);
        self.backup = Some(Backup { path: path.into(), every, save, check: Checkpoint::<T>::check_path });
        self
    }
}
