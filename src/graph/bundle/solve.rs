//! Adjustment of bundles.

use super::Bundle;
use crate::graph::GraphError;
use crate::problem::Loss;
use crate::solver::damping::GainRatio;
use crate::solver::{LevenbergMarquardt, Report};

/// Relative reduction of the cost at which a solve ends, by default.
const FTOL: f64 = 1e-6;

/// Damping of the first step, in units of the scaled Jacobian.
const DAMPING: f64 = 1e-4;

/// Adjusts the cameras and points of a [`Bundle`] to what is seen in the images.
#[derive(Debug, Clone)]
pub struct BundleSolver {
    loss: Option<(Loss, f64)>,
    fixes_intrinsics: bool,
    frees_principal_points: bool,
    solver: LevenbergMarquardt<f64>,
}

/// The end of an adjustment.
#[derive(Debug)]
#[non_exhaustive]
pub struct BundleReport {
    /// Report of the solve.
    pub report: Report<f64>,
    /// Root mean square of the distances from where points are seen, in pixels, before the solve.
    pub given_error: f64,
    /// The same after the solve.
    pub error: f64,
}

impl Default for BundleSolver {
    fn default() -> Self {
        Self::new()
    }
}

impl BundleSolver {
    /// Least squares, until a step reduces the cost by less than 10⁻⁶ of it.
    pub fn new() -> Self {
        let solver = LevenbergMarquardt::new().with_ftol(FTOL).with_polish(false);
        let solver = solver.with_damping(GainRatio::new(DAMPING).into());
        BundleSolver { loss: None, fixes_intrinsics: false, frees_principal_points: false, solver }
    }

    /// Sets a robust loss of each observation, and its scale in pixels. [`Loss::Huber`] with 1 pixel is usual.
    pub fn with_loss(self, loss: Loss, scale: f64) -> Self {
        BundleSolver { loss: Some((loss, scale)), ..self }
    }

    /// Holds the intrinsic parameters of all cameras where they are; default false.
    pub fn with_fixed_intrinsics(self, fixes_intrinsics: bool) -> Self {
        BundleSolver { fixes_intrinsics, ..self }
    }

    /// Adjusts the principal points of cameras as well; default false. Images determine them poorly.
    pub fn with_free_principal_points(self, frees_principal_points: bool) -> Self {
        BundleSolver { frees_principal_points, ..self }
    }

    /// Sets the solver. By default it is that of [`new`](Self::new).
    pub fn with_solver(self, solver: LevenbergMarquardt<f64>) -> Self {
        BundleSolver { solver, ..self }
    }

    /// The solver, to be changed and [set](Self::with_solver).
    pub fn solver(&self) -> &LevenbergMarquardt<f64> {
        &self.solver
    }

    /// Moves the cameras and points of a bundle to a minimum.
    ///
    /// # Errors
    ///
    /// Those of [`Problem::solve`](crate::graph::Problem::solve); [`Bundle::observation_of`] names the observation.
    pub fn solve(&self, bundle: &mut Bundle) -> Result<BundleReport, GraphError> {
        let mut built = bundle.problem(self.loss)?;
        if self.fixes_intrinsics {
            built.fix_intrinsics()?;
        } else if !self.frees_principal_points {
            built.fix_principal_points(bundle)?;
        }
        let given_error = bundle.reprojection_error();
        let report = built.problem.solve(&self.solver)?;
        built.read_into(bundle)?;
        Ok(BundleReport { report, given_error, error: bundle.reprojection_error() })
    }
}

impl Bundle {
    /// Index of the observation whose residual block an error of a solve names.
    pub fn observation_of(&self, error: &GraphError) -> Option<usize> {
        match error {
            GraphError::NonFiniteResidual { residual_block, .. }
            | GraphError::NonFiniteDerivative { residual_block }
            | GraphError::Evaluation { residual_block, .. } => {
                let of_points = (0..self.observations.len()).filter(|&k| self.observations[k].point.is_some());
                of_points.into_iter().nth(*residual_block)
            }
            _ => None,
        }
    }
}
