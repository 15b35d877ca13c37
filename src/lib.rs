//! Nonlinear least squares: `marquardt` finds the parameters that minimise `½‖r(x)‖²`, to the last digits that rounding allows, with their
//! standard errors. The same iteration, one minibatch at a time, trains small networks.
//!
//! The crate is not on crates.io yet: a project beside a clone takes it by `cargo add --path ../marquardt`.
//!
//! There are three main uses: [fit a curve](#fit-a-curve), [solve a least-squares problem](#solve-a-least-squares-problem), [train a small
//! network](#train-a-small-network).
//!
//! # Fit a curve
//!
//! [`curve_fit`] takes a closure, data and a start, and differentiates the closure exactly.
//!
//! ```
//! use marquardt::curve_fit;
//!
//! let hours = [0.0, 1.0, 2.0, 4.0, 6.0, 9.0_f64];
//! let milligrams = [9.8, 7.5, 5.4, 3.1, 1.6, 0.7];
//! let fit =
//!     curve_fit(|t, [dose, rate]| dose * (-rate * t).exp(), &hours, &milligrams, [5.0, 1.0])?;
//!
//! let rate = &fit.parameters()[1];
//! assert!((rate.value - 0.3).abs() < 0.02 && rate.standard_error < 0.02);
//! println!("{fit}");
//! # Ok::<(), marquardt::CurveError>(())
//! ```
//!
//! [`CurveFit`] supports [`models`] of the library and [formulas](model!), several predictors and responses, and derivatives by hand;
//! bounds, fixed and [tied](tie!) parameters, and priors; sigma, covariances, counts and robust losses. It can
//! [eliminate](CurveFit::variable_projection) linear parameters and use [many starts](CurveFit::multi_start). [`GlobalFit`] fits data sets
//! that share parameters. A fit with a bad end is [tried again](CurveFit::retry). [`FittedCurve`] has the [report](FittedCurve::summary),
//! [warnings](FittedCurve::warnings), intervals by Student's t, by [profiles](FittedCurve::profile_interval) and by
//! [resampling](FittedCurve::bootstrap), bands, criteria, diagnostics, and, with the feature `plot`, a plot.
//!
//! # Solve a least-squares problem
//!
//! Residuals of any kind, written once over a [`Scalar`], are differentiated exactly. This example finds a position from its distances to
//! three beacons.
//!
//! ```
//! use marquardt::{AutoDiff, EvaluationError, LevenbergMarquardt, Residuals, Scalar};
//!
//! /// `[east, north, distance]` of each beacon.
//! struct Beacons([[f64; 3]; 3]);
//!
//! impl Residuals<f64> for Beacons {
//!     fn parameter_count(&self) -> usize {
//!         2
//!     }
//!     fn residual_count(&self) -> usize {
//!         3
//!     }
//!     fn evaluate<S: Scalar<Real = f64>>(
//!         &self,
//!         at: &[S],
//!         first: usize,
//!         r: &mut [S],
//!     ) -> Result<(), EvaluationError> {
//!         for (r, &[east, north, distance]) in r.iter_mut().zip(&self.0[first..]) {
//!             *r = (at[0] - east).hypot(at[1] - north) - distance;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let mut beacons = AutoDiff(Beacons([[0.0, 0.0, 5.0], [6.0, 0.0, 5.0], [0.0, 8.0, 5.0]]));
//! let report = LevenbergMarquardt::new().minimize(&mut beacons, &[1.0, 1.0])?;
//! assert!(report.is_converged());
//! assert!((report.x[0] - 3.0).abs() < 1e-12 && (report.x[1] - 4.0).abs() < 1e-12);
//! # Ok::<(), marquardt::SolveError>(())
//! ```
//!
//! [`LeastSquares`] lists the other ways to define a problem. Every solve that starts returns a [`Report`] with the best point and a
//! [`Status`](solver::Status); an error is returned only if the solve cannot start.
//!
//! # Train a small network
//!
//! A loop over minibatches is the same for every [`Optimizer`](optim::Optimizer): Levenberg–Marquardt in this example, or
//! [`Adam`](optim::Adam) or [`Sgd`](optim::Sgd) by a change of one line.
//!
//! ```
//! use marquardt::{LevenbergMarquardt, Variables};
//! use marquardt::nn::{MeanSquaredError, Sequential};
//! use marquardt::optim::Optimizer;
//! use ndarray::{Array2, Axis};
//!
//! // sin(5x) from -1 to 1, in an order that spreads every minibatch evenly.
//! let x = Array2::from_shape_fn((200, 1), |(i, _)| 2.0 * (0.618034 * i as f64).fract() - 1.0);
//! let y = x.mapv(|x| (5.0 * x).sin());
//!
//! let mut variables = Variables::new();
//! let layers = Sequential::new(1).dense(10).tanh().dense(1);
//! let mut network = layers.compile(&mut variables, 0, MeanSquaredError)?;
//! let mut optimizer: Box<dyn Optimizer<f64>> = Box::new(LevenbergMarquardt::new());
//! for _epoch in 0..20 {
//!     for (x, y) in x.axis_chunks_iter(Axis(0), 50).zip(y.axis_chunks_iter(Axis(0), 50)) {
//!         let minibatch = network.batch(&[x], &[y])?;
//!         optimizer.step(minibatch, &mut variables)?;
//!     }
//! }
//! assert!(network.evaluate(&variables, &[x.view()], &[y.view()])? < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`train::Trainer`] is such a loop with shuffling, validation, metrics, callbacks and checkpoints, as in Keras. Layers, losses and the
//! tape that records them are in [`nn`], optimizers and schedules in [`optim`].
//! [`minimize_variables`](LevenbergMarquardt::minimize_variables) solves for all data at once, to convergence. Cross-entropies and losses
//! of counts are minimised by generalised Gauss–Newton; implement [`GaussNewton`](nn::GaussNewton) for your own loss.
//!
//! [Writing the model](guide::writing_the_model) shows the ways to write a model, and the most frequent compile errors; [from
//! Python](guide::from_python), [from other crates](guide::from_crates), [from Ceres](guide::from_ceres), [from MATLAB](guide::from_matlab) and
//! [from gnuplot](guide::from_gnuplot) have whole programs beside their counterparts.
//!
//! # Modules
//!
//! | area | contents |
//! |---|---|
//! | curve | [`curve_fit`], [`CurveFit`], [`Model`], [`model!`], [`Complex`] values by [`ComplexModel`](curve::ComplexModel), the [library of models](models), [`Curve`](curve::Curve), [`FittedCurve`], [`Tie`]; [`FitMany`] of thousands of data sets, [`GlobalFit`] of several data sets, [`MultiStart`](curve::MultiStart) |
//! | statistics | of a fit: intervals, bands, [`Profile`](curve::Profile), [`Contour`](curve::Contour), [`Bootstrap`](curve::Bootstrap), [`Influence`](curve::Influence), [`Criteria`](curve::Criteria), [`Comparison`](curve::Comparison), [`f_test`](curve::f_test); of a series: [`statistics`] |
//! | solver | [`LevenbergMarquardt`], [`damping`](solver::damping), [`Scaling`](solver::Scaling), [`Acceleration`](solver::Acceleration), [`Report`], [`Status`](solver::Status), [`Covariance`], [`Observer`](solver::Observer) |
//! | linear | how one damped system is solved: [`LinearSolver`](linear::LinearSolver), [`LinearForm`](linear::LinearForm), chosen by estimated [`Work`](problem::Work) |
//! | problem | [`LeastSquares`], and the ways into it: [`AutoDiff`], [`FixedAutoDiff`](problem::FixedAutoDiff), [`SparseAutoDiff`](problem::SparseAutoDiff), [`FiniteDifference`](problem::FiniteDifference), [`Analytic`](problem::Analytic), [`VectorFunction`](problem::VectorFunction) over vectors and matrices of nalgebra, ndarray or faer, [`check_derivatives`](problem::check_derivatives); [`Bounds`]; [`JacobianProducts`](problem::JacobianProducts) where the Jacobian is not formed; [`Robust`](problem::Robust) against outliers by a [`Loss`], [`Separable`](problem::Separable) without the parameters that enter linearly, [`OnManifold`](problem::OnManifold) where points are rotations or directions; [`Sparsity`](problem::Sparsity) of Jacobians, [`BlockJacobian`](problem::BlockJacobian); [`ConcurrentRows`](problem::ConcurrentRows) and [`ConcurrentBlocks`](problem::ConcurrentBlocks) on several threads |
//! | derivatives | [`Scalar`], [`Number`](number::Number), [`Dual`], [`Taylor`](autodiff::Taylor), [`Difference`](autodiff::Difference) |
//! | manifolds | [`manifold`]: rotations, poses and directions as parameters: [`Manifold`](manifold::Manifold), [`Pose2`](manifold::Pose2), [`Pose3`](manifold::Pose3), [`UnitSphere`](manifold::UnitSphere), [`check_manifold`](manifold::check_manifold) |
//! | graph | [`graph`]: parameter blocks and residual blocks, as in Ceres: [`Problem`](graph::Problem), [`CostFunction`](graph::CostFunction), marginal [`BlockCovariance`](graph::BlockCovariance); graphs that grow, [`IncrementalSolver`](graph::IncrementalSolver) |
//! | files | `Table` of columns from files of separated values (feature `csv`); [`npy`], NumPy's arrays |
//! | variables | [`Variables`]: one flat vector, seen as named arrays; [`Gradients`](variables::Gradients) of them |
//! | objective | [`Objective`](problem::Objective) of an optimizer: a [`Network`](nn::Network), or any [`SumOfSquares`](problem::SumOfSquares) |
//! | networks | [`nn`]: [`Sequential`](nn::Sequential), [`Tape`](nn::Tape), [`Network`](nn::Network), its [`Summary`](nn::Summary), [`Layer`](nn::Layer), [`Loss`](nn::Loss), [`GaussNewton`](nn::GaussNewton), [`Initializer`](nn::Initializer) |
//! | differential equations | [`physics`]: physics-informed networks: [`Equations`](physics::Equations) at [`Points`](physics::Points), unknown coefficients, held-out residuals |
//! | optimizers | [`optim`]: [`Optimizer`](optim::Optimizer), the [first-order](optim::FirstOrder) ones, [`Schedule`](optim::Schedule), [`MovingAverage`](optim::MovingAverage), [`Groups`](optim::Groups) |
//! | ranks | [`distributed`]: one problem over several processes or machines; [`Communicator`](distributed::Communicator), [`Sharded`](problem::Sharded) |
//! | training | [`train`]: [`Trainer`](train::Trainer), [`Metric`](train::Metric), [`Callback`](train::Callback), [`History`](train::History), [`Checkpoint`](train::Checkpoint) |
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `checkpoint` | a [`Checkpoint`](train::Checkpoint) of a training is saved to a file, and the training is resumed from it, bit for bit |
//! | `csv` | `Table` reads columns of data from a file; `train::CsvLogger` writes a line for each epoch |
//! | `excel` | the command reads spreadsheets, `.xlsx`, `.xls` and `.ods`, by the crate calamine |
//! | `faer` | singular values of 32 columns and more by the crate faer, in a half to a sixth of the time; problems over its `Col` and `Mat`, by [`VectorFunction`](problem::VectorFunction) |
//! | `full` | all of these but `mpi` |
//! | `json` | a `FitSummary` becomes JSON, and a `StoredFit` is saved and loaded; with `serde` |
//! | `mpi` | ranks are processes, on one machine or many; needs MPI and libclang, see [`distributed`] |
//! | `ode` | curves that are solutions of differential equations, by `CurveFit::differential_equations`; double precision |
//! | `plot` | a `Plot` of data, curve, bands and residuals is saved as SVG or PNG; not on `wasm32`. Programs then contain the font Noto Sans, whose licence is in the file `NOTICE` |
//! | `progress` | `train::Progress`, many starts and bootstraps draw progress bars on the terminal |
//! | `rayon` | solves of graphs, large curve fits and large dense systems, and fits of many data sets, from many starts and of resampled data, run on all cores |
//! | `serde` | [`OptimizerState`](optim::OptimizerState), [`Hyperparameter`](optim::Hyperparameter), [`Schedule`](optim::Schedule), [`History`](train::History) and [`FitSummary`](curve::FitSummary) can be serialised, and a fit is stored as a [`StoredFit`](curve::StoredFit) |
//! | `safetensors` | [`Variables`] are saved and loaded by name, as PyTorch, candle and burn do; `train::ModelCheckpoint` saves them while training |
//!
//! None is on by default. `f32` and `f64` are both served, by way of [`Real`].
//!
//! # Targets
//!
//! Everything but the command, progress bars and MPI runs on targets of 32 bits and in WebAssembly; plots do not in the latter. The tests
//! run on `i686-unknown-linux-musl` and, in node, on `wasm32-unknown-unknown`, with the digits of `x86_64`. On 32 bits the memory budget
//! is 1 GiB. `wasm32-unknown-unknown` has no clock: reports say zero seconds there, and a
//! [time limit](LevenbergMarquardt::with_time_limit) is refused; limit the evaluations instead. It has no files either; their functions
//! return errors.
// Pages on docs.rs say which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(missing_docs)]
#![deny(unsafe_code)]

mod atomic_file;
pub mod autodiff;
mod checksum;
mod clock;
pub mod curve;
#[doc(hidden)]
pub mod digits;
pub mod distributed;
mod evaluation;
pub mod graph;
pub mod guide;
mod hyperparameters;
mod kernels;
pub mod linear;
mod lists;
pub mod manifold;
pub mod nn;
pub mod npy;
pub mod number;
pub mod optim;
mod parallel;
mod pass_on;
pub mod physics;
mod precision;
pub mod problem;
mod real;
mod scalar;
#[cfg(feature = "serde")]
mod serial;
mod shuffle;
pub mod solver;
mod special;
pub mod statistics;
mod storage;
pub mod train;
pub mod variables;

pub use autodiff::{Complex, Dual};

pub use curve::models;
pub use curve::{CurveError, CurveFit, FitMany, FittedCurve, Formula, GlobalFit, Model, Parameters, Tie, curve_fit};
#[doc(hidden)]
pub use curve::{complex_functions, model_functions};
pub use number::ScalarOf;
pub use problem::{AutoDiff, Bounds, EvaluationError, LeastSquares, Loss, Residuals};
pub use real::Real;
pub use scalar::Scalar;
pub use solver::{Covariance, LevenbergMarquardt, Report, SolveError};
pub use variables::Variables;
/// Crates whose types stand in signatures.
#[doc(no_inline)]
pub use {nalgebra, ndarray};

#[cfg(feature = "faer")]
#[doc(no_inline)]
pub use faer;

/// The README's code is tested with the documentation's, where all features that it shows are on.
#[cfg(all(doctest, feature = "checkpoint", feature = "safetensors"))]
#[doc = include_str!("../README.md")]
struct Readme;
