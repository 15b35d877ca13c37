//! The data of a fit as a plot shows them.

use super::FittedCurve;
use crate::curve::Curve;
use crate::curve::inference::PlotPoint;
use crate::curve::likelihood::Likelihood;
use crate::curve::noise::Noise;
use crate::problem::loss_at;
use crate::real::Real;

/// Points that a robust loss gives less of their weight than this are outliers.
const LITTLE_WEIGHT: f64 = 0.1;

impl<T: Real> FittedCurve<'_, T> {
    /// Predictors in a row, besides the number of its data set.
    pub(super) fn own_predictors(&self) -> usize {
        self.checked.data.predictors_in_row().saturating_sub(usize::from(self.has_data_sets()))
    }

    fn has_data_sets(&self) -> bool {
        !self.checked.curve.data_set_names().is_empty()
    }

    /// Response after response; none where the curve has several predictors.
    pub(super) fn plot_points(&self) -> Option<Vec<PlotPoint>> {
        if self.own_predictors() != 1 {
            return None;
        }
        let (data, response_noise) = (&self.checked.data, &self.inference.noise);
        let (width, outputs, unit) = (data.width(), data.outputs(), response_noise.unit());
        let place = data.predictors_in_row() - 1;
        let (residuals, whitened, has_sets) = (self.residuals(), self.whitened_residuals(), self.has_data_sets());
        let point = |index: usize| {
            let row = index / outputs;
            let error = match data.noise {
                Noise::Uniform => None,
                _ => unit.map(|unit| data.noise.sigma(index).to_f64() * unit),
            };
            let is_outlier = match &self.checked.likelihood {
                Likelihood::Robust(loss, scale) => {
                    loss_at(&**loss, *scale, whitened[index])[1].to_f64() < LITTLE_WEIGHT
                }
                Likelihood::Gaussian | Likelihood::Poisson => false,
            };
            let residual = match unit {
                Some(unit) if response_noise.is_weighted() => whitened[index].to_f64() / unit,
                _ => residuals[index].to_f64(),
            };
            let set = if has_sets { data.x()[row * width].to_f64() as usize } else { 0 };
            let (x, y) = (data.x()[row * width + place].to_f64(), data.y()[index].to_f64());
            let x_error = data.sigma_x(row).and_then(|sigma| unit.map(|unit| sigma[place].to_f64() * unit));
            PlotPoint { set, x, y, x_error, error, residual, is_outlier }
        };
        Some((0..data.y().len()).map(point).collect())
    }
}
