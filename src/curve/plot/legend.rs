//! The legend.

use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::layout::BANDS;
use super::style::{self, INK, px, stroke};
use super::thinning::MOST_BARS;
use crate::curve::series::{Band, Mark, Series};

/// Symbol before a name.
#[derive(Clone, Copy)]
enum Picture {
    Disk,
    Ring,
    Cross,
    Line,
    Dashes,
    Patch,
}

/// Place of the legend of a [`Plot`](super::Plot). Feature `plot`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LegendPlace {
    /// Place at which the legend covers the fewest points and the least of the curves. There is no legend if it would not leave two thirds
    /// of the panel.
    #[default]
    Best,
    /// In the upper left corner.
    UpperLeft,
    /// In the upper right corner.
    UpperRight,
    /// In the lower left corner.
    LowerLeft,
    /// In the lower right corner.
    LowerRight,
    /// There is no legend.
    None,
}

impl LegendPlace {
    /// Lower left corner of a legend of that size, as shares of the panel; none for [`Best`](Self::Best).
    pub(super) fn corner(self, (width, height): (f64, f64)) -> Option<(f64, f64)> {
        let (right, top) = (1.0 - width, 1.0 - height);
        match self {
            LegendPlace::Best | LegendPlace::None => None,
            LegendPlace::UpperLeft => Some((0.0, top)),
            LegendPlace::UpperRight => Some((right, top)),
            LegendPlace::LowerLeft => Some((0.0, 0.0)),
            LegendPlace::LowerRight => Some((right, 0.0)),
        }
    }
}

/// A name, and the symbol that is drawn before it.
pub(super) struct LegendEntry {
    pub(super) name: String,
    picture: Picture,
    color: RGBAColor,
}

/// Width of a picture.
pub(super) const PICTURE: f64 = 22.0;

/// The entries of a plot of which so many points are drawn; none where data and curve speak for themselves.
pub(super) fn entries(series: &[Series], drawn: usize) -> Vec<LegendEntry> {
    let entry = |name: &str, picture, color: RGBAColor| LegendEntry { name: name.to_owned(), picture, color };
    let (data, curve) = style::colors(0, 1);
    let (mark, band) = if series.len() > 1 { (INK, INK) } else { (data, curve) };
    let has = |mark| series.iter().any(|one| one.points.iter().any(|point| point.mark == mark));
    let patch = |band_of: fn(&Series) -> &Option<Band>, kind: &str, opacity| {
        let found = series.iter().find_map(|one| band_of(one).as_ref());
        let name = |found: &Band| format!("{} % {kind} band", (found.level * 1e4).round() / 100.0);
        found.filter(|_| series.len() <= BANDS).map(|found| entry(&name(found), Picture::Patch, band.mix(opacity)))
    };
    let mut further = Vec::new();
    further.extend(patch(|one| &one.confidence_band, "confidence", style::CONFIDENCE));
    further.extend(patch(|one| &one.prediction_band, "prediction", style::PREDICTION));
    further.extend(has(Mark::Outlier).then(|| entry("outliers", Picture::Ring, mark.into())));
    further.extend(has(Mark::Omitted).then(|| entry("left out", Picture::Cross, mark.into())));
    let count: usize = series.iter().map(|one| one.points.len()).sum();
    let thinned = || entry(&format!("{drawn} of {count} points drawn"), Picture::Disk, mark.into());
    further.extend((count > MOST_BARS[1] && drawn < count).then(thinned));
    let mut entries = Vec::new();
    match series {
        [only] if only.name.is_some() || !further.is_empty() || !only.components.is_empty() => {
            let name = only.name.as_deref().unwrap_or("data");
            entries.extend(has(Mark::Datum).then(|| entry(name, Picture::Disk, data.into())));
            entries.extend((!only.curve.is_empty()).then(|| entry("fit", Picture::Line, curve.into())));
            entries.extend(
                only.components.iter().enumerate().map(|(number, (name, _))| {
                    entry(name, Picture::Dashes, style::component_color(0, number, 1).into())
                }),
            );
        }
        [] | [_] => {}
        several => entries.extend(several.iter().enumerate().map(|(index, one)| {
            let name = one.name.clone().unwrap_or_else(|| format!("series {}", index + 1));
            // Points have the colour of their curve.
            let picture = if one.curve.is_empty() { Picture::Disk } else { Picture::Line };
            entry(&name, picture, style::colors(index, several.len()).0.into())
        })),
    }
    entries.extend(further);
    entries
}

impl LegendEntry {
    /// The picture at that place.
    pub(super) fn draw<DB: DrawingBackend>(&self, (x, y): (i32, i32)) -> DynElement<'static, DB, (i32, i32)> {
        let (middle, end, color) = ((x + px(PICTURE / 2.0), y), x + px(PICTURE), self.color);
        match self.picture {
            Picture::Disk => Circle::new(middle, px(3.5), color.filled()).into_dyn(),
            Picture::Ring => Circle::new(middle, px(3.5), stroke(color, 1.4)).into_dyn(),
            Picture::Cross => Cross::new(middle, px(3.5), stroke(color, 1.4)).into_dyn(),
            Picture::Line => PathElement::new([(x, y), (end, y)], stroke(color, 2.0)).into_dyn(),
            Picture::Dashes => {
                let (dash, gap) = style::DASH;
                DashedPathElement::new([(x, y), (end, y)], px(dash), px(gap), stroke(color, 1.6)).into_dyn()
            }
            Picture::Patch => Rectangle::new([(x, y - px(5.0)), (end, y + px(5.0))], color.filled()).into_dyn(),
        }
    }
}

/// The corner from which on a legend of that size covers the fewest places; all are shares of the panel from its lower left.
pub(super) fn corner(size: (f64, f64), places: &[(f64, f64)]) -> (f64, f64) {
    // The upper ones at the right and the left first.
    let corners =
        [1.0, 0.0, 0.5].into_iter().flat_map(|y| [1.0, 0.0, 0.5].map(|x| (x * (1.0 - size.0), y * (1.0 - size.1))));
    let covered = |&(left, low): &(f64, f64)| {
        let is_covered =
            |&&(x, y): &&(f64, f64)| (left..=left + size.0).contains(&x) && (low..=low + size.1).contains(&y);
        places.iter().filter(is_covered).count()
    };
    corners.min_by_key(covered).unwrap_or((0.0, 0.0))
}
