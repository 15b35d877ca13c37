//! Metrics: measures of a network's outputs beside its loss.

mod accuracy;
mod mean;
mod mean_error;
mod metric;
mod r2_score;

pub use accuracy::Accuracy;
pub use mean_error::MeanError;
pub use metric::Metric;
pub use r2_score::R2Score;
