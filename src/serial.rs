//! Floats that may be NaN or infinite, in formats for people, which have no word for them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::real::Real;

/// A number, or its name where it is not finite.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum FloatOrName {
    Finite(f64),
    Named(Name),
}

#[derive(Serialize, Deserialize)]
enum Name {
    #[serde(rename = "NaN")]
    NaN,
    #[serde(rename = "inf")]
    Infinity,
    #[serde(rename = "-inf")]
    MinusInfinity,
}

impl From<f64> for FloatOrName {
    fn from(value: f64) -> Self {
        match value {
            _ if value.is_finite() => FloatOrName::Finite(value),
            _ if value.is_nan() => FloatOrName::Named(Name::NaN),
            _ if value > 0.0 => FloatOrName::Named(Name::Infinity),
            _ => FloatOrName::Named(Name::MinusInfinity),
        }
    }
}

impl From<FloatOrName> for f64 {
    fn from(number: FloatOrName) -> Self {
        match number {
            FloatOrName::Finite(value) => value,
            FloatOrName::Named(Name::NaN) => f64::NAN,
            FloatOrName::Named(Name::Infinity) => f64::INFINITY,
            FloatOrName::Named(Name::MinusInfinity) => f64::NEG_INFINITY,
        }
    }
}

/// Serialisation of a number.
pub(crate) mod number {
    use super::*;

    pub(crate) fn serialize<T: Real, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        let value = value.to_f64();
        if serializer.is_human_readable() {
            FloatOrName::from(value).serialize(serializer)
        } else {
            value.serialize(serializer)
        }
    }

    pub(crate) fn deserialize<'de, T: Real, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        let value = if deserializer.is_human_readable() {
            FloatOrName::deserialize(deserializer)?.into()
        } else {
            f64::deserialize(deserializer)?
        };
        Ok(T::from_f64(value))
    }
}

/// A number that is written exactly.
#[derive(Serialize, Deserialize)]
pub(crate) struct Exact(#[serde(with = "number")] pub(crate) f64);

/// Serialisation of an optional list of numbers.
pub(crate) mod optional_list {
    use super::*;

    pub(crate) fn serialize<T: Real, S: Serializer>(list: &Option<Vec<T>>, serializer: S) -> Result<S::Ok, S::Error> {
        let exact = |list: &Vec<T>| list.iter().map(|value| Exact(value.to_f64())).collect::<Vec<_>>();
        list.as_ref().map(exact).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T: Real, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<T>>, D::Error> {
        let list = Option::<Vec<Exact>>::deserialize(deserializer)?;
        Ok(list.map(|list| list.into_iter().map(|Exact(value)| T::from_f64(value)).collect()))
    }
}

/// Serialisation of lists of numbers by name.
pub(crate) mod named {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(lists: &[(String, Vec<f64>)], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(
            lists.iter().map(|(name, list)| (name, list.iter().map(|&value| Exact(value)).collect::<Vec<_>>())),
        )
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, Vec<f64>)>, D::Error> {
        let lists = Vec::<(String, Vec<Exact>)>::deserialize(deserializer)?;
        Ok(lists.into_iter().map(|(name, list)| (name, list.into_iter().map(|Exact(value)| value).collect())).collect())
    }
}

/// Serialisation of an optional number.
pub(crate) mod optional {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(Exact).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Exact>::deserialize(deserializer)?.map(|Exact(value)| value))
    }
}
