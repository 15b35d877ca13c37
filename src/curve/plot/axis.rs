//! One axis: its range, its round numbers, and where values lie on it.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;

/// An axis. Plotters is given coordinates, which are values, or their logarithms, less `offset`, in units of
/// `10^exponent`: it would not stop looking for round numbers among the greatest floats, the least, and the nearest.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    is_logarithmic: bool,
    offset: f64,
    exponent: i32,
    range: Range<f64>,
    ticks: Vec<Tick>,
}

/// A mark on an axis.
#[derive(Debug, Clone, PartialEq)]
struct Tick {
    coordinate: f64,
    label: String,
}

/// The logarithm of a value where the axis has logarithms.
pub(super) fn scaled(value: f64, is_logarithmic: bool) -> f64 {
    match is_logarithmic {
        true if value <= 0.0 => f64::NEG_INFINITY,
        true => value.log10(),
        false => value,
    }
}

/// The least and the greatest finite one.
pub(super) fn extremes(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|value| value.is_finite()).map(|value| (value, value)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

impl Axis {
    /// An axis with room around the values, which are scaled.
    pub(super) fn around(values: impl Iterator<Item = f64>, is_logarithmic: bool) -> Axis {
        let (low, high) = extremes(values).unwrap_or((0.0, 1.0));
        let largest = low.abs().max(high.abs());
        // Halves do not overflow. What is less than this is rounding, and not a range.
        let half = high / 2.0 - low / 2.0;
        let pad = match half > 1e-14 * largest && half > 1e-290 {
            true => 0.1 * half,
            false if is_logarithmic => 0.3,
            false if largest > 1e-290 => 0.05 * largest,
            false => 1.0,
        };
        // Powers of ten outside of these are not floats.
        let ends = if is_logarithmic { (-323.3, f64::MAX.log10()) } else { (-f64::MAX, f64::MAX) };
        Axis::between((low - pad).max(ends.0), (high + pad).min(ends.1), is_logarithmic)
    }

    fn between(low: f64, high: f64, is_logarithmic: bool) -> Axis {
        let is_narrow = high / 2.0 - low / 2.0 < 1e-4 * low.abs().max(high.abs());
        let offset = if is_narrow && !is_logarithmic { rounded(low, exponent(high - low) + 1) } else { 0.0 };
        let exponent = exponent((low - offset).abs().max((high - offset).abs()));
        let mut axis = Axis { is_logarithmic, offset, exponent, range: 0.0..1.0, ticks: Vec::new() };
        axis.range = axis.unit(low)..axis.unit(high);
        axis
    }

    fn unit(&self, scaled: f64) -> f64 {
        (scaled - self.offset) / decimal(1.0, self.exponent)
    }

    /// Chooses so many round numbers at most, but two at least.
    pub(super) fn with_ticks(mut self, most: usize) -> Axis {
        let most = most.max(2);
        self.ticks = if self.is_logarithmic { self.logarithmic_ticks(most) } else { self.linear_ticks(most) };
        self
    }

    fn linear_ticks(&self, most: usize) -> Vec<Tick> {
        let coordinates = RangedCoordf64::from(self.range.clone()).key_points(most);
        // Adding zero turns -0 into 0.
        let values: Vec<f64> = coordinates.iter().map(|&value| decimal(value, self.exponent) + 0.0).collect();
        coordinates.into_iter().zip(labels(&values)).map(|(coordinate, label)| Tick { coordinate, label }).collect()
    }

    /// Powers of ten, or where those are too few, also twice and five times those, or else what is round without logarithms.
    fn logarithmic_ticks(&self, most: usize) -> Vec<Tick> {
        let unit = decimal(1.0, self.exponent);
        let (low, high) = (self.range.start * unit, self.range.end * unit);
        let decades = RangedCoordf64::from(low..high).key_points(most);
        let decades = decades.into_iter().filter(|power| (power - power.round()).abs() < 1e-9);
        let powers: Vec<f64> = decades.map(|power| decimal(1.0, power.round() as i32)).collect();
        let parts = (low.floor() as i32..=high.floor() as i32).flat_map(|e| [1.0, 2.0, 5.0].map(|n| decimal(n, e)));
        let parts: Vec<f64> = parts.filter(|part| (low..=high).contains(&part.log10())).collect();
        let is_enough = |values: &Vec<f64>| (3..=most.max(3)).contains(&values.len());
        let (values, labels) = match [powers, parts].into_iter().find(is_enough) {
            Some(values) => (values.clone(), logarithmic_labels(&values)),
            None => {
                let plain = Axis::between(10_f64.powf(low), 10_f64.powf(high).min(f64::MAX), false);
                let values = RangedCoordf64::from(plain.range.clone()).key_points(most).into_iter();
                let values: Vec<f64> = values.map(|value| plain.offset + decimal(value, plain.exponent)).collect();
                (values.clone(), labels(&values))
            }
        };
        let ticks = values.into_iter().zip(labels);
        let ticks = ticks.map(|(value, label)| Tick { coordinate: self.unit(value.log10()), label });
        ticks.filter(|tick| self.holds(tick.coordinate)).collect()
    }

    /// The numbers at the axis.
    pub(super) fn tick_labels(&self) -> impl Iterator<Item = &str> {
        self.ticks.iter().map(|tick| tick.label.as_str())
    }

    /// The label of the axis, with what its numbers leave out.
    pub(super) fn label(&self, label: &str) -> String {
        let sign = if self.offset > 0.0 { '−' } else { '+' };
        let offset = labels(&[self.offset.abs()]).concat();
        if self.offset == 0.0 { label.to_owned() } else { format!("{label} {sign} {offset}").trim().to_owned() }
    }

    /// The coordinate of a value; infinite for what is infinitely far, NaN for NaN.
    pub(super) fn coordinate(&self, value: f64) -> f64 {
        self.unit(scaled(value, self.is_logarithmic))
    }

    /// The coordinate of a value, or of the nearest end where it lies outside; none for NaN.
    pub(super) fn nearest(&self, value: f64) -> Option<f64> {
        let coordinate = self.coordinate(value).clamp(self.range.start, self.range.end);
        Some(coordinate).filter(|coordinate| !coordinate.is_nan())
    }

    /// The coordinate of a value that lies on the axis.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        Some(self.coordinate(value)).filter(|&coordinate| self.holds(coordinate))
    }

    fn holds(&self, coordinate: f64) -> bool {
        (self.range.start..=self.range.end).contains(&coordinate)
    }

    /// How far along the axis a coordinate is, from 0 to 1.
    pub(super) fn share(&self, coordinate: f64) -> f64 {
        (coordinate - self.range.start) / (self.range.end - self.range.start)
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, coordinate: &f64, limits: (i32, i32)) -> i32 {
        RangedCoordf64::from(self.range.clone()).map(coordinate, limits)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let is_light = hint.weight().allow_light_points();
        self.ticks.iter().filter(|_| !is_light).map(|tick| tick.coordinate).collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, coordinate: &f64) -> String {
        let tick = self.ticks.iter().find(|tick| tick.coordinate == *coordinate);
        tick.map_or(String::new(), |tick| tick.label.clone())
    }
}

/// That of the leading digit; powers of ten far below have few digits.
fn exponent(value: f64) -> i32 {
    (value.log10().floor() as i32).max(-323)
}

/// The float nearest to `mantissa·10^exponent`, without the rounding of arithmetic.
fn decimal(mantissa: f64, exponent: i32) -> f64 {
    format!("{mantissa:.9}e{exponent}").parse().unwrap_or(f64::NAN)
}

/// The multiple of `10^exponent` that is nearest to a value.
fn rounded(value: f64, exponent: i32) -> f64 {
    decimal((value / decimal(1.0, exponent)).round(), exponent)
}

/// Numbers with as many decimals as any of them needs, or with exponents where they are large or small.
fn labels(values: &[f64]) -> Vec<String> {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let is_plain = (1e-3..1e7).contains(&largest);
    let decimals = |value: &f64| value.to_string().split('.').nth(1).map_or(0, str::len);
    let most = if is_plain { values.iter().map(decimals).max().unwrap_or(0) } else { 0 };
    let label = |&value: &f64| if is_plain || value == 0.0 { format!("{value:.most$}") } else { format!("{value:e}") };
    values.iter().map(label).collect()
}

/// Numbers with as many decimals as they need, or with exponents where any of them is large or small.
fn logarithmic_labels(values: &[f64]) -> Vec<String> {
    let is_plain = values.iter().all(|value| (1e-3..1e6).contains(value));
    values.iter().map(|value| if is_plain { value.to_string() } else { format!("{value:e}") }).collect()
}
