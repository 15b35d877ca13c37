//! Plots of curves of two predictors.

use std::ops::Range;

use ndarray::Array2;

use super::FittedCurve;
use crate::curve::{Curve, HeatMap, Plot, PlotError, Series};
use crate::real::Real;

/// Cells of the surface along either axis.
const CELLS: usize = 240;

/// Room around the data, as a share of their range.
const ROOM: f64 = 0.04;

impl<T: Real> FittedCurve<'_, T> {
    /// A plot of a curve of two predictors with one response: the surface as a heat map with the data in it, and residuals over fitted
    /// responses below; none of another curve.
    pub(in crate::curve) fn surface(&self) -> Option<Result<Plot, PlotError>> {
        let data = &self.checked.data;
        let is_drawn =
            data.predictors_in_row() == 2 && data.outputs() == 1 && self.checked.curve.data_set_names().is_empty();
        is_drawn.then(|| self.drawn_surface())
    }

    fn drawn_surface(&self) -> Result<Plot, PlotError> {
        let data = &self.checked.data;
        let column = |column: usize| data.x().iter().skip(column).step_by(data.width()).map(|x| x.to_f64());
        let [x, y] = [range(column(0)), range(column(1))];
        let middle = |range: &Range<f64>, cell: usize| {
            range.start + (range.end - range.start) * (cell as f64 + 0.5) / CELLS as f64
        };
        let places = Array2::from_shape_fn((CELLS * CELLS, 2), |(cell, column)| {
            T::from_f64(if column == 0 { middle(&x, cell % CELLS) } else { middle(&y, cell / CELLS) })
        });
        let heights = self.predict(&places).map_err(PlotError::Evaluation)?;
        let values = Array2::from_shape_fn((CELLS, CELLS), |(row, column)| heights[row * CELLS + column].to_f64());
        let observed = data.y().iter().map(|y| y.to_f64());
        let points = column(0).zip(column(1)).zip(observed).map(|((x, y), value)| (x, y, value));
        let map = HeatMap::surface(&values, x, y).points(points);
        let fitted = self.fitted();
        let residuals =
            fitted.iter().zip(self.residuals()).map(|(fitted, residual)| (fitted.to_f64(), residual.to_f64()));
        let ends = range(fitted.iter().map(|fitted| fitted.to_f64()));
        let zero = Series::new().points(residuals).curve([(ends.start, 0.0), (ends.end, 0.0)]);
        let below = Plot::new().x_label("fitted").y_label("residual").series(zero);
        Ok(Plot::new().x_label("x1").y_label("x2").heat_map(map).above(below))
    }
}

/// The range of values, with room.
fn range(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    let room = if high > low { ROOM * (high - low) } else { 0.5 * low.abs().max(1.0) };
    low - room..high + room
}
