//! Options by the names that they have on the command line and in files of settings.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

use serde_json::Value;

use crate::failure::Failure;
use crate::option_texts::texts;

/// Options that have not been read yet.
pub struct Options(BTreeMap<String, Value>);

impl Options {
    pub fn of(value: Value) -> Result<Self, Failure> {
        Ok(Options(serde_json::from_value(value)?))
    }

    /// The values of an option; those of a text stand between commas if there is a delimiter.
    fn values(&mut self, name: &str, is_list: bool) -> Result<Vec<Option<String>>, Failure> {
        let Some(value) = self.0.remove(name).filter(|value| !value.is_null()) else { return Ok(Vec::new()) };
        let split = is_list && value.is_string();
        let values = texts(value).map_err(|value| Failure::new(format!("{name}: {value} is no value of an option")))?;
        if !split {
            return Ok(values);
        }
        let parts = values.iter().flatten().flat_map(|text| text.split(',')).filter(|part| !part.trim().is_empty());
        Ok(parts.map(|part| Some(part.trim().to_owned())).collect())
    }

    /// Texts of an option that may be given several times.
    pub fn repeated(&mut self, name: &str) -> Result<Vec<String>, Failure> {
        Ok(self.values(name, false)?.into_iter().flatten().collect())
    }

    /// Texts of an option that is a list.
    pub fn list(&mut self, name: &str) -> Result<Vec<String>, Failure> {
        Ok(self.values(name, true)?.into_iter().flatten().collect())
    }

    pub fn text(&mut self, name: &str) -> Result<Option<String>, Failure> {
        Ok(self.values(name, false)?.into_iter().flatten().next_back())
    }

    pub fn switch(&mut self, name: &str) -> Result<bool, Failure> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(is_on)) => Ok(is_on),
            Some(value) => Err(Failure::new(format!("{name}: {value} is neither true nor false"))),
        }
    }

    /// A value of its own type; the default if the option is a switch that is on.
    pub fn value<T: FromStr<Err: Display>>(&mut self, name: &str, default: &str) -> Result<Option<T>, Failure> {
        let values = self.values(name, false)?;
        let Some(value) = values.into_iter().next_back() else { return Ok(None) };
        parsed(name, value.as_deref().unwrap_or(default), |text| text.parse::<T>()).map(Some)
    }

    /// Values of a list, or of an option that may be repeated.
    pub fn each<T, E: Display>(
        &mut self,
        name: &str,
        is_list: bool,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Vec<T>, Failure> {
        self.values(name, is_list)?.into_iter().flatten().map(|text| parsed(name, &text, &parse)).collect()
    }

    /// One of some names.
    pub fn choice<T>(&mut self, name: &str, default: &str, choices: &[(&str, T)]) -> Result<Option<T>, Failure>
    where
        T: Clone,
    {
        let of = |text: &str| {
            let found = choices.iter().find(|(known, _)| *known == text);
            let known = || choices.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ");
            found.map(|(_, value)| value.clone()).ok_or_else(|| format!("{text:?} is none of {}", known()))
        };
        let value = self.values(name, false)?.into_iter().next_back();
        value.map(|value| parsed(name, value.as_deref().unwrap_or(default), of)).transpose()
    }

    /// Refuses options that nobody has read.
    pub fn finish(self) -> Result<(), Failure> {
        match self.0.into_keys().next() {
            Some(name) => Err(Failure::new(format!("{name:?} is no option"))),
            None => Ok(()),
        }
    }
}

fn parsed<T, E: Display>(name: &str, text: &str, parse: impl FnOnce(&str) -> Result<T, E>) -> Result<T, Failure> {
    parse(text).map_err(|error| Failure::new(format!("{name}: {text:?}: {error}")))
}
