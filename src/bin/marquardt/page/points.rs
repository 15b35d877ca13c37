//! Observations on a page.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use statrs::distribution::{ContinuousCDF, Normal};

/// Approximate number of residuals in a quantile plot.
const QUANTILES: usize = 400;

/// Multiplier of a hash of indices.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Observations of one series, in columns.
#[derive(Default)]
pub struct Points {
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub fitted: Vec<f64>,
    /// Residuals of equal variance.
    pub residuals: Vec<f64>,
    /// Standard deviations of the responses and of the predictors, if there are any.
    pub errors: Vec<f64>,
    pub x_errors: Vec<f64>,
    /// Shares of their weight that a robust loss leaves the observations, if there is one.
    pub weights: Vec<f64>,
}

/// Points that are kept.
#[derive(Default)]
pub struct Kept {
    indices: Vec<usize>,
    /// Numbers of points that they stand for; none if all are kept.
    counts: Option<Vec<u32>>,
}

impl Points {
    /// About `most` points: each cell of a grid keeps one.
    pub fn kept(&self, most: usize) -> Kept {
        let total = self.x.len();
        if total <= most {
            return Kept { indices: (0..total).collect(), counts: None };
        }
        let (indices, counts) = self.thinned(most).into_iter().unzip();
        Kept { indices, counts: Some(counts) }
    }

    /// The columns of these points.
    pub fn to_json(&self, kept: &Kept) -> Value {
        let column = |of: &[f64], digits| -> Value {
            kept.indices.iter().filter_map(|&index| Some(rounded(*of.get(index)?, digits))).collect()
        };
        let mut value = json!({
            "total": self.x.len(),
            "x": column(&self.x, 17),
            "y": column(&self.y, 17),
            "fitted": column(&self.fitted, 9),
            "residuals": column(&self.residuals, 6),
            "counts": kept.counts,
        });
        let optional = [("errors", &self.errors), ("x_errors", &self.x_errors), ("weights", &self.weights)];
        for (name, of) in optional.into_iter().filter(|(_, of)| !of.is_empty()) {
            value[name] = column(of, 4);
        }
        value
    }

    /// Indices of the points kept, and the numbers of points in their cells. Columns of the grid have equal numbers of points; its rows
    /// divide the range of the residuals.
    fn thinned(&self, most: usize) -> Vec<(usize, u32)> {
        let mut order: Vec<usize> = (0..self.x.len()).collect();
        order.sort_by(|&a, &b| self.x[a].total_cmp(&self.x[b]));
        let finite = || self.residuals.iter().copied().filter(|residual| residual.is_finite());
        let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        // Normal residuals fill about half of the rows.
        let side = (2.0 * most as f64).sqrt();
        let mut cells = BTreeMap::new();
        for (rank, &index) in order.iter().enumerate() {
            let column = (side * rank as f64 / order.len() as f64) as u32;
            let row = (side * (self.residuals[index] - low) / (high - low)) as u32;
            let (kept, count) = cells.entry((column, row)).or_insert((index, 0));
            *count += 1;
            // A pseudo-random member: the first ones would form stripes.
            if (index as u64).wrapping_mul(GOLDEN).is_multiple_of(u64::from(*count)) {
                *kept = index;
            }
        }
        cells.into_values().collect()
    }
}

/// Normal quantiles and the sorted residuals. Of many, both tails are kept, and every `step`-th between them.
pub fn quantiles<'p>(points: impl Iterator<Item = &'p Points>) -> Value {
    let mut residuals: Vec<f64> =
        points.flat_map(|points| &points.residuals).copied().filter(|r| r.is_finite()).collect();
    residuals.sort_by(f64::total_cmp);
    let (count, step) = (residuals.len(), residuals.len().div_ceil(QUANTILES).max(1));
    let end = QUANTILES / 8;
    let is_kept = |index: usize| index < end || index + end >= count || index.is_multiple_of(step);
    let quantile = |index: usize| Normal::standard().inverse_cdf((index as f64 + 0.625) / (count as f64 + 0.25));
    let kept: Vec<usize> = (0..count).filter(|&index| is_kept(index)).collect();
    let normal: Value = kept.iter().map(|&index| rounded(quantile(index), 6)).collect();
    json!([normal, kept.iter().map(|&index| rounded(residuals[index], 6)).collect::<Value>()])
}

/// Rounds to significant digits; null if the value is not finite.
pub fn rounded(value: f64, digits: usize) -> Value {
    // These digits are the value's own.
    if digits >= 17 || value == 0.0 {
        return Value::from(value);
    }
    // Numbers are drawn by the thousand: no text is made of them where powers of ten are exact.
    let power = digits as i32 - 1 - value.abs().log10().floor() as i32;
    let scale = 10_f64.powi(power.abs());
    match power {
        0..=22 => Value::from((value * scale).round() / scale),
        -22..0 => Value::from((value / scale).round() * scale),
        _ => format!("{value:.*e}", digits - 1).parse::<f64>().map_or(Value::Null, Value::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_numbers() {
        for value in
            [1.0, -0.0, 123_456.789, -9.999_999_6e-3, 1e-300, 2.5e300, 6.02e23, 1e15, -7.1e-16, 999.999_999, 5e-324]
        {
            for digits in [4, 6, 9, 17] {
                let text: f64 = format!("{value:.*e}", digits - 1).parse().expect("a number");
                let found = rounded(value, digits).as_f64().expect("a number");
                assert!((found - text).abs() <= 2e-16 * text.abs(), "{value} to {digits} digits: {found}");
            }
        }
        assert_eq!([f64::NAN, f64::INFINITY].map(|value| rounded(value, 6)), [Value::Null, Value::Null]);
        assert_eq!(rounded(0.1 + 0.2, 6).to_string(), "0.3");
    }
}
