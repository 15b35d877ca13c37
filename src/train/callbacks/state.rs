//! State of callbacks.

use crate::train::CallbackError;

/// Largest count that is taken over: floats count exactly up to there.
const MAX_COUNT: u64 = 1 << 53;

/// State of a callback, for a resumed training: numbers by name.
///
/// With the feature `serde` it can be serialised.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CallbackState {
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::named"))]
    entries: Vec<(String, Vec<f64>)>,
}

impl CallbackState {
    /// Adds numbers.
    pub fn with(mut self, name: &str, numbers: impl IntoIterator<Item = f64>) -> Self {
        self.entries.push((name.to_owned(), numbers.into_iter().collect()));
        self
    }

    /// Numbers by name.
    ///
    /// # Errors
    ///
    /// [`CallbackError::State`] if there is no entry of this name.
    pub fn get(&self, name: &str) -> Result<&[f64], CallbackError> {
        let found = self.entries.iter().find(|(found, _)| found == name);
        let missing = || CallbackError::State { difference: format!("it has no {name}") };
        found.map(|(_, numbers)| numbers.as_slice()).ok_or_else(missing)
    }

    /// A number by name, or none if there are none of this name.
    ///
    /// # Errors
    ///
    /// [`CallbackError::State`] when there are several, or the name is not there.
    pub fn number(&self, name: &str) -> Result<Option<f64>, CallbackError> {
        match self.get(name)? {
            [] => Ok(None),
            &[number] => Ok(Some(number)),
            several => Err(CallbackError::State { difference: format!("{name} has {} numbers", several.len()) }),
        }
    }

    /// A count by name; 0 if there are no numbers of this name.
    ///
    /// # Errors
    ///
    /// As [`number`](Self::number); also for a number that is not a whole number up to 2⁵³.
    pub fn count(&self, name: &str) -> Result<usize, CallbackError> {
        let number = self.number(name)?.unwrap_or(0.0);
        if number >= 0.0 && number.fract() == 0.0 && number <= MAX_COUNT as f64 {
            return Ok(number as usize);
        }
        Err(CallbackError::State { difference: format!("{name} is {number}, not a whole number up to {MAX_COUNT}") })
    }
}
