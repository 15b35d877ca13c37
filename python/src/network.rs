//! Training of small dense networks.

use marquardt::nn::{MeanSquaredError, Network, NetworkError, Sequential, SparseCategoricalCrossentropy};
use marquardt::optim::{Adam, KroneckerLevenbergMarquardt, Optimizer};
use marquardt::solver::CancelToken;
use marquardt::train::{EarlyStopping, Trainer};
use marquardt::{LevenbergMarquardt, Variables};
use numpy::ndarray::{Array2, ArrayView2};
use numpy::{PyArrayDyn, PyReadonlyArray2, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::value_error;
use crate::options::given;
use crate::run;

/// Layers, and how they are trained.
struct Plan {
    hidden: Vec<usize>,
    activation: String,
    is_classifier: bool,
    optimizer: String,
    learning_rate: f64,
    weight_decay: f64,
    epochs: usize,
    batch_size: usize,
    /// Share of the rows, from the end, that is held out to stop early.
    validation_split: f64,
    patience: usize,
    min_delta: f64,
    seed: u64,
}

impl Plan {
    fn of(options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let needed = |name: &str| value_error(format!("{name} is missing"));
        macro_rules! taken {
            ($($name:ident),*) => {
                Plan { $($name: given(options, stringify!($name))?.ok_or_else(|| needed(stringify!($name)))?),* }
            };
        }
        Ok(taken!(
            hidden,
            activation,
            is_classifier,
            optimizer,
            learning_rate,
            weight_decay,
            epochs,
            batch_size,
            validation_split,
            patience,
            min_delta,
            seed
        ))
    }

    fn network(&self, variables: &mut Variables<f64>, inputs: usize, outputs: usize) -> Result<Network<f64>, String> {
        let mut layers = Sequential::new(inputs);
        for &units in &self.hidden {
            layers = layers.dense(units);
            layers = match self.activation.as_str() {
                "tanh" => layers.tanh(),
                "relu" => layers.relu(),
                "logistic" => layers.sigmoid(),
                "identity" => layers,
                other => return Err(format!("there is no activation {other:?}")),
            };
        }
        let layers = layers.dense(outputs);
        let network: Result<_, NetworkError> = match self.is_classifier {
            true => layers.compile(variables, self.seed, SparseCategoricalCrossentropy),
            false => layers.compile(variables, self.seed, MeanSquaredError),
        };
        network.map_err(|error| error.to_string())
    }

    fn optimizer(&self) -> Result<Box<dyn Optimizer<f64>>, String> {
        let decay = self.weight_decay;
        match self.optimizer.as_str() {
            "lm" => {
                Ok(Box::new(LevenbergMarquardt::new().with_weight_decay(decay).exclude_from_weight_decay(["*bias*"])))
            }
            "kfac" => {
                let kronecker = KroneckerLevenbergMarquardt::new().with_weight_decay(decay);
                Ok(Box::new(kronecker.exclude_from_weight_decay(["*bias*"])))
            }
            "adam" => Ok(Box::new(Adam::new(self.learning_rate))),
            other => Err(format!("there is no optimizer {other:?}; there are lm, kfac, adam")),
        }
    }

    /// Trains, and returns the variables and the history by columns.
    fn train(&self, x: ArrayView2<'_, f64>, y: ArrayView2<'_, f64>, outputs: usize, token: CancelToken) -> Trained {
        let mut variables = Variables::new();
        let mut network = self.network(&mut variables, x.ncols(), outputs)?;
        let mut optimizer = self.optimizer()?;
        let mut trainer = Trainer::new(&mut network, &mut variables, &mut *optimizer)
            .epochs(self.epochs)
            .batch_size(self.batch_size)
            .shuffle(self.seed)
            .cancel_token(token);
        let has_validation = self.validation_split > 0.0;
        if has_validation {
            trainer = trainer.validation_split(self.validation_split);
        }
        let stopping = EarlyStopping::monitor(if has_validation { "val_loss" } else { "loss" });
        let stopping = stopping.with_patience(self.patience).with_min_delta(self.min_delta);
        let mut trainer = trainer.callback(stopping.with_restore_best_weights(has_validation));
        let history = trainer.fit(&[x], &[y]).map_err(|error| error.to_string())?;
        let columns = history.names().filter_map(|name| Some((name.to_owned(), history.column(name)?.to_vec())));
        let columns = columns.collect();
        drop(trainer);
        Ok((variables, columns))
    }
}

type Trained = Result<(Variables<f64>, Vec<(String, Vec<f64>)>), String>;

/// Trains a network of dense layers, and returns its arrays by name, in order, and the history by columns.
#[pyfunction]
#[pyo3(signature = (x, y, outputs, options, threads=0))]
#[allow(clippy::type_complexity)]
pub fn train_network<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f64>,
    y: PyReadonlyArray2<'py, f64>,
    outputs: usize,
    options: &Bound<'py, PyDict>,
    threads: usize,
) -> PyResult<(Vec<(String, Bound<'py, PyArrayDyn<f64>>)>, Vec<(String, Vec<f64>)>)> {
    let plan = Plan::of(options)?;
    let (x, y): (Array2<f64>, Array2<f64>) = (x.as_array().to_owned(), y.as_array().to_owned());
    let token = CancelToken::new();
    let of_worker = token.clone();
    let work = move || plan.train(x.view(), y.view(), outputs, of_worker);
    let (variables, history) = run::elsewhere(py, threads, || token.cancel(), work)?.map_err(value_error)?;
    let arrays = variables
        .iter()
        .map(|variable| (variables.name(variable).to_owned(), variables.get(variable).to_owned().to_pyarray(py)))
        .collect();
    Ok((arrays, history))
}
