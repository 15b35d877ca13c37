//! Exit codes, and what the command says of itself.

use std::io::{BufRead, Read};
use std::process::Stdio;

use super::command::{Folder, decay, run};

#[test]
fn what_does_not_converge_ends_with_one() {
    let folder = Folder::with(decay());
    let first = ["fit", "data.csv", "--formula", "a*exp(-k*t)+c", "--y", "y", "--start", "a=2,k=0.3"];
    let run = folder.run(&[&first[..], &["--max-iterations", "2"]].concat());
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.out.contains("Not converged") || run.out.contains("not converged"), "{run:?}");
    assert_eq!(folder.run(&[&first[..], &["--time-limit", "0"]].concat()).code, 1);
    folder.run(&[&first[..], &["--time-limit", "1e300"]].concat()).solved();
    assert!(folder.run(&[&first[..], &["--time-limit", "nan"]].concat()).refused().contains("NaN"));
    let refused = folder.run(&[&first[..], &["--time-limit", "-1"]].concat()).refused();
    assert_eq!(refused, "--time-limit is -1: seconds must not be negative");
}

/// Parameters without end, and a curve that is worse than a flat line: said in the report, in JSON and on the error stream.
#[test]
fn what_is_unusable_ends_with_three() {
    let line = |x: u32| format!("{x},{},all\n", 2.0 * f64::from(x) + 0.02 * f64::from(x * x) + f64::from(x * 7 % 5));
    let folder = Folder::with("x,y,group\n".to_owned() + &(1..=20).map(line).collect::<String>());
    let hyperbola =
        ["fit", "data.csv", "--formula", "a*x/(b+x)", "--y", "y", "--start", "a=60,b=40", "--bounds", "b=0.."];
    let run = folder.run(&hyperbola);
    assert_eq!(run.code, 3, "{run:?}");
    assert!(
        run.errors.contains("warning: \"a\" ran away to ") && run.errors.contains("warning: \"b\" ran away to "),
        "{run:?}"
    );
    assert!(run.out.contains("\"b\" ran away to ") && !run.out.contains("0.00 ±"), "{run:?}");
    let json = folder.run(&[&hyperbola[..], &["--json"]].concat());
    let report: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert!(json.code == 3 && report["warnings"][0].as_str().unwrap().contains("\"a\" ran away to "), "{json:?}");
    let grouped = folder.run(&[&hyperbola[..], &["--group-by", "group"]].concat());
    assert!(grouped.code == 3 && grouped.errors.contains("warning: group \"all\": \"a\" ran away"), "{grouped:?}");
    let pole = ["fit", "data.csv", "--formula", "a/(x+0*b)", "--y", "y", "--fix", "b"];
    let run = folder.run(&pole);
    assert!(run.code == 3 && run.errors.contains("worse than their mean does: R² is -"), "{run:?}");
    let compared = folder.run(&[
        "compare",
        "data.csv",
        "--y",
        "y",
        "--formula",
        "a*x+b",
        "--formula",
        "a*x/(b^2+x)",
        "--start",
        "a=60,b=6",
    ]);
    assert!(
        compared.code == 3 && compared.errors.contains("warning: \"a*x/(b^2+x)\": \"a\" ran away to "),
        "{compared:?}"
    );
    let sound = folder.run(&["fit", "data.csv", "--formula", "a*x+b", "--y", "y", "--json"]);
    assert!(sound.errors.is_empty() && sound.json()["warnings"].as_array().unwrap().is_empty());
}

#[test]
fn bad_arguments_end_with_two() {
    for (arguments, expected) in [
        (&["fit", "--model", "gausian"][..], "there is no model \"gausian\"; did you mean gaussian?"),
        (&["fit", "--model", "nothing"], "there is no model \"nothing\"; `marquardt models` lists all"),
        (&["fit", "--formula", "a*sine(conc)"], "--formula: there is no function \"sine\""),
        (&["fit", "--formula", "a*b"], "the formula has no predictor"),
        (&["fit", "--formula", "a*conc", "--x", "rate,conc"], "--x has \"rate\", but the formula has not"),
        (&["fit", "--x", "conc,rate"], "--x names 2 columns, but a model has one predictor"),
        (&["fit", "--x", "dose"], "dose"),
        (&["fit", "--start", "top=3"], "top"),
        (&["fit", "--bounds", "vmax=3..2"], "vmax"),
        (&["fit", "--fix", "vmax", "--tie", "vmax=2*km"], "vmax"),
        (&["fit", "--tie", "vmax=2*("], "--tie: "),
        (&["fit", "--constrain", "vmax*km<1"], "--constrain: \"vmax*km\" is not linear in its parameters"),
        (&["fit", "--constrain", "vmax+km"], "--constrain: \"vmax+km\" has no <, <=, > or >="),
        (&["fit", "--constrain", "vmax<z"], "the relation vmax<z is of \"z\", which is no parameter"),
        (&["fit", "--prior", "km=1~0.1"], "prior"),
        (&["fit", "--group-by", "compound"], "compound"),
        (&["fit", "--start", "vmax=3,vmax=4"], "--start has \"vmax\" twice"),
        (&["fit", "--tie", "vmax=km", "--tie", "vmax=2*km"], "--tie has \"vmax\" twice"),
        (&["fit", "--fix", "vmax,vmax=3"], "--fix has \"vmax\" twice"),
        (&["fit", "--json", "--csv"], "one format goes to the standard output"),
        (&["compare", "--json", "--markdown"], "one format goes to the standard output"),
        (&["compare", "--models", "linear", "--start", "vmax=1"], "--start: no curve has a parameter \"vmax\""),
        (&["fit", "--y", "rate", "--formula", "a*rate"], "the formula has no predictor"),
        (&["fit", "--formula", "a*conc + b*rate"], "no column is left for the response; --y names it"),
        (&["fit", "--x", "rate"], "no column is left for the response; --y names it"),
        (&["fit", "--plot", "no/such/folder/fit.svg"], "no/such/folder/fit.svg: there is no such folder"),
        (&["fit", "--plot", "fit.gif"], "fit.gif"),
        (&["compare", "--models", "linear,gausian"], "there is no model \"gausian\""),
        (&["models", "zzz"], "no model contains \"zzz\""),
    ] {
        let message = run(arguments).refused();
        assert!(message.contains(expected), "{arguments:?}: {message}");
    }
}

/// Of clap, which prints what is wrong and how to ask for help.
#[test]
fn arguments_that_are_none_end_with_two() {
    for arguments in [
        &["fit", "--no-such-flag"][..],
        &["fit", "--start", "vmax"],
        &["fit", "--bounds", "vmax=3"],
        &["fit", "--where", "conc"],
        &["fit", "--robust=least"],
        &["fit", "--model", "linear", "--formula", "a*x"],
        &["fit", "--absolute-sigma"],
        &["fit", "--share", "vmax"],
        &["fit", "--digits", "0"],
        &["fit", "--bootstrap=0"],
        &["fit", "--bootstrap=10000000000000"],
        &["fit", "--multi-start=1000000000000"],
        &["frobnicate"],
        &[],
    ] {
        let run = run(arguments);
        assert!(run.code == 2 && !run.errors.is_empty(), "{arguments:?}: {run:?}");
    }
}

#[test]
fn help_has_examples() {
    for command in ["fit", "compare", "many", "predict", "graph", "bundle", "models"] {
        let help = run(&[command, "--help"]).solved();
        let (options, examples) = help.split_once("Examples:\n  marquardt ").unwrap();
        let flags = options.split_whitespace().filter(|word| word.starts_with("--"));
        let names = flags.map(|flag| flag.trim_end_matches([',', '.']).split(['[', '=']).next().unwrap());
        for name in names.filter(|name| *name != "--help" && matches!(command, "fit" | "many")) {
            assert!(examples.contains(name), "{command} has no example of {name}");
        }
    }
    assert!(run(&["--version"]).solved().starts_with("marquardt "));
    let man = run(&["man"]).solved();
    assert!(man.contains(".SH MARQUARDT FIT") && man.contains("group\\-by"), "{man}");
    assert!(man.contains("\n  marquardt fit enzyme.csv \\-\\-x conc"), "{man}");
    for shell in ["bash", "zsh", "fish"] {
        assert!(run(&["completions", shell]).solved().contains("marquardt"));
    }
}

#[test]
fn models_are_listed() {
    let all = run(&["models"]).solved();
    assert!(all.contains("michaelis_menten") && all.contains("vmax x / (km + x)"), "{all}");
    let found = run(&["models", "voigt", "--json"]).json();
    assert!(found.as_array().unwrap().iter().all(|model| model["name"].as_str().unwrap().contains("voigt")), "{found}");
}

/// A reader that ends early, such as `head`, is no failure.
#[test]
fn a_broken_pipe_is_no_crash() {
    let folder = Folder::new();
    for arguments in [&["models"][..], &["fit", "--json"], &["man"]] {
        let mut child = folder.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut errors = String::new();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        let status = child.wait().unwrap();
        assert!(status.code() == Some(0) && errors.is_empty(), "{arguments:?}: {status}, {errors}");
    }
}

/// A closed standard error stream takes no notes, and is no failure either.
#[test]
fn notes_that_nobody_reads_are_no_crash() {
    let folder = Folder::new();
    let mut child = folder.command(&["fit", "--watch"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

/// The fit is reported, with what is left of the bootstrap, and the exit code is one.
#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_was_found() {
    let folder = Folder::with(decay());
    let arguments = [
        "fit",
        "data.csv",
        "--formula",
        "a*exp(-k*t)+c",
        "--start",
        "a=2,k=0.3",
        "--watch",
        "--bootstrap=1000000",
        "--json",
    ];
    let mut child = folder.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The fit runs, and the interrupt is heard.
    let mut watched = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while watched.read_line(&mut line).unwrap() > 0 && line.lines().count() < 3 {}
    let interrupted = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let rest = std::thread::spawn(move || {
        let mut rest = String::new();
        watched.read_to_string(&mut rest).map(|_| rest)
    });
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["parameters"][0]["name"], "a");
    assert!(rest.join().unwrap().is_ok());
}
