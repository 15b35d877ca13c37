//! Patterns of variable names.

/// Returns true if a pattern matches a name: `*` stands for any characters, also none; all others stand for themselves.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let mut parts = rest.split('*');
    let end = parts.next_back().unwrap_or_default();
    for part in parts {
        // The earliest place leaves the most for the parts that follow.
        let Some(place) = name.find(part) else { return false };
        name = &name[place + part.len()..];
    }
    name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, name) in [
            ("a", "a"),
            ("*", ""),
            ("*", "0.weight"),
            ("*.bias", "3.bias"),
            ("3.*", "3.weight"),
            ("*.b*s", "3.bias"),
            ("a*b*c", "abbc"),
            ("a*b*b", "a.b.b"),
            ("**", "x"),
            ("α*ω", "α–ω"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("a", "b"),
            ("a", "aa"),
            ("", "a"),
            ("*.bias", "3.biases"),
            ("3.*", "13.weight"),
            ("a*a", "a"),
            ("a*b*b", "ab"),
            ("*a*", "b"),
        ] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
