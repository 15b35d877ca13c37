//! Patterns of names.

/// Each asterisk of a pattern stands for any characters; names that begin with a point need one in the pattern.
pub fn matches(pattern: &str, name: &str) -> bool {
    let Some((begin, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(begin) else { return false };
    if begin.is_empty() && name.starts_with('.') {
        return false;
    }
    let parts: Vec<&str> = rest.split('*').collect();
    let (last, middle) = parts.split_last().expect("a text has a part");
    for part in middle {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asterisks_stand_for_any_characters() {
        for (pattern, name) in
            [("*.csv", "a.csv"), ("a*b*c", "abc"), ("a*b*c", "a--b-b-c"), ("run*", "run"), ("a", "a")]
        {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("*.csv", ".csv"), ("*.csv", "a.txt"), ("a*a", "a"), ("a*b*c", "acb"), ("a", "b")] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
