//! Where everything in a plot goes.

use super::axis::Axis;
use super::drawing::{Align, Drawing, Paint, Place, Shape};
use super::legend::Legend;
use super::panel::{Panel, TICK_GAP, fitted, text};
use super::series::{Mark, Point, Series};
use super::{Plot, font};

pub(super) const INK: Paint = Paint::solid([55, 65, 81]);
pub(super) const GRID: Paint = Paint::solid([229, 231, 235]);
const SHADE: Paint = Paint::solid([243, 244, 246]);
/// Data and curve of a single series.
const DATA: Paint = Paint::solid([37, 99, 165]);
const CURVE: Paint = Paint::solid([214, 86, 48]);
/// One for each of several series; told apart by the colour-blind, too (after Okabe and Ito).
const SERIES: [Paint; 7] = [
    Paint::solid([0, 114, 178]),
    Paint::solid([213, 94, 0]),
    Paint::solid([0, 158, 115]),
    Paint::solid([204, 121, 167]),
    Paint::solid([230, 159, 0]),
    Paint::solid([86, 180, 233]),
    Paint::solid([90, 90, 90]),
];
/// Opacities of the bands.
pub(super) const CONFIDENCE: f64 = 0.28;
pub(super) const PREDICTION: f64 = 0.12;

const TITLE_SIZE: f64 = 18.0;
pub(super) const LABEL_SIZE: f64 = 14.0;
pub(super) const TICK_SIZE: f64 = 12.0;
const MARGIN: f64 = 14.0;
/// Between the panels.
pub(super) const GUTTER: f64 = 18.0;
/// The residuals' share of the height.
const RESIDUALS: f64 = 0.27;

/// The colours of the points and the curve of a series.
pub(super) fn colors(index: usize, count: usize) -> (Paint, Paint) {
    let own = SERIES[index % SERIES.len()];
    if count > 1 { (own, own) } else { (DATA, CURVE) }
}

/// Draws a plot.
pub(super) fn draw(plot: &Plot) -> Drawing {
    let (width, height) = (f64::from(plot.size.0), f64::from(plot.size.1));
    let has_residuals = plot.series.iter().any(|series| !series.residuals.is_empty());
    let mut shapes = Vec::new();

    let title_height = if plot.title.is_some() { TITLE_SIZE + 10.0 } else { 0.0 };
    let legend = Legend::of(plot, width - 2.0 * MARGIN, 0.3 * height);
    let legend_height = if legend.height() > 0.0 { legend.height() + 6.0 } else { 0.0 };
    let top = MARGIN + title_height + legend_height;
    let bottom = height - MARGIN - LABEL_SIZE - 6.0 - TICK_SIZE - TICK_GAP - 4.0;
    let (upper_bottom, lower_top) = match has_residuals {
        true => (bottom - GUTTER - RESIDUALS * (bottom - top), bottom - RESIDUALS * (bottom - top)),
        false => (bottom, bottom),
    };

    let y_ticks = |axis: Axis, height: f64| {
        let most = (height / 24.0) as usize;
        axis.with_ticks((height / 55.0).clamp(3.0, 10.0) as usize, |_| most)
    };
    let y = y_ticks(y_axis(plot), upper_bottom - top).between(upper_bottom, top);
    let residual_axis = y_ticks(residual_axis(plot), bottom - lower_top).between(bottom, lower_top);
    let y_labels = y.ticks.iter().chain(residual_axis.ticks.iter().filter(|_| has_residuals));
    let widest = y_labels.map(|tick| font::width(&tick.label, TICK_SIZE)).fold(0.0, f64::max);
    let left = (8.0 + LABEL_SIZE + 10.0 + widest + TICK_GAP).round();
    let right = width - MARGIN - 14.0;

    let x = x_axis(plot).with_ticks(((right - left) / 80.0).clamp(2.0, 12.0) as usize, |ticks| {
        let widest = ticks.iter().map(|tick| font::width(&tick.label, TICK_SIZE)).fold(0.0, f64::max);
        ((right - left) / (widest + 14.0)) as usize
    });
    let upper = Panel { x: x.between(left, right), y };
    let lower = Panel { x: upper.x.clone(), y: residual_axis };

    draw_fits(&mut shapes, plot, &upper, !has_residuals);
    if has_residuals {
        draw_residuals(&mut shapes, plot, &lower);
    }
    let last = if has_residuals { &lower } else { &upper };
    last.x_label(&mut shapes, &plot.x_label);
    if let Some(title) = &plot.title {
        let (title, size) = fitted(title, TITLE_SIZE, width - 2.0 * MARGIN);
        shapes.push(text(&title, (width / 2.0, MARGIN + TITLE_SIZE), size, Align::Middle));
    }
    let legend_left = left.min(width - MARGIN - legend.width());
    legend.draw(&mut shapes, (legend_left, MARGIN + title_height));
    let title = plot.title.clone().unwrap_or_else(|| format!("{} against {}", plot.y_label, plot.x_label));
    Drawing { width: plot.size.0, height: plot.size.1, title, shapes }
}

fn draw_fits(shapes: &mut Vec<Shape>, plot: &Plot, panel: &Panel, with_x_numbers: bool) {
    let colored = || plot.series.iter().enumerate().map(|(index, series)| (series, colors(index, plot.series.len())));
    panel.grid(shapes);
    for (series, (_, curve)) in colored() {
        let bands = [(&series.prediction_band, PREDICTION), (&series.confidence_band, CONFIDENCE)];
        for (band, opacity) in bands {
            band.iter().for_each(|band| panel.band(shapes, &band.edges, curve.with_opacity(opacity)));
        }
    }
    panel.axes(shapes, with_x_numbers);
    let curves = |shapes: &mut Vec<Shape>| {
        colored().for_each(|(series, (_, curve))| panel.curve(shapes, &series.curve, 2.0, curve));
    };
    // A cloud of points would hide the curves; a few of them are seen better above.
    let are_many = plot.series.iter().any(|series| series.points.len() > FEW);
    if !are_many {
        curves(shapes);
    }
    for (series, (data, _)) in colored() {
        let radius = radius(series.points.len());
        for point in &series.points {
            draw_point(shapes, panel, point, radius, data);
        }
    }
    if are_many {
        curves(shapes);
    }
    panel.y_label(shapes, &plot.y_label);
}

fn draw_point(shapes: &mut Vec<Shape>, panel: &Panel, point: &Point, radius: f64, paint: Paint) {
    let Some(center) = panel.place(point.x, point.y) else { return };
    if point.error > 0.0 {
        panel.error_bar(shapes, point.x, point.y, point.error, paint);
    }
    match point.mark {
        Mark::Datum => shapes.push(Shape::Disk { center, radius, paint }),
        Mark::Outlier => shapes.push(ring(center, radius + 0.5, paint)),
        Mark::Omitted => shapes.extend(cross(center, radius + 0.5, paint)),
    }
}

fn draw_residuals(shapes: &mut Vec<Shape>, plot: &Plot, panel: &Panel) {
    let (left, right) = panel.x.pixels;
    if let Some(height) = plot.residual_band
        && let (Some(low), Some(high)) = (panel.y.nearest_pixel(-height), panel.y.nearest_pixel(height))
    {
        shapes.push(Shape::Rectangle { corner: (left, high), size: (right - left, low - high), paint: SHADE });
    }
    panel.grid(shapes);
    panel.axes(shapes, true);
    let zero = panel.y.nearest_pixel(0.0).unwrap_or(panel.y.pixels.0);
    let zero_line = Shape::Line { points: vec![(left, zero), (right, zero)], width: 1.5, paint: CURVE };
    let are_many = plot.series.iter().any(|series| series.residuals.len() > FEW);
    if !are_many {
        shapes.push(zero_line.clone());
    }
    for (index, series) in plot.series.iter().enumerate() {
        let (paint, _) = colors(index, plot.series.len());
        let radius = radius(series.residuals.len());
        for center in series.residuals.iter().filter_map(|&(x, residual)| panel.place(x, residual)) {
            if !are_many {
                let points = vec![(center.0, zero), center];
                shapes.push(Shape::Line { points, width: 1.0, paint: paint.with_opacity(0.5) });
            }
            shapes.push(Shape::Disk { center, radius, paint });
        }
    }
    if are_many {
        shapes.push(zero_line);
    }
    panel.y_label(shapes, &plot.residual_label);
}

/// Points that are not too many to be drawn large.
const FEW: usize = 300;

fn radius(points: usize) -> f64 {
    match points {
        0..=FEW => 3.2,
        301..=3000 => 2.2,
        _ => 1.4,
    }
}

pub(super) fn ring(center: Place, radius: f64, paint: Paint) -> Shape {
    Shape::Ring { center, radius, width: 1.4, paint }
}

pub(super) fn cross((x, y): Place, radius: f64, paint: Paint) -> [Shape; 2] {
    let line = |points: [Place; 2]| Shape::Line { points: points.to_vec(), width: 1.4, paint };
    [
        line([(x - radius, y - radius), (x + radius, y + radius)]),
        line([(x - radius, y + radius), (x + radius, y - radius)]),
    ]
}

fn x_axis(plot: &Plot) -> Axis {
    let of_series = |series: &Series| -> Vec<f64> {
        let points = series.points.iter().map(|point| point.x);
        let residuals = series.residuals.iter().map(|&(x, _)| x);
        let bands = series.confidence_band.iter().chain(&series.prediction_band);
        let bands = bands.flat_map(|band| band.edges.iter().map(|&(x, ..)| x));
        points.chain(residuals).chain(series.curve.iter().map(|&(x, _)| x)).chain(bands).collect()
    };
    Axis::around(plot.series.iter().flat_map(of_series), plot.is_x_logarithmic)
}

/// Around the points; curves and bands may widen it to three times that, and no pole farther.
fn y_axis(plot: &Plot) -> Axis {
    let is_logarithmic = plot.is_y_logarithmic;
    let fits = move |value: &f64| value.is_finite() && (!is_logarithmic || *value > 0.0);
    let ends = |point: &Point| [point.y, point.y - point.error, point.y + point.error];
    let points: Vec<f64> =
        plot.series.iter().flat_map(|series| series.points.iter().flat_map(ends)).filter(fits).collect();
    let drawn = plot.series.iter().flat_map(|series| {
        let bands = series.confidence_band.iter().chain(&series.prediction_band);
        let edges = bands.flat_map(|band| band.edges.iter().flat_map(|&(_, low, high)| [low, high]));
        series.curve.iter().map(|&(_, y)| y).chain(edges).collect::<Vec<f64>>()
    });
    let scaled = |value: f64| if is_logarithmic { value.ln() } else { value };
    let low = points.iter().copied().map(scaled).fold(f64::INFINITY, f64::min);
    let high = points.iter().copied().map(scaled).fold(f64::NEG_INFINITY, f64::max);
    let span = high - low;
    let unscaled = move |value: f64| if is_logarithmic { value.exp() } else { value };
    let limited = move |value: f64| match span > 0.0 && fits(&value) {
        true => unscaled(scaled(value).clamp(low - span, high + span)),
        false => value,
    };
    Axis::around(points.iter().copied().chain(drawn.map(limited)), is_logarithmic)
}

fn residual_axis(plot: &Plot) -> Axis {
    let residuals = plot.series.iter().flat_map(|series| series.residuals.iter().map(|&(_, residual)| residual));
    let band = plot.residual_band.unwrap_or(0.0);
    Axis::around(residuals.chain([-band, band]), false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::plot::drawing::Text;

    /// Left, right, top, bottom.
    fn bounds(text: &Text) -> [f64; 4] {
        let width = font::width(&text.text, text.size);
        let before = match text.align {
            Align::Start => 0.0,
            Align::Middle => width / 2.0,
            Align::End => width,
        };
        let ((x, y), height) = (text.at, font::CAPITAL * text.size);
        match text.is_vertical {
            true => [x - height, x, y - (width - before), y + before],
            false => [x - before, x - before + width, y - height, y],
        }
    }

    fn series(low: f64, high: f64) -> Series {
        let points = (0..20).map(move |i| low + (high - low) * f64::from(i) / 19.0).map(|v| (v, v));
        let band = points.clone().map(|(x, y)| (x, y, y));
        let residuals = points.clone().map(|(x, y)| (x, 0.1 * (high - y)));
        let series = Series::new().points(points.clone()).omitted([(low, high)]).outliers([(high, low)]).curve(points);
        series.confidence_band(0.95, band.clone()).prediction_band(0.999, band).residuals(residuals)
    }

    #[test]
    fn texts_are_within_the_picture_and_apart() {
        let ranges =
            [(0.0, 1.0), (-1.5e-300, 1e-300), (-1e308, 1e308), (99_999.9, 100_000.1), (1e-7, 3e8), (-0.04, 0.01)];
        for (low, high) in ranges {
            for size in [(240, 240), (400, 300), (900, 680)] {
                for count in if low == 0.0 { 1..=2 } else { 1..=1 } {
                    let long =
                        "a very long label of an axis, with its unit (mol l⁻¹ s⁻¹), which does not fit everywhere";
                    let plot = Plot::new().title(long).x_label(long).y_label(long).residual_label(long);
                    let plot = (0..count).fold(plot.size(size.0, size.1), |plot, _| plot.series(series(low, high)));
                    let plot = if low > 0.0 { plot.log_x().log_y() } else { plot };
                    let drawing = draw(&plot);
                    let texts: Vec<&Text> = (drawing.shapes.iter())
                        .filter_map(|shape| if let Shape::Text(text) = shape { Some(text) } else { None })
                        .collect();
                    for (index, text) in texts.iter().enumerate() {
                        let [left, right, top, bottom] = bounds(text);
                        let is_within = left >= 0.0 && right <= f64::from(size.0);
                        assert!(is_within && top >= 0.0 && bottom <= f64::from(size.1), "{size:?} {text:?}");
                        for other in &texts[..index] {
                            let apart = bounds(other);
                            let is_apart =
                                left >= apart[1] || right <= apart[0] || top >= apart[3] || bottom <= apart[2];
                            assert!(is_apart, "{size:?} {text:?} {other:?}");
                        }
                    }
                }
            }
        }
    }
}
