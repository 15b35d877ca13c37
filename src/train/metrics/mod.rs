//! Metrics: measures of a network's outputs beside its loss.

mod accuracy;
mod classes;
mod confusion_matrix;
mod mean;
mod mean_error;
mod metric;
mod r2_score;

pub use accuracy::Accuracy;
pub use classes::balanced_class_weights;
pub(super) use classes::{class_count, target_class};
pub use confusion_matrix::ConfusionMatrix;
pub use mean_error::MeanError;
pub use metric::Metric;
pub use r2_score::R2Score;
