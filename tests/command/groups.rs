//! Fits of groups of rows.

use super::command::{Folder, assert_close, field, value};

/// Dose–response curves of three compounds, which differ in `ec50`.
fn compounds() -> Folder {
    let mut text = "compound,dose,response\n".to_owned();
    for (name, ec50) in [("A", 1.0), ("B", 3.0), ("C", 0.4)] {
        for i in 0..12 {
            let dose = 0.02 * 2.0_f64.powi(i);
            let response = 100.0 / (1.0 + ec50 / dose) + (7.0 * f64::from(i) + ec50).sin();
            text += &format!("{name},{dose},{response}\n");
        }
    }
    Folder::with(text)
}

const FIT: [&str; 8] = ["fit", "data.csv", "--formula", "top/(1 + ec50/dose)", "--y", "response", "--start", "top=90"];

#[test]
fn each_group_has_a_fit_of_its_own() {
    let folder = compounds();
    let report = folder.run(&[&FIT[..], &["--group-by", "compound", "--json"]].concat()).json();
    let alone = folder.run(&[&FIT[..], &["--where", "compound == B", "--json"]].concat()).json();
    let groups = report["groups"].as_array().unwrap();
    assert_eq!(groups.iter().map(|group| group["group"].as_str().unwrap()).collect::<Vec<_>>(), ["A", "B", "C"]);
    for name in ["top", "ec50"] {
        assert_eq!(value(&groups[1], name), value(&alone, name));
        assert_eq!(field(&groups[1], name, "standard_error"), field(&alone, name, "standard_error"));
    }
    let p_value = |index: usize| report["tests"][index]["p_value"].as_f64().unwrap();
    assert!(p_value(0) > 0.01 && p_value(1) < 1e-6, "{}", report["tests"]);
    let text = folder.run(&[&FIT[..], &["--group-by", "compound"]].concat()).solved();
    assert!(
        text.starts_with("compound  rows  top") && text.contains("Is a parameter the same in all groups?"),
        "{text}"
    );
    let csv = folder.run(&[&FIT[..], &["--group-by", "compound", "--csv"]].concat()).solved();
    assert!(csv.starts_with("compound,parameter,value,") && csv.lines().count() == 7, "{csv}");
}

/// The F-test is that of the sums of squares of the two fits.
#[test]
fn the_test_is_that_of_the_sums_of_squares() {
    let folder = compounds();
    let report = folder.run(&[&FIT[..], &["--group-by", "compound", "--test", "top", "--json"]].concat()).json();
    let of = |report: &serde_json::Value| report["statistics"]["residual_sum_of_squares"].as_f64().unwrap();
    let full: f64 = report["groups"].as_array().unwrap().iter().map(of).sum();
    let shared = folder.run(&[&FIT[..], &["--group-by", "compound", "--share", "top", "--json"]].concat()).json();
    let simple = of(&shared["global"]);
    let test = &report["tests"][0];
    assert_eq!(test["degrees_of_freedom"], "2, 30");
    assert_close(test["F"].as_f64().unwrap(), (simple - full) / 2.0 / (full / 30.0), 1e-6);
    assert_close(test["shared_value"].as_f64().unwrap(), value(&shared["global"], "top"), 1e-7);
}

#[test]
fn groups_share_parameters() {
    let folder = compounds();
    let report = folder.run(&[&FIT[..], &["--group-by", "compound", "--share", "top", "--json"]].concat()).json();
    let global = &report["global"];
    assert_close(value(global, "top"), 100.0, 0.03);
    assert_close(value(global, "B.ec50"), 3.0, 0.1);
    let text = folder.run(&[&FIT[..], &["--group-by", "compound", "--share", "top"]].concat()).solved();
    assert!(text.contains("A.ec50") && text.contains("C.ec50"), "{text}");
}

/// A group that is too small for a fit of its own takes part in a fit of all, which predicts for it.
#[test]
fn small_groups_take_part_where_parameters_are_shared() {
    let mut text = "g,x,y\nsmall,1,4.1\n".to_owned();
    for i in 0..8 {
        text += &format!("large,{i},{}\n", 1.0 + 2.0 * f64::from(i) + 0.1 * (f64::from(i) * 3.0).sin());
    }
    let folder = Folder::with(text);
    let first = ["fit", "data.csv", "--x", "x", "--y", "y", "--formula", "a + b*x", "--group-by", "g", "--share", "b"];
    let report = folder.run(&[&first[..], &["--json"]].concat()).json();
    assert_close(value(&report["global"], "b"), 2.0, 0.05);
    folder.run(&[&first[..], &["--json=fit.json"]].concat()).solved();
    let rows = folder.run(&["predict", "fit.json", "--group", "small", "--at", "1,2", "--json"]).json();
    assert_close(rows[0]["y"].as_f64().unwrap(), 4.1, 1e-9);
    assert_close(rows[1]["y"].as_f64().unwrap(), 4.1 + value(&report["global"], "b"), 1e-9);
}

#[test]
fn groups_are_drawn_in_one_plot() {
    let folder = compounds();
    for share in [&[][..], &["--share", "top"]] {
        let more = ["--group-by", "compound", "--plot", "all.svg", "--log-x", "--residuals", "residuals.csv"];
        folder.run(&[&FIT[..], &more, share].concat()).solved();
        let plot = folder.read("all.svg");
        assert!([">A<", ">B<", ">C<"].iter().all(|name| plot.replace(['\n', ' '], "").contains(name)), "{plot}");
        assert!(folder.read("residuals.csv").starts_with("compound,line,dose,response,fitted,residual\nA,2,0.02,"));
        assert_eq!(folder.read("residuals.csv").lines().count(), 37);
    }
}

#[test]
fn what_is_wrong_with_a_group_names_it() {
    let folder = Folder::with("g,x,y\nA,1,2\nA,2,3\nA,3,4\nB,1,2\nC,1,3\nC,2,5\nC,3,7.5\nD,,\n");
    let fit = ["fit", "data.csv", "--x", "x", "--y", "y", "--model", "linear", "--group-by", "g", "--omit-missing"];
    let run = folder.run(&fit);
    assert!(run.code == 2 && run.out.starts_with("g  rows") && run.out.contains("\nA ") && run.out.contains("\nC "));
    for problem in [
        "error: group \"B\" of \"g\": data.csv: 1 observation cannot determine 2 parameters",
        "error: group \"D\" of \"g\": data.csv: a number is missing in every row",
    ] {
        assert!(run.errors.contains(problem), "{}", run.errors);
    }
    let message = folder.run(&[&fit[..], &["--where", "g == B"]].concat()).refused();
    assert!(message.starts_with("group \"B\" of \"g\": "), "{message}");
    let missing = folder.run(&fit[..fit.len() - 1]).refused();
    assert!(missing.contains("line 9") && missing.ends_with("--omit-missing leaves such rows out"), "{missing}");
    let message = compounds().run(&[&FIT[..], &["--group-by", "compound", "--share", "bottom"]].concat()).refused();
    assert_eq!(message, "there is no parameter \"bottom\" to share or test; the parameters are \"top\", \"ec50\"");
    let message = compounds()
        .run(&[&FIT[..], &["--group-by", "compound", "--test", "ec50", "--fix", "ec50=1"]].concat())
        .refused();
    assert_eq!(message, "--test: \"ec50\" is fixed or tied, and has nothing to differ in");
}
