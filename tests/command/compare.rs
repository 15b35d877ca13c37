//! `marquardt compare`.

use super::command::{Folder, decay, run};

#[test]
fn the_curve_of_the_data_comes_first() {
    let folder = Folder::with(decay());
    let models = "linear,quadratic,exponential_decay,exponential_decay_offset";
    let ranking = folder.run(&["compare", "data.csv", "--models", models, "--json"]).json();
    assert_eq!(ranking[0]["model"], "exponential_decay_offset");
    assert_eq!(ranking[0]["difference"], 0.0);
    assert!(ranking[3]["weight"].as_f64() < Some(1e-6), "{ranking}");
    let formula =
        ["compare", "data.csv", "--formula", "a*exp(-k*t)+c", "--formula", "a+b*t", "--start", "k=1", "--csv"];
    let csv = folder.run(&formula).solved();
    assert!(csv.lines().nth(1).unwrap().starts_with("a*exp(-k*t)+c,3,"), "{csv}");
    let markdown = folder.run(&["compare", "data.csv", "--models", "linear", "--markdown"]).solved();
    assert!(markdown.starts_with("| model | parameters | AICc |"), "{markdown}");
}

#[test]
fn all_models_are_compared_where_none_is_named() {
    let run = run(&["compare"]);
    assert!(run.out.lines().nth(1).unwrap().starts_with("michaelis_menten"), "{run:?}");
    run.solved();
}
