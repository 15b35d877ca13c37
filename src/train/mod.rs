//! Training with the interface of Keras: epochs of shuffled minibatches, validation, metrics, callbacks, a history, and checkpoints from
//! which a training is resumed bit for bit.
//!
//! ```
//! use marquardt::{LevenbergMarquardt, Variables};
//! use marquardt::nn::{MeanSquaredError, Sequential};
//! use marquardt::train::{EarlyStopping, R2Score, Trainer};
//! use ndarray::Array2;
//!
//! let x = Array2::from_shape_fn((500, 1), |(i, _)| i as f64 / 250.0 - 1.0);
//! let y = x.mapv(|x| (5.0 * x).sin());
//!
//! let mut variables = Variables::new();
//! let mut network = Sequential::new(1).dense(10).tanh().dense(1).compile(
//!     &mut variables,
//!     0,
//!     MeanSquaredError,
//! )?;
//! let mut optimizer = LevenbergMarquardt::new();
//! let history = Trainer::new(&mut network, &mut variables, &mut optimizer)
//!     .epochs(50)
//!     .batch_size(100)
//!     .shuffle(7)
//!     .metric(R2Score::new())
//!     .callback(EarlyStopping::monitor("loss").with_patience(5).with_restore_best_weights(true))
//!     .fit(&[x.view()], &[y.view()])?;
//! assert!(history.last("loss").unwrap() < 1e-6);
//! assert!(history.last("r2_score").unwrap() > 0.999);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | type | content |
//! |---|---|
//! | [`Trainer`] | `fit`, `evaluate`, `predict`, `train_step` |
//! | [`History`] | logs of every epoch, by name |
//! | [`Metric`]: [`Accuracy`], [`MeanError`], [`R2Score`] | metrics besides the loss |
//! | [`ConfusionMatrix`] | counts of samples by true and predicted class |
//! | [`Callback`]: [`EarlyStopping`], [`ReduceLearningRateOnPlateau`], [`LearningRateScheduler`], [`TerminateOnNonFinite`], [`OnEpochEnd`] | observers that may change or stop the training |
#![cfg_attr(feature = "csv", doc = "| [`CsvLogger`] | a line for each epoch |")]
#![cfg_attr(feature = "progress", doc = "| [`Progress`] | a bar for each epoch |")]
#![cfg_attr(feature = "safetensors", doc = "| [`ModelCheckpoint`] | weights on disk, the best or every so often |")]
//! | [`Checkpoint`] | state from which a training is resumed |

mod callbacks;
mod checkpoint;
mod error;
mod history;
mod logs;
mod metrics;
mod order;
mod stop;
mod sums;
mod trainer;

#[cfg(feature = "csv")]
pub use callbacks::CsvLogger;
#[cfg(feature = "safetensors")]
pub use callbacks::ModelCheckpoint;
#[cfg(feature = "progress")]
pub use callbacks::Progress;
pub use callbacks::{
    Callback, CallbackState, Context, EarlyStopping, LearningRateScheduler, Mode, OnEpochEnd,
    ReduceLearningRateOnPlateau, TerminateOnNonFinite,
};
pub use checkpoint::{Checkpoint, CheckpointError};
pub use error::{CallbackError, TrainError};
pub use history::History;
pub use logs::Logs;
pub use metrics::{Accuracy, ConfusionMatrix, MeanError, Metric, R2Score, balanced_class_weights};
pub use stop::StopReason;
pub use trainer::Trainer;

pub use crate::nn::Predictions;
