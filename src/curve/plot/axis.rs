//! One axis: from numbers to pixels.

use super::ticks::{self, Tick};

/// A range of numbers along a stretch of pixels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    is_logarithmic: bool,
    /// The ends, as logarithms where the axis is logarithmic.
    low: f64,
    high: f64,
    pub(super) ticks: Vec<Tick>,
    /// What is to be added to the labels.
    pub(super) offset: f64,
    /// The pixels of the ends.
    pub(super) pixels: (f64, f64),
}

impl Axis {
    /// An axis with room around the values; what it has no place for is ignored.
    pub(super) fn around(values: impl Iterator<Item = f64>, is_logarithmic: bool) -> Axis {
        let fits = |value: &f64| value.is_finite() && (!is_logarithmic || *value > 0.0);
        let scaled = values.filter(fits).map(|value| if is_logarithmic { value.log10() } else { value });
        let (low, high) = scaled.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (v.min(low), v.max(high)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let largest = low.abs().max(high.abs());
        // Less than this is rounding, and not a range.
        let is_range = high - low > 1e-14 * largest && high - low > 1e-290;
        let pad = match is_range {
            true => 0.05 * (high / 2.0 - low / 2.0) * 2.0,
            false if is_logarithmic => 0.3,
            false if largest > 1e-290 => 0.05 * largest,
            false => 1.0,
        };
        let (low, high) = if is_logarithmic {
            // Powers of ten outside of these are not floats.
            ((low - pad).max(-323.3), (high + pad).min(f64::MAX.log10()))
        } else {
            ((low - pad).max(-f64::MAX), (high + pad).min(f64::MAX))
        };
        Axis { is_logarithmic, low, high, ticks: Vec::new(), offset: 0.0, pixels: (0.0, 1.0) }
    }

    /// Chooses about so many ticks, or as many as `room`, given the labels, says there is room for.
    pub(super) fn with_ticks(mut self, count: usize, room: impl Fn(&[Tick]) -> usize) -> Axis {
        for count in (1..=count).rev() {
            (self.ticks, self.offset) = if self.is_logarithmic {
                (ticks::logarithmic(self.value(self.low), self.value(self.high), count), 0.0)
            } else {
                ticks::linear(self.low, self.high, count)
            };
            if self.ticks.len() <= room(&self.ticks).max(1) {
                break;
            }
        }
        self
    }

    /// Puts the ends there.
    pub(super) fn between(self, low: f64, high: f64) -> Axis {
        Axis { pixels: (low, high), ..self }
    }

    fn value(&self, scaled: f64) -> f64 {
        if self.is_logarithmic { 10_f64.powf(scaled).min(f64::MAX) } else { scaled }
    }

    /// The pixel of a value, which may be outside of the axis; infinite for what is infinitely far, NaN for NaN.
    pub(super) fn pixel(&self, value: f64) -> f64 {
        let scaled = match self.is_logarithmic {
            true if value <= 0.0 => f64::NEG_INFINITY,
            true => value.log10(),
            false => value,
        };
        // Halves do not overflow.
        let share = (scaled / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0);
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }

    /// The pixel of a value, or of the nearest end where it lies outside; none for NaN.
    pub(super) fn nearest_pixel(&self, value: f64) -> Option<f64> {
        let (first, last) = (self.pixels.0.min(self.pixels.1), self.pixels.0.max(self.pixels.1));
        Some(self.pixel(value)).filter(|pixel| !pixel.is_nan()).map(|pixel| pixel.clamp(first, last))
    }

    /// Whether a value has a place on the axis.
    pub(super) fn holds(&self, value: f64) -> bool {
        value.is_finite() && (!self.is_logarithmic || value > 0.0)
    }

    /// The label of the axis, with what its numbers leave out.
    pub(super) fn label(&self, label: &str) -> String {
        match self.offset {
            offset if offset > 0.0 => format!("{label} − {}", brief(offset)),
            offset if offset < 0.0 => format!("{label} + {}", brief(-offset)),
            _ => label.to_owned(),
        }
        .trim()
        .to_owned()
    }
}

fn brief(value: f64) -> String {
    if (1e-4..1e15).contains(&value) { value.to_string() } else { format!("{value:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(axis: &Axis) -> (f64, f64) {
        (axis.low, axis.high)
    }

    #[test]
    fn there_is_room_around_the_values() {
        let axis = Axis::around([f64::NAN, 10.0, f64::INFINITY, 0.0].into_iter(), false).between(100.0, 0.0);
        assert_eq!(ends(&axis), (-0.5, 10.5));
        assert_eq!((axis.pixel(-0.5), axis.pixel(10.5), axis.pixel(5.0)), (100.0, 0.0, 50.0));
        assert_eq!((axis.nearest_pixel(1e9), axis.nearest_pixel(f64::NEG_INFINITY)), (Some(0.0), Some(100.0)));
        assert_eq!(axis.nearest_pixel(f64::NAN), None);
    }

    #[test]
    fn every_range_is_one() {
        for values in [
            &[][..],
            &[0.0],
            &[5.0, 5.0],
            &[-1e-300],
            &[1e308],
            &[-f64::MAX, f64::MAX],
            &[f64::MAX],
            &[f64::MIN_POSITIVE, 1.0],
            &[1.0, 1.0 + 1e-16],
        ] {
            for is_logarithmic in [false, true] {
                let axis = Axis::around(values.iter().copied(), is_logarithmic).with_ticks(6, |_| 6).between(0.0, 1.0);
                assert!(axis.low < axis.high && axis.high.is_finite(), "{values:?} {axis:?}");
                assert!(!axis.ticks.is_empty() && axis.ticks.len() <= 6, "{values:?} {axis:?}");
                let pixels: Vec<f64> = axis.ticks.iter().map(|tick| axis.pixel(tick.value)).collect();
                assert!(pixels.iter().all(|pixel| (-1e-9..=1.0 + 1e-9).contains(pixel)), "{values:?} {pixels:?}");
            }
        }
    }

    #[test]
    fn any_two_numbers_have_an_axis() {
        let mut bits = 1_u64;
        let mut any = || {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from_bits(bits ^ (bits >> 33))
        };
        for trial in 0..1500 {
            let first = any();
            // Every other time, numbers that are near each other.
            let second = if trial % 2 == 0 { any() } else { first * (1.0 + 1e-15 * (1_u64 << (trial % 50)) as f64) };
            for is_logarithmic in [false, true] {
                let axis = Axis::around([first, second].into_iter(), is_logarithmic).with_ticks(4, |_| 6);
                assert!(!axis.ticks.is_empty() && axis.ticks.len() <= 6, "{first} {second} {axis:?}");
                for value in [first, second].into_iter().filter(|&value| axis.holds(value)) {
                    assert!((0.0..=1.0).contains(&axis.pixel(value)), "{first} {second} {axis:?}");
                }
            }
        }
    }

    #[test]
    fn logarithmic_axes_have_no_place_for_zero() {
        let axis = Axis::around([0.0, -1.0, 0.1, 1000.0].into_iter(), true).between(0.0, 1.0);
        assert!(axis.pixel(0.1) > 0.0 && axis.pixel(0.1) < 0.1);
        assert!(!axis.holds(0.0) && axis.holds(1e-9));
        assert_eq!(axis.nearest_pixel(-1.0), Some(0.0));
    }
}
