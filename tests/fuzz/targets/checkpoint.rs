//! Checkpoints of trainings: a good one, edited and with a checksum that fits, is gone on from or refused. By the first byte
//! the rest is a whole file instead.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use marquardt::nn::{MeanSquaredError, Network, Sequential};
use marquardt::optim::{Adam, MovingAverage, Optimizer};
use marquardt::train::{
    Checkpoint, EarlyStopping, MeanError, R2Score, ReduceLearningRateOnPlateau, TrainError, Trainer,
};
use marquardt::{LevenbergMarquardt, Variables};
use ndarray::Array2;
use serde_json::Value;

use super::edits::edit;
use crate::choices::Choices;

pub const WORDS: &[&str] = &["marquardt checkpoint 1 ", "marquardt checkpoint ", "\n", "{}", "cbf29ce484222325"];

type Make = fn() -> Box<dyn Optimizer<f64>>;

const MAKERS: [Make; 3] = [
    || Box::new(LevenbergMarquardt::new()),
    || Box::new(Adam::new(0.01)),
    || Box::new(MovingAverage::new(Adam::new(0.01))),
];

fn network() -> (Network<f64>, Variables<f64>) {
    let mut variables = Variables::new();
    let layers = Sequential::new(2).dense(2).tanh().dropout(0.1).dense(1);
    (layers.compile(&mut variables, 5, MeanSquaredError).expect("the layers fit"), variables)
}

/// Trains up to an epoch, from a checkpoint if there is one, and returns where it ended.
fn train(make: Make, epochs: usize, from: Option<Checkpoint<f64>>) -> Result<Checkpoint<f64>, TrainError> {
    let x = Array2::from_shape_fn((10, 2), |(i, j)| ((5 * i + 3 * j) as f64).sin());
    let y = x.map_axis(ndarray::Axis(1), |row| row[0] * row[1]).insert_axis(ndarray::Axis(1));
    let ((mut network, mut variables), mut optimizer) = (network(), make());
    let before = variables.clone();
    let mut trainer = Trainer::new(&mut network, &mut variables, &mut *optimizer).epochs(epochs).batch_size(4);
    trainer = trainer.validation_split(0.2).metric(R2Score::new()).metric(MeanError::squared());
    trainer = trainer.callback(EarlyStopping::monitor("val_loss").with_patience(9).with_restore_best_weights(true));
    trainer = trainer.callback(ReduceLearningRateOnPlateau::monitor("val_loss").with_patience(1));
    if let Some(checkpoint) = from {
        trainer = trainer.restore(checkpoint);
    }
    let outcome = trainer.fit(&[x.view()], &[y.view()]);
    let checkpoint = trainer.checkpoint().cloned();
    drop(trainer);
    assert!(variables.values().iter().all(|value| value.is_finite()));
    let history = match outcome {
        Err(error) if error.history().is_none() => {
            assert!(!error.to_string().is_empty());
            assert_eq!(variables, before, "{error}");
            return Err(error);
        }
        Err(error) => return Err(error),
        Ok(history) => history,
    };
    assert!(history.names().all(|name| history.column(name).is_some_and(|column| column.len() == history.len())));
    Ok(checkpoint.expect("a training that has ended has a checkpoint"))
}

/// Good checkpoints, one for each optimizer.
fn good() -> &'static [Value] {
    static GOOD: OnceLock<Vec<Value>> = OnceLock::new();
    GOOD.get_or_init(|| {
        let checkpoint = |&make| train(make, 2, None).expect("the training is sound");
        MAKERS.iter().map(|make| serde_json::to_value(checkpoint(make)).expect("it is written")).collect()
    })
}

/// Fowler, Noll and Vo's hash 1a, the checksum of the files.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn path() -> &'static PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| std::env::temp_dir().join(format!("marquardt-fuzz-{}", std::process::id())))
}

pub fn run(bytes: &[u8]) -> bool {
    let mut choices = Choices(bytes);
    let optimizer = choices.below(MAKERS.len());
    let file = if choices.one_in(8) {
        choices.0.to_vec()
    } else {
        let mut json = good()[optimizer].clone();
        for _ in 0..1 + choices.below(3) {
            edit(&mut json, &mut choices);
        }
        let body = serde_json::to_vec(&json).expect("JSON is written");
        [format!("marquardt checkpoint 1 {:016x}\n", checksum(&body)).into_bytes(), body].concat()
    };
    fs::write(path(), file).expect("the temporary file is written");
    match Checkpoint::load(path()) {
        Ok(checkpoint) => train(MAKERS[optimizer], 4, Some(checkpoint)).is_ok(),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}
