//! Numbers of things in sentences.

/// `1 row`, `2 rows`.
pub(super) fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}
