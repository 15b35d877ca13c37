//! One axis: its range, its round numbers, and where values lie on it.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;

/// An axis. Plotters is given coordinates, which are values, or their logarithms, less `offset`, in units of
/// `10^exponent`: it would not stop looking for round numbers among the greatest floats, the least, and the nearest.
#[derive(Clone)]
pub(super) struct PlotAxis {
    is_logarithmic: bool,
    offset: f64,
    exponent: i32,
    unit: f64,
    coordinates: RangedCoordf64,
    /// Values fall from the lower or left end on.
    is_reversed: bool,
    /// Coordinates and labels.
    ticks: Vec<(f64, String)>,
}

/// Room at either end of an axis, as a share of half its range.
const ROOM: f64 = 0.1;

/// Numbers by which an axis can be read.
const ENOUGH: usize = 3;

/// The least and the greatest of the finite values; of those that are positive, and no less than precise, where logarithms
/// are taken.
pub(super) fn extremes(values: impl Iterator<Item = f64>, is_logarithmic: bool) -> Option<(f64, f64)> {
    let drawn = values.filter(|value| value.is_finite() && (!is_logarithmic || *value >= f64::MIN_POSITIVE));
    drawn.map(|value| (value, value)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

impl PlotAxis {
    /// An axis with room around the values. One that is to be logarithmic is linear if the greatest is not three times
    /// the least: it would look the same, with fewer round numbers.
    pub(super) fn around(values: impl Iterator<Item = f64>, is_logarithmic: bool) -> PlotAxis {
        let nothing = if is_logarithmic { (1.0, 10.0) } else { (0.0, 1.0) };
        let (low, high) = extremes(values, is_logarithmic).unwrap_or(nothing);
        let is_logarithmic = is_logarithmic && high / 3.0 > low;
        let ends = if is_logarithmic { (low.log10(), high.log10()) } else { (low, high) };
        PlotAxis::with_room(ends, is_logarithmic, ROOM)
    }

    /// A linear axis from end to end.
    pub(super) fn within(range: Range<f64>) -> PlotAxis {
        PlotAxis::with_room((range.start, range.end), false, 0.0)
    }

    /// An axis with a share of half its range at either end; of values, or of logarithms.
    fn with_room((low, high): (f64, f64), is_logarithmic: bool, room: f64) -> PlotAxis {
        let largest = low.abs().max(high.abs());
        // Halves do not overflow. What is less than this is rounding, and not a range.
        let half = high / 2.0 - low / 2.0;
        let pad = match half > 1e-14 * largest && half > 1e-290 {
            true => room * half,
            false if largest > 1e-290 => 0.05 * largest,
            false => 1.0,
        };
        let greatest = if is_logarithmic { f64::MAX.log10() } else { f64::MAX };
        let (low, high) = ((low - pad).max(-greatest), (high + pad).min(greatest));
        let is_narrow = !is_logarithmic && half + pad < 1e-4 * largest;
        let offset = if is_narrow { rounded(low, exponent(high - low) + 1) } else { 0.0 };
        let exponent = exponent((low - offset).abs().max((high - offset).abs()));
        let unit = decimal(1.0, exponent);
        let coordinates = RangedCoordf64::from((low - offset) / unit..(high - offset) / unit);
        PlotAxis { is_logarithmic, offset, exponent, unit, coordinates, is_reversed: false, ticks: Vec::new() }
    }

    /// Turns the axis round, if so.
    pub(super) fn reversed(self, is_reversed: bool) -> PlotAxis {
        PlotAxis { is_reversed, ..self }
    }

    /// Widens one of two linear axes, so that both have the same scale; `ratio` is the length of the first axis divided by that of the
    /// second.
    pub(super) fn equalize(x: &mut PlotAxis, y: &mut PlotAxis, ratio: f64) {
        let span = |axis: &PlotAxis| (axis.range().end - axis.range().start) * axis.unit;
        let factor = span(y) * ratio / span(x);
        if x.is_logarithmic || y.is_logarithmic || !(factor.is_finite() && factor > 0.0) {
            return;
        }
        for (axis, factor) in [(x, factor), (y, factor.recip())] {
            let Range { start, end } = axis.range();
            let more = (0.5 * (factor - 1.0)).max(0.0) * (end - start);
            axis.coordinates = RangedCoordf64::from(start - more..end + more);
        }
    }

    /// Chooses round numbers, up to about `most`, and at least three where `most` is three or more.
    pub(super) fn with_ticks(mut self, most: usize) -> PlotAxis {
        let most = most.max(1);
        // The numbers of one step may be too few, where those of the next are somewhat more than so many.
        let choices = (most.max(2)..=2 * most.max(2)).map(|count| self.coordinates.key_points(count));
        let enough = |coordinates: &Vec<f64>| coordinates.len() >= most.min(ENOUGH);
        let coordinates = choices.clone().find(enough).or_else(|| choices.clone().next()).unwrap_or_default();
        // Adding zero turns -0 into 0.
        let values: Vec<f64> = coordinates.iter().map(|&place| decimal(place, self.exponent) + 0.0).collect();
        self.ticks = if self.is_logarithmic {
            let powers =
                values.into_iter().filter(|power| power.fract() == 0.0).map(|power| decimal(1.0, power as i32));
            let values = self.multiples(powers.collect(), most.max(2));
            values.iter().map(|&value| self.coordinate(value)).zip(labels(&values, false)).collect()
        } else {
            coordinates.into_iter().zip(labels(&values, true)).collect()
        };
        self
    }

    /// Powers of ten that are on the axis, or where they are few, multiples of powers.
    fn multiples(&self, powers: Vec<f64>, most: usize) -> Vec<f64> {
        let digits: &[f64] =
            if powers.len() > 1 { &[1.0, 2.0, 5.0] } else { &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0] };
        if powers.len() > 2 {
            return powers;
        }
        let [first, last] = [self.range().start, self.range().end].map(|end| (end * self.unit).floor() as i32);
        let all = (first..=last).flat_map(|power| digits.iter().map(move |&digit| decimal(digit, power)));
        let multiples: Vec<f64> = all.filter(|&value| self.place(value).is_some()).collect();
        multiples.iter().copied().step_by(multiples.len().div_ceil(most).max(1)).collect()
    }

    /// The numbers at the axis.
    pub(super) fn tick_labels(&self) -> impl Iterator<Item = &str> {
        self.ticks.iter().map(|(_, label)| label.as_str())
    }

    /// The numbers at the axis, with their places as shares of it.
    pub(super) fn tick_places(&self) -> impl Iterator<Item = (f64, &str)> {
        let Range { start, end } = self.range();
        self.ticks.iter().map(move |(coordinate, label)| ((coordinate - start) / (end - start), label.as_str()))
    }

    /// Label of the axis, with the offset or factor that its numbers leave out.
    pub(super) fn label(&self, label: &str) -> String {
        let sign = if self.offset > 0.0 { '−' } else { '+' };
        let offset = labels(&[self.offset.abs()], true).concat();
        if self.offset == 0.0 { label.to_owned() } else { format!("{label} {sign} {offset}") }
    }

    /// The coordinate of a value; infinite for what is infinitely far, NaN for NaN.
    pub(super) fn coordinate(&self, value: f64) -> f64 {
        let scaled = match self.is_logarithmic {
            true if value <= 0.0 => f64::NEG_INFINITY,
            true => value.log10(),
            false => value,
        };
        (scaled - self.offset) / self.unit
    }

    /// The coordinate of a value, or of the nearest end where it lies outside; none for NaN.
    pub(super) fn nearest(&self, value: f64) -> Option<f64> {
        let coordinate = self.coordinate(value).clamp(self.range().start, self.range().end);
        Some(coordinate).filter(|coordinate| !coordinate.is_nan())
    }

    /// The coordinate of a value that lies on the axis.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        self.nearest(value).filter(|&nearest| nearest == self.coordinate(value))
    }
}

impl Ranged for PlotAxis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, coordinate: &f64, limits: (i32, i32)) -> i32 {
        let limits = if self.is_reversed { (limits.1, limits.0) } else { limits };
        self.coordinates.map(coordinate, limits)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let is_light = hint.weight().allow_light_points();
        self.ticks.iter().filter(|_| !is_light).map(|&(coordinate, _)| coordinate).collect()
    }

    fn range(&self) -> Range<f64> {
        self.coordinates.range()
    }
}

impl ValueFormatter<f64> for PlotAxis {
    fn format_ext(&self, coordinate: &f64) -> String {
        self.ticks.iter().find(|tick| tick.0 == *coordinate).map_or(String::new(), |(_, label)| label.clone())
    }
}

/// Returns the decimal exponent of the leading digit.
fn exponent(value: f64) -> i32 {
    value.log10().floor() as i32
}

/// The float nearest to `mantissa·10^exponent`, without the rounding of arithmetic.
fn decimal(mantissa: f64, exponent: i32) -> f64 {
    format!("{mantissa:.9}e{exponent}").parse().unwrap_or(f64::NAN)
}

/// The multiple of `10^exponent` that is nearest to a value.
fn rounded(value: f64, exponent: i32) -> f64 {
    decimal((value / decimal(1.0, exponent)).round(), exponent)
}

/// Numbers with as many decimals as they need, or if aligned, as any of them needs, or else with exponents.
fn labels(values: &[f64], are_aligned: bool) -> Vec<String> {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let is_plain = (1e-3..1e7).contains(&largest) && (are_aligned || values.iter().all(|&value| value >= 1e-3));
    let decimals = |value: &f64| value.to_string().split('.').nth(1).map_or(0, str::len);
    let most = values.iter().map(decimals).max().unwrap_or(0);
    let label = |&value: &f64| match is_plain {
        true if are_aligned => format!("{value:.most$}"),
        false if value != 0.0 => format!("{value:e}"),
        _ => value.to_string(),
    };
    values.iter().map(label).collect()
}
