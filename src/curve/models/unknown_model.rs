//! A name that no model has.

use thiserror::Error;

use super::registry::Kind;

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
        let farthest = 1 + name.chars().count() / 4;
        let distance = |known: &str| if known.contains(name) { 0 } else { edit_distance(name, known) };
        let named = known.map(|kind| kind.entry().name).map(|known| (distance(known), known));
        let mut near: Vec<_> = named.filter(|&(distance, _)| !name.is_empty() && distance <= farthest).collect();
        near.sort_by_key(|&(distance, _)| distance);
        UnknownModel { name: name.to_owned(), near: near.into_iter().map(|(_, known)| known).collect() }
    }
}

/// How many letters to insert, delete or replace (Levenshtein 1966).
fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, letter) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("abc", "abc"), 0);
    }

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
