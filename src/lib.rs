//! Nonlinear least squares.
#![warn(missing_docs)]
#![deny(unsafe_code)]

mod autodiff;
mod curve;
mod linear;
mod problem;
mod real;
mod scalar;
mod solver;

pub use autodiff::{DerivativeCheck, Difference, Discrepancy, Dual, Taylor, check_derivatives};
pub use curve::{
    Curve, CurveError, CurveFit, FittedCurve, FittedParameter, FromClosure, FromModel, FromNumeric, Model, Predictors,
    curve_fit,
};
pub use linear::{LinearForm, LinearSolver};
pub use problem::{Analytic, AutoDiff, EvaluationError, FiniteDifference, FixedAutoDiff, LeastSquares, Residuals};
pub use real::Real;
pub use scalar::Scalar;
pub use solver::{
    Acceleration, CancelToken, Covariance, CovarianceError, Evaluations, IterationRecord, LevenbergMarquardt, Observer,
    Report, Scaling, SolveError, Status, damping,
};
