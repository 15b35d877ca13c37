//! Levenberg–Marquardt in [burn](https://docs.rs/burn)'s training loops.
//!
//! A step is given a module, targets and a closure for the outputs, and returns the module, as a step of burn's L-BFGS does. The loss
//! is one of [`marquardt::nn`], and the optimizer is any of `marquardt`'s: [`LevenbergMarquardt`](marquardt::LevenbergMarquardt),
//! Adam, others.
//!
//! ```
//! use burn::module::Module;
//! use burn::tensor::activation::tanh;
//! use burn::tensor::{Device, Int, Tensor};
//! use marquardt::LevenbergMarquardt;
//! use marquardt::nn::MeanSquaredError;
//! use marquardt_burn::{LeastSquaresTrainer, Linear, LinearConfig}; // in place of burn::nn's
//!
//! #[derive(Module, Debug)]
//! struct Net {
//!     hidden: Linear,
//!     output: Linear,
//! }
//!
//! impl Net {
//!     fn new(device: &Device) -> Self {
//!         Net {
//!             hidden: LinearConfig::new(1, 12).init(device),
//!             output: LinearConfig::new(12, 1).init(device),
//!         }
//!     }
//!
//!     fn forward(&self, x: Tensor<2>) -> Tensor<2> {
//!         self.output.forward(tanh(self.hidden.forward(x)))
//!     }
//! }
//!
//! let device = Device::flex().autodiff();
//! device.seed(1);
//! let x = Tensor::<1, Int>::arange(-20..20, &device).float().unsqueeze_dim::<2>(1) / 20.0;
//! let y = (x.clone() * 3.0).sin();
//! let mut net = Net::new(&device);
//! let mut lm = LeastSquaresTrainer::<f32>::new(LevenbergMarquardt::new(), MeanSquaredError);
//! for _ in 0..60 {
//!     let report;
//!     // With Adam: net = adam.step(rate, net, gradients);
//!     (net, report) = lm.step(net, y.clone(), |net| net.forward(x.clone()))?;
//!     assert!(report.is_recorded);
//! }
//! let error: f32 = (net.forward(x) - y).square().mean().into_scalar();
//! assert!(error < 1e-3);
//! # Ok::<(), marquardt_burn::TrainerError>(())
//! ```
//!
//! # Recorded layers
//!
//! The layers of this crate are burn's own: they have their fields, their records and their display, and are converted from them and
//! into them. In a step they record what goes into them and the sensitivities of what comes out, from which steps are computed
//! exactly. Taking them is a change of an import: [`Linear`], [`Conv2d`], [`Embedding`], [`LayerNorm`], and their configurations.
//! Activations, pooling, dropout and arithmetic stay burn's. On the processor, however, burn's `tanh` and `sigmoid` can be more than half of a
//! step: [`tanh`] and [`sigmoid`] are theirs in vector instructions. Outside of steps the layers are burn's to the last bit.
//!
//! Models with other layers train as well, by truncated conjugate gradients on products with the Jacobian
//! ([`with_truncation`](marquardt::LevenbergMarquardt::with_truncation)): steps are worse, and each takes some forty passes. The report
//! says which way was taken.
//!
//! # Why not burn's `Optimizer`
//!
//! burn's `Optimizer` sees the gradient of one parameter at a time: neither residuals nor the other parameters, which a step of
//! Levenberg–Marquardt needs all at once; nor can a step be tried and taken back. Hence the closure, which is called two to six
//! times in a step, and for a loss of several outputs once more for each of them: burn's graphs can be pulled through once only.
//!
//! Random draws of burn's layers, such as the masks of dropout, are the same in each call, and others in the next step: where a
//! module has such layers, burn's generator is seeded before each call with a number that was drawn from it. Samples must not depend
//! on each other: [`BatchNorm`](burn::nn::BatchNorm) in training mode is refused, and what mixes samples otherwise is looked for in
//! the first step of a trainer and wherever the recorded layers change.
//!
//! # Numbers and devices
//!
//! A trainer is of `f32` or of `f64`, as the module's parameters are; those of half precision are refused. Models run where their
//! tensors are. What the solve needs is copied to the processor: the layers' inputs and sensitivities, and the parameters.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod activation;
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

pub use activation::{sigmoid, tanh};
pub use conv2d::{Conv2d, Conv2dConfig};
pub use element::Element;
pub use embedding::{Embedding, EmbeddingConfig};
pub use error::TrainerError;
pub use layer_norm::{LayerNorm, LayerNormConfig};
pub use linear::{Linear, LinearConfig};
pub use trainer::{LeastSquaresTrainer, TrainerReport};
