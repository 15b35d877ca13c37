//! Curves of losses, over steps and over seconds.

use std::error::Error;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const SIZE: (u32, u32) = (1100, 540);
/// Room for the title and the legend.
const HEADING: u32 = 72;
/// Room for a name in the legend.
const NAME: i32 = 190;

const INK: RGBColor = RGBColor(55, 65, 81);
const GRID: RGBColor = RGBColor(229, 231, 235);
/// A colour for each optimizer.
const COLORS: [RGBColor; 2] = [RGBColor(37, 99, 165), RGBColor(214, 86, 48)];

/// The loss along a training.
pub struct Curve {
    /// What the legend says.
    pub name: String,
    /// Which of the optimizers it is of, 0 or 1.
    pub optimizer: usize,
    /// From 0, which is not seen, to 1.
    pub opacity: f64,
    pub points: Vec<Point>,
}

/// How far a training has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub steps: u64,
    /// Of training alone.
    pub seconds: f64,
    pub loss: f64,
}

/// Draws to an SVG file: over steps at the left, over seconds at the right, on logarithmic axes.
pub fn draw(title: &str, loss: &str, curves: &[Curve], path: &str) -> Result<(), Box<dyn Error>> {
    let area = SVGBackend::new(path, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let (heading, panels) = area.split_vertically(HEADING);
    draw_heading(&heading, title, curves)?;
    let (left, right) = panels.split_horizontally(SIZE.0 / 2);
    draw_panel(&left, curves, ("steps", loss), |point| point.steps as f64)?;
    draw_panel(&right, curves, ("seconds of training", loss), |point| point.seconds)?;
    area.present()?;
    Ok(())
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The title, and below it the name of each curve.
fn draw_heading(area: &Area<'_>, title: &str, curves: &[Curve]) -> Result<(), Box<dyn Error>> {
    let middle = SIZE.0 as i32 / 2;
    area.draw_text(title, &text(20).pos(Pos::new(HPos::Center, VPos::Center)), (middle, 24)).map_err(unborrowed)?;
    let left = middle - NAME * curves.len() as i32 / 2;
    for (x, curve) in (left..).step_by(NAME as usize).zip(curves) {
        let line = PathElement::new([(x, 56), (x + 22, 56)], curve.style());
        area.draw(&line).map_err(unborrowed)?;
        let name = text(14).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw_text(&curve.name, &name, (x + 28, 56)).map_err(unborrowed)?;
    }
    Ok(())
}

fn draw_panel(
    area: &Area<'_>,
    curves: &[Curve],
    (x_label, y_label): (&str, &str),
    x: impl Fn(&Point) -> f64,
) -> Result<(), Box<dyn Error>> {
    // Nothing else has a logarithm.
    let is_drawable = |&(x, y): &(f64, f64)| x > 0.0 && y > 0.0 && x.is_finite() && y.is_finite();
    let points = |curve: &Curve| -> Vec<(f64, f64)> {
        curve.points.iter().map(|point| (x(point), point.loss)).filter(is_drawable).collect()
    };
    let lines: Vec<Vec<(f64, f64)>> = curves.iter().map(points).collect();
    let x_range = padded(lines.iter().flatten().map(|point| point.0));
    let y_range = padded(lines.iter().flatten().map(|point| point.1));
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .margin_right(24)
        .x_label_area_size(46)
        .y_label_area_size(72)
        .build_cartesian_2d(x_range.log_scale(), y_range.log_scale())
        .map_err(unborrowed)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style(text(14))
        .axis_desc_style(text(16))
        .x_labels(6)
        .y_labels(8)
        .x_label_formatter(&label)
        .y_label_formatter(&label)
        .x_desc(x_label)
        .y_desc(y_label)
        .draw()
        .map_err(unborrowed)?;
    for (curve, line) in curves.iter().zip(lines) {
        chart.draw_series(LineSeries::new(line, curve.style())).map_err(unborrowed)?;
    }
    Ok(())
}

impl Curve {
    fn style(&self) -> ShapeStyle {
        COLORS[self.optimizer].mix(self.opacity).stroke_width(2)
    }
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
    let rounded: f64 = format!("{value:.6e}").parse().unwrap_or(*value);
    if (0.01..10_000.0).contains(&rounded) { rounded.to_string() } else { format!("{rounded:e}") }
}

/// From the least to the greatest, and a little more.
fn padded(values: impl Iterator<Item = f64>) -> Range<f64> {
    let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (value.min(low), value.max(high)));
    if low <= high { 0.8 * low..1.25 * high } else { 0.1..1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_curve_is_drawn_and_named() -> Result<(), Box<dyn Error>> {
        let points = |rate: f64| -> Vec<Point> {
            let point = |steps: u64| Point { steps, seconds: 0.01 * steps as f64, loss: (-rate * steps as f64).exp() };
            (0..20).map(point).chain([Point { steps: 20, seconds: 0.2, loss: f64::NAN }]).collect()
        };
        let curve = |name: &str, optimizer, rate| Curve {
            name: name.to_owned(),
            optimizer,
            opacity: 1.0,
            points: points(rate),
        };
        let path = std::env::temp_dir().join(format!("marquardt-curves-{}.svg", std::process::id()));
        let name = path.to_str().ok_or("the temporary folder has no name in Unicode")?;
        draw("Two trainings", "loss", &[curve("first", 0, 0.5), curve("second", 1, 0.1)], name)?;
        let drawing = std::fs::read_to_string(&path)?;
        std::fs::remove_file(&path)?;
        for text in ["Two trainings", "first", "second", "steps", "seconds of training"] {
            assert_eq!(drawing.matches(&format!("\n{text}\n")).count(), 1, "{text}");
        }
        // In both panels.
        for color in COLORS {
            let RGBColor(red, green, blue) = color;
            let lines = drawing.split('<').filter(|element| element.starts_with("polyline"));
            let stroke = format!("#{red:02X}{green:02X}{blue:02X}");
            assert!(lines.filter(|line| line.contains(&stroke)).count() >= 2, "{stroke}");
        }
        assert!(!drawing.contains("NaN"));
        Ok(())
    }

    #[test]
    fn numbers_at_axes_are_short() {
        assert_eq!([0.1 + 0.2, 9999.999999999, 1e-3, 5e-5].map(|value| label(&value)), ["0.3", "1e4", "1e-3", "5e-5"]);
    }

    #[test]
    fn a_failed_training_leaves_an_empty_panel() {
        assert_eq!(padded(std::iter::empty()), 0.1..1.0);
        assert_eq!(padded([2.0, 2.0].into_iter()), 1.6..2.5);
    }
}
