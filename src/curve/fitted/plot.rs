//! A plot of a fit, from one call.

use ndarray::{Array2, Axis};

use super::{BandPoint, FittedCurve};
use crate::Real;
use crate::curve::likelihood::Likelihood;
use crate::curve::noise::Noise;
use crate::curve::{Curve, Plot, PlotError, Series, StatisticsError};
use crate::problem::loss_at;

/// The confidence of the bands.
const LEVEL: f64 = 0.95;

/// Points that a curve is drawn through: so many evenly spaced, and as many in equal ratios.
const POINTS: usize = 301;

/// Where the largest predictor is so many times the smallest, a logarithmic axis makes sense.
const DECADE: f64 = 10.0;

/// Points that a robust loss gives less of their weight than this are outliers.
const LITTLE_WEIGHT: f64 = 0.1;

impl<T: Real, C: Curve<T>> FittedCurve<'_, T, C> {
    /// A plot of the data, the curve with its bands at 95 %, and the residuals, to be labelled further and saved. Feature
    /// `plot`.
    ///
    /// - Each response of several, and each data set of a [`GlobalFit`](crate::GlobalFit), is a series of its own. Rows that
    ///   were left out of the fit are not drawn.
    /// - Data have error bars where they have a sigma. A relative one is multiplied by its size as the residuals judge it.
    /// - The [confidence](Self::confidence_band) and the [prediction band](Self::prediction_band) are drawn where they exist:
    ///   the former not without degrees of freedom, the latter not where sigma differs from row to row.
    /// - Residuals are divided by sigma where there is one, and of counts by the root of the mean; a strip is one standard
    ///   deviation of the noise to either side.
    /// - Data that a robust loss gives less than a tenth of their weight are drawn as outliers, without residuals.
    /// - Of rows that ranks [share](crate::CurveFit::communicator), this rank's are drawn.
    ///
    /// # Errors
    ///
    /// [`PlotError`] for a curve of several predictors, and where the curve cannot be evaluated.
    ///
    /// ```
    /// let x = [0.0, 1.0, 2.0, 3.0, 4.0_f64];
    /// let y = [10.1, 6.1, 3.6, 2.2, 1.4];
    /// let fit = marquardt::curve_fit(|x, [a, k]| a * (-k * x).exp(), &x, &y, [5.0, 1.0])?;
    /// let plot = fit.plot()?.title("A decay").x_label("time (h)").y_label("dose (mg)");
    /// assert!(plot.to_svg().contains("95 % confidence band"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plot(&self) -> Result<Plot, PlotError> {
        let plot = match (self.unit(), &self.setting.data.noise) {
            (Some(_), _) if self.is_weighted() => {
                Plot::new().residual_label("standardised residual").residual_band(1.0)
            }
            (Some(unit), Noise::Uniform) => Plot::new().residual_band(unit),
            _ => Plot::new(),
        };
        Ok(self.plot_series()?.into_iter().fold(plot, Plot::series))
    }

    /// The series of the [plot](Self::plot), to name them, or to draw several fits in one.
    ///
    /// # Errors
    ///
    /// As for [`plot`](Self::plot).
    ///
    /// ```
    /// use marquardt::{CurveFit, Plot, models::Linear};
    ///
    /// let x = [0.0, 1.0, 2.0, 3.0, 4.0];
    /// let mut plot = Plot::new();
    /// for (name, y) in [("before", [0.1, 1.2, 1.9, 3.1, 4.0]), ("after", [0.9, 2.1, 3.1, 3.9, 5.1])] {
    ///     let fit = CurveFit::guessed(Linear, &x, &y).fit()?;
    ///     plot = fit.plot_series()?.into_iter().fold(plot, |plot, series| plot.series(series.name(name)));
    /// }
    /// assert!(plot.to_svg().contains("before"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plot_series(&self) -> Result<Vec<Series>, PlotError> {
        let (data, sets) = (&self.setting.data, self.setting.curve.data_set_names());
        let (width, outputs) = (data.width(), data.outputs());
        let predictors = width.saturating_sub(usize::from(!sets.is_empty()));
        if predictors != 1 {
            return Err(PlotError::NotOnePredictor { predictors });
        }
        let points = self.points();
        let mut all = Vec::with_capacity(outputs * sets.len().max(1));
        for set in 0..sets.len().max(1) {
            let is_of_set = |row: &usize| sets.is_empty() || data.x()[row * width].to_f64() == set as f64;
            let rows: Vec<usize> = (0..data.rows()).filter(is_of_set).collect();
            let grid = grid(rows.iter().map(|&row| points[row * outputs].x));
            let x = Array2::from_shape_fn((grid.len(), width), |(row, column)| {
                T::from_f64(if column + 1 == width { grid[row] } else { set as f64 })
            });
            let curve = self.predict(&x).map_err(PlotError::Evaluation)?;
            let confidence = self.edges(x.clone(), |x| self.confidence_band(x, LEVEL));
            let prediction = self.edges(x, |x| self.prediction_band(x, LEVEL));
            for output in 0..outputs {
                let own = rows.iter().map(|row| &points[row * outputs + output]);
                let mut series = drawn(own);
                if let Some(name) = name(sets.get(set), (outputs > 1).then_some(output)) {
                    series = series.name(name);
                }
                let curve = curve.iter().skip(output).step_by(outputs).map(|y| y.to_f64());
                series = series.curve(grid.iter().copied().zip(curve));
                let of_output =
                    |edges: &[(f64, f64, f64)]| edges.iter().skip(output).step_by(outputs).copied().collect();
                let exists = |(_, low, high): &(f64, f64, f64)| low.is_finite() && high.is_finite();
                let [confidence, prediction]: [Vec<_>; 2] = [of_output(&confidence), of_output(&prediction)];
                if confidence.iter().any(exists) {
                    series = series.confidence_band(LEVEL, confidence);
                }
                if prediction.iter().any(exists) {
                    series = series.prediction_band(LEVEL, prediction);
                }
                all.push(series);
            }
        }
        Ok(all)
    }

    /// The data, response after response.
    fn points(&self) -> Vec<Point> {
        let data = &self.setting.data;
        let (width, outputs, unit) = (data.width(), data.outputs(), self.unit());
        let (residuals, whitened) = (self.residuals(), self.whitened_residuals());
        let point = |index: usize| {
            let row = index / outputs;
            let error = match data.noise {
                Noise::Uniform => None,
                _ => unit.map(|unit| data.noise.sigma(index).to_f64() * unit),
            };
            let is_outlier = match &self.setting.likelihood {
                Likelihood::Robust(loss, scale) => {
                    loss_at(&**loss, *scale, whitened[index])[1].to_f64() < LITTLE_WEIGHT
                }
                Likelihood::Gaussian | Likelihood::Poisson => false,
            };
            let residual = match unit {
                Some(unit) if self.is_weighted() => whitened[index].to_f64() / unit,
                _ => residuals[index].to_f64(),
            };
            let (x, y) = (data.x()[(row + 1) * width - 1].to_f64(), data.y()[index].to_f64());
            Point { x, y, error, residual, is_outlier }
        };
        (0..data.y().len()).map(point).collect()
    }

    /// The standard deviation of a response whose sigma is one, where it is known.
    fn unit(&self) -> Option<f64> {
        Some(self.unit_variance().sqrt().to_f64()).filter(|unit| *unit > 0.0 && unit.is_finite())
    }

    /// Responses have variances of their own.
    fn is_weighted(&self) -> bool {
        self.is_of_counts() || matches!(self.setting.data.noise, Noise::Sigma(_))
    }

    /// `(x, low, high)` of a band, response after response, where the curve and its derivative are finite; empty where there
    /// is no such band.
    fn edges(
        &self,
        mut x: Array2<T>,
        band: impl Fn(&Array2<T>) -> Result<Vec<BandPoint<T>>, StatisticsError>,
    ) -> Vec<(f64, f64, f64)> {
        let points = loop {
            match band(&x) {
                Ok(points) => break points,
                Err(StatisticsError::NonFiniteCurve { row }) if x.nrows() > 1 => x.remove_index(Axis(0), row),
                Err(_) => return Vec::new(),
            }
        };
        let outputs = self.setting.data.outputs();
        let edge = |(index, point): (usize, BandPoint<T>)| {
            (x[[index / outputs, x.ncols() - 1]].to_f64(), point.low.to_f64(), point.high.to_f64())
        };
        points.into_iter().enumerate().map(edge).collect()
    }
}

/// One datum.
struct Point {
    x: f64,
    y: f64,
    error: Option<f64>,
    residual: f64,
    is_outlier: bool,
}

fn drawn<'p>(points: impl Iterator<Item = &'p Point>) -> Series {
    let (outliers, good): (Vec<&Point>, Vec<&Point>) = points.partition(|point| point.is_outlier);
    let mut series = Series::new().residuals(good.iter().map(|point| (point.x, point.residual)));
    for point in good {
        series = match point.error {
            Some(error) => series.points_with_errors([(point.x, point.y, error)]),
            None => series.points([(point.x, point.y)]),
        };
    }
    series.outliers(outliers.iter().map(|point| (point.x, point.y)))
}

fn name(set: Option<&String>, output: Option<usize>) -> Option<String> {
    let output = output.map(|output| format!("y{}", output + 1));
    let parts: Vec<String> = set.cloned().into_iter().chain(output).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// From the least to the greatest of these, so close that a curve looks smooth on either kind of axis.
fn grid(values: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let (low, high) = (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max));
    if !(low <= high) {
        return Vec::new();
    }
    let parts = (0..POINTS).map(|index| index as f64 / (POINTS - 1) as f64);
    let mut grid: Vec<f64> = parts.clone().map(|part| (1.0 - part) * low + part * high).collect();
    if low > 0.0 && high / low >= DECADE {
        grid.extend(parts.map(|part| low * (high / low).powf(part)));
    }
    // Rounding may lead out of the range of the data, where the curve need not exist.
    grid.iter_mut().for_each(|x| *x = x.clamp(low, high));
    grid.sort_by(f64::total_cmp);
    grid.dedup();
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_ends_where_the_data_do() {
        let ends = |values: &[f64]| {
            let grid = grid(values.iter().copied());
            assert!(grid.windows(2).all(|pair| pair[0] < pair[1]));
            (grid[0], grid[grid.len() - 1], grid.len())
        };
        assert_eq!(ends(&[0.3, -0.1, 0.2]), (-0.1, 0.3, POINTS));
        assert_eq!(ends(&[2.0, 2.0]), (2.0, 2.0, 1));
        assert_eq!(ends(&[-1e308, 1.7e308]), (-1e308, 1.7e308, POINTS));
        // As many in each decade.
        let many = grid([1e-3, 1e3].into_iter());
        assert!(many.iter().filter(|&&x| x < 1e-2).count() >= POINTS / 6);
    }
}
