//! A name that no model has.

use thiserror::Error;

use super::registry::Kind;
use crate::curve::near_names::near_names;

/// There is no model of this name in the library.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "there is no model {name:?}{}",
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
)]
#[non_exhaustive]
pub struct UnknownModel {
    /// The name asked for; of a sum, the one that is not known.
    pub name: String,
    /// Names of models that resemble it, the likeliest first.
    pub near: Vec<&'static str>,
}

impl UnknownModel {
    pub(super) fn new(name: &str, known: impl Iterator<Item = Kind>) -> Self {
        let near = near_names(name, known.map(|kind| kind.entry().name));
        UnknownModel { name: name.to_owned(), near }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_resembles_is_suggested() {
        let near = |name| UnknownModel::new(name, Kind::all()).near;
        assert_eq!(near("line"), ["linear", "sine"]);
        assert_eq!(near("michaelis"), ["michaelis_menten"]);
        assert_eq!(near("lorenzian"), ["lorentzian"]);
        assert_eq!(near("nothing_like_it"), [""; 0]);
        assert_eq!(near(""), [""; 0]);
    }
}
