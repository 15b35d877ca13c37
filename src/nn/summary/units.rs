//! Numbers that are easy to read.

/// Formats a number with commas: `1,234,567`.
pub(super) fn with_commas(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a count as a multiple of a power of a thousand: `1.23 Mflop`.
pub(super) fn flops(flops: f64) -> String {
    scaled(flops, 1000.0, &["flop", "kflop", "Mflop", "Gflop", "Tflop", "Pflop", "Eflop"])
}

/// Formats a count as a multiple of a power of 1024: `1.23 MiB`.
pub(super) fn bytes(bytes: f64) -> String {
    scaled(bytes, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"])
}

/// Formats a number with three digits, in the largest unit of which there is at least one.
fn scaled(mut number: f64, base: f64, units: &[&str]) -> String {
    let mut place = 0;
    // What would be rounded to the next unit is in the next unit.
    while number >= base - 0.5 && place + 1 < units.len() {
        number /= base;
        place += 1;
    }
    let decimals = match number {
        _ if place == 0 || number >= 99.95 => 0,
        _ if number >= 9.995 => 1,
        _ => 2,
    };
    format!("{number:.decimals$} {}", units[place])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_in_groups_of_three() {
        let read: Vec<String> = [0, 7, 999, 1000, 50_890, 1_234_567].into_iter().map(with_commas).collect();
        assert_eq!(read, ["0", "7", "999", "1,000", "50,890", "1,234,567"]);
    }

    #[test]
    fn three_digits_and_a_unit() {
        let numbers = [0.0, 12.0, 999.4, 999.6, 1000.0, 12_345.0, 123_456.0, 999_700.0, 2.5e19, 3e22];
        let read: Vec<String> = numbers.into_iter().map(flops).collect();
        let expected = [
            "0 flop",
            "12 flop",
            "999 flop",
            "1.00 kflop",
            "1.00 kflop",
            "12.3 kflop",
            "123 kflop",
            "1.00 Mflop",
            "25.0 Eflop",
            "30000 Eflop",
        ];
        assert_eq!(read, expected);
        let numbers = [1023.0, 1024.0, 1536.0, 1024.0 * 1023.0, 4.0 * 1024.0_f64.powi(3)];
        let read: Vec<String> = numbers.into_iter().map(bytes).collect();
        assert_eq!(read, ["1023 B", "1.00 KiB", "1.50 KiB", "1023 KiB", "4.00 GiB"]);
    }
}
