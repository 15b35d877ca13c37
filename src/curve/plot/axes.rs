//! The axes that a plot needs.

use super::Plot;
use super::axis::{Axis, extremes, scaled};
use super::series::Series;

/// The axes of a plot, without ticks.
pub(super) struct Axes {
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) residual: Axis,
}

impl Axes {
    pub(super) fn of(plot: &Plot) -> Axes {
        let residuals = plot.series.iter().flat_map(|series| series.residuals.iter().map(|&(_, residual)| residual));
        let band = plot.residual_band.unwrap_or(0.0);
        let x = plot.series.iter().flat_map(x_values).map(|x| scaled(x, plot.is_x_logarithmic));
        Axes {
            x: Axis::around(x, plot.is_x_logarithmic),
            y: y_axis(plot),
            residual: Axis::around(residuals.chain([-band, band]), false),
        }
    }
}

fn x_values(series: &Series) -> impl Iterator<Item = f64> {
    let points = series.points.iter().map(|point| point.x);
    let lines = series.curve.iter().chain(&series.residuals).map(|&(x, _)| x);
    points.chain(lines).chain(series.edges().map(|&(x, ..)| x))
}

/// Around the points; curves and bands may widen it to three times that, and no pole farther.
fn y_axis(plot: &Plot) -> Axis {
    let points = plot.series.iter().flat_map(|series| &series.points);
    let points = points.flat_map(|point| [point.y, point.y - point.error, point.y + point.error]);
    let points = points.map(|y| scaled(y, plot.is_y_logarithmic));
    let drawn = plot.series.iter().flat_map(|series| {
        let edges = series.edges().flat_map(|&(_, low, high)| [low, high]);
        series.curve.iter().map(|&(_, y)| y).chain(edges)
    });
    let drawn = drawn.map(|y| scaled(y, plot.is_y_logarithmic)).filter(|y| y.is_finite());
    let (low, high) = match extremes(points.clone()) {
        Some((low, high)) if low < high => (low - (high - low), high + (high - low)),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    };
    Axis::around(points.chain(drawn.map(|y| y.clamp(low, high))), plot.is_y_logarithmic)
}
