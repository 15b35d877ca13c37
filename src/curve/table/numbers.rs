//! Numbers as files write them.

use super::error::has_thousands;

/// Texts that mean a missing value, whatever their case.
const MISSING: [&str; 3] = ["", "NA", "NaN"];

/// Form of the numbers of a file.
#[derive(Debug, Clone, Default)]
pub(super) struct NumberFormat {
    pub(super) decimal_comma: bool,
}

impl NumberFormat {
    /// The number that a field is, NaN where it is missing.
    pub(super) fn parse(&self, field: &str) -> Option<f64> {
        if self.is_missing(field) {
            return Some(f64::NAN);
        }
        match self.decimal_comma {
            // A point then separates thousands, or else is no decimal comma.
            true if has_thousands(field, '.') => None,
            true => field.replace(',', ".").parse().ok(),
            false => field.parse().ok(),
        }
    }

    pub(super) fn is_missing(&self, field: &str) -> bool {
        MISSING.iter().any(|missing| field.eq_ignore_ascii_case(missing))
    }

    /// Returns true for a number or a missing value, and for what a person may mean as a number.
    pub(super) fn looks_numeric(&self, field: &str) -> bool {
        let begins = field.starts_with(|c: char| c.is_ascii_digit() || "+-−.<>".contains(c));
        let is_like = |c: char| c.is_ascii_digit() || "+-−.,:/%<>eE'".contains(c);
        self.parse(field).is_some()
            || begins && field.contains(|c: char| c.is_ascii_digit()) && field.chars().all(is_like)
    }

    /// Returns true for what looks numeric and is there.
    pub(super) fn is_number(&self, field: &str) -> bool {
        self.looks_numeric(field) && !self.is_missing(field)
    }
}
