//! `marquardt many`: arrays of curves.

#[cfg(unix)]
use std::io::{BufRead, BufReader, Read};
#[cfg(unix)]
use std::process::{Command, Stdio};

use marquardt::npy;
use ndarray::{Array2, Array3, Ix3};

use super::command::{Folder, assert_close};

/// Decays in a stack of 3 × 5 pixels of 20 points.
fn stack() -> (Folder, Array3<f64>) {
    let folder = Folder::new();
    let stack = Array3::from_shape_fn((3, 5, 20), |(i, j, t)| {
        (2.0 + i as f64) * (-(0.1 + 0.02 * j as f64) * t as f64).exp() + 0.001 * ((i + j + t) as f64).sin()
    });
    npy::write(folder.path("stack.npy"), &stack).unwrap();
    (folder, stack)
}

const FORMULA: [&str; 6] = ["many", "stack.npy", "--formula", "a*exp(-k*x)", "--start", "k=0.2"];

#[test]
fn each_pixel_has_a_fit() {
    let (folder, _) = stack();
    let run = folder.run(&[&FORMULA[..], &["--out", "fits.npy", "--block", "4"]].concat());
    assert_eq!((run.code, run.errors.trim()), (0, "15 of 15 fits converged"));
    let fits: Array3<f64> = npy::read::<f64, Ix3>(folder.path("fits.npy")).unwrap();
    assert_eq!(fits.dim(), (3, 5, 6));
    for ((i, j, column), &found) in fits.indexed_iter() {
        match column {
            0 => assert_close(found, 2.0 + i as f64, 1e-2),
            1 => assert_close(found, 0.1 + 0.02 * j as f64, 1e-2),
            2 | 3 => assert!(found > 0.0 && found < 1e-2),
            4 => assert!(found < 1e-4),
            _ => assert_eq!(found, 1.0),
        }
    }
    // A model finds its own starts.
    let csv = folder.run(&["many", "stack.npy", "--model", "exponential_decay"]).solved();
    assert!(csv.starts_with("amplitude,decay,amplitude_error,decay_error,cost,converged\n"), "{csv}");
    let first: Vec<f64> = csv.lines().nth(1).unwrap().split(',').map(|field| field.parse().unwrap()).collect();
    assert_close(first[0], fits[[0, 0, 0]], 1e-5);
    assert_close(first[1].recip(), fits[[0, 0, 1]], 1e-5);
}

#[test]
fn points_and_bounds_are_given() {
    let (folder, _) = stack();
    let x: String = (0..20).map(|t| format!("{}\n", 2 * t)).collect();
    folder.write("x.csv", format!("time\n{x}"));
    let more = ["--x", "x.csv", "--bounds", "k=0..0.06", "--out", "-", "--max-iterations", "500"];
    let csv = folder
        .run(&[&["many", "stack.npy", "--formula", "a*exp(-k*x)", "--start", "k=0.05"][..], &more].concat())
        .solved();
    let rates = csv.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse::<f64>().unwrap());
    assert!(rates.clone().all(|rate| rate <= 0.06) && rates.clone().any(|rate| rate == 0.06), "{csv}");
}

#[test]
fn parameters_are_fixed_and_tied() {
    let (folder, _) = stack();
    let rows = |more: &[&str]| -> Vec<Vec<f64>> {
        let csv = folder.run(&[&FORMULA[..], more].concat()).solved();
        csv.lines().skip(1).map(|line| line.split(',').map(|field| field.parse().unwrap()).collect()).collect()
    };
    let fixed = rows(&["--fix", "k=0.15"]);
    assert!(fixed.iter().all(|row| row[1] == 0.15 && row[3] == 0.0 && row[2] > 0.0));
    let tied = rows(&["--tie", "k=a/20"]);
    assert!(tied.iter().all(|row| (row[1] - row[0] / 20.0).abs() < 1e-12 && row[3] > 0.0));
    let robust = rows(&["--robust=huber"]);
    assert_close(robust[0][0], 2.0, 1e-2);
    let message = folder.run(&[&FORMULA[..], &["--fix", "z"]].concat()).refused();
    assert_eq!(message, "--fix: there is no parameter \"z\"; the parameters are \"a\", \"k\"");
}

#[test]
fn counts_are_fitted_by_their_likelihood() {
    let (folder, stack) = stack();
    npy::write(folder.path("stack.npy"), &stack.mapv(|y| (100.0 * y).round())).unwrap();
    let [squares, counts] = [&[][..], &["--counts"]].map(|more| {
        folder
            .run(&[&["many", "stack.npy", "--formula", "a*exp(-k*x)", "--start", "a=300,k=0.2"][..], more].concat())
            .solved()
    });
    let first = |csv: &str| csv.lines().nth(1).unwrap().split(',').next().unwrap().parse::<f64>().unwrap();
    assert_close(first(&counts), 200.0, 0.01);
    assert!(first(&counts) != first(&squares));
}

#[test]
fn missing_points_are_left_out_if_asked() {
    let (folder, mut stack) = stack();
    stack[[1, 1, 3]] = f64::NAN;
    npy::write(folder.path("stack.npy"), &stack).unwrap();
    let run = folder.run(&FORMULA);
    assert!(run.code == 1 && run.errors.contains("14 of 15 fits converged"), "{run:?}");
    assert!(folder.run(&[&FORMULA[..], &["--omit-missing"]].concat()).errors.contains("15 of 15"));
}

/// More rows than a pipe holds wait to be read, so that the interrupt comes before the end.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_after_a_block() {
    let folder = Folder::new();
    let stack = Array2::from_shape_fn((5000, 8), |(i, t)| (1.0 + i as f64).sqrt() * (-0.2 * t as f64).exp());
    npy::write(folder.path("stack.npy"), &stack).unwrap();
    let mut command = folder.command(&[&FORMULA[..], &["--block", "16"]].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut lines = String::new();
    out.read_line(&mut lines).unwrap();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    out.read_to_string(&mut lines).unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("note: interrupted after ") && errors.contains(" of 5000 fits"), "{errors}");
    assert!((2..5001).contains(&lines.lines().count()), "{}", lines.lines().count());
}

#[test]
fn bad_stacks_are_refused() {
    let (folder, _) = stack();
    folder.write("text.npy", "1,2,3\n");
    npy::write(folder.path("x.npy"), &ndarray::Array1::<f64>::zeros(7)).unwrap();
    npy::write(folder.path("empty.npy"), &Array2::<f64>::zeros((0, 4))).unwrap();
    for (arguments, expected) in [
        (&["many", "absent.npy", "--model", "linear"][..], "absent.npy"),
        (&["many", "text.npy", "--model", "linear"], "is not an .npy file"),
        (&["many", "stack.npy"], "--model or --formula is needed"),
        (&["many", "stack.npy", "--model", "linear", "--x", "x.npy"], "--x has 7 points, but the curves have 20"),
        (&["many", "stack.npy", "--model", "linear", "--start", "slope=1"], "--start lacks \"intercept\""),
        (
            &["many", "stack.npy", "--formula", "a*x", "--start", "b=1"],
            "--start: there is no parameter \"b\"; the parameters are \"a\"",
        ),
        (&["many", "stack.npy", "--formula", "a*x", "--bounds", "a=2..1"], "2"),
        (&["many", "stack.npy", "--formula", "a*exp(-k*t)"], "x, the predictor, is not in the formula"),
        (&["many", "stack.npy", "--formula", "a*x", "--start", "a=1,a=2"], "--start has \"a\" twice"),
        (
            &["many", "stack.npy", "--formula", "a*x", "--out", "stack.npy"],
            "stack.npy: it is read, and would be replaced",
        ),
        (&["many", "stack.npy", "--formula", "a*x", "--tie", "a=2*("], "--tie: "),
        (&["many", "stack.npy", "--formula", "a*x", "--counts", "--robust"], "exclude each other"),
    ] {
        let message = folder.run(arguments).refused();
        assert!(message.contains(expected), "{arguments:?}: {message}");
    }
    assert_eq!(folder.run(&["many", "empty.npy", "--model", "linear", "--out", "none.npy"]).code, 0);
}

#[test]
fn columns_of_a_table_are_data_sets() {
    let folder = Folder::new();
    let row = |i: u32| format!("{i},{},{}\n", f64::from(i) + 0.01 * f64::from(i % 2), 3.0 * f64::from(i) + 1.0);
    folder.write("wide.csv", "Reader: X\n\ntime,A,\"B, 2\"\n".to_owned() + &(0..8).map(row).collect::<String>());
    let run = folder.run(&["many", "wide.csv", "--model", "linear", "--block", "1"]);
    assert!(run.errors.contains("the lines above line 3, the heading, were skipped"), "{run:?}");
    let out = run.solved();
    let mut lines = out.lines();
    assert!(lines.next().unwrap().starts_with("column,slope,intercept,"), "{out}");
    assert!(lines.next().unwrap().starts_with("A,1.0") && lines.next().unwrap().starts_with("\"B, 2\",3"), "{out}");
    folder.write("wide.csv", "time\n1\n2\n");
    assert!(folder.run(&["many", "wide.csv", "--model", "linear"]).refused().contains("no data set"));
}
