//! Pictures of a curve with its bands, and of data.

use ndarray::{Array2, Axis};

use super::grid::grid;
use super::uncertain_curve::Bands;
use super::{BandPoint, ComplexView, PlotPoint, UncertainCurve};
use crate::autodiff::Complex;
use crate::curve::models::{AnyModel, Named};
use crate::curve::{Model, PlotError, Rows, Series, StatisticsError};
use crate::real::Real;

/// The confidence of the bands.
const LEVEL: f64 = 0.95;

/// Number of evenly spaced points that a curve is drawn through; as many again are in equal ratios.
const POINTS: usize = 301;

impl<T: Real> UncertainCurve<'_, T> {
    /// The series of these points, without names: one for each response of a row, or one in a view of complex responses. The curve has one
    /// predictor, before which the number of the data set stands, if there is one.
    pub(in crate::curve) fn series(
        &self,
        points: &[PlotPoint],
        set: Option<usize>,
        view: Option<ComplexView>,
    ) -> Result<Vec<Series>, PlotError> {
        let (width, outputs) = (self.width, self.curve.response_count());
        let grid = smooth(points.iter().map(|point| point.x));
        let x = Array2::from_shape_fn((grid.len(), width), |(row, column)| {
            T::from_f64(if column + 1 == width { grid[row] } else { set.unwrap_or_default() as f64 })
        });
        let curve = self.predict(Rows::from(&x)).map_err(PlotError::Evaluation)?;
        if let Some(view) = view {
            if outputs != 2 {
                return Err(PlotError::NotComplex { responses: outputs });
            }
            let curve = curve.chunks_exact(2).map(|parts| Complex::new(parts[0].to_f64(), parts[1].to_f64()));
            return Ok(vec![view.series(&grid, &curve.collect::<Vec<_>>(), points)]);
        }
        let confidence = self.edges(x.clone(), |x| self.confidence_band(x, LEVEL));
        let prediction = self.edges(x, |x| self.prediction_band(x, LEVEL));
        let series = (0..outputs).map(|output| {
            let curve = curve.iter().skip(output).step_by(outputs).map(|y| y.to_f64());
            let of_output = |edges: &[(f64, f64, f64)]| edges.iter().skip(output).step_by(outputs).copied().collect();
            let exists = |(_, low, high): &(f64, f64, f64)| low.is_finite() && high.is_finite();
            let [confidence, prediction]: [Vec<_>; 2] = [of_output(&confidence), of_output(&prediction)];
            let mut series = drawn(points.iter().skip(output).step_by(outputs)).curve(grid.iter().copied().zip(curve));
            for (name, component) in self.components(&grid) {
                series = series.component(name, component);
            }
            if confidence.iter().any(exists) {
                series = series.confidence_band(LEVEL, confidence);
            }
            if prediction.iter().any(exists) {
                series = series.prediction_band(LEVEL, prediction);
            }
            series
        });
        Ok(series.collect())
    }

    /// Names and curves of the terms of a sum of the library's models; none of another curve.
    fn components(&self, grid: &[f64]) -> Vec<(String, Vec<(f64, f64)>)> {
        let Some(AnyModel::Named(sum)) = self.curve.to_any_model() else { return Vec::new() };
        let terms: Vec<_> = sum.terms().collect();
        let mut values = self.inference.values().into_iter().map(Real::to_f64);
        let component = |(index, term): (usize, &Named)| {
            let own: Vec<f64> = values.by_ref().take(term.parameters().len()).collect();
            let response = |&x: &f64| (x, Model::<f64>::response::<f64>(term, &[x], &own));
            let alike = |terms: &[Named]| terms.iter().filter(|other| other.name() == term.name()).count();
            let name = match alike(&terms) {
                1 => term.name().to_owned(),
                _ => format!("{} {}", term.name(), 1 + alike(&terms[..index])),
            };
            (name, grid.iter().map(response).collect())
        };
        if terms.len() > 1 { terms.iter().enumerate().map(component).collect() } else { Vec::new() }
    }

    /// `(x, low, high)` of a band, response after response, where the curve and its derivative are finite; empty where there
    /// is no such band.
    fn edges(&self, mut x: Array2<T>, band: impl Fn(Rows<'_, T>) -> Bands<T>) -> Vec<(f64, f64, f64)> {
        let points = loop {
            match band(Rows::from(&x)) {
                Ok(points) => break points,
                Err(StatisticsError::NonFiniteCurve { row }) if x.nrows() > 1 => x.remove_index(Axis(0), row),
                Err(_) => return Vec::new(),
            }
        };
        let outputs = self.curve.response_count();
        let edge = |(index, point): (usize, BandPoint<T>)| {
            (x[[index / outputs, x.ncols() - 1]].to_f64(), point.low.to_f64(), point.high.to_f64())
        };
        points.into_iter().enumerate().map(edge).collect()
    }
}

fn drawn<'p>(points: impl Iterator<Item = &'p PlotPoint>) -> Series {
    let (outliers, good): (Vec<&PlotPoint>, Vec<&PlotPoint>) = points.partition(|point| point.is_outlier);
    let mut series = Series::new().residuals(good.iter().map(|point| (point.x, point.residual)));
    for point in good {
        series = match (point.x_error, point.error) {
            (Some(of_x), of_y) => series.points_with_xy_errors([(point.x, point.y, of_x, of_y.unwrap_or_default())]),
            (None, Some(error)) => series.points_with_errors([(point.x, point.y, error)]),
            (None, None) => series.points([(point.x, point.y)]),
        };
    }
    series.outliers(outliers.iter().map(|point| (point.x, point.y)))
}

/// Returns points from the least to the greatest of these, so close that a curve looks smooth on either kind of axis.
fn smooth(values: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let (low, high) = (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max));
    if low <= high { grid(low, high, POINTS - 1) } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_ends_where_the_data_do() {
        let ends = |values: &[f64]| {
            let grid = smooth(values.iter().copied());
            assert!(grid.windows(2).all(|pair| pair[0] < pair[1]));
            (grid[0], grid[grid.len() - 1], grid.len())
        };
        assert_eq!(ends(&[0.3, -0.1, 0.2]), (-0.1, 0.3, POINTS));
        assert_eq!(ends(&[2.0, 2.0]), (2.0, 2.0, 1));
        assert_eq!(ends(&[-1e308, 1.7e308]), (-1e308, 1.7e308, POINTS));
        // As many in each decade.
        let many = smooth([1e-3, 1e3].into_iter());
        assert!(many.iter().filter(|&&x| x < 1e-2).count() >= POINTS / 6);
    }
}
