//! `marquardt compare`.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

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

/// A file of one peak or two on a grid, with normal noise.
fn peaks(seed: u64, noise: f64, second: f64) -> Folder {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let peak = |x: f64, center: f64| (-0.5 * (x - center).powi(2)).exp();
    let rows: String = (0..80)
        .map(|i| {
            let (x, deviation): (f64, f64) = (0.125 * f64::from(i), StandardNormal.sample(&mut random));
            format!("{x},{}\n", 5.0 * peak(x, 4.0) + second * peak(x, 6.2) + noise * deviation)
        })
        .collect();
    Folder::with(format!("x,y\n{rows}"))
}

/// Residuals that show a second peak bring the sum of two into the comparison.
#[test]
fn two_overlapping_peaks_are_found() {
    let compare = ["compare", "data.csv", "--models", "linear,gaussian,lorentzian", "--json"];
    for seed in 0..10 {
        let run = peaks(seed, 0.1, 2.0).run(&compare);
        let (notes, ranking) = (run.errors.clone(), run.json());
        assert_eq!(ranking[0]["model"], "gaussian+gaussian", "{ranking}");
        let reason = "note: \"gaussian+gaussian\" is compared, too: neighbouring residuals of \"gaussian\" are alike (Durbin-Watson ";
        assert!(notes.contains(reason) && notes.contains("\"lorentzian+lorentzian\""), "{notes}");
    }
    // With a background, and where the sum is a candidate already.
    let with_line = ["compare", "data.csv", "--models", "gaussian+linear", "--json"];
    let ranking = peaks(1, 0.1, 2.0).run(&with_line).json();
    assert_eq!(ranking[0]["model"], "gaussian+gaussian+linear");
    let both = ["compare", "data.csv", "--models", "gaussian,gaussian+gaussian", "--json"];
    let run = peaks(1, 0.1, 2.0).run(&both);
    assert!(!run.errors.contains("is compared, too"), "{run:?}");
    assert_eq!(run.json().as_array().unwrap().len(), 2);
}

/// Returns how often a sum is tried for data of one peak, and how often it wins.
fn false_peaks(sets: std::ops::Range<u64>) -> (usize, usize) {
    let compare = ["compare", "data.csv", "--models", "linear,gaussian,lorentzian", "--json"];
    let of_set = |seed: u64| {
        let run = peaks(seed, 0.5, 0.0).run(&compare);
        let (is_tried, ranking) = (run.errors.contains("is compared, too"), run.json());
        (usize::from(is_tried), usize::from(ranking[0]["model"].as_str().unwrap().contains('+')))
    };
    sets.map(of_set).fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
}

#[test]
fn one_peak_stays_one() {
    let (tried, won) = false_peaks(0..30);
    assert!(tried <= 1 && won == 0, "{tried}, {won}");
}

#[test]
#[ignore = "takes half a minute"]
fn one_peak_stays_one_in_most_of_500_sets() {
    let (tried, won) = false_peaks(0..500);
    assert!(tried <= 5 && won <= 3, "{tried}, {won}");
}
