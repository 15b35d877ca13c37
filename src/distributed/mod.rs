//! One problem over several ranks: processes, on one machine or many, that each hold some of its rows.
//!
//! `JᵀJ`, `Jᵀr` and the loss are sums over rows. Each rank sums its own rows, and only the sums are sent. All ranks then take the same step
//! from the same numbers. A program passes its shard of the rows; the rest does not change:
//!
//! ```
//! use marquardt::{AutoDiff, EvaluationError, LevenbergMarquardt, Residuals, Scalar};
//! use marquardt::distributed::Communicator;
//! use marquardt::problem::Sharded;
//!
//! /// The points of y = a e^(−k t) that this rank has.
//! struct Decay { t: Vec<f64>, y: Vec<f64> }
//!
//! impl Residuals<f64> for Decay {
//!     fn parameter_count(&self) -> usize {
//!         2
//!     }
//!     fn residual_count(&self) -> usize {
//!         self.t.len()
//!     }
//!     fn evaluate<S: Scalar<Real = f64>>(
//!         &self,
//!         p: &[S],
//!         first: usize,
//!         r: &mut [S],
//!     ) -> Result<(), EvaluationError> {
//!         for (r, (&t, &y)) in r.iter_mut().zip(self.t[first..].iter().zip(&self.y[first..])) {
//!             *r = p[0] * (-p[1] * t).exp() - y;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let ranks = Communicator::world()?;
//! let t: Vec<f64> = ranks.shard(1000).map(|row| row as f64 / 100.0).collect();
//! let y = t.iter().map(|t| 3.0 * (-0.5 * t).exp()).collect();
//! let mut problem = Sharded::new(AutoDiff(Decay { t, y }), &ranks);
//! let report = LevenbergMarquardt::new().minimize(&mut problem, &[1.0, 1.0])?;
//! assert!((report.x[1] - 0.5).abs() < 1e-12);
//! if ranks.is_root() {
//!     println!("{report}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![doc = include_str!("guide.md")]

mod agreement;
mod communicator;
mod error;
mod launcher;
#[cfg(feature = "mpi")]
mod mpi;
mod threads;
mod traffic;
mod transport;

pub use communicator::Communicator;
pub use error::{CommunicatorError, RankError};
pub use threads::on_threads;
pub use traffic::Traffic;
