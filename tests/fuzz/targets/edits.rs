//! Changes of JSON that bytes stand for.

use serde_json::Value;

use crate::choices::Choices;

/// Changes one value somewhere.
pub fn edit(value: &mut Value, choices: &mut Choices) {
    match value {
        Value::Array(list) if !list.is_empty() && !choices.one_in(32) => {
            let place = choices.below(list.len());
            match choices.below(24) {
                0 => drop(list.remove(place)),
                1 => list.insert(place, list[place].clone()),
                2 => list.swap(0, place),
                _ => edit(&mut list[place], choices),
            }
        }
        Value::Object(entries) if !entries.is_empty() && !choices.one_in(64) => {
            let names: Vec<String> = entries.keys().cloned().collect();
            let name = &names[choices.below(names.len())];
            if choices.one_in(32) {
                entries.remove(name);
            } else if let Some(entry) = entries.get_mut(name) {
                edit(entry, choices);
            }
        }
        value => *value = replacement(value, choices),
    }
}

/// Something else, mostly of the same kind.
fn replacement(value: &Value, choices: &mut Choices) -> Value {
    let whole = |choices: &mut Choices| match choices.below(6) {
        0 => u64::MAX,
        1 => u64::MAX - 1,
        2 => 1 << 53,
        3 => u64::from(choices.byte()) << 8,
        _ => u64::from(choices.byte() % 16),
    };
    match value {
        _ if choices.one_in(16) => Value::Null,
        _ if choices.one_in(16) => Value::from("inf"),
        Value::Bool(is) => Value::Bool(!is),
        Value::Number(number) if number.is_u64() => Value::from(whole(choices)),
        Value::Number(_) => match choices.below(3) {
            0 => Value::from(whole(choices) as f64),
            _ => Value::from(choices.any()),
        },
        Value::String(text) if choices.one_in(2) => Value::from(format!("{text}*")),
        Value::String(_) => Value::from(["", "NaN", "inf", "-inf"][choices.below(4)]),
        Value::Array(_) => Value::Array(Vec::new()),
        Value::Null | Value::Object(_) => Value::from(choices.any()),
    }
}
