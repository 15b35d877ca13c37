//! Values of options in files of settings, as texts.

use serde_json::Value;

/// The values of an option, one for each time that it is given; no text for a switch.
pub fn texts(value: Value) -> Result<Vec<Option<String>>, Value> {
    let text = |value: Value| match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(other),
    };
    match value {
        Value::Bool(is_on) => Ok(if is_on { vec![None] } else { Vec::new() }),
        Value::Array(values) => values.into_iter().map(|value| text(value).map(Some)).collect(),
        Value::Object(entries) => {
            entries.into_iter().map(|(name, value)| Ok(Some(format!("{name}={}", text(value)?)))).collect()
        }
        value => Ok(vec![Some(text(value)?)]),
    }
}
