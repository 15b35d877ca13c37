//! Records and columns in JSON.

use std::collections::HashMap;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::Fields;
use crate::failure::Failure;

/// Names and values in the order of the file.
struct Record<V>(Vec<(String, V)>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Record<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder<V>(std::marker::PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for InOrder<V> {
            type Value = Record<V>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record<V>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Record(entries))
            }
        }
        deserializer.deserialize_map(InOrder(std::marker::PhantomData))
    }
}

/// Rows of an array of objects, or of an object of arrays, below their names.
pub fn rows(bytes: &[u8]) -> Result<Vec<Fields>, Failure> {
    let is_array = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    if !is_array {
        let Record(columns) = serde_json::from_slice::<Record<Vec<Value>>>(bytes)?;
        let count = columns.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
        let row =
            |row: usize| columns.iter().map(|(_, values)| values.get(row).map_or_else(String::new, text)).collect();
        return Ok(std::iter::once(columns.iter().map(|(name, _)| name.clone()).collect())
            .chain((0..count).map(row))
            .collect());
    }
    let records: Vec<Record<Value>> = serde_json::from_slice(bytes)?;
    let (mut names, mut places) = (Vec::new(), HashMap::new());
    for (name, _) in records.iter().flat_map(|Record(entries)| entries) {
        if !places.contains_key(name) {
            places.insert(name.clone(), names.len());
            names.push(name.clone());
        }
    }
    let row = |Record(entries): &Record<Value>| {
        let mut fields = vec![String::new(); names.len()];
        entries.iter().for_each(|(name, value)| fields[places[name]] = text(value));
        fields
    };
    Ok(std::iter::once(names.clone()).chain(records.iter().map(row)).collect())
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "NA".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}
