//! Numbers as files write them.

use std::borrow::Cow;

use super::DateOrder;
use super::times::Moment;

/// Texts that mean a missing value, whatever their case.
const MISSING: [&str; 20] = [
    "", "NA", "NaN", "N/A", "#N/A", "#NV", "n.a.", "null", "None", "-", "--", "–", "—", ".", "?", "#DIV/0!", "#NUM!",
    "#VALUE!", "#REF!", "#NULL!",
];

/// Signs that are written for a minus.
const MINUS: [char; 2] = ['−', '–'];

/// Spaces of all kinds that separate thousands.
const SPACES: [char; 3] = ['\u{a0}', '\u{2009}', '\u{202f}'];

/// Form of the numbers of a file.
#[derive(Debug, Clone, Default)]
pub(super) struct NumberFormat {
    pub(super) decimal_comma: bool,
    /// Separator of thousands.
    pub(super) thousands: Option<char>,
    /// Texts that mean a missing value besides the usual ones; an asterisk at the end stands for any text.
    pub(super) missing: Vec<String>,
    pub(super) date_order: Option<DateOrder>,
}

impl NumberFormat {
    /// The number that a field is, NaN where it is missing.
    pub(super) fn parse(&self, field: &str) -> Option<f64> {
        if let Some(value) = self.decimal(field) {
            let is_code = self.missing.iter().any(|code| self.decimal(code) == Some(value));
            return Some(if is_code { f64::NAN } else { value });
        }
        if self.is_missing(field) {
            return Some(f64::NAN);
        }
        let text = match field.strip_prefix(MINUS) {
            Some(number) => Cow::from(format!("-{}", number.replace(MINUS, "-"))),
            None => Cow::from(field.replace(MINUS, "-")),
        };
        if let Some(percent) = text.strip_suffix('%') {
            return self.decimal(percent.trim_end()).map(|value| value / 100.0);
        }
        // The exponent of Fortran.
        let is_number = text.starts_with(|c: char| c.is_ascii_digit() || "+-.,".contains(c));
        is_number.then(|| self.decimal(&text.replace(['D', 'd'], "e"))).flatten()
    }

    /// A number with the separators of this format.
    pub(super) fn decimal(&self, field: &str) -> Option<f64> {
        let mut text = Cow::from(field);
        if let Some(separator) = self.thousands {
            if separator == ' ' {
                text = field.replace(SPACES, " ").into();
            }
            if text.contains(separator) {
                if !has_thousands(&text, separator, if self.decimal_comma { ',' } else { '.' }) {
                    return None;
                }
                text = text.replace(separator, "").into();
            }
        }
        match self.decimal_comma {
            // A point then separates thousands, or else is no decimal comma.
            true if has_thousands(&text, '.', ',') => None,
            true => text.replace(',', ".").parse().ok(),
            false => text.parse().ok(),
        }
    }

    pub(super) fn is_missing(&self, field: &str) -> bool {
        let is_code = |code: &String| match code.strip_suffix('*') {
            Some(begin) => field.starts_with(begin),
            None => field == code,
        };
        MISSING.iter().any(|missing| field.eq_ignore_ascii_case(missing)) || self.missing.iter().any(is_code)
    }

    /// Returns true for a number or a missing value, and for what a person may mean as a number.
    pub(super) fn looks_numeric(&self, field: &str) -> bool {
        let begins = field.starts_with(|c: char| c.is_ascii_digit() || "+-−.<>".contains(c));
        let is_like = |c: char| c.is_ascii_digit() || "+-−.,:/%<>eE'".contains(c);
        let is_like_number = begins && field.contains(|c: char| c.is_ascii_digit()) && field.chars().all(is_like);
        is_like_number || self.parse(field).is_some() || self.moment(field).is_some()
    }

    /// Returns true for what looks numeric and is there.
    pub(super) fn is_number(&self, field: &str) -> bool {
        self.looks_numeric(field) && !self.is_missing(field)
    }

    pub(super) fn moment(&self, field: &str) -> Option<Moment> {
        Moment::parse(field, self.date_order)
    }
}

/// Returns true for groups of three digits with this separator between them, and possibly decimals behind the decimal sign.
pub(super) fn has_thousands(text: &str, separator: char, decimal: char) -> bool {
    let (integer, decimals) = text.split_once(decimal).unwrap_or((text, ""));
    let mut groups = integer.strip_prefix(['+', '-']).unwrap_or(integer).split(separator);
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_first = |group: &str| (1..=3).contains(&group.len()) && are_digits(group) && !group.starts_with('0');
    let begins = groups.next().is_some_and(is_first) && integer.contains(separator);
    begins && are_digits(decimals) && groups.all(|group| group.len() == 3 && are_digits(group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_told_from_decimals() {
        for text in ["12,777", "-1,234", "+999,000", "1,234,567", "1,234.5"] {
            assert!(has_thousands(text, ',', '.') && !has_thousands(text, '.', ','), "{text}");
        }
        for text in ["1,5", "0,125", "1234,567", "1,2345", "1,234,56", ",777", "1,", "", "1234", "1,234e5", "a,bcd"] {
            assert!(!has_thousands(text, ',', '.'), "{text}");
        }
        for text in ["1.234", "1.234,5", "1.234.567"] {
            assert!(has_thousands(text, '.', ','), "{text}");
        }
    }

    #[test]
    fn numbers_are_read_as_they_are_written() {
        let format = |decimal_comma, thousands| NumberFormat { decimal_comma, thousands, ..Default::default() };
        for (format, text, expected) in [
            (format(false, None), "5%", Some(0.05)),
            (format(false, None), "12.5 %", Some(0.125)),
            (format(false, None), "−1.5e−3", Some(-1.5e-3)),
            (format(false, None), "–2", Some(-2.0)),
            (format(false, None), "1.0D+00", Some(1.0)),
            (format(false, None), "-2.5d-3", Some(-2.5e-3)),
            (format(false, None), "1 234", None),
            (format(false, None), "1,234", None),
            (format(false, None), "D5", None),
            (format(false, None), "%", None),
            (format(true, None), "2,5%", Some(0.025)),
            (format(true, None), "1.234", None),
            (format(true, Some('.')), "1.234,5", Some(1234.5)),
            (format(true, Some('.')), "1.5", None),
            (format(false, Some(',')), "-1,234,567.25", Some(-1_234_567.25)),
            (format(false, Some(',')), "1,5", None),
            (format(false, Some(',')), "12", Some(12.0)),
            (format(true, Some(' ')), "1\u{202f}234,5", Some(1234.5)),
            (format(false, Some('\'')), "1'234", Some(1234.0)),
        ] {
            assert_eq!(format.parse(text), expected, "{text}");
        }
        let coded = NumberFormat { missing: ["-999", "<*", "void"].map(str::to_owned).into(), ..Default::default() };
        for text in ["-999", "-999.00", "<0.5", "<LOD", "void", "#N/A", "-", "null"] {
            assert!(coded.parse(text).unwrap().is_nan(), "{text}");
        }
        assert_eq!(coded.parse("-998"), Some(-998.0));
    }
}
