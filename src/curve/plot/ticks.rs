//! Round numbers for an axis, and how they are written.

/// A mark on an axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

/// About so many round numbers within the range, and what the labels leave out: the value at an axis is its label plus that.
pub(super) fn linear(low: f64, high: f64, count: usize) -> (Vec<Tick>, f64) {
    let largest = low.abs().max(high.abs());
    // Half of the range never overflows.
    let half_span = high / 2.0 - low / 2.0;
    let offset = if half_span < 1e-4 * largest { common_part(low, high) } else { 0.0 };
    let (low, high) = (low - offset, high - offset);
    let rough = 2.0 * (half_span / count.max(1) as f64).min(f64::MAX / 4.0);
    let exponent = rough.log10().floor() as i32;
    let mantissa = rough / power_of_ten(exponent);
    let (step, exponent) = match mantissa {
        m if m < 1.5 => (1, exponent),
        m if m < 3.5 => (2, exponent),
        m if m < 7.5 => (5, exponent),
        _ => (1, exponent + 1),
    };
    let size = f64::from(step) * power_of_ten(exponent);
    let (first, last) = ((low / size).ceil() as i64, (high / size).floor() as i64);
    let numbers = (first..=last.min(first.saturating_add(100))).map(|n| n * i64::from(step));
    let numbers: Vec<i64> = numbers.collect();
    let greatest = numbers.iter().map(|n| n.unsigned_abs()).max().unwrap_or(0) as f64 * power_of_ten(exponent);
    let is_plain = (1e-3..1e6).contains(&greatest);
    let tick = |&n: &i64| {
        // Text is the shortest way to the double nearest to `n·10^exponent`.
        let value = format!("{n}e{exponent}").parse().unwrap_or(n as f64 * power_of_ten(exponent));
        let label = if is_plain { plain(n, exponent) } else { with_exponent(n, exponent) };
        Tick { value: value + offset, label }
    };
    (numbers.iter().map(tick).collect(), offset)
}

/// The roundest number near a narrow range.
fn common_part(low: f64, high: f64) -> f64 {
    let (span, middle) = (high - low, low + (high - low) / 2.0);
    let exponents = (span.log10().floor() as i32..=middle.abs().log10().ceil() as i32).rev();
    let rounded = exponents.map(|exponent| {
        let digits = (middle / power_of_ten(exponent)).round();
        format!("{digits}e{exponent}").parse().unwrap_or(f64::NAN)
    });
    rounded.into_iter().find(|rounded: &f64| (rounded - middle).abs() <= 5.0 * span).unwrap_or(low)
}

/// Marks on a logarithmic axis, between positive numbers: powers of ten, or round numbers where those are too few.
pub(super) fn logarithmic(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let (first, last) = (low.log10().ceil() as i32, high.log10().floor() as i32);
    let powers = (last - first + 1).max(0) as usize;
    let (exponents, factors): (_, &[i64]) =
        if powers > 2 { (first..=last, &[1]) } else { (first - 1..=last + 1, &[1, 2, 5]) };
    let stride = powers.div_ceil(count.max(1)).max(1);
    let is_plain = first >= -3 && last <= 5;
    let label = |n, exponent| if is_plain { plain(n, exponent) } else { with_exponent(n, exponent) };
    let ticks = exponents.step_by(stride).flat_map(|exponent| factors.iter().map(move |&n| (n, exponent)));
    let ticks = ticks.map(|(n, exponent)| Tick { value: n as f64 * power_of_ten(exponent), label: label(n, exponent) });
    let within: Vec<Tick> = ticks.filter(|tick| (low..=high).contains(&tick.value)).collect();
    if within.len() >= 2 {
        return within;
    }
    let (all, offset) = linear(low, high, count);
    let value = |tick: Tick| if offset == 0.0 { tick } else { Tick { label: tick.value.to_string(), ..tick } };
    all.into_iter().filter(|tick| tick.value > 0.0).map(value).collect()
}

fn power_of_ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::NAN)
}

/// `n·10^exponent` with as many decimals as all of that exponent.
fn plain(n: i64, exponent: i32) -> String {
    let decimals = (-exponent).max(0) as usize;
    format!("{:.decimals$}", format!("{n}e{exponent}").parse().unwrap_or(0.0_f64))
}

fn with_exponent(n: i64, exponent: i32) -> String {
    let number: f64 = format!("{n}e{exponent}").parse().unwrap_or(0.0);
    if n == 0 { "0".to_owned() } else { format!("{number:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> Vec<String> {
        linear(low, high, 5).0.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn labels_are_round_and_alike() {
        assert_eq!(labels(-0.1, 1.05), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(-1.1, 1.1), ["-1.0", "-0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(labels(430.0, 520.0), ["440", "460", "480", "500", "520"]);
        assert_eq!(labels(0.0, 3e9), ["0", "5e8", "1e9", "1.5e9", "2e9", "2.5e9", "3e9"]);
        assert_eq!(labels(0.0, 4e-9), ["0", "1e-9", "2e-9", "3e-9", "4e-9"]);
        assert_eq!(linear(0.0, 1.0, 5).0[3].value, 0.6);
    }

    #[test]
    fn narrow_ranges_leave_out_what_is_common() {
        assert_eq!(linear(0.999_999_999_8, 1.000_000_003, 4).1, 1.0);
        assert_eq!(linear(-2_459_000.51, -2_459_000.49, 4).1, -2_459_000.5);
        let (ticks, offset) = linear(5_000.000_001, 5_000.000_009, 4);
        assert_eq!(offset, 5000.0);
        let labels: Vec<&str> = ticks.iter().map(|tick| tick.label.as_str()).collect();
        assert_eq!(labels, ["2e-6", "4e-6", "6e-6", "8e-6"]);
        assert!((ticks[0].value - 5_000.000_002).abs() < 1e-9);
    }

    #[test]
    fn extreme_ranges_have_ticks_within() {
        for (low, high) in [
            (-f64::MAX, f64::MAX),
            (0.0, f64::MAX),
            (1.0, 1.0 + 1e-13),
            (-1e-280, 1e-280),
            (1e300, 1.000_000_1e300),
            (-3.0, -2.999_999),
        ] {
            assert!(linear(low, high, 1).0.iter().all(|tick| (low..=high).contains(&tick.value)), "{low} {high}");
            let (ticks, _) = linear(low, high, 6);
            assert!((2..=20).contains(&ticks.len()), "{low} {high} {ticks:?}");
            assert!(ticks.iter().all(|tick| (low..=high).contains(&tick.value)), "{low} {high} {ticks:?}");
        }
    }

    #[test]
    fn logarithmic_labels() {
        let labels = |low, high, count| -> Vec<String> {
            logarithmic(low, high, count).into_iter().map(|tick| tick.label).collect()
        };
        assert_eq!(labels(0.05, 2000.0, 8), ["0.1", "1", "10", "100", "1000"]);
        assert_eq!(labels(1e-9, 1e9, 4), ["1e-9", "1e-4", "1e1", "1e6"]);
        assert_eq!(labels(0.8, 12.0, 6), ["1", "2", "5", "10"]);
        assert_eq!(labels(3.0, 4.0, 5), ["3.0", "3.2", "3.4", "3.6", "3.8", "4.0"]);
        assert!(labels(f64::MIN_POSITIVE, f64::MAX, 8).len() <= 9);
    }
}
