//! Data and curves above, residuals below.

use plotters::prelude::*;

use super::Plot;
use super::axes::Axes;
use super::axis::PlotAxis;
use super::heat_layout::{self, Raster};
use super::panel::{self, Area, BELOW, DrawResult, PlotPanel, fitted};
use super::style::{self, letters, px};
use crate::curve::Series;

/// Width of the gap between the panels.
const GUTTER: f64 = 18.0;
/// The residuals' share of the height, and the largest one, which is given to a long label.
const RESIDUALS: f64 = 0.27;
const MOST_RESIDUALS: f64 = 0.42;
/// The share of a heat map above another plot.
const MAP: f64 = 0.68;
/// Numbers of series up to which components and bands are drawn; those of more would be a tangle.
const COMPONENTS: usize = 4;
pub(super) const BANDS: usize = 12;

/// Draws a plot, and returns the pixels of heat maps, which go below all else.
pub(super) fn draw<'a, DB: DrawingBackend + 'a>(plot: &Plot, area: &Area<DB>) -> DrawResult<Vec<Raster>, DB> {
    if let Some(right) = &plot.right {
        let (left_half, right_half) = area.split_horizontally(area.dim_in_pixel().0 / 2);
        let mut rasters = draw(&Plot { right: None, ..plot.clone() }, &left_half)?;
        rasters.append(&mut draw(right, &right_half)?);
        return Ok(rasters);
    }
    if let Some(lower) = &plot.lower {
        let is_map = plot.heat_map.is_some();
        let share = if is_map { MAP } else { 0.5 };
        let (above, below) = area.split_vertically((share * f64::from(area.dim_in_pixel().1)) as i32);
        let mut rasters = draw(&Plot { lower: None, ..plot.clone() }, &above)?;
        let x_label = if is_map { lower.x_label.clone() } else { plot.x_label.clone() };
        rasters.append(&mut draw(&Plot { x_label, ..(**lower).clone() }, &below)?);
        return Ok(rasters);
    }
    let mut inner = area.margin(px(10.0), px(8.0), px(6.0), px(24.0));
    if let Some(title) = &plot.title {
        let (title, size) = fitted(area, title, style::TITLE, inner.dim_in_pixel().0)?;
        inner = inner.titled(&title, letters(size))?.margin(px(4.0), 0, 0, 0);
    }
    if let Some(map) = &plot.heat_map {
        return Ok(vec![heat_layout::draw(plot, map, &inner)?]);
    }
    let has_residuals = plot.series.iter().any(|series| !series.residuals.is_empty());
    let (width, height) = inner.dim_in_pixel();
    let height = height as i32 - px(BELOW);
    let label_height = panel::width(area, &plot.residual_label, style::SMALLEST * style::LABEL)? + f64::from(px(2.0));
    let [least, most] = [RESIDUALS, MOST_RESIDUALS].map(|share| share * f64::from(height));
    let residual_height = if has_residuals { label_height.clamp(least, most) as i32 } else { 0 };
    let fit_height = if has_residuals { height - residual_height - px(GUTTER) } else { height };

    let y_ticks = |axis: PlotAxis, height: i32| axis.with_ticks((height / px(36.0)).clamp(3, 10) as usize);
    let Axes { mut x, mut y, residual } = Axes::of(plot);
    let residual = y_ticks(residual, residual_height);
    let widest = |axis: &PlotAxis| -> DrawResult<f64, DB> {
        let widths = axis.tick_labels().map(|label| panel::width(area, label, style::NUMBER));
        Ok(widths.collect::<Result<Vec<f64>, _>>()?.into_iter().fold(0.0, f64::max))
    };
    let left_of = |y: &PlotAxis| -> DrawResult<i32, DB> {
        let numbers = widest(y)?.max(if has_residuals { widest(&residual)? } else { 0.0 });
        Ok(numbers as i32 + px(style::LABEL + 16.0))
    };
    if plot.has_equal_scales {
        let room = width as i32 - left_of(&y_ticks(y.clone(), fit_height))?;
        PlotAxis::equalize(&mut x, &mut y, f64::from(room) / f64::from(fit_height));
    }
    let y = y_ticks(y, fit_height);
    let left = left_of(&y)?;
    let room = width as i32 - left;
    let mut x = x.with_ticks((room / px(55.0)).clamp(3, 12) as usize);
    for most in (1..x.tick_labels().count()).rev() {
        if (widest(&x)? as i32 + px(14.0)) * x.tick_labels().count() as i32 <= room {
            break;
        }
        x = x.with_ticks(most);
    }

    let label = Some(plot.x_label.as_str());
    if has_residuals {
        let (upper, lower) = inner.split_vertically(fit_height + px(GUTTER));
        let upper = upper.margin(0, px(GUTTER), 0, 0);
        draw_fits(plot, PlotPanel::on(&upper, (x.clone(), y), (None, &plot.y_label), left)?)?;
        draw_residuals(plot, PlotPanel::on(&lower, (x, residual), (label, &plot.residual_label), left)?)
    } else {
        draw_fits(plot, PlotPanel::on(&inner, (x, y), (label, &plot.y_label), left)?)
    }?;
    Ok(Vec::new())
}

fn draw_fits<'a, DB: DrawingBackend + 'a>(plot: &Plot, panel: PlotPanel<'a, DB>) -> DrawResult<(), DB> {
    let mut panel = panel.of_series(plot.series.len());
    let colored = || plot.series.iter().enumerate().map(|(index, one)| (one, style::colors(index, plot.series.len())));
    for (series, (_, color)) in colored().filter(|_| plot.series.len() <= BANDS) {
        let prediction = series.prediction_band.iter().map(|band| (band, style::PREDICTION));
        let confidence = series.confidence_band.iter().map(|band| (band, style::CONFIDENCE));
        for (band, opacity) in prediction.chain(confidence) {
            panel.band(band, color.mix(opacity))?;
        }
    }
    let few = panel.thinned(&plot.series, |series| series.points.clone());
    for ((_, (color, _)), points) in colored().zip(&few) {
        panel.points(points, color)?;
    }
    for (index, (series, (_, color))) in colored().enumerate() {
        for (number, (_, component)) in series.components.iter().enumerate().filter(|_| plot.series.len() <= COMPONENTS)
        {
            panel.component(component, style::component_color(index, number, plot.series.len()))?;
        }
        panel.curve(&series.curve, color)?;
    }
    panel.legend(&plot.series, few.iter().map(Vec::len).sum(), plot.legend)
}

fn draw_residuals<'a, DB: DrawingBackend + 'a>(plot: &Plot, mut panel: PlotPanel<'a, DB>) -> DrawResult<(), DB> {
    panel.zero(plot.residual_band.filter(|height| !height.is_nan()).unwrap_or(0.0))?;
    let few = panel.thinned(&plot.series, Series::residual_points);
    for (index, residuals) in few.iter().enumerate() {
        panel.residuals(residuals, style::colors(index, plot.series.len()).0)?;
    }
    Ok(())
}
