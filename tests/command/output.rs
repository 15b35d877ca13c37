//! Reports, tables and pictures.

use super::command::{Folder, decay, run};

#[test]
fn reports_have_several_forms() {
    let folder = Folder::with(decay());
    let first = ["fit", "data.csv", "--model", "exponential_decay_offset", "--title", "A decay"];
    let fit = |more: &[&str]| folder.run(&[&first[..], more].concat());
    assert!(fit(&[]).solved().starts_with("A decay\n"));
    let markdown = fit(&["--markdown"]).solved();
    assert!(markdown.contains("| parameter |") || markdown.contains("|---"), "{markdown}");
    assert!(fit(&["--csv"]).solved().starts_with("parameter,value,standard_error,low,high,state\n"));
    let both = fit(&["--json=fit.json", "--csv=fit.csv", "--residuals", "residuals.csv"]).solved();
    assert!(both.starts_with("A decay\n"), "{both}");
    let report: serde_json::Value = serde_json::from_str(&folder.read("fit.json")).unwrap();
    assert_eq!(report["title"], "A decay");
    assert_eq!(folder.read("fit.csv").lines().count(), 4);
    let residuals = folder.read("residuals.csv");
    assert!(residuals.starts_with("line,t,y,fitted,residual\n2,0,") && residuals.lines().count() == 41, "{residuals}");
    let digits = fit(&["--digits", "9"]).solved();
    assert!(digits.lines().any(|line| line.starts_with("offset") && line.len() > 60), "{digits}");
}

#[test]
fn pictures_are_written() {
    let folder = Folder::new();
    folder.run(&["fit", "--plot", "fit.svg", "--log-x"]).solved();
    assert!(folder.read("fit.svg").contains("95 % confidence band"));
    folder.run(&["fit", "--plot", "fit.png"]).solved();
    assert!(std::fs::read(folder.path("fit.png")).unwrap().starts_with(b"\x89PNG"));
    let two = Folder::with("a,b,y\n1,2,3\n2,1,4\n3,5,9\n4,4,9\n");
    two.run(&["fit", "data.csv", "--formula", "p*a + q*b", "--y", "y", "--plot", "two.svg"]);
    assert!(two.read("two.svg").contains("<image"));
    let three = Folder::with("a,b,c,y\n1,2,0,3\n2,1,1,4\n3,5,0,9\n4,4,2,9\n");
    let message =
        three.run(&["fit", "data.csv", "--formula", "p*a + q*b + c", "--y", "y", "--plot", "no.svg"]).refused();
    assert!(message.contains("predictor"), "{message}");
}

#[test]
fn pictures_have_sizes_labels_and_legends() {
    let folder = Folder::new();
    let fit =
        ["fit", "--plot", "fit.svg", "--size", "500x400", "--x-label", "substrate (mM)", "--ylabel", "rate (µM/s)"];
    folder.run(&fit).solved();
    let svg = folder.read("fit.svg");
    assert!(
        svg.contains("width=\"500\" height=\"400\"") && svg.contains("substrate (mM)") && svg.contains("rate (µM/s)")
    );
    assert!(svg.contains("95 % confidence band"));
    folder.run(&[&fit[..], &["--legend", "none"]].concat()).solved();
    assert!(!folder.read("fit.svg").contains("95 % confidence band"));
    for wrong in [&["--plot", "f.svg", "--size", "9x9"][..], &["--size", "500x400"], &["--x-label", "x"]] {
        assert_eq!(run(&[&["fit"], wrong].concat()).code, 2);
    }
}

#[test]
fn files_that_cannot_be_written_are_named() {
    for option in ["--json=no/such/folder/fit.json", "--csv=no/such/folder/fit.csv", "--residuals=no/such/folder/r.csv"]
    {
        let run = run(&["fit", option]);
        assert!(run.code == 2 && run.errors.contains("no/such/folder"), "{run:?}");
    }
}

/// A file whose extension promises another format is not written.
#[test]
fn extensions_are_those_of_the_formats() {
    let folder = Folder::with(decay());
    let stack = ndarray::Array2::from_shape_fn((2, 9), |(i, t)| (i + 2 * t) as f64);
    marquardt::npy::write(folder.path("stack.npy"), &stack).unwrap();
    let fit = ["fit", "data.csv", "--model", "linear"];
    let many = ["many", "stack.npy", "--model", "linear"];
    for (first, option) in [
        (&fit, "--csv=no.xlsx"),
        (&fit, "--csv=no.json"),
        (&fit, "--json=no.csv"),
        (&fit, "--markdown=no.html"),
        (&fit, "--residuals=no.tsv"),
        (&fit, "--plot=no.pdf"),
        (&many, "--out=no.xlsx"),
        (&many, "--out=no.csv.gz"),
        (&["compare", "data.csv", "--models", "linear"], "--csv=no.ods"),
    ] {
        let message = folder.run(&[&first[..], &[option]].concat()).refused();
        assert!(message.starts_with("no."), "{option}: {message}");
        let (_, file) = option.split_once('=').unwrap();
        assert!(!folder.path(file).exists(), "{option}");
    }
    for (first, file) in [
        (&fit, "--csv=f.CSV"),
        (&fit, "--json=f.txt"),
        (&fit, "--csv=f"),
        (&many, "--out=f.NPY"),
        (&many, "--out=m.csv"),
    ] {
        assert_eq!(folder.run(&[&first[..], &[file]].concat()).code, 0, "{file}");
    }
    assert!(std::fs::read(folder.path("f.NPY")).unwrap().starts_with(b"\x93NUMPY"));
}

#[test]
fn what_logarithmic_axes_cannot_show_is_counted() {
    let folder = Folder::with("x,y\n-1,-2\n0,1\n1,3\n2,0\n3,8\n4,11\n");
    let fit = ["fit", "data.csv", "--model", "linear", "--plot", "fit.svg"];
    let lost = |options: &[&str]| {
        let run = folder.run(&[&fit[..], options].concat());
        let note = run.errors.lines().find(|line| line.contains("no place for values of zero or less"));
        note.map(|note| note.split(' ').nth(1).unwrap().to_owned())
    };
    assert_eq!(lost(&["--log-y"]).as_deref(), Some("2"));
    assert_eq!(lost(&["--log-x", "--log-y"]).as_deref(), Some("3"));
    assert_eq!(lost(&[]), None);
}
