//! Settings in files.

use super::command::{Folder, decay, value};

const STUDY: &str = r#"
# A decay, on the way to its half-life.
file = "data.csv"
y = "y"
formula = "a*exp(-k*t)+c"
bounds = ["k=0..", "c=0..9"]
derive = ["half_life=ln(2)/k"]
max-iterations = 100
no-retry = true
profile = false

[start]
a = 2
k = "0.3"
"#;

fn folder(settings: &str) -> Folder {
    let folder = Folder::with(decay());
    folder.write("study.toml", settings);
    folder
}

#[test]
fn settings_are_options() {
    let folder = folder(STUDY);
    let options = ["fit", "data.csv", "--y", "y", "--formula", "a*exp(-k*t)+c", "--start", "a=2,k=0.3", "--no-retry"];
    let more = ["--bounds", "k=0..,c=0..9", "--derive", "half_life=ln(2)/k", "--max-iterations", "100", "--json"];
    let expected = folder.run(&[&options[..], &more].concat()).json();
    assert_eq!(folder.run(&["fit", "--config", "study.toml", "--json"]).json(), expected);
    // What was done is written, and does the same.
    folder.run(&[&options[..], &more, &["--write-config", "again.toml"]].concat()).json();
    let text = folder.read("again.toml");
    assert!(text.starts_with("# Settings of `marquardt`") && text.contains("start = [\"a=2\", \"k=0.3\"]"), "{text}");
    assert_eq!(folder.run(&["fit", "--config", "again.toml"]).json(), expected);
    // Those of a file can be written, too.
    folder.run(&["fit", "--config", "study.toml", "--write-config", "third.toml", "--json=third.json"]).solved();
    assert_eq!(folder.run(&["fit", "--config", "third.toml", "--json=-"]).json(), expected);
}

#[test]
fn the_command_line_comes_first() {
    let folder = folder(STUDY);
    let fixed = folder.run(&["fit", "--config", "study.toml", "--start", "k=0.4", "--fix", "c=1", "--json"]).json();
    assert_eq!(value(&fixed, "c"), 1.0);
    assert_eq!(fixed["parameters"][1]["start"], 0.4);
    let text = "models = [\"linear\", \"quadratic\"]\nfile = \"data.csv\"\ny = \"y\"\n";
    folder.write("compare.toml", text);
    let ranking = folder.run(&["compare", "--config", "compare.toml", "--csv"]).solved();
    assert_eq!(ranking.lines().count(), 3, "{ranking}");
}

#[test]
fn wrong_settings_are_refused() {
    let refused = |settings: &str| folder(settings).run(&["fit", "--config", "study.toml"]).refused();
    assert_eq!(refused("fomula = \"a\""), "study.toml: \"fomula\" is no option of `marquardt fit`");
    assert_eq!(refused("config = \"study.toml\""), "study.toml: \"config\" is no option of `marquardt fit`");
    assert!(refused("formula = a*x").starts_with("study.toml: invalid TOML"), "{}", refused("formula = a*x"));
    assert_eq!(refused("start = [[1]]"), "study.toml: [1] is no value of an option");
    let folder = folder(STUDY);
    assert!(folder.run(&["fit", "--config", "none.toml"]).refused().starts_with("none.toml: "));
    let fit = ["fit", "--config", "study.toml", "--write-config"];
    assert!(folder.run(&[&fit[..], &["study.json"]].concat()).refused().contains(".toml"));
    assert!(folder.run(&[&fit[..], &["no/study.toml"]].concat()).refused().contains("no such folder"));
}
