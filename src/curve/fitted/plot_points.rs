//! The data of a fit as a plot shows them.

use super::FittedCurve;
use crate::curve::Curve;
use crate::curve::errors_in_x::ObservedRow;
use crate::curve::inference::PlotPoint;
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

    /// Standard deviations of the predictors of a row, without the number of its data set, if they have errors.
    fn sigma_x(&self, row: usize) -> Option<&[T]> {
        let data = &self.checked.data;
        let Some(global) = self.checked.curve.as_global() else { return data.sigma_x(row) };
        let row = &data.x()[row * data.width()..][..data.width()];
        let part = &global.parts[row[0].to_f64() as usize];
        let has_errors = part.data_width > part.width;
        has_errors.then(|| ObservedRow::of(&row[1..=part.data_width], part.width).sigma_x)
    }

    /// Points of replicates, of which only means and standard deviations are known, as those of the means.
    fn points_of_means(&self, points: Vec<PlotPoint>) -> Vec<PlotPoint> {
        let (outputs, mut first, mut means) = (self.checked.data.outputs(), 0, Vec::new());
        for count in self.checked.data.runs_of_means() {
            let rows = &points[first * outputs..(first + count) * outputs];
            for (output, point) in rows.iter().take(outputs).enumerate() {
                let of_output = || rows.iter().skip(output).step_by(outputs);
                let mean = |of: fn(&PlotPoint) -> f64| of_output().map(of).sum::<f64>() / count as f64;
                let (y, residual) = (mean(|point| point.y), mean(|point| point.residual));
                let squares: f64 = of_output().map(|point| (point.y - y).powi(2)).sum();
                let error = (count > 1).then(|| (squares / (count - 1) as f64).sqrt());
                means.push(PlotPoint { y, residual, error, ..point.clone() });
            }
            first += count;
        }
        means
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
        let (errors, weights) = (self.observation_errors(), self.robust_weights());
        let point = |index: usize| {
            let row = index / outputs;
            let error = errors.as_ref().map(|errors| errors[index].to_f64());
            let is_outlier = weights.as_ref().is_some_and(|weights| weights[index].to_f64() < LITTLE_WEIGHT);
            let residual = match unit {
                Some(unit) if response_noise.is_weighted() => whitened[index].to_f64() / unit,
                _ => residuals[index].to_f64(),
            };
            let set = if has_sets { data.x()[row * width].to_f64() as usize } else { 0 };
            let (x, y) = (data.x()[row * width + place].to_f64(), data.y()[index].to_f64());
            let x_error = self.sigma_x(row).and_then(|sigma| unit.map(|unit| sigma[0].to_f64() * unit));
            PlotPoint { set, x, y, x_error, error, residual, is_outlier }
        };
        let points = (0..data.y().len()).map(point).collect();
        Some(if data.has_means() { self.points_of_means(points) } else { points })
    }
}
