//! A map of a quantity over an image, as text.

use serde_json::{Value, json};

use super::points::rounded;

/// Levels of a quantity: two letters of 6 bits.
const LEVELS: usize = 4096;
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Share of the range of nearly all values by which levels reach farther.
const FARTHER: f64 = 0.5;

/// The levels of a quantity, two letters each: 0 for no value, the others from `low` to `high`, which few values exceed. `shown` is the
/// range of nearly all.
pub fn layer(name: &str, values: impl Iterator<Item = f64> + Clone) -> Value {
    let mut sorted: Vec<f64> = values.clone().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else {
        return json!({ "name": name, "shown": Value::Null, "levels": "" });
    };
    let quantile = |share: f64| sorted[(share * last as f64).round() as usize];
    let shown = [quantile(0.02), quantile(0.98)];
    let more = FARTHER * (shown[1] - shown[0]);
    let (low, high) = ((shown[0] - more).max(sorted[0]), (shown[1] + more).min(sorted[last]));
    let level = |value: f64| match value {
        value if value.is_nan() => 0,
        value if high > low => {
            let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
            1 + (share * (LEVELS - 2) as f64).round() as usize
        }
        _ => 1,
    };
    let letters = |level: usize| [LETTERS[level / 64], LETTERS[level % 64]].map(char::from);
    let levels: String = values.flat_map(|value| letters(level(value))).collect();
    let ends = [low, high, shown[0], shown[1]].map(|value| rounded(value, 6));
    json!({ "name": name, "low": ends[0], "high": ends[1], "shown": [ends[2], ends[3]], "levels": levels })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(layer: &Value) -> Vec<usize> {
        let text = layer["levels"].as_str().unwrap().as_bytes();
        let place = |letter: &u8| LETTERS.iter().position(|other| other == letter).unwrap();
        text.chunks(2).map(|pair| 64 * place(&pair[0]) + place(&pair[1])).collect()
    }

    #[test]
    fn values_come_back() {
        let values = [1.0, 2.0, f64::NAN, 1.5, 1e30, f64::INFINITY];
        let many = || (0..1000).map(|i| if i < 6 { values[i] } else { 1.0 + f64::from(i as u32) / 1000.0 });
        let layer = layer("k", many());
        let [low, high] = ["low", "high"].map(|end| layer[end].as_f64().unwrap());
        assert!(low == 1.0 && high < 3.0, "{low} {high}");
        let levels = levels(&layer);
        assert_eq!([levels[0], levels[2], levels[4], levels[5]], [1, 0, LEVELS - 1, LEVELS - 1]);
        for (level, value) in levels.iter().zip(many()).filter(|(_, value)| (low..high).contains(value)) {
            let back = low + (high - low) * (*level - 1) as f64 / (LEVELS - 2) as f64;
            assert!((back - value).abs() <= 0.6 * (high - low) / LEVELS as f64, "{value} {back}");
        }
    }

    #[test]
    fn maps_of_one_value_or_none_are_whole() {
        assert_eq!(levels(&layer("k", [2.0, 2.0].into_iter())), [1, 1]);
        assert_eq!(layer("k", [f64::NAN].into_iter())["shown"], Value::Null);
    }
}
