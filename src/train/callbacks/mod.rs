//! Callbacks, which observe a training, and may change or stop it.

mod callback;
mod context;
#[cfg(feature = "csv")]
mod csv_logger;
mod early_stopping;
#[cfg(feature = "safetensors")]
mod model_checkpoint;
mod monitor;
mod on_epoch_end;
#[cfg(feature = "progress")]
mod progress;
mod reduce_learning_rate;
mod scheduler;
mod state;
mod terminate;

pub use callback::Callback;
pub use context::Context;
#[cfg(feature = "csv")]
pub use csv_logger::CsvLogger;
pub use early_stopping::EarlyStopping;
#[cfg(feature = "safetensors")]
pub use model_checkpoint::ModelCheckpoint;
pub use monitor::Mode;
pub use on_epoch_end::OnEpochEnd;
#[cfg(feature = "progress")]
pub use progress::Progress;
pub use reduce_learning_rate::ReduceLearningRateOnPlateau;
pub use scheduler::LearningRateScheduler;
pub use state::CallbackState;
pub use terminate::TerminateOnNonFinite;
