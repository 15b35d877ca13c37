//! Names that resemble one that is not known.

/// Returns the known names that resemble a name, the likeliest first.
pub(super) fn near_names(name: &str, known: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let farthest = 1 + name.chars().count() / 4;
    let distance = |known: &str| if known.contains(name) { 0 } else { edit_distance(name, known) };
    let with_distance = known.map(|known| (distance(known), known));
    let mut near: Vec<_> = with_distance.filter(|&(distance, _)| !name.is_empty() && distance <= farthest).collect();
    near.sort_by_key(|&(distance, _)| distance);
    near.into_iter().map(|(_, known)| known).collect()
}

/// Returns the number of letters to insert, delete or replace (Levenshtein 1966).
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
}
