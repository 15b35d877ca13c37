//! Formulas are stored as their text and the names of their predictors, and parsed again.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Formula;

#[derive(Serialize, Deserialize)]
struct Stored {
    formula: String,
    predictors: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    complex: bool,
}

impl Serialize for Formula {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (formula, predictors, complex) = (self.text.clone(), self.predictors.clone(), self.knows_complex);
        Stored { formula, predictors, complex }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Formula {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Stored { formula, predictors, complex } = Stored::deserialize(deserializer)?;
        Formula::parsed(&formula, predictors, complex).map_err(serde::de::Error::custom)
    }
}
