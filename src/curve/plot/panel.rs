//! A panel: one pair of axes, and the points and lines between them.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::axis::PlotAxis;
use super::legend::{self, LegendPlace, PICTURE};
use super::parts::parts;
use super::simplify::simplified;
use super::style::{self, CURVE, GRID, INK, SCALE, letters, px, stroke};
use super::thinning::{self, MOST, MOST_BARS, Spot};
use crate::curve::series::{Band, Mark, Series, SeriesPoint};

pub(super) type Area<DB> = DrawingArea<DB, Shift>;
/// Result of drawing on a backend.
pub(super) type DrawResult<T, DB> = Result<T, DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

/// A pair of axes.
pub(super) struct PlotPanel<'a, DB: DrawingBackend> {
    chart: ChartContext<'a, DB, Cartesian2d<PlotAxis, PlotAxis>>,
    x: PlotAxis,
    y: PlotAxis,
    /// Distance in pixels from a line by which points that are left out may be off.
    tolerance: f64,
}

/// Room for the numbers and the label of the x axis.
pub(super) const BELOW: f64 = 44.0;
const TICK: f64 = 4.0;

/// Distance in pixels by which a line may be off, and the number of series for which it is twice as large.
const TOLERANCE: f64 = 0.15;
const MANY_SERIES: f64 = 50.0;

/// Returns an upper bound of a text's width; browsers write wider than Plotters estimates.
pub(super) fn width<DB: DrawingBackend>(area: &Area<DB>, text: &str, size: f64) -> DrawResult<f64, DB> {
    Ok(1.1 * f64::from(area.estimate_text_size(text, &letters(size))?.0))
}

/// A text and its size, smaller, or even shorter, where it would be too wide.
pub(super) fn fitted<DB: DrawingBackend>(
    area: &Area<DB>,
    text: &str,
    size: f64,
    room: u32,
) -> DrawResult<(String, f64), DB> {
    let room = f64::from(room);
    let size = size * (room / width(area, text, size)?.max(1.0)).clamp(style::SMALLEST, 1.0);
    let mut fitted = text.to_owned();
    while !fitted.is_empty() && width(area, &fitted, size)? > room {
        fitted = fitted.chars().take(fitted.chars().count().saturating_sub(2)).chain(['…']).collect();
    }
    Ok((fitted, size))
}

impl<'a, DB: DrawingBackend + 'a> PlotPanel<'a, DB> {
    /// Draws the axes, those of `x` only if they have a label, with this much room for the numbers at the left.
    pub(super) fn on(
        area: &Area<DB>,
        (x, y): (PlotAxis, PlotAxis),
        (x_label, y_label): (Option<&str>, &str),
        left: i32,
    ) -> DrawResult<Self, DB> {
        Self::with_grid(area, (x, y), (x_label, y_label), left, GRID.to_rgba())
    }

    /// Draws the axes alone.
    pub(super) fn without_grid(
        area: &Area<DB>,
        axes: (PlotAxis, PlotAxis),
        labels: (Option<&str>, &str),
        left: i32,
    ) -> DrawResult<Self, DB> {
        Self::with_grid(area, axes, labels, left, TRANSPARENT)
    }

    fn with_grid(
        area: &Area<DB>,
        (x, y): (PlotAxis, PlotAxis),
        (x_label, y_label): (Option<&str>, &str),
        left: i32,
        grid: RGBAColor,
    ) -> DrawResult<Self, DB> {
        let mut chart = ChartBuilder::on(area)
            .y_label_area_size(left)
            .x_label_area_size(if x_label.is_some() { px(BELOW) } else { 0 })
            .build_cartesian_2d(x.clone(), y.clone())?;
        let (x_label, y_label) = (x.label(x_label.unwrap_or_default()), y.label(y_label));
        let (room, height) = chart.plotting_area().dim_in_pixel();
        let (x_label, x_size) = fitted(area, &x_label, style::LABEL, room)?;
        let (y_label, y_size) = fitted(area, &y_label, style::LABEL, height)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(stroke(grid, 1.0))
            .axis_style(stroke(INK, 1.0))
            .set_all_tick_mark_size(px(TICK))
            .label_style(letters(style::NUMBER))
            // Digits have no descenders.
            .y_label_offset(px(1.5))
            .axis_desc_style(letters(x_size.min(y_size)))
            .x_desc(x_label)
            .y_desc(y_label)
            .draw()?;
        Ok(PlotPanel { chart, x, y, tolerance: TOLERANCE })
    }

    /// Draws lines of a number of series less precisely the more there are.
    pub(super) fn of_series(self, count: usize) -> Self {
        PlotPanel { tolerance: TOLERANCE * (1.0 + count as f64 / MANY_SERIES), ..self }
    }

    /// Draws a curve, as far as it lies within.
    pub(super) fn curve(&mut self, curve: &[(f64, f64)], color: RGBColor) -> DrawResult<(), DB> {
        let parts = self.parts(curve).into_iter();
        self.chart.draw_series(parts.map(|part| PathElement::new(part, stroke(color, 2.0))))?;
        Ok(())
    }

    /// Draws a part of a curve, as far as it lies within.
    pub(super) fn component(&mut self, curve: &[(f64, f64)], color: RGBColor) -> DrawResult<(), DB> {
        let (dash, gap) = style::DASH;
        let dashed = |part| DashedPathElement::new(part, px(dash), px(gap), stroke(color, 1.6));
        let parts = self.parts(curve).into_iter();
        self.chart.draw_series(parts.map(dashed))?;
        Ok(())
    }

    fn parts(&self, curve: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
        let place =
            |&(x, y): &(f64, f64)| Some((self.x.place(x)?, self.y.coordinate(y))).filter(|(_, y)| y.is_finite());
        let places: Vec<_> = curve.iter().map(place).collect();
        parts(&places, &self.y.range()).into_iter().map(|part| self.simplified(part)).collect()
    }

    /// A line with fewer points that looks the same.
    fn simplified(&self, line: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
        let (width, height) = self.chart.plotting_area().dim_in_pixel();
        let unit = |range: Range<f64>, room: u32| f64::from(room) / f64::from(SCALE) / (range.end - range.start);
        let (x, y) = (unit(self.x.range(), width), unit(self.y.range(), height));
        let pixels: Vec<_> = line.iter().map(|place| (place.0 * x, place.1 * y)).collect();
        simplified(&pixels, self.tolerance).into_iter().map(|index| line[index]).collect()
    }

    /// Draws a band, cut off where the panel ends; it is interrupted where it is NaN.
    pub(super) fn band(&mut self, band: &Band, color: RGBAColor) -> DrawResult<(), DB> {
        let place = |&(x, low, high): &(f64, f64, f64)| {
            let x = self.x.place(x)?;
            Some([(x, self.y.nearest(low)?), (x, self.y.nearest(high)?)])
        };
        let places: Vec<_> = band.edges.iter().map(place).collect();
        let polygons = places.split(Option::is_none).filter(|run| run.len() > 1).map(|run| {
            let edge = |side: usize| self.simplified(run.iter().flatten().map(|edges| edges[side]).collect());
            let corners: Vec<_> = edge(0).into_iter().chain(edge(1).into_iter().rev()).collect();
            Polygon::new(corners, color)
        });
        let polygons: Vec<_> = polygons.collect();
        self.chart.draw_series(polygons)?;
        Ok(())
    }

    /// The points to draw of each series, fewer where there are too many to be told apart.
    pub(super) fn thinned(
        &self,
        series: &[Series],
        points: impl Fn(&Series) -> Vec<SeriesPoint>,
    ) -> Vec<Vec<SeriesPoint>> {
        let all =
            series.iter().enumerate().flat_map(|(index, one)| points(one).into_iter().map(move |point| (index, point)));
        let all: Vec<_> = all.filter_map(|(index, point)| Some((self.spot(index, &point)?, index, point))).collect();
        let mut few = vec![Vec::new(); series.len()];
        let spots: Vec<_> = all.iter().map(|&(spot, ..)| spot).collect();
        let has = |error: fn(&SeriesPoint) -> f64| all.iter().any(|(.., point)| error(point) > 0.0);
        let most = match usize::from(has(|point| point.error)) + usize::from(has(|point| point.x_error)) {
            0 => MOST,
            directions => MOST_BARS[directions - 1],
        };
        for place in thinning::drawn(&spots, most) {
            let (_, index, point) = all[place];
            few[index].push(point);
        }
        few
    }

    /// Where a point of a series lies in pixels, if it is within.
    fn spot(&self, series: usize, point: &SeriesPoint) -> Option<Spot<(usize, Mark)>> {
        let (width, height) = self.chart.plotting_area().dim_in_pixel();
        let pixels = |length: f64, range: Range<f64>, room: u32| {
            length / (range.end - range.start) * f64::from(room) / f64::from(SCALE)
        };
        let of_y = |length| pixels(length, self.y.range(), height);
        let ends = [-1.0, 1.0].map(|side| self.y.nearest(point.y + side * point.error));
        let [low, high] = ends.map(|end| end.unwrap_or_default());
        let x = pixels(self.x.place(point.x)?, self.x.range(), width);
        Some(Spot { kind: (series, point.mark), x, y: of_y(self.y.place(point.y)?), error: of_y(high - low) / 2.0 })
    }

    /// Draws points; error bars are cut off where the panel ends.
    pub(super) fn points(&mut self, points: &[SeriesPoint], color: RGBColor) -> DrawResult<(), DB> {
        let radius = radius(points.len());
        let bar = ShapeStyle { filled: true, ..stroke(color, 1.2) };
        let bars = points.iter().filter(|point| point.x_error > 0.0 && point.mark == Mark::Datum).filter_map(|point| {
            let [low, high] = [-1.0, 1.0].map(|side| self.x.nearest(point.x + side * point.x_error));
            let y = self.y.place(point.y)?;
            Some(PathElement::new([(low?, y), (high?, y)], bar))
        });
        let bars: Vec<_> = bars.collect();
        self.chart.draw_series(bars)?;
        // The caps of many bars would cover each other.
        let has_caps = points.len() <= FEW;
        let bare = points.iter().filter(|point| point.error > 0.0 && point.mark == Mark::Datum && !has_caps);
        let bare = bare.filter_map(|point| {
            let x = self.x.place(point.x)?;
            let [low, high] = [-1.0, 1.0].map(|side| self.y.nearest(point.y + side * point.error));
            Some(PathElement::new([(x, low?), (x, high?)], bar))
        });
        let bare: Vec<_> = bare.collect();
        self.chart.draw_series(bare)?;
        let elements = points.iter().filter_map(|point| {
            let at = (self.x.place(point.x)?, self.y.place(point.y)?);
            let ends = (self.y.nearest(point.y - point.error), self.y.nearest(point.y + point.error));
            let element: DynElement<'static, DB, (f64, f64)> = match (point.mark, ends) {
                (Mark::Datum, (Some(low), Some(high))) if point.error > 0.0 && has_caps => {
                    ErrorBar::new_vertical(at.0, low, at.1, high, bar, 2 * px(radius) as u32).into_dyn()
                }
                (Mark::Datum, _) => Circle::new(at, px(radius), color.filled()).into_dyn(),
                (Mark::Outlier, _) => Circle::new(at, px(radius + 0.5), stroke(color, 1.4)).into_dyn(),
                (Mark::Omitted, _) => Cross::new(at, px(radius + 0.5), stroke(color, 1.4)).into_dyn(),
            };
            Some(element)
        });
        self.chart.draw_series(elements)?;
        Ok(())
    }

    /// Draws disks of colours with rims.
    pub(super) fn disks(&mut self, disks: impl Iterator<Item = ((f64, f64), [u8; 3])>) -> DrawResult<(), DB> {
        let place = |(x, y): (f64, f64)| Some((self.x.place(x)?, self.y.place(y)?));
        let places: Vec<_> = disks.filter_map(|(at, color)| Some((place(at)?, color))).collect();
        let radius = radius(places.len());
        for (at, [red, green, blue]) in places {
            let rim = Circle::new(at, px(radius + 1.4), WHITE.filled());
            let line = Circle::new(at, px(radius + 0.7), INK.filled());
            let disk = Circle::new(at, px(radius), RGBColor(red, green, blue).filled());
            self.chart.draw_series([rim, line, disk])?;
        }
        Ok(())
    }

    /// The pixels of the picture that the panel covers, across and down.
    pub(super) fn pixel_range(&self) -> (Range<i32>, Range<i32>) {
        self.chart.plotting_area().get_pixel_range()
    }

    /// Draws residuals, with stems where they are few.
    pub(super) fn residuals(&mut self, residuals: &[SeriesPoint], color: RGBColor) -> DrawResult<(), DB> {
        let places = residuals.iter().filter_map(|point| Some((self.x.place(point.x)?, self.y.place(point.y)?)));
        let places: Vec<_> = places.collect();
        let (zero, radius) = (self.y.coordinate(0.0), radius(residuals.len()));
        let stems = places.iter().filter(|_| residuals.len() <= FEW);
        let stems = stems.map(|&(x, y)| PathElement::new([(x, zero), (x, y)], stroke(color.mix(0.5), 1.0)));
        self.chart.draw_series(stems)?;
        self.chart.draw_series(places.iter().map(|&place| Circle::new(place, px(radius), color.filled())))?;
        // So many points cover the line.
        if residuals.len() > FEW { self.zero_line() } else { Ok(()) }
    }

    /// Draws a line at zero, and shades a distance above and below it.
    pub(super) fn zero(&mut self, height: f64) -> DrawResult<(), DB> {
        let (x, y) = (self.x.range(), self.y.range());
        let (low, high) = (self.y.coordinate(-height).max(y.start), self.y.coordinate(height).min(y.end));
        let shade = Rectangle::new([(x.start, low), (x.end, high)], INK.mix(0.06).filled());
        self.chart.draw_series([shade])?;
        self.zero_line()
    }

    fn zero_line(&mut self) -> DrawResult<(), DB> {
        let (x, zero) = (self.x.range(), self.y.coordinate(0.0));
        self.chart.draw_series([PathElement::new([(x.start, zero), (x.end, zero)], stroke(CURVE, 1.5))])?;
        Ok(())
    }

    /// Draws a legend, which says how many of the points are drawn.
    pub(super) fn legend(&mut self, series: &[Series], drawn: usize, place: LegendPlace) -> DrawResult<(), DB> {
        let area = self.chart.plotting_area().strip_coord_spec();
        let entries = legend::entries(series, drawn);
        let widths = entries.iter().map(|entry| width(&area, &entry.name, style::NUMBER));
        let widest = widths.collect::<Result<Vec<f64>, _>>()?.into_iter().fold(0.0, f64::max);
        let (margin, picture) = (px(8.0), px(PICTURE + 6.0));
        let line = 1.25 * letters(style::NUMBER).font.get_size();
        let size = (widest + f64::from(2 * margin + picture), line * entries.len() as f64 + f64::from(2 * margin));
        let (room, height) = (f64::from(area.dim_in_pixel().0), f64::from(area.dim_in_pixel().1));
        let is_too_large = size.0 > room || size.1 > height;
        let covers_much = place == LegendPlace::Best && size.0 * size.1 > room * height / 3.0;
        if place == LegendPlace::None || entries.is_empty() || is_too_large || covers_much {
            return Ok(());
        }
        let shares = (size.0 / room, size.1 / height);
        let (left, low) = place.corner(shares).unwrap_or_else(|| legend::corner(shares, &self.covered(series)));
        let corner = SeriesLabelPosition::Coordinate((left * room) as i32, ((1.0 - low) * height - size.1) as i32);
        for entry in entries {
            let name = entry.name.clone();
            let nothing = std::iter::empty::<Circle<(f64, f64), i32>>();
            self.chart.draw_series(nothing)?.label(name).legend(move |at| entry.draw(at));
        }
        let mut labels = self.chart.configure_series_labels();
        labels.position(corner).margin(margin).legend_area_size(picture);
        labels.background_style(WHITE.mix(0.8)).label_font(letters(style::NUMBER)).draw()
    }

    /// Places that are drawn at, as shares of the panel from its lower left: those of points, and some along curves.
    fn covered(&self, series: &[Series]) -> Vec<(f64, f64)> {
        let (x, y) = (self.x.range(), self.y.range());
        let share = |coordinate: f64, range: &Range<f64>| (coordinate - range.start) / (range.end - range.start);
        let place = |at: (f64, f64)| (share(self.x.coordinate(at.0), &x), share(self.y.coordinate(at.1), &y));
        let points = series.iter().flat_map(|one| one.points.iter().map(|point| place((point.x, point.y))));
        let lines = series.iter().flat_map(|one| one.curve.windows(2)).map(|pair| (place(pair[0]), place(pair[1])));
        let along = lines.flat_map(|(from, to)| {
            let part = move |i: u32| f64::from(i) / 8.0;
            (0..=8).map(move |i| (from.0 + (to.0 - from.0) * part(i), from.1 + (to.1 - from.1) * part(i)))
        });
        points.chain(along).collect()
    }
}

/// Points that are not too many to be drawn large.
const FEW: usize = 300;

fn radius(points: usize) -> f64 {
    if points <= FEW { 3.2 } else { 1.6 }
}
