//! The fits of gnuplot, one command each. `gnuplot/generate.py` makes the data, and `gnuplot/fits.gp` the numbers, with gnuplot 5.4 and
//! `FIT_LIMIT = 1e-14`.

use std::path::PathBuf;

use super::command::{Folder, field, value};

/// Gnuplot's derivatives are differences, and so its standard errors are less exact than its values.
const DIGITS_OF_ERRORS: f64 = 5e-3;

fn file(name: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "command", "gnuplot", name].iter().collect();
    path.to_str().unwrap().to_owned()
}

/// Name, value and standard error of each parameter of a fit by gnuplot.
fn expected(fit: &str) -> Vec<(String, f64, f64)> {
    let text = std::fs::read_to_string(file("expected.csv")).unwrap();
    let rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>()).filter(|fields| fields[0] == fit);
    let found: Vec<_> =
        rows.map(|fields| (fields[1].to_owned(), fields[2].parse().unwrap(), fields[3].parse().unwrap())).collect();
    assert!(!found.is_empty(), "{fit}");
    found
}

/// Values agree to this share of the standard error, and the sum of squares is no larger than gnuplot's.
#[track_caller]
fn assert_agrees(report: &serde_json::Value, fit: &str, share: f64) {
    for (name, expected, error) in expected(fit) {
        if name == "wssr" {
            let statistics = &report["statistics"];
            let weighted = statistics["chi_squared"].as_f64();
            let found = weighted.or(statistics["residual_sum_of_squares"].as_f64()).unwrap();
            // Of the digits that it prints.
            assert!(found <= expected * (1.0 + 1e-12), "{fit}: {found} is more than {expected}");
            continue;
        }
        let (found, found_error) = (value(report, &name), field(report, &name, "standard_error"));
        assert!((found - expected).abs() < share * error, "{fit}: {name} is {found} instead of {expected} ± {error}");
        let ratio = found_error / error;
        assert!((ratio - 1.0).abs() < DIGITS_OF_ERRORS, "{fit}: error {found_error} of {name} instead of {error}");
    }
}

fn fit(data: &str, more: &[&str]) -> serde_json::Value {
    Folder::new().run(&[&["fit", &file(data), "--json"][..], more].concat()).json()
}

/// Straight lines, of which rounding alone is left.
#[test]
fn lines_are_those_of_gnuplot() {
    let line = ["--formula", "y0 + m*x", "--start", "y0=1,m=-0.001"];
    assert_agrees(&fit("density.csv", &line), "line", 1e-9);
    assert_agrees(&fit("density.csv", &[&line[..], &["--sigma", "sd"]].concat()), "weighted", 1e-9);
    let calibration = ["--formula", "a + slope*concentration", "--sigma", "sd", "--absolute-sigma"];
    assert_agrees(&fit("line.csv", &calibration), "calibration", 1e-9);
}

/// Curves, where gnuplot's differences end some digits earlier.
#[test]
fn curves_are_those_of_gnuplot() {
    let kink = "x < tc ? b*tanh(g*(tc - x)) + ml*(x - tc) + rho : mh*(x - tc) + rho";
    let start = "ml=-0.001,mh=-0.001,rho=1.02,tc=46,g=1,b=0.01";
    assert_agrees(&fit("density.csv", &["--formula", kink, "--start", start, "--sigma", "sd"]), "kink", 3e-3);
    let cap = "sqrt(r*r - abs(u - x0)**2.2 - abs(v - y0)**1.8) + z0";
    assert_agrees(&fit("cap.csv", &["--formula", cap, "--start", "r=2,x0=0.1,y0=0.1,z0=0.1"]), "cap", 1e-3);
    let angle = "(angle - phi)*pi/180";
    let main = format!("(c11*cos({angle})**2 + c33*sin({angle})**2 + c44)");
    let mixed = format!(
        "sqrt(((c11 - c44)*cos({angle})**2 + (c44 - c33)*sin({angle})**2)**2 + (2*(c13 + c44)*cos({angle})*sin({angle}))**2)"
    );
    let sound = format!("branch == 1 ? sqrt(5e5*({main} + {mixed})) : sqrt(5e5*({main} - {mixed}))");
    let start = "c11=50,c33=60,c44=10,c13=20,phi=1";
    assert_agrees(&fit("sound.csv", &["--formula", &sound, "--start", start]), "sound", 1e-3);
}

#[test]
fn a_spectrum_of_five_peaks_is_that_of_gnuplot() {
    let peaks: String = (1..=5).map(|i| format!(" + h{i}*exp(-((x - c{i})/w{i})**2)")).collect();
    let formula = format!("offset + tilt*x{peaks}");
    let start = "h1=4,h2=7,h3=3,h4=8,h5=4,c1=1.4,c2=3,c3=4.4,c4=6.3,c5=7.8,w1=0.4,w2=0.4,w3=0.4,w4=0.4,w5=0.4,tilt=0.1";
    assert_agrees(&fit("spectrum.csv", &["--formula", &formula, "--start", start]), "spectrum", 1e-3);
}

#[test]
fn dose_responses_by_group_are_those_of_gnuplot() {
    let formula = ["--formula", "top/(1 + (ec50/dose)**n)", "--start", "top=90", "--group-by", "compound"];
    let report = fit("plate.csv", &formula);
    for group in report["groups"].as_array().unwrap() {
        assert_agrees(group, &format!("dose {}", group["group"].as_str().unwrap()), 1e-3);
    }
}
