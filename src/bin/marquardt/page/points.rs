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
}

impl Points {
    /// The columns, thinned to about `most` points: each cell of a grid keeps one point, with the number of points in it.
    pub fn to_json(&self, most: usize) -> Value {
        let total = self.x.len();
        let kept = if total > most { self.thinned(most) } else { (0..total).map(|index| (index, 1)).collect() };
        let column =
            |of: &[f64], digits| -> Value { kept.iter().map(|&(index, _)| rounded(of[index], digits)).collect() };
        let counts = (total > most).then(|| kept.iter().map(|kept| kept.1).collect::<Vec<_>>());
        let (x, y) = (column(&self.x, 17), column(&self.y, 17));
        let (fitted, residuals) = (column(&self.fitted, 9), column(&self.residuals, 6));
        json!({ "total": total, "x": x, "y": y, "fitted": fitted, "residuals": residuals, "counts": counts })
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
    format!("{value:.*e}", digits - 1).parse::<f64>().map_or(Value::Null, Value::from)
}
