//! Data and curve above, residuals below.

use std::error::Error;
use std::ops::Range;

use marquardt::{Curve, FittedCurve};
use plotters::prelude::*;

use crate::data::Data;

const SIZE: (u32, u32) = (900, 680);
/// Height of the upper panel.
const UPPER: u32 = 460;
/// Room for the numbers at the left, the same in both panels so that their axes line up.
const LEFT: u32 = 80;
/// Points that the curve is drawn through. More would show that the backend rounds to whole pixels.
const CURVE_POINTS: usize = 200;

const INK: RGBColor = RGBColor(55, 65, 81);
const POINT: RGBColor = RGBColor(37, 99, 165);
const CURVE: RGBColor = RGBColor(214, 86, 48);
const GRID: RGBColor = RGBColor(229, 231, 235);
const BAND: RGBColor = RGBColor(243, 244, 246);

/// Draws to an SVG file.
pub fn draw<C: Curve<f64>>(data: &Data, fit: &FittedCurve<'_, f64, C>, path: &str) -> Result<(), Box<dyn Error>> {
    let x_range = padded(data.x.iter().copied());
    let curve = curve_points(fit, &x_range)?;
    let residuals: Vec<(f64, f64)> =
        data.x.iter().zip(&data.y).zip(fit.fitted()?).map(|((&x, y), fitted)| (x, y - fitted)).collect();

    let area = SVGBackend::new(path, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let (upper, lower) = area.split_vertically(UPPER);
    draw_fit(&upper, data, &curve, x_range.clone())?;
    draw_residuals(&lower, data, &residuals, fit.residual_standard_deviation(), x_range)?;
    area.present()?;
    Ok(())
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn draw_fit(
    area: &Area<'_>,
    data: &Data,
    curve: &[(f64, f64)],
    x_range: Range<f64>,
) -> Result<(), Box<dyn Error + 'static>> {
    let heights = data.y.iter().chain(curve.iter().map(|(_, y)| y)).copied();
    let mut chart = ChartBuilder::on(area)
        .caption(&data.title, text(20))
        .margin(12)
        .margin_right(24)
        .x_label_area_size(12)
        .y_label_area_size(LEFT)
        .build_cartesian_2d(x_range, padded(heights))
        .map_err(unborrowed)?;
    chart
        .configure_mesh()
        .disable_x_axis()
        .light_line_style(WHITE)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style(text(14))
        .axis_desc_style(text(16))
        .y_label_formatter(&label)
        .y_desc(&data.y_label)
        .draw()
        .map_err(unborrowed)?;
    chart.draw_series(LineSeries::new(curve.iter().copied(), CURVE.stroke_width(2))).map_err(unborrowed)?;
    let points = data.x.iter().zip(&data.y).map(|(&x, &y)| Circle::new((x, y), 3, POINT.filled()));
    chart.draw_series(points).map_err(unborrowed)?;
    Ok(())
}

fn draw_residuals(
    area: &Area<'_>,
    data: &Data,
    residuals: &[(f64, f64)],
    deviation: Option<f64>,
    x_range: Range<f64>,
) -> Result<(), Box<dyn Error + 'static>> {
    let deviation = deviation.unwrap_or(0.0);
    let heights = residuals.iter().map(|&(_, residual)| residual);
    let y_range = padded(heights.chain([-deviation, deviation]));
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .margin_right(24)
        .x_label_area_size(46)
        .y_label_area_size(LEFT)
        .build_cartesian_2d(x_range.clone(), y_range)
        .map_err(unborrowed)?;
    // Two in three residuals lie in the band, if they are nothing but noise.
    let band = Rectangle::new([(x_range.start, -deviation), (x_range.end, deviation)], BAND.filled());
    chart.draw_series([band]).map_err(unborrowed)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style(text(14))
        .axis_desc_style(text(16))
        .y_labels(5)
        .x_label_formatter(&label)
        .y_label_formatter(&label)
        .x_desc(&data.x_label)
        .y_desc("residual")
        .draw()
        .map_err(unborrowed)?;
    let zero = PathElement::new([(x_range.start, 0.0), (x_range.end, 0.0)], CURVE.stroke_width(2));
    chart.draw_series([zero]).map_err(unborrowed)?;
    let stems = residuals.iter().map(|&(x, residual)| PathElement::new([(x, 0.0), (x, residual)], POINT.mix(0.5)));
    chart.draw_series(stems).map_err(unborrowed)?;
    let points = residuals.iter().map(|&point| Circle::new(point, 3, POINT.filled()));
    chart.draw_series(points).map_err(unborrowed)?;
    Ok(())
}

/// The error without the borrow of the file's name that the backend holds.
fn unborrowed(error: impl Error) -> Box<dyn Error> {
    error.to_string().into()
}

fn text(size: u32) -> TextStyle<'static> {
    TextStyle::from(("sans-serif", size)).color(&INK)
}

/// A number at an axis, without the rounding of the ticks' arithmetic.
fn label(value: &f64) -> String {
    // Adding zero turns -0 into 0.
    let rounded = format!("{value:.6e}").parse().unwrap_or(*value) + 0.0;
    if rounded == 0.0 || (1e-4..1e6).contains(&rounded.abs()) { rounded.to_string() } else { format!("{rounded:e}") }
}

/// The curve across the range, where it is finite.
fn curve_points<C: Curve<f64>>(
    fit: &FittedCurve<'_, f64, C>,
    range: &Range<f64>,
) -> Result<Vec<(f64, f64)>, Box<dyn Error>> {
    let step = (range.end - range.start) / (CURVE_POINTS - 1) as f64;
    let x: Vec<f64> = (0..CURVE_POINTS).map(|i| range.start + step * i as f64).collect();
    let y = fit.predict(&x)?;
    Ok(x.into_iter().zip(y).filter(|(_, y)| y.is_finite()).collect())
}

/// From the least to the greatest, and a little more.
fn padded(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (v.min(low), v.max(high)));
    let pad = if high > low { 0.05 * (high - low) } else { 0.05 * low.abs().max(1.0) };
    low - pad..high + pad
}
