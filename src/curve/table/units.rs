//! Units of measurement, as they stand below the names of columns.

/// Units that may have a prefix.
const UNITS: &[&str] = &[
    "m", "g", "s", "A", "K", "mol", "cd", "Hz", "N", "Pa", "J", "W", "C", "V", "F", "Ω", "Ω", "Ohm", "ohm", "S", "Wb",
    "T", "H", "lm", "lx", "Bq", "Gy", "Sv", "kat", "l", "L", "M", "eV", "Da", "bar", "t", "cal", "sec",
];

/// Units without a prefix.
const OTHERS: &[&str] = &[
    "%", "‰", "ppm", "ppb", "°", "°C", "°F", "degC", "deg", "rad", "sr", "min", "h", "hr", "hrs", "d", "day", "days",
    "yr", "a", "hours", "hour", "seconds", "second", "minutes", "Å", "atm", "Torr", "mmHg", "psi", "u", "U", "IU",
    "AU", "au", "a.u.", "arb.", "arb. u.", "counts", "cts", "cps", "cpm", "rpm", "dB", "dBm", "RFU", "RLU", "RU", "OD",
    "pH", "in", "ft", "lb",
];

const PREFIXES: &[&str] = &["", "da", "f", "p", "n", "µ", "μ", "u", "m", "c", "d", "h", "k", "M", "G", "T"];

/// The text within its brackets.
pub(super) fn without_brackets(text: &str) -> &str {
    let brackets = [('[', ']'), ('(', ')')];
    let within = brackets.into_iter().find_map(|(open, close)| text.strip_prefix(open)?.strip_suffix(close));
    within.unwrap_or(text).trim()
}

/// Returns true for a text in brackets, and for products and powers of known units, such as `mol/(L s)`.
pub(super) fn is_unit(text: &str) -> bool {
    let is_known = |unit: &str| {
        OTHERS.contains(&unit)
            || PREFIXES.iter().any(|prefix| unit.strip_prefix(prefix).is_some_and(|unit| UNITS.contains(&unit)))
    };
    let unit = without_brackets(text);
    let mut factors =
        unit.split(|c: char| c.is_ascii_digit() || "/*·^-−⁻¹²³() ".contains(c)).filter(|unit| !unit.is_empty());
    unit.len() < text.len() || is_known(unit) || factors.next().is_some_and(is_known) && factors.all(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_told_from_names() {
        for unit in
            ["s", "mV", "[s]", "(a.u.)", "1/s", "mol/L", "µM", "µM", "kg m^-3", "J/(mol K)", "cm⁻¹", "%", "°C", "nm"]
        {
            assert!(is_unit(unit), "{unit}");
        }
        for name in ["time", "Abs.", "signal", "Bob", "x", "y", "I", "1", ""] {
            assert!(!is_unit(name), "{name}");
        }
        assert_eq!(without_brackets("[ mV ]"), "mV");
    }
}
