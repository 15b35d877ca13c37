//! Formulas are stored as their text and the names of their predictors, and parsed again.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Formula;

#[derive(Serialize, Deserialize)]
struct Stored {
    formula: String,
    predictors: Vec<String>,
}

impl Serialize for Formula {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Stored { formula: self.text.clone(), predictors: self.predictors.clone() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Formula {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Stored { formula, predictors } = Stored::deserialize(deserializer)?;
        Formula::with_predictors(&formula, predictors).map_err(serde::de::Error::custom)
    }
}
