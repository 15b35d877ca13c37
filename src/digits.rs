//! Numbers as people write them.

/// Size from which numbers are written in scientific notation.
const LARGE: f64 = 1e6;
/// Size below which numbers are written in scientific notation.
const SMALL: f64 = 1e-4;

/// A number of this size is written without a power of ten.
pub(crate) fn is_plain(value: f64) -> bool {
    (SMALL..LARGE).contains(&value.abs())
}

/// Formats a number with a number of significant digits, without zeros at the end.
pub fn number(value: f64, digits: usize) -> String {
    // Adding zero turns -0 into 0.
    let rounded = format!("{value:.*e}", digits.saturating_sub(1)).parse().unwrap_or(value) + 0.0;
    let is_plain = rounded == 0.0 || !rounded.is_finite() || is_plain(rounded);
    if is_plain { rounded.to_string() } else { format!("{rounded:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_plain_but_for_the_small_and_the_large() {
        let six = |value| number(value, 6);
        assert_eq!([six(12.5), six(0.1 + 0.2), six(-0.0), six(123_456.7)], ["12.5", "0.3", "0", "123457"]);
        assert_eq!([six(1.234_567_8e6), six(9.9e-5), six(f64::NEG_INFINITY)], ["1.23457e6", "9.9e-5", "-inf"]);
        assert_eq!([number(std::f64::consts::PI, 12), number(1e7 / 3.0, 12)], ["3.14159265359", "3.33333333333e6"]);
    }
}
