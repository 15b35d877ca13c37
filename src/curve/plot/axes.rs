//! The axes that a plot needs.

use super::Plot;
use super::axis::{PlotAxis, extremes};
use crate::curve::series::Series;

/// The axes of a plot, without ticks.
pub(super) struct Axes {
    pub(super) x: PlotAxis,
    pub(super) y: PlotAxis,
    pub(super) residual: PlotAxis,
}

impl Axes {
    pub(super) fn of(plot: &Plot) -> Axes {
        let residuals = plot.series.iter().flat_map(|series| series.residuals.iter().map(|&(_, residual)| residual));
        let band = plot.residual_band.unwrap_or(0.0);
        Axes {
            x: PlotAxis::around(plot.series.iter().flat_map(x_values), plot.is_x_logarithmic),
            y: y_axis(plot),
            residual: PlotAxis::around(residuals.chain([-band, band]), false),
        }
    }
}

fn x_values(series: &Series) -> impl Iterator<Item = f64> {
    let points = series.points.iter().flat_map(|point| [point.x, point.x - point.x_error, point.x + point.x_error]);
    let lines = series.curve.iter().chain(&series.residuals).map(|&(x, _)| x);
    points.chain(lines).chain(series.edges().map(|&(x, ..)| x))
}

/// Around the points; curves and bands may widen it to three times that, of decades by two thirds, and no pole farther.
fn y_axis(plot: &Plot) -> PlotAxis {
    let is_logarithmic = plot.is_y_logarithmic;
    let points = plot.series.iter().flat_map(|series| &series.points);
    let points = points.flat_map(|point| [point.y, point.y - point.error, point.y + point.error]);
    let drawn = plot.series.iter().flat_map(|series| {
        let edges = series.edges().flat_map(|&(_, low, high)| [low, high]);
        let lines = series.curve.iter().chain(series.components.iter().flat_map(|(_, component)| component));
        lines.map(|&(_, y)| y).chain(edges).filter(|y| y.is_finite())
    });
    let (low, high) = match extremes(points.clone(), is_logarithmic) {
        Some((low, high)) if low < high && is_logarithmic => {
            // A band that reaches below zero would take up most of the decades.
            let third = (high / low).cbrt();
            (low / third, high * third)
        }
        Some((low, high)) if low < high => (low - (high - low), high + (high - low)),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    };
    let drawn = drawn.filter(|y| !is_logarithmic || *y > 0.0);
    PlotAxis::around(points.chain(drawn.map(|y| y.clamp(low, high))), is_logarithmic)
}
