//! The distribution of a quantity over many fits.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::points::rounded;

/// Significant digits of quantiles.
const DIGITS: usize = 6;

/// Bins of a histogram.
const BINS: usize = 40;

/// Quartiles, and numbers of values in bins between the ends of nearly all.
pub fn distribution(name: &str, values: impl Iterator<Item = f64>) -> Option<Value> {
    let mut sorted: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let quantile = |share: f64| sorted[(share * last as f64).round() as usize];
    let (low, high) = (quantile(0.005), quantile(0.995));
    let mut bins = vec![0; BINS];
    for &value in &sorted {
        if (low..=high).contains(&value) && low < high {
            bins[(((value - low) / (high - low) * BINS as f64) as usize).min(BINS - 1)] += 1;
        }
    }
    let outside = [Ordering::Less, Ordering::Greater].map(|side| {
        let end = if side == Ordering::Less { low } else { high };
        sorted.iter().filter(|value| value.total_cmp(&end) == side).count()
    });
    let ends = [low, quantile(0.25), quantile(0.5), quantile(0.75), high].map(|value| rounded(value, DIGITS));
    Some(json!({ "name": name, "count": sorted.len(), "quantiles": ends, "bins": bins, "outside": outside }))
}
