//! Likelihoods of the responses of all lanes.

use std::sync::Arc;

use crate::kernels::lanes::{Lanes, Register};
use crate::problem::{RobustLoss, RobustRow, by_residual, scaled_square};
use crate::real::Real;
use crate::scalar::Scalar;
use crate::statistics::half_deviance_by;

/// Cost of a response, given the model's.
pub(crate) enum LaneLikelihood<T, R> {
    /// Half the square of the residual.
    Gaussian,
    /// Half the deviance of a count, by Fisher scoring: the variance of a count is its mean.
    Poisson,
    /// A robust loss of the residual.
    Robust(LaneLoss<T, R>),
}

/// A robust loss with a scale for each lane, and the residuals that it was applied to.
pub(crate) struct LaneLoss<T, R> {
    pub(crate) loss: Arc<dyn RobustLoss<T>>,
    pub(crate) scales: Lanes<T, R>,
    /// The residuals of all points since they were last cleared.
    pub(crate) residuals: Vec<Lanes<T, R>>,
}

impl<T: Real, R: Register<T>> LaneLikelihood<T, R> {
    /// Row of a least-squares problem that stands for a response `y`, given the model's `mean` and the reciprocal of the standard
    /// deviation.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn row(&mut self, mean: Lanes<T, R>, y: Lanes<T, R>, weight: Lanes<T, R>) -> RobustRow<Lanes<T, R>> {
        match self {
            LaneLikelihood::Gaussian => {
                let residual = (mean - y) * weight;
                RobustRow { residual, root: weight, cost: residual * residual * T::from_f64(0.5) }
            }
            LaneLikelihood::Poisson => {
                let reciprocal = mean.recip();
                let root = reciprocal.sqrt() * weight;
                let cost = half_deviance_by(y, mean, reciprocal) * weight;
                RobustRow { residual: (mean - y) * root, root, cost }
            }
            LaneLikelihood::Robust(loss) => {
                let row = loss.row((mean - y) * weight);
                RobustRow { root: row.root * weight, ..row }
            }
        }
    }
}

impl<T: Real, R: Register<T>> LaneLoss<T, R> {
    /// Row of a residual.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn row(&mut self, residual: Lanes<T, R>) -> RobustRow<Lanes<T, R>> {
        self.residuals.push(residual);
        let z = scaled_square(self.scales, residual);
        let rho = match self.loss.as_loss() {
            Some(loss) => loss.rho_of(z),
            None => rho_lane_by_lane(&*self.loss, z),
        };
        RobustRow::of_loss(residual, self.scales, by_residual(z, rho))
    }
}

/// A loss of the user's own.
fn rho_lane_by_lane<T: Real, R: Register<T>>(loss: &dyn RobustLoss<T>, z: Lanes<T, R>) -> [Lanes<T, R>; 3] {
    let mut of_lanes = [z; 3];
    for l in 0..R::LANES {
        let of_lane = loss.rho(z.as_slice()[l]);
        for (lanes, number) in of_lanes.iter_mut().zip(of_lane) {
            lanes.as_mut_slice()[l] = number;
        }
    }
    of_lanes
}
