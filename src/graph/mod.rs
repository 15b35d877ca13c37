//! Problems of many small parts: parameter blocks on manifolds, and residual blocks that touch a few of them.
//!
//! Cameras and points, poses and landmarks, maps. The words are those of Ceres: a [`Problem`] has parameter blocks, each a
//! point on a [manifold](crate::manifold), and residual blocks, each the [`CostFunction`] of a few of them, with a robust loss
//! if wanted. What is minimised is `½ Σ ρ_i(‖f_i(x_i1, …, x_ik)‖²)`, by the same
//! [`LevenbergMarquardt`](crate::LevenbergMarquardt) as everything else, with a sparse Cholesky factorisation of the normal
//! equations: the fill-reducing order and the structure of the factor are found once a solve.
//!
//! ```
//! use marquardt::LevenbergMarquardt;
//! use marquardt::graph::{Problem, RelativePose2};
//! use marquardt::manifold::{Pose2, SE2};
//!
//! // A robot drives around a square, and is told at the end where it began.
//! let mut problem = Problem::new();
//! let guesses = [(0.0, 0.0, 0.0), (1.1, 0.1, 1.4), (0.9, 1.2, 3.3), (-0.1, 0.8, -1.4)];
//! let mut poses = Vec::new();
//! for (x, y, angle) in guesses {
//!     poses.push(problem.add_parameter_block(SE2, &Pose2::new(x, y, angle).to_array())?);
//! }
//! problem.set_constant(poses[0])?;
//! let quarter = Pose2::new(1.0, 0.0, std::f64::consts::FRAC_PI_2);
//! for i in 0..4 {
//!     let edge =
//!         RelativePose2::new(quarter, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])?;
//!     problem.add_residual_block(edge, (poses[i], poses[(i + 1) % 4]))?;
//! }
//! let report = problem.solve(&LevenbergMarquardt::new())?;
//! assert!(report.is_converged() && report.cost < 1e-20);
//! let corner = Pose2::from_slice(problem.point(poses[2])?);
//! assert!(
//!     (corner.translation[0] - 1.0).abs() < 1e-9 && (corner.translation[1] - 1.0).abs() < 1e-9
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Cost
//!
//! A linearisation takes the residual blocks once, with dual numbers of up to 16 tangent dimensions a pass, or the Jacobians that they
//! [bring](AnalyticCostFunction). A step takes a sparse Cholesky factorisation. Memory grows with the residual blocks and with the fill
//! of the factor. Where that is too much, as for large grids in space, or where the points of a bundle are seen by cameras all over, conjugate
//! gradients take over, which keep the stored entries of the Jacobian three times
//! ([`LinearForm::Cgnr`](crate::linear::LinearForm::Cgnr), [`LinearForm::IterativeSchur`](crate::linear::LinearForm::IterativeSchur)). Covariances always take
//! the sparse factor. An [`IncrementalSolver`] keeps the factor of a graph that grows, and eliminates again what has changed.

mod analytic;
mod bearing_range;
mod block;
mod bundle;
mod camera;
mod cost_function;
mod covariance;
mod derivative_check;
mod error;
mod graduated;
mod group;
mod incremental;
mod information;
mod innovation;
mod inspection;
mod least_squares;
mod marginal;
mod measurement;
mod numeric;
mod pose_graph;
mod prior;
mod problem;
mod relative_pose;
mod stereo;

pub use analytic::{AnalyticCostFunction, WithJacobians};
pub use bearing_range::{Bearing2, Bearing3, BearingRange2, Range2, Range3};
pub use block::{AnyBlock, ParameterBlock, ResidualBlock};
pub use bundle::{
    Bundle, BundleFileError, BundleLineError, BundlePoint, BundleProblem, BundleReport, BundleSolver, Camera, Image,
    ImageBlock, Observation,
};
pub use camera::{CameraModel, Reprojection, SnavelyReprojection};
pub use cost_function::{AnyBlocks, Blocks, CostFunction};
pub use covariance::BlockCovariance;
pub use error::GraphError;
pub use graduated::{GraduatedNonConvexity, GraduatedReport};
pub use incremental::{IncrementalReport, IncrementalSolver};
pub use inspection::{CostOfKind, Linearization, Piece};
pub use numeric::{NumericCostFunction, NumericDiff};
pub use pose_graph::{
    Dimension, Edge, GraphFileError, GraphLineError, GraphWarning, PoseGraph, PoseGraphProblem, PoseGraphReport,
    PoseGraphSolver, Poses, Start, Vertex,
};
pub use prior::{Position2, Position3, Prior, PriorPose2, PriorPose3};
pub use problem::Problem;
pub use relative_pose::{ChordalPose3, RelativePoint2, RelativePoint3, RelativePose2, RelativePose3};
pub use stereo::{Stereo, StereoObservation};
