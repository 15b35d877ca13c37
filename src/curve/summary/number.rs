//! Values with their standard errors, as people write them.

use crate::digits::is_plain;
pub(super) use crate::digits::number;

/// Significant digits of a standard error.
const DIGITS_OF_ERROR: i32 = 3;
/// A value below its standard error by more than this factor has digits of its own.
const LARGE_ERROR: f64 = 100.0;
/// Significant digits of numbers of which no error is known.
pub(super) const DIGITS: usize = 6;
/// Significant digits that a double has for certain.
const MOST_DIGITS: i32 = 15;

/// A number below one, such as R², with at least three digits of its difference from one.
pub(super) fn share(value: f64, digits: usize) -> String {
    let gap = (1.0 - value).abs();
    let needed = if gap > 0.0 && gap < 1.0 { 2 - exponent(gap) } else { 0 };
    number(value, digits.max(needed.min(MOST_DIGITS + 1) as usize))
}

/// Number format of a value, its standard error and its interval: they have the same number of decimals, and the same power of
/// ten.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NumberFormat {
    decimals: usize,
    /// The power of ten, where it is written.
    exponent: Option<i32>,
}

impl NumberFormat {
    /// Chooses the format from the standard error, which gets three significant digits; `None` without a standard error.
    pub(super) fn of(value: f64, error: f64) -> Option<NumberFormat> {
        if !(value.is_finite() && error.is_finite() && error > 0.0) {
            return None;
        }
        // As it is rounded, 0.09996 begins at 0.1.
        let last = exponent(rounded(error)) - (DIGITS_OF_ERROR - 1);
        let first = exponent(value.abs().max(rounded(error)));
        // An error below the digits of the value takes no more of them.
        let last = last.max(first - (MOST_DIGITS - 1));
        let is_plain = is_plain(value.abs().max(error));
        let scale = if is_plain { 0 } else { first };
        Some(NumberFormat { decimals: (scale - last).max(0) as usize, exponent: (!is_plain).then_some(scale) })
    }

    /// `9.8676 ± 0.0123`, or `(9.8676 ± 0.0123)e-7`. A value far below its error has digits of its own: `2.31e9 ± 7.53e20`.
    pub(super) fn measured(&self, value: f64, error: f64) -> String {
        if value != 0.0 && error > LARGE_ERROR * value.abs() {
            return [value, error].map(|own| number(own, DIGITS_OF_ERROR as usize)).join(" ± ");
        }
        let decimals = self.decimals;
        let least = 99.5 * 10_f64.powi(-(decimals as i32));
        let error = match self.scaled(error) {
            // The digits of the value do not go so far.
            error if error < least => number(error, DIGITS_OF_ERROR as usize),
            error => format!("{error:.decimals$}"),
        };
        self.with_exponent(format!("{:.decimals$} ± {error}", self.mantissa(value)), "()")
    }

    /// `[9.8430, 9.8922]`, or `[9.8430, 9.8922]e-7`.
    pub(super) fn interval(&self, low: f64, high: f64) -> String {
        let decimals = self.decimals;
        let ends = format!("[{:.decimals$}, {:.decimals$}]", self.mantissa(low), self.mantissa(high));
        self.with_exponent(ends, "")
    }

    /// Writes the mantissa, before the power of ten.
    fn scaled(&self, value: f64) -> f64 {
        match self.exponent {
            // Powers of ten are exact up to 22.
            Some(exponent) if exponent < -290 => value * 1e300 * 10_f64.powi(-exponent - 300),
            Some(exponent) if exponent < 0 => value * 10_f64.powi(-exponent),
            Some(exponent) => value / 10_f64.powi(exponent),
            None => value,
        }
    }

    /// Writes the mantissa, without a minus before a number that is rounded to zero.
    fn mantissa(&self, value: f64) -> f64 {
        let scaled = self.scaled(value);
        if scaled.abs() < 0.5 * 10_f64.powi(-(self.decimals as i32)) { 0.0 } else { scaled }
    }

    fn with_exponent(&self, text: String, brackets: &str) -> String {
        match (self.exponent, brackets) {
            (None, _) => text,
            (Some(exponent), "") => format!("{text}e{exponent}"),
            (Some(exponent), _) => format!("({text})e{exponent}"),
        }
    }
}

/// Rounds an error to the digits that are shown.
fn rounded(error: f64) -> f64 {
    format!("{error:.*e}", DIGITS_OF_ERROR as usize - 1).parse().unwrap_or(error)
}

/// The power of ten of the first digit.
fn exponent(value: f64) -> i32 {
    let text = format!("{value:e}");
    text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn measured(value: f64, error: f64) -> String {
        NumberFormat::of(value, error).unwrap().measured(value, error)
    }

    #[test]
    fn values_have_the_digits_of_their_errors() {
        for (value, error, text) in [
            (9.867_61, 0.012_34, "9.8676 ± 0.0123"),
            (-9.867_61, 1.234, "-9.87 ± 1.23"),
            (451.541_218_44, 0.046_800_52, "451.5412 ± 0.0468"),
            (0.301_234, 25.31, "0.3 ± 25.3"),
            (-0.001_234_5, 25.31, "-0.00123 ± 25.3"),
            (2.312e5, 7.531e20, "231000 ± 7.53e20"),
            (2.312e9, 7.531e20, "2.31e9 ± 7.53e20"),
            (234_567.0, 12_345.0, "234567 ± 12345"),
            (1.0, 0.099_96, "1.000 ± 0.100"),
            (0.000_123_456, 1.234e-7, "0.000123456 ± 0.000000123"),
            (9.867_61e-7, 1.234e-9, "(9.8676 ± 0.0123)e-7"),
            (-2.5e8, 3.0e6, "(-2.5000 ± 0.0300)e8"),
            (1.0, 2.5e-30, "1.00000000000000 ± 2.5e-30"),
            (0.0, 2.0, "0.00 ± 2.00"),
            (1e-310, 1e-312, "(1.0000 ± 0.0100)e-310"),
        ] {
            assert_eq!(measured(value, error), text);
        }
        for (value, error) in [(1.0, 0.0), (1.0, f64::NAN), (1.0, f64::INFINITY), (f64::NAN, 1.0)] {
            assert_eq!(NumberFormat::of(value, error), None);
        }
    }

    #[test]
    fn intervals_are_written_as_their_values() {
        let of = |value, error, low, high| NumberFormat::of(value, error).unwrap().interval(low, high);
        assert_eq!(of(9.867_61, 0.012_34, 9.843_0, 9.892_2), "[9.8430, 9.8922]");
        assert_eq!(of(9.867_61e-7, 0.012_34e-7, 9.843_0e-7, 9.892_2e-7), "[9.8430, 9.8922]e-7");
    }

    #[test]
    fn shares_are_told_from_one() {
        assert_eq!([share(0.997_064_27, 6), share(0.999_999_998_7, 6)], ["0.997064", "0.9999999987"]);
        assert_eq!([share(1.0, 6), share(-0.25, 6), share(0.0, 6)], ["1", "-0.25", "0"]);
    }

    proptest! {
        /// The text is the value, but for less than a hundredth of the error.
        #[test]
        fn no_digit_that_counts_is_lost(mantissa in 0.1..10.0_f64, exponent in -30..30_i32, relative in -14.0..2.0_f64) {
            let value = -mantissa * 10_f64.powi(exponent);
            let error = value.abs() * 10_f64.powf(relative);
            let text = measured(value, error);
            let (text, power) = match text.split_once(")e") {
                Some((text, power)) => (text[1..].to_owned(), 10_f64.powi(power.parse().unwrap())),
                None => (text, 1.0),
            };
            let (first, second) = text.split_once(" ± ").unwrap();
            let [first, second]: [f64; 2] = [first, second].map(|text| text.parse().unwrap());
            prop_assert!((first * power - value).abs() <= 0.0051 * error + 6e-15 * value.abs(), "{text}");
            prop_assert!((second * power / error - 1.0).abs() < 0.0051, "{text}");
        }
    }
}
