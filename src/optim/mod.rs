//! Optimizers, which update variables, one minibatch at a time.
//!
//! A training loop takes a `Box<dyn Optimizer<T>>` and does not know which it has.
//!
//! ```
//! use marquardt::nn::{MeanSquaredError, Sequential};
//! use marquardt::optim::{Adam, Optimizer};
//! use marquardt::{LevenbergMarquardt, Variables};
//! use ndarray::array;
//!
//! let (x, y) = (array![[0.0], [0.5], [1.0]], array![[0.0], [0.25], [1.0]]);
//! let optimizers: [Box<dyn Optimizer<f64>>; 2] =
//!     [Box::new(LevenbergMarquardt::new()), Box::new(Adam::new(0.01))];
//! for mut optimizer in optimizers {
//!     let mut variables = Variables::new();
//!     let layers = Sequential::new(1).dense(4).tanh().dense(1);
//!     let mut network = layers.compile(&mut variables, 0, MeanSquaredError)?;
//!     let report = optimizer.step(network.batch(&[x.view()], &[y.view()])?, &mut variables)?;
//!     assert!(report.loss.is_finite());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | | what it is |
//! |---|---|
//! | [`Sgd`], [`Adam`], [`AdamW`], [`RmsProp`], [`Adagrad`] | first-order optimizers, by Keras' or PyTorch's formulas |
//! | [`LevenbergMarquardt`](crate::LevenbergMarquardt) | damped Gauss–Newton steps, exact or, in classification by minibatches, with Kronecker factors |
//! | [`KroneckerLevenbergMarquardt`] | damped Gauss–Newton steps with Kronecker factors (K-FAC), for classification |
//! | [`FirstOrder`] with an own [`UpdateRule`] | your own |
//! | [`MovingAverage`] | averaged weights beside any optimizer |
//! | [`Groups`] | several optimizers, each for some of the variables |
//! | [`Laplace`] | predictions with error bars, after training |
//! | [`Schedule`] | hyperparameters that change with the steps |

mod convention;
mod error;
mod finite;
mod first_order;
mod from_name;
mod gradients;
mod groups;
mod hyperparameter_table;
mod kronecker;
mod laplace;
mod layout;
mod levenberg_marquardt;
mod moving_average;
mod optimizer;
mod report;
mod rules;
mod state;
mod state_reader;
mod state_writer;

pub use convention::Convention;
pub use error::{OptimizerError, OptimizerResult};
pub use first_order::{FirstOrder, NonFinite, SlotSpec, Slots, StepContext, UpdateRule};
pub use from_name::from_name;
pub use groups::Groups;
use hyperparameter_table::hyperparameter_builders;
pub use kronecker::{KroneckerLevenbergMarquardt, KroneckerStep};
pub use laplace::{Laplace, LaplacePosterior, PredictionWithStd};
pub use levenberg_marquardt::Evidence;
pub use moving_average::MovingAverage;
pub use optimizer::Optimizer;
pub use report::{DampedStep, FactoredStep, StepReport};
pub use rules::{Adagrad, AdagradRule, Adam, AdamRule, AdamW, RmsProp, RmsPropRule, Sgd, SgdRule};
pub use state::OptimizerState;

pub use crate::hyperparameters::{
    CosineDecay, CosineDecayRestarts, ExponentialDecay, Hyperparameter, HyperparameterDomain, HyperparameterError,
    HyperparameterSpec, InverseTimeDecay, LinearWarmup, PiecewiseConstantDecay, PolynomialDecay, Schedule, TimeDecay,
};
