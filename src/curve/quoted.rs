//! Lists of names in messages.

/// The names in quotes, with commas between them.
pub(super) fn quoted(names: &[impl AsRef<str>]) -> String {
    names.iter().map(|name| format!("{:?}", name.as_ref())).collect::<Vec<_>>().join(", ")
}
