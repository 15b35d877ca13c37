//! Axes of a picture in the terminal.

use marquardt::digits;

/// Share of the range that is left empty at either end.
const MARGIN: f64 = 0.04;

/// Range of an axis, linear or logarithmic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
    is_logarithmic: bool,
}

impl Axis {
    /// The axis around values; linear if no value is positive.
    pub fn around(values: impl Iterator<Item = f64> + Clone, is_logarithmic: bool) -> Self {
        let is_logarithmic = is_logarithmic && values.clone().any(|value| value > 0.0);
        let scaled = values.filter_map(|value| scaled(value, is_logarithmic));
        let (low, high) =
            scaled.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let margin = match high * MARGIN - low * MARGIN {
            0.0 => (0.5 * low.abs()).max(if is_logarithmic { 0.5 } else { f64::MIN_POSITIVE }),
            margin => margin,
        };
        Axis { low: (low - margin).max(f64::MIN), high: (high + margin).min(f64::MAX), is_logarithmic }
    }

    /// Place of a value as a share of the axis; NaN where it has none.
    pub fn place(&self, value: f64) -> f64 {
        let value = scaled(value, self.is_logarithmic).unwrap_or(f64::NAN);
        // Halves do not overflow.
        (0.5 * value - 0.5 * self.low) / (0.5 * self.high - 0.5 * self.low)
    }

    /// The value at a share of the axis.
    pub fn value(&self, share: f64) -> f64 {
        let value = self.low * (1.0 - share) + self.high * share;
        if self.is_logarithmic { 10.0_f64.powf(value) } else { value }
    }

    /// Both ends, in as few digits as tell them apart, three at least.
    pub fn ends(&self) -> [String; 2] {
        let ends = |places| [0.0, 1.0].map(|share| digits::number(self.value(share), places));
        (3..17).map(ends).find(|[low, high]| low != high).unwrap_or_else(|| ends(17))
    }
}

fn scaled(value: f64, is_logarithmic: bool) -> Option<f64> {
    let scaled = if is_logarithmic { value.log10() } else { value };
    Some(scaled).filter(|scaled| scaled.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(values: &[f64], is_logarithmic: bool) -> Axis {
        Axis::around(values.iter().copied(), is_logarithmic)
    }

    #[test]
    fn values_lie_on_the_axis() {
        for values in [&[1.0, 3.0][..], &[2.0], &[0.0], &[-1.7e308, 1.7e308], &[1e-320, 3e-320], &[5.0, f64::NAN], &[]]
        {
            let axis = around(values, false);
            for &value in values.iter().filter(|value| value.is_finite()) {
                assert!((0.0..=1.0).contains(&axis.place(value)), "{value} on {axis:?}");
            }
            assert!([0.0, 0.5, 1.0].iter().all(|&share| axis.value(share).is_finite()), "{axis:?}");
        }
    }

    #[test]
    fn logarithmic_axes_leave_out_what_is_not_positive() {
        let axis = around(&[0.0, 1.0, 100.0], true);
        assert!((axis.place(10.0) - 0.5).abs() < 1e-12 && axis.place(0.0).is_nan());
        assert!(!around(&[0.0, -1.0], true).is_logarithmic);
    }

    #[test]
    fn ends_are_told_apart() {
        let [low, high] = around(&[1e9, 1e9 + 3.0], false).ends();
        assert_ne!(low, high);
        assert_eq!(around(&[0.0, 100.0], false).ends(), ["-4", "104"]);
    }
}
