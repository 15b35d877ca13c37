//! A heat map, and its colour bar at the right.

use plotters::prelude::*;

use super::Plot;
use super::axis::PlotAxis;
use super::heat_map::{HeatMap, color};
use super::panel::{Area, BELOW, DrawResult, PlotPanel, fitted, width};
use super::style::{self, INK, letters, px, stroke};

/// Pixels along either side of a map, at most.
const MOST: usize = 512;
/// Width of the colour bar, and of the gap before it.
const BAR: f64 = 14.0;
const GAP: f64 = 18.0;
/// Steps of the colour bar.
const STEPS: i32 = 128;

/// Pixels, an index of the palette each, and the place of the picture that they fill.
pub(super) struct Raster {
    pub(super) left: i32,
    pub(super) top: i32,
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) size: [usize; 2],
    pub(super) pixels: Vec<u8>,
}

/// Draws axes, points and colour bar, and returns the pixels between the axes.
pub(super) fn draw<'a, DB: DrawingBackend + 'a>(plot: &Plot, map: &HeatMap, area: &Area<DB>) -> DrawResult<Raster, DB> {
    let (total, height) = area.dim_in_pixel();
    let height = height as i32 - px(BELOW);
    let colors = map.color_range();
    let bar = PlotAxis::within(colors.0..colors.1).with_ticks((height / px(36.0)).clamp(3, 8) as usize);
    let y =
        PlotAxis::within(map.y.clone()).reversed(map.is_image).with_ticks((height / px(36.0)).clamp(3, 10) as usize);
    let widest = |axis: &PlotAxis| -> DrawResult<f64, DB> {
        let widths = axis.tick_labels().map(|label| width(area, label, style::NUMBER));
        Ok(widths.collect::<Result<Vec<f64>, _>>()?.into_iter().fold(0.0, f64::max))
    };
    let has_label = !map.label.is_empty() || !bar.label("").is_empty();
    let right = px(GAP + BAR + 10.0) + widest(&bar)? as i32 + if has_label { px(style::LABEL + 8.0) } else { 0 };
    let left = widest(&y)? as i32 + px(style::LABEL + 16.0);
    let mut room = [total as i32 - left - right, height];
    if map.is_image {
        let (rows, columns) = map.values.dim();
        let side = (f64::from(room[0]) / columns as f64).min(f64::from(room[1]) / rows as f64);
        room = [columns, rows].map(|count| ((side * count as f64) as i32).max(px(20.0)));
    }
    let x = PlotAxis::within(map.x.clone()).with_ticks((room[0] / px(70.0)).clamp(2, 10) as usize);
    let [spare_x, spare_y] = [total as i32 - left - right - room[0], height - room[1]];
    let inner = area.margin(spare_y / 2, spare_y / 2, spare_x / 2, spare_x - spare_x / 2 + right);
    let mut panel = PlotPanel::without_grid(&inner, (x, y), (Some(&plot.x_label), &plot.y_label), left)?;
    panel.disks(map.points.iter().map(|&(x, y, value)| ((x, y), color(value, colors))))?;
    let (across, down) = panel.pixel_range();
    draw_bar(area, map, &bar, (across.end + px(GAP), down.start, down.end))?;
    let (size, pixels) = map.pixels(MOST);
    let [width, height] = [across.end - across.start, down.end - down.start];
    Ok(Raster { left: across.start, top: down.start, width, height, size, pixels })
}

/// Draws the colour bar between two heights of the picture.
fn draw_bar<DB: DrawingBackend>(
    area: &Area<DB>,
    map: &HeatMap,
    axis: &PlotAxis,
    (left, top, bottom): (i32, i32, i32),
) -> DrawResult<(), DB> {
    let (origin_x, origin_y) = area.get_base_pixel();
    let (left, top, bottom) = (left - origin_x, top - origin_y, bottom - origin_y);
    let right = left + px(BAR);
    let colors = map.color_range();
    for step in 0..STEPS {
        let [low, high] = [step, step + 1].map(|step| bottom - (bottom - top) * step / STEPS);
        let share = (f64::from(step) + 0.5) / f64::from(STEPS);
        let [red, green, blue] = color(colors.0 + share * (colors.1 - colors.0), colors);
        // A step reaches below the next, so that no gap is seen.
        let high = (high - px(1.0)).max(top);
        area.draw(&Rectangle::new([(left, high), (right, low)], RGBColor(red, green, blue).filled()))?;
    }
    let mut widest = 0.0_f64;
    for (share, label) in axis.tick_places() {
        let y = bottom - (f64::from(bottom - top) * share) as i32;
        area.draw(&PathElement::new([(right, y), (right + px(4.0), y)], stroke(INK, 1.0)))?;
        let position = plotters::style::text_anchor::Pos::new(
            plotters::style::text_anchor::HPos::Left,
            plotters::style::text_anchor::VPos::Center,
        );
        area.draw(&Text::new(label.to_owned(), (right + px(7.0), y), letters(style::NUMBER).pos(position)))?;
        widest = widest.max(width(area, label, style::NUMBER)?);
    }
    let label = axis.label(&map.label);
    if !label.is_empty() {
        let (label, size) = fitted(area, &label, style::LABEL, (bottom - top) as u32)?;
        let position = plotters::style::text_anchor::Pos::new(
            plotters::style::text_anchor::HPos::Center,
            plotters::style::text_anchor::VPos::Top,
        );
        let turned = letters(size).transform(FontTransform::Rotate90).pos(position);
        let x = right + px(10.0) + widest as i32 + px(style::LABEL + 6.0);
        area.draw(&Text::new(label, (x, (top + bottom) / 2), turned))?;
    }
    Ok(())
}
