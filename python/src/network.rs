//! Training of small dense networks.

use std::sync::mpsc::{Sender, channel};

use marquardt::nn::{
    BinaryCrossentropy, CategoricalCrossentropy, Function, MeanSquaredError, Network, Sequential,
    SparseCategoricalCrossentropy,
};
use marquardt::optim::{KroneckerLevenbergMarquardt, Laplace, Optimizer, from_name};
use marquardt::solver::CancelToken;
use marquardt::train::{Accuracy, EarlyStopping, MeanError, OnEpochEnd, R2Score, Trainer};
use marquardt::{LevenbergMarquardt, Variables};
use numpy::ndarray::Array2;
use numpy::{PyArray2, PyArrayDyn, PyReadonlyArray2, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::value_error;
use crate::options::given;
use crate::run;

/// Layers, and how they are trained.
struct Plan {
    /// Units and activation of each layer; losses of classes are of logits.
    layers: Vec<(usize, String)>,
    loss: String,
    optimizer: String,
    learning_rate: Option<f64>,
    weight_decay: f64,
    epochs: usize,
    batch_size: usize,
    /// Share of the rows, from the end, that is held out.
    validation_split: f64,
    /// Passes without an improvement of this size after which training ends.
    early_stopping: Option<(usize, f64)>,
    seed: u64,
    /// Entries of all arrays in order; drawn by the seed by default.
    start: Option<Vec<f64>>,
    /// Names of metrics in the history.
    metrics: Option<Vec<String>>,
    /// Whether rows are in a new order in each pass, as by default.
    shuffle: Option<bool>,
    /// Weight of each row.
    sample_weight: Option<Vec<f64>>,
}

/// Data of a training.
struct Rows {
    x: Array2<f64>,
    y: Array2<f64>,
    /// Rows that are held out.
    validation: Option<(Array2<f64>, Array2<f64>)>,
}

/// Logs of one pass, and the channel by which the thread that trains sends them.
type EpochLogs = Vec<(String, f64)>;
type ToCaller = Sender<EpochLogs>;

impl Plan {
    fn of(options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let needed = |name: &str| value_error(format!("{name} is missing"));
        macro_rules! taken {
            ([$($name:ident),*], [$($optional:ident),*]) => {
                Plan {
                    $($name: given(options, stringify!($name))?.ok_or_else(|| needed(stringify!($name)))?,)*
                    $($optional: given(options, stringify!($optional))?,)*
                }
            };
        }
        Ok(taken!(
            [layers, loss, optimizer, weight_decay, epochs, batch_size, validation_split, seed],
            [learning_rate, early_stopping, start, metrics, shuffle, sample_weight]
        ))
    }

    fn network(&self, variables: &mut Variables<f64>, inputs: usize) -> Result<Network<f64>, String> {
        let mut layers = Sequential::new(inputs);
        for (units, activation) in &self.layers {
            layers = layers.dense(*units);
            layers = match activation.as_str() {
                "linear" => layers,
                "tanh" => layers.apply(Function::Tanh),
                "relu" => layers.apply(Function::Relu),
                "sigmoid" => layers.apply(Function::Sigmoid),
                "silu" => layers.apply(Function::Silu),
                "softplus" => layers.apply(Function::Softplus),
                other => return Err(format!("there is no activation {other:?}")),
            };
        }
        let network = match self.loss.as_str() {
            "mean_squared_error" => layers.compile(variables, self.seed, MeanSquaredError),
            "sparse_categorical_crossentropy" => layers.compile(variables, self.seed, SparseCategoricalCrossentropy),
            "categorical_crossentropy" => layers.compile(variables, self.seed, CategoricalCrossentropy),
            "binary_crossentropy" => layers.compile(variables, self.seed, BinaryCrossentropy),
            other => return Err(format!("there is no loss {other:?}")),
        };
        let network = network.map_err(|error| error.to_string())?;
        if let Some(start) = &self.start {
            let values = variables.values_mut();
            if values.len() != start.len() {
                return Err(format!("the network has {} weights, not {}", values.len(), start.len()));
            }
            values.copy_from_slice(start);
        }
        Ok(network)
    }

    fn optimizer(&self) -> Result<Box<dyn Optimizer<f64>>, String> {
        let decay = self.weight_decay;
        let mut optimizer: Box<dyn Optimizer<f64>> = match self.optimizer.as_str() {
            "lm" => Box::new(LevenbergMarquardt::new().with_weight_decay(decay).exclude_from_weight_decay(["*bias*"])),
            "kfac" => {
                let kronecker = KroneckerLevenbergMarquardt::new().with_weight_decay(decay);
                Box::new(kronecker.exclude_from_weight_decay(["*bias*"]))
            }
            name => from_name(name).map_err(|error| error.to_string())?,
        };
        if let Some(rate) = self.learning_rate {
            optimizer.set_hyperparameter("learning_rate", rate.into()).map_err(|error| error.to_string())?;
        }
        Ok(optimizer)
    }

    /// Trains, and returns the variables and the history by columns.
    fn train(&self, rows: &Rows, token: CancelToken, to_caller: ToCaller) -> Trained {
        let mut variables = Variables::new();
        let mut network = self.network(&mut variables, rows.x.ncols())?;
        let mut optimizer = self.optimizer()?;
        let mut trainer = Trainer::new(&mut network, &mut variables, &mut *optimizer)
            .epochs(self.epochs)
            .batch_size(self.batch_size)
            .shuffle(self.shuffle.unwrap_or(true).then_some(self.seed))
            .cancel_token(token);
        for name in self.metrics.iter().flatten() {
            trainer = match name.as_str() {
                "accuracy" => trainer.metric(Accuracy::new()),
                "binary_accuracy" => trainer.metric(Accuracy::binary()),
                "mae" => trainer.metric(MeanError::absolute()),
                "mse" => trainer.metric(MeanError::squared()),
                "rmse" => trainer.metric(MeanError::root_squared()),
                "r2_score" => trainer.metric(R2Score::new()),
                other => return Err(format!("there is no metric {other:?}")),
            };
        }
        if let Some(weights) = &self.sample_weight {
            trainer = trainer.sample_weights(weights);
        }
        let has_validation = self.validation_split > 0.0 || rows.validation.is_some();
        if self.validation_split > 0.0 {
            trainer = trainer.validation_split(self.validation_split);
        }
        if let Some((x, y)) = &rows.validation {
            trainer = trainer.validation(&[x.view()], &[y.view()]);
        }
        if let Some((patience, min_delta)) = self.early_stopping {
            let stopping = EarlyStopping::monitor(if has_validation { "val_loss" } else { "loss" });
            let stopping = stopping.with_patience(patience).with_min_delta(min_delta);
            trainer = trainer.callback(stopping.with_restore_best_weights(has_validation));
        }
        trainer = trainer.callback(OnEpochEnd::new(move |logs, _| {
            // A caller that has gone needs no logs.
            to_caller.send(logs.iter().map(|(name, value)| (name.to_owned(), value)).collect()).ok();
            Ok(())
        }));
        let history = trainer.fit(&[rows.x.view()], &[rows.y.view()]).map_err(|error| error.to_string())?;
        let columns = history.names().filter_map(|name| Some((name.to_owned(), history.column(name)?.to_vec())));
        let columns = columns.collect();
        drop(trainer);
        Ok((variables, columns))
    }
}

type Trained = Result<(Variables<f64>, Vec<(String, Vec<f64>)>), String>;

/// Trains a network of dense layers, and returns its arrays by name, in order, and the history by columns.
///
/// `on_epoch` is called with the logs of each pass, at most 50 ms after it; training ends where it returns true.
#[pyfunction]
#[pyo3(signature = (x, y, options, threads=0, validation=None, on_epoch=None))]
#[allow(clippy::type_complexity)]
pub fn train_network<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f64>,
    y: PyReadonlyArray2<'py, f64>,
    options: &Bound<'py, PyDict>,
    threads: usize,
    validation: Option<(PyReadonlyArray2<'py, f64>, PyReadonlyArray2<'py, f64>)>,
    on_epoch: Option<Bound<'py, PyAny>>,
) -> PyResult<(Vec<(String, Bound<'py, PyArrayDyn<f64>>)>, Vec<(String, Vec<f64>)>)> {
    let plan = Plan::of(options)?;
    let owned = |array: PyReadonlyArray2<'py, f64>| array.as_array().to_owned();
    let rows = Rows { x: owned(x), y: owned(y), validation: validation.map(|(x, y)| (owned(x), owned(y))) };
    let token = CancelToken::new();
    let (of_worker, of_caller) = (token.clone(), token.clone());
    let (to_caller, logs) = channel::<EpochLogs>();
    let mut tell = || {
        for logs in logs.try_iter() {
            if let Some(on_epoch) = on_epoch.as_ref().filter(|_| !of_caller.is_cancelled())
                && on_epoch.call1((logs,))?.is_truthy()?
            {
                of_caller.cancel();
            }
        }
        Ok(())
    };
    let work = move || plan.train(&rows, of_worker, to_caller);
    let trained = run::watched(py, threads, || token.cancel(), &mut tell, work)?;
    tell()?;
    let (variables, history) = trained.map_err(value_error)?;
    let arrays = variables
        .iter()
        .map(|variable| (variables.name(variable).to_owned(), variables.get(variable).to_owned().to_pyarray(py)))
        .collect();
    Ok((arrays, history))
}

/// Outputs of a trained network at other rows, with standard deviations, given all rows that it was trained on; `start` has its weights.
#[pyfunction]
#[pyo3(signature = (x, y, at, options, threads=0))]
#[allow(clippy::type_complexity)]
pub fn predict_with_std<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f64>,
    y: PyReadonlyArray2<'py, f64>,
    at: PyReadonlyArray2<'py, f64>,
    options: &Bound<'py, PyDict>,
    threads: usize,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>)> {
    let plan = Plan::of(options)?;
    let [x, y, at] = [x, y, at].map(|array| array.as_array().to_owned());
    let work = move || {
        let mut variables = Variables::new();
        let mut network = plan.network(&mut variables, x.ncols())?;
        network.batch(&[x.view()], &[y.view()]).map_err(|error| error.to_string())?;
        let posterior = Laplace::new().fit(&mut network, &variables).map_err(|error| error.to_string())?;
        posterior.predict_with_std(&mut network, &[at.view()]).map_err(|error| error.to_string())
    };
    let predicted = run::elsewhere(py, threads, || (), work)?.map_err(value_error)?;
    Ok((predicted.mean.to_pyarray(py), predicted.std.to_pyarray(py)))
}
