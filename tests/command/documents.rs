//! Links, tables, pictures and names of examples in the documents.

use std::path::{Path, PathBuf};

/// A text in Markdown.
pub struct Document {
    /// Path from the root of the repository.
    pub name: String,
    pub text: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Reads a file of the repository.
pub fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All documents.
pub fn all() -> impl Iterator<Item = Document> {
    let mut folders = vec![root()];
    let mut names = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            let is_own = !["target", "shared", "node_modules"].iter().any(|built| name.ends_with(built))
                && !name.starts_with('.');
            match path.is_dir() {
                true if is_own => folders.push(path),
                false if name.ends_with(".md") => names.push(name),
                _ => {}
            }
        }
    }
    names.sort();
    assert!(names.iter().any(|name| name == "README.md") && names.len() > 10, "{names:?}");
    names.into_iter().map(|name| Document { text: read(&name), name })
}

/// Parts between fences, and outside of them, in turn.
fn parts(text: &str) -> impl Iterator<Item = (bool, String)> {
    let (mut parts, mut is_code) = (vec![(false, String::new())], false);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            parts.push((is_code, String::new()));
        } else if let Some((_, part)) = parts.last_mut() {
            *part += line;
            part.push('\n');
        }
    }
    parts.into_iter()
}

/// Blocks of code.
pub fn code(text: &str) -> impl Iterator<Item = String> {
    parts(text).filter(|(is_code, _)| *is_code).map(|(_, part)| part)
}

/// Lines outside of code.
pub fn prose(text: &str) -> impl Iterator<Item = String> {
    parts(text)
        .filter(|(is_code, _)| !is_code)
        .flat_map(|(_, part)| part.lines().map(str::to_owned).collect::<Vec<_>>())
}

/// The name by which a heading is linked to.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
    heading.trim().to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn has_anchor(text: &str, name: &str) -> bool {
    prose(text).filter(|line| line.starts_with('#')).any(|line| anchor(line.trim_start_matches('#')) == name)
}

/// What is wrong with a link of a document, or nothing.
fn fault(document: &Document, target: &str) -> Option<String> {
    let (path, name) = target.split_once('#').map_or((target, None), |(path, name)| (path, Some(name)));
    let is_of_rust = document.name.starts_with("src/") && !path.contains(['/', '.']);
    if target.contains("://") || target.starts_with("mailto:") || is_of_rust && name.is_none() {
        return None;
    }
    let folder = root().join(&document.name).parent().map(Path::to_path_buf).unwrap_or_default();
    let (text, is_there) = match path {
        "" => (document.text.clone(), true),
        path => (std::fs::read_to_string(folder.join(path)).unwrap_or_default(), folder.join(path).exists()),
    };
    let is_found = is_there && name.is_none_or(|name| has_anchor(&text, name));
    (!is_found).then(|| format!("{}: {target}", document.name))
}

/// Links and pictures are there. Those to items of Rust are for rustdoc to check.
#[test]
fn links_lead_somewhere() {
    let mut faults = Vec::new();
    for document in all() {
        let text = prose(&document.text).collect::<Vec<_>>().join("\n");
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
        faults.extend(targets.filter_map(|target| fault(&document, target)));
    }
    assert_eq!(faults, [""; 0]);
    let own =
        |target: &str| fault(&Document { name: "README.md".to_owned(), text: "# One Thing!\n".to_owned() }, target);
    assert!(own("#one-thing").is_none() && own("src/guide/curves.md#results").is_none());
    assert!(own("#other").is_some() && own("none.svg").is_some() && own("src/guide/curves.md#none").is_some());
}

/// What is wrong with the tables of a text.
fn broken_tables(text: &str) -> Vec<String> {
    let lines: Vec<String> = prose(text).collect();
    let columns = |line: &str| line.trim().replace("\\|", "").matches('|').count();
    let is_rule = |line: &str| line.contains('-') && line.chars().all(|c| "|-: ".contains(c));
    let tables = lines.split(|line| !line.trim_start().starts_with('|')).filter(|table| !table.is_empty());
    let is_sound = |table: &&[String]| {
        table.len() > 2
            && is_rule(&table[1])
            && table.iter().all(|line| line.ends_with('|') && columns(line) == columns(&table[0]))
    };
    tables.filter(|table| !is_sound(table)).map(|table| table[0].clone()).collect()
}

/// A table has a heading, a rule, and as many columns in each row.
#[test]
fn tables_are_whole() {
    for document in all() {
        assert_eq!(broken_tables(&document.text), [""; 0], "{}", document.name);
    }
    for broken in
        ["| a |\n", "| a | b |\n|---|---|\n| 1 |\n", "| a |\n|---|\n| 1 |\n\n| 2 |\n", "| a |\n| 1 |\n| 2 |\n"]
    {
        assert_eq!(broken_tables(broken).len(), 1, "{broken}");
    }
    assert_eq!(broken_tables("| a | b |\n|:--|--:|\n| `x \\| y` | 2 |\n"), [""; 0]);
}

/// The picture of the README is that of the data and the curve which the command draws.
#[test]
fn the_picture_shows_the_fit() {
    let picture = read("examples/pictures/enzyme.svg");
    assert!(
        picture.starts_with("<svg")
            && picture.contains("enzyme.csv: michaelis_menten")
            && picture.contains("95 % prediction band")
    );
}

/// Examples, benches, tests, programs and features that `cargo` is called with exist.
#[test]
fn what_cargo_runs_exists() {
    let manifests =
        ["Cargo.toml", "benches/peers/Cargo.toml", "adapters/burn/Cargo.toml", "adapters/candle/Cargo.toml"].map(read);
    let is_file = |paths: &[String]| paths.iter().any(|path| root().join(path).exists());
    let has_feature =
        |name: &str| manifests.iter().any(|text| text.lines().any(|line| line.starts_with(&format!("{name} = "))));
    let exists = |option: &str, name: &str| match option {
        "--example" => {
            let folders = ["examples", "adapters/burn/examples", "adapters/candle/examples"];
            let paths = folders.map(|folder| [format!("{folder}/{name}.rs"), format!("{folder}/{name}/main.rs")]);
            is_file(paths.as_flattened())
        }
        "--bench" => is_file(&[format!("benches/{name}.rs")]),
        "--test" => is_file(&[format!("tests/{name}/main.rs")]),
        "--bin" => is_file(&[format!("src/bin/{name}/main.rs"), format!("benches/peers/src/bin/{name}.rs")]),
        "--features" => name.split(',').all(has_feature),
        _ => true,
    };
    let mut count = 0;
    for Document { name, text } in all() {
        for line in text.lines().filter(|line| line.contains("cargo ")) {
            let words: Vec<&str> =
                line.split_whitespace().map(|word| word.trim_matches(['`', ',', ';', '.', '(', ')', ':'])).collect();
            for pair in words.windows(2).filter(|pair| pair[0].starts_with("--")) {
                assert!(exists(pair[0], pair[1]), "{name}: {line}");
                count += 1;
            }
        }
    }
    assert!(count > 30, "{count}");
    assert!(!exists("--example", "none") && !exists("--features", "cli,none") && exists("--features", "cli,mpi"));
}
