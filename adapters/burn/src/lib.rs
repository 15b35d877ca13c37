//! Levenberg–Marquardt in [burn](https://docs.rs/burn)'s training loops.

mod conv2d;
mod element;
mod embedding;
mod error;
mod layer;
mod layer_norm;
mod linear;
mod model;
mod patches;
mod places;
mod recorder;
mod trainer;

pub use conv2d::{Conv2d, Conv2dConfig};
pub use element::Element;
pub use embedding::{Embedding, EmbeddingConfig};
pub use error::TrainerError;
pub use layer_norm::{LayerNorm, LayerNormConfig};
pub use linear::{Linear, LinearConfig};
pub use trainer::{LeastSquaresTrainer, TrainerReport};
