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
//!         Ok(Net {
//!             hidden: linear(1, 12, vb.pp("hidden"))?,
//!             output: linear(12, 1, vb.pp("output"))?,
//!         })
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
//! let mut optimizer =
//!     LeastSquaresTrainer::<f64>::new(&varmap, LevenbergMarquardt::new(), MeanSquaredError)?;
//! for _ in 0..60 {
//!     // With candle's AdamW: optimizer.backward_step(&loss)?;
//!     let report = optimizer.step(&y, || net.forward(&x))?;
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
//! out, from which steps are computed exactly: they are those of the same [`marquardt::nn::Network`], but for rounding and for the second
//! derivatives of [acceleration](marquardt::solver::Acceleration), which are differences here. Taking them is a change of an import:
//!
//! | candle_nn | here | |
//! |---|---|---|
//! | `linear`, `linear_no_bias`, `linear_b`, `Linear` | the same | rows, and sequences of the shape `samples × positions × inputs` |
//! | `conv1d`, `conv1d_no_bias`, `Conv1d` | the same | any stride, padding, dilation and groups |
//! | `conv2d`, `conv2d_no_bias`, `Conv2d` | the same | likewise |
//! | `embedding`, `Embedding` | the same | |
//! | `layer_norm`, `LayerNorm` | the same | |
//! | `batch_norm`, `BatchNorm` | the same | by running statistics; training mode is refused |
//! | `Dropout` | the same | masks are held during a step |
//! | `Tensor::tanh`, `ops::sigmoid` | `tanh`, `sigmoid` | sooner on the processor; nobody has to take them |
//!
//! Activations, pooling and arithmetic stay candle's. On the processor candle computes hyperbolic tangents one at a time, which can
//! be half of a step: [`tanh`] and [`sigmoid`] are theirs in vector instructions. Outside of steps the layers are candle's to the last bit
//! (`Conv1d` to rounding). The first dimension of
//! what goes into a layer is that of the samples.
//!
//! A model may be made of other layers, in part or altogether: if the recorded ones do not cover all variables, steps are those of
//! truncated conjugate gradients on products with the Jacobian
//! ([`with_truncation`](marquardt::LevenbergMarquardt::with_truncation)). They are worse, and each takes some forty passes.
//! [`TrainerReport::is_recorded`] says which way was taken. In the first step, and wherever the layers change, a gradient from what was
//! recorded is compared with candle's, so that a weight which acts outside of its layer as well is noticed.
//!
//! # Why not candle's `Optimizer`
//!
//! [`candle_nn::Optimizer`] is given gradients, or one loss whose graph is private: neither holds the residuals of the samples, nor can
//! a step be tried and taken back. Hence the closure, and one line that changes:
//!
//! ```text
//! optimizer.backward_step(&loss(&net.forward(&x)?, &y)?)?;      // candle
//! let report = optimizer.step(&y, || net.forward(&x))?;         // here
//! ```
//!
//! The closure is called two to six times in a step, with other weights in the map each time, and once more in the first. It has to give
//! the same outputs for the same weights: what it draws at random is to be drawn before the step, or by the [`Dropout`] of this crate.
//! candle's own dropout draws anew in each call, and is refused ([`TrainerError::RandomOutputs`]).
//!
//! Samples must not depend on each other. Batch normalisation in training mode is refused by name, whether it is this crate's or
//! candle's; what else mixes samples is noticed in the first step, where layers are recorded.
//!
//! # Files
//!
//! [`LeastSquaresTrainer::save`] writes the variables and the state of the optimizer into one safetensors file, which
//! [`VarMap::load`](candle_nn::VarMap::load) reads as well. After [`LeastSquaresTrainer::load`] a training goes on to the last bit as if
//! it had not been interrupted, masks of dropout included.
//!
//! # Numbers and devices
//!
//! Variables are `f32` or `f64`, and all on one device. Models run where their tensors are. What the solve needs is copied to the
//! processor: the layers' inputs and sensitivities, and the variables. On CUDA and Metal sensitivities are the gradients of added zeros,
//! since operations of one's own would need kernels there; that way is tested on the processor only.
//!
//! # Versions
//!
//! marquardt-candle 0.1 goes with marquardt 0.1 and candle 0.11.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod activation;
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

pub use activation::{sigmoid, tanh};
pub use batch_norm::{BatchNorm, batch_norm};
pub use conv::{Conv1d, Conv2d, conv1d, conv1d_no_bias, conv2d, conv2d_no_bias};
pub use dropout::Dropout;
pub use element::Element;
pub use embedding::{Embedding, embedding};
pub use error::TrainerError;
pub use layer_norm::{LayerNorm, layer_norm};
pub use linear::{Linear, linear, linear_b, linear_no_bias};
pub use trainer::{LeastSquaresTrainer, TrainerReport};
