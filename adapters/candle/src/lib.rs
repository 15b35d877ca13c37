//! Levenberg–Marquardt in [candle](https://docs.rs/candle-core)'s training loops.
//!
//! The closure of a step gives a model's outputs, the loss is one of [`marquardt::nn`], and the optimizer is any of `marquardt`'s:
//! [`LevenbergMarquardt`](marquardt::LevenbergMarquardt), Adam, others.
//!
//! ```
//! use candle_core::{DType, Device, Tensor};
//! use candle_nn::{Module, VarBuilder, VarMap};
//! use marquardt::LevenbergMarquardt;
//! use marquardt::nn::MeanSquaredError;
//! use marquardt_candle::{LeastSquaresTrainer, Linear, linear};
//!
//! struct Net {
//!     hidden: Linear,
//!     output: Linear,
//! }
//!
//! impl Net {
//!     fn new(vb: VarBuilder) -> candle_core::Result<Self> {
//!         Ok(Net { hidden: linear(1, 12, vb.pp("hidden"))?, output: linear(12, 1, vb.pp("output"))? })
//!     }
//!
//!     fn forward(&self, x: &Tensor) -> candle_core::Result<Tensor> {
//!         self.output.forward(&self.hidden.forward(x)?.tanh()?)
//!     }
//! }
//!
//! let device = Device::Cpu;
//! let x = Tensor::arange_step(-1.0, 1.0, 0.05, &device)?;
//! let (x, y) = (x.unsqueeze(1)?, x.affine(3.0, 0.0)?.sin()?.unsqueeze(1)?);
//! let varmap = VarMap::new();
//! let net = Net::new(VarBuilder::from_varmap(&varmap, DType::F64, &device))?;
//! let mut optimizer = LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError)?;
//! for _ in 0..60 {
//!     let report = optimizer.step(&y, || net.forward(&x))?; // with candle's AdamW: optimizer.backward_step(&loss)?
//!     assert!(report.is_recorded);
//! }
//! let error = (net.forward(&x)? - &y)?.sqr()?.mean_all()?.to_scalar::<f64>()?;
//! assert!(error < 1e-3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Recorded layers
//!
//! The layers of this crate are candle's own. In a step they record what goes into them and the sensitivities of what comes
//! out, from which steps are computed exactly. Taking them is a change of an import: [`linear`], [`linear_no_bias`], [`Linear`],
//! [`embedding`], [`Embedding`], [`layer_norm`], [`LayerNorm`]. Activations, pooling and arithmetic stay candle's. Outside of steps
//! the layers are candle's to the last bit.
//!
//! Models with other layers train as well, by truncated conjugate gradients on products with the Jacobian
//! ([`with_truncation`](marquardt::LevenbergMarquardt::with_truncation)): steps are worse, and each takes some forty passes. The report
//! says which way was taken.
//!
//! # Why not candle's `Optimizer`
//!
//! [`candle_nn::Optimizer`] is given gradients, or one loss whose graph is private: neither holds the residuals, nor can a step be
//! tried and taken back. Hence the closure, which is called two to four times in a step. What it draws at random, such as the masks of
//! dropout, has to be the same in each call: draw it before the step. Samples must not depend on each other: batch normalisation in
//! training mode is refused, by the first step of a trainer and wherever the recorded layers change.
//!
//! # Devices
//!
//! Models run where their tensors are. What the solve needs is copied to the processor: the layers' inputs and sensitivities, and the
//! variables.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod batch_norm;
mod conv;
#[cfg(test)]
mod derivatives;
mod dropout;
mod element;
mod embedding;
mod error;
mod layer_norm;
mod linear;
mod masks;
mod model;
mod recorder;
mod saving;
mod taps;
mod trainer;

pub use batch_norm::{BatchNorm, batch_norm};
pub use conv::{Conv1d, Conv2d, conv1d, conv1d_no_bias, conv2d, conv2d_no_bias};
pub use dropout::Dropout;
pub use element::Element;
pub use embedding::{Embedding, embedding};
pub use error::TrainerError;
pub use layer_norm::{LayerNorm, layer_norm};
pub use linear::{Linear, linear, linear_b, linear_no_bias};
pub use trainer::{LeastSquaresTrainer, TrainerReport};
