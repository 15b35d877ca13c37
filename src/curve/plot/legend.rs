//! What the colours mean.

use super::Plot;
use super::drawing::{Align, Paint, Place, Shape};
use super::font;
use super::layout::{self, INK, TICK_SIZE};
use super::panel::{fitted, text};
use super::series::{Band, Mark, Series};

/// Room for a picture before a name, and between entries.
const PICTURE: f64 = 26.0;
const GAP: f64 = 20.0;
/// From line to line.
pub(super) const LINE: f64 = 20.0;

/// What is drawn before a name.
enum Picture {
    Disk(Paint),
    Line(Paint),
    DiskOnLine(Paint, Paint),
    Patch(Paint),
    Ring(Paint),
    Cross(Paint),
}

/// An entry with its place: line, and pixels from the left.
struct Entry {
    picture: Picture,
    name: String,
    line: usize,
    left: f64,
    right: f64,
}

/// The entries of a plot, in lines.
pub(super) struct Legend(Vec<Entry>);

impl Legend {
    /// The entries of a plot, in lines of that width, as many as there is room for; none where data and curve speak for
    /// themselves.
    pub(super) fn of(plot: &Plot, width: f64, height: f64) -> Legend {
        let named = if plot.series.len() > 1 { several(&plot.series) } else { single(&plot.series) };
        let (mut line, mut left) = (0, 0.0);
        let entries = named.into_iter().map(|(picture, name)| {
            let (name, _) = fitted(&name, TICK_SIZE / 0.75, width - PICTURE);
            let needed = PICTURE + font::width(&name, TICK_SIZE);
            if left > 0.0 && left + needed > width {
                (line, left) = (line + 1, 0.0);
            }
            let entry = Entry { picture, name, line, left, right: left + needed };
            left += needed + GAP;
            entry
        });
        Legend(entries.take_while(|entry| LINE * (entry.line + 1) as f64 <= height).collect())
    }

    /// How high it is.
    pub(super) fn height(&self) -> f64 {
        self.0.last().map_or(0.0, |entry| LINE * (entry.line + 1) as f64)
    }

    /// How wide it is.
    pub(super) fn width(&self) -> f64 {
        self.0.iter().map(|entry| entry.right).fold(0.0, f64::max)
    }

    /// Draws it from that corner on.
    pub(super) fn draw(&self, shapes: &mut Vec<Shape>, corner: Place) {
        for entry in &self.0 {
            let (left, top) = (corner.0 + entry.left, corner.1 + LINE * entry.line as f64);
            let middle = top + LINE / 2.0;
            let center = (left + 9.0, middle);
            let stroke = |paint| Shape::Line { points: vec![(left, middle), (left + 18.0, middle)], width: 2.0, paint };
            match entry.picture {
                Picture::Disk(paint) => shapes.push(Shape::Disk { center, radius: 3.5, paint }),
                Picture::Line(paint) => shapes.push(stroke(paint)),
                Picture::DiskOnLine(disk, line) => {
                    shapes.extend([stroke(line), Shape::Disk { center, radius: 3.5, paint: disk }]);
                }
                Picture::Patch(paint) => {
                    shapes.push(Shape::Rectangle { corner: (left, middle - 5.0), size: (18.0, 10.0), paint });
                }
                Picture::Ring(paint) => shapes.push(layout::ring(center, 3.5, paint)),
                Picture::Cross(paint) => shapes.extend(layout::cross(center, 3.5, paint)),
            }
            let at = (left + PICTURE, middle + font::CAPITAL * TICK_SIZE / 2.0);
            shapes.push(text(&entry.name, at, TICK_SIZE, Align::Start));
        }
    }
}

/// Data, curve, bands and marks of the only series there is.
fn single(series: &[Series]) -> Vec<(Picture, String)> {
    let Some(series) = series.first() else { return Vec::new() };
    let (data, curve) = layout::colors(0, 1);
    let has = |mark| series.points.iter().any(|point| point.mark == mark);
    let mut further = bands(std::slice::from_ref(series), curve);
    further.extend(has(Mark::Outlier).then(|| (Picture::Ring(data), "outliers".to_owned())));
    further.extend(has(Mark::Omitted).then(|| (Picture::Cross(data), "left out".to_owned())));
    if further.is_empty() && series.name.is_none() {
        return Vec::new();
    }
    let name = series.name.clone().unwrap_or_else(|| "data".to_owned());
    let mut entries = Vec::new();
    entries.extend(has(Mark::Datum).then_some((Picture::Disk(data), name)));
    entries.extend((!series.curve.is_empty()).then(|| (Picture::Line(curve), "fit".to_owned())));
    entries.extend(further);
    entries
}

/// The names of several series, and what else occurs in any of them.
fn several(series: &[Series]) -> Vec<(Picture, String)> {
    let entry = |(index, one): (usize, &Series)| {
        let (data, curve) = layout::colors(index, series.len());
        let picture = match (one.points.is_empty(), one.curve.is_empty()) {
            (false, false) => Picture::DiskOnLine(data, curve),
            (true, false) => Picture::Line(curve),
            _ => Picture::Disk(data),
        };
        (picture, one.name.clone().unwrap_or_else(|| format!("series {}", index + 1)))
    };
    let mut entries: Vec<_> = series.iter().enumerate().map(entry).collect();
    let has = |mark| series.iter().any(|one| one.points.iter().any(|point| point.mark == mark));
    entries.extend(bands(series, INK));
    entries.extend(has(Mark::Outlier).then(|| (Picture::Ring(INK), "outliers".to_owned())));
    entries.extend(has(Mark::Omitted).then(|| (Picture::Cross(INK), "left out".to_owned())));
    entries
}

fn bands(series: &[Series], paint: Paint) -> Vec<(Picture, String)> {
    let percent = |band: &Band| (band.level * 1e4).round() / 100.0;
    let confidence = series.iter().find_map(|one| one.confidence_band.as_ref());
    let prediction = series.iter().find_map(|one| one.prediction_band.as_ref());
    let confidence = confidence.map(|band| (layout::CONFIDENCE, format!("{} % confidence band", percent(band))));
    let prediction = prediction.map(|band| (layout::PREDICTION, format!("{} % prediction band", percent(band))));
    let patch = |(opacity, name)| (Picture::Patch(paint.with_opacity(opacity)), name);
    confidence.into_iter().chain(prediction).map(patch).collect()
}
