//! The scripts of the guide's page "coming from Python" are about as long as their counterparts.

use std::fs;
use std::path::Path;

/// Lines of a script without comments, blank lines and tests.
fn lines(path: &str, comment: &str) -> usize {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let script = text.split("#[cfg(test)]").next().unwrap();
    script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(comment)).count()
}

#[test]
fn scripts_are_at_most_half_as_long_again_as_in_python() {
    let guide = include_str!("../../src/guide/from_python.md");
    for name in ["scipy_fits", "circle", "pixels", "keras_classifier", "kinetics"] {
        let (here, there) =
            (lines(&format!("examples/{name}.rs"), "//"), lines(&format!("examples/python/{name}.py"), "#"));
        assert!(2 * here <= 3 * there, "{name} has {here} lines, but {there} in Python");
        let row = format!("| `{name}` | {there} | {here} |");
        assert!(guide.contains(&row), "the guide lacks {row}");
    }
}
