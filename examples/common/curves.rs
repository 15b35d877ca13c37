//! Curves of losses, over steps and over seconds.

use std::error::Error;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::prelude::*;

const SIZE: (u32, u32) = (1100, 520);
/// Room for the title.
const TITLE: u32 = 44;

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
    /// Drawn pale, behind what is compared.
    pub is_pale: bool,
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
    let (heading, panels) = area.split_vertically(TITLE);
    let center = ((SIZE.0 / 2) as i32, TITLE as i32 / 2 + 4);
    let style = text(20).pos(plotters::style::text_anchor::Pos::new(
        plotters::style::text_anchor::HPos::Center,
        plotters::style::text_anchor::VPos::Center,
    ));
    heading.draw_text(title, &style, center)?;
    let (left, right) = panels.split_horizontally(SIZE.0 / 2);
    draw_panel(&left, curves, ("steps", loss), |point| point.steps as f64)?;
    draw_panel(&right, curves, ("seconds of training", loss), |point| point.seconds)?;
    area.present()?;
    Ok(())
}

fn draw_panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
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
        let style = COLORS[curve.optimizer].mix(if curve.is_pale { 0.35 } else { 1.0 }).stroke_width(2);
        let series = chart.draw_series(LineSeries::new(line, style)).map_err(unborrowed)?;
        series.label(&curve.name).legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerLeft)
        .legend_area_size(24)
        .background_style(WHITE.mix(0.8))
        .label_font(text(14))
        .draw()
        .map_err(unborrowed)?;
    Ok(())
}

/// The error without the borrow of the file's name that the backend holds.
fn unborrowed(error: impl Error) -> Box<dyn Error> {
    error.to_string().into()
}

fn text(size: u32) -> TextStyle<'static> {
    TextStyle::from(("sans-serif", size)).color(&INK)
}

/// A number at an axis.
fn label(value: &f64) -> String {
    if (0.01..10_000.0).contains(value) { value.to_string() } else { format!("{value:e}") }
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
            is_pale: false,
            points: points(rate),
        };
        let path = std::env::temp_dir().join(format!("marquardt-curves-{}.svg", std::process::id()));
        let name = path.to_str().ok_or("the temporary folder has no name in Unicode")?;
        draw("Two trainings", "loss", &[curve("first", 0, 0.5), curve("second", 1, 0.1)], name)?;
        let drawing = std::fs::read_to_string(&path)?;
        std::fs::remove_file(&path)?;
        // In both panels.
        for text in ["first", "second"] {
            assert_eq!(drawing.matches(&format!("\n{text}\n")).count(), 2, "{text}");
        }
        for text in ["Two trainings", "steps", "seconds of training"] {
            assert_eq!(drawing.matches(&format!("\n{text}\n")).count(), 1, "{text}");
        }
        assert!(!drawing.contains("NaN"));
        Ok(())
    }

    #[test]
    fn a_failed_training_leaves_an_empty_panel() {
        assert_eq!(padded(std::iter::empty()), 0.1..1.0);
        assert_eq!(padded([2.0, 2.0].into_iter()), 1.6..2.5);
    }
}
