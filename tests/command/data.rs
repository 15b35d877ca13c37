//! The files that the command reads, and those that it refuses.

use std::io::Write;
use std::process::Command;

use super::command::{Folder, assert_close, decay, run, value};

const FIT: [&str; 6] = ["fit", "data.csv", "--y", "y", "--model", "exponential_decay_offset"];

fn rate(folder: &Folder, more: &[&str]) -> f64 {
    value(&folder.run(&[&FIT[..], more, &["--json"]].concat()).json(), "decay").recip()
}

#[test]
fn files_have_many_forms() {
    let data = decay();
    let plain = rate(&Folder::with(&data), &[]);
    assert_close(plain, 0.5, 0.02);
    let semicolons = data.replace(',', ";").replace('.', ",");
    for (text, more) in [
        (data.replace(',', "\t"), &[][..]),
        (data.replace(',', ";"), &[]),
        (data.replace(',', "   "), &[]),
        (data.replace(',', "|").replace('|', ","), &["--separator", "comma"]),
        (data.replace('\n', "\r\n"), &[]),
        (format!("\u{feff}# a comment\n\n{data}"), &[]),
        (semicolons.clone(), &["--decimal-comma"]),
        (semicolons, &["--decimal-comma", "--separator", "semicolon"]),
    ] {
        assert_close(rate(&Folder::with(text), more), plain, 1e-12);
    }
    let folder = Folder::with(data.lines().skip(1).map(|line| format!("{line}\n")).collect::<String>());
    let report = folder.run(&[
        "fit",
        "data.csv",
        "--no-heading",
        "--x",
        "1",
        "--y",
        "2",
        "--model",
        "exponential_decay_offset",
        "--json",
    ]);
    assert_close(value(&report.json(), "decay").recip(), plain, 1e-12);
}

#[test]
fn the_standard_input_and_compressed_files_are_read() {
    let folder = Folder::with(decay());
    let plain = rate(&folder, &[]);
    let mut compressed = flate2_of(&folder);
    let from_input = ["fit", "-", "--y", "y", "--model", "exponential_decay_offset", "--json"];
    for input in [decay().into_bytes(), compressed.clone()] {
        assert_eq!(value(&folder.run_with(&from_input, &input).json(), "decay").recip(), plain);
    }
    folder.write("data.csv", &compressed);
    assert_eq!(rate(&folder, &[]), plain);
    compressed.truncate(compressed.len() / 2);
    folder.write("data.csv", compressed);
    assert!(folder.run(&FIT).refused().contains("data.csv"));
}

/// The file, compressed by `gzip`.
fn flate2_of(folder: &Folder) -> Vec<u8> {
    let output = Command::new("gzip").arg("-c").arg(folder.path("data.csv")).output().unwrap();
    assert!(output.status.success());
    output.stdout
}

#[test]
fn rows_are_chosen() {
    let folder = Folder::with("plate,t,y\nA,0,4\nA,1,3\nA,2,2\nB,3,100\nA,3,1\nA,4,\nB,5,100\n");
    let line =
        |more: &[&str]| folder.run(&[&["fit", "data.csv", "--x", "t", "--y", "y", "--model", "linear"], more].concat());
    let report = line(&["--where", "plate == A", "--omit-missing", "--json"]).json();
    assert_close(value(&report, "slope"), -1.0, 1e-12);
    assert_eq!((&report["data"]["observations"], &report["data"]["omitted"]), (&4.into(), &1.into()));
    let message = line(&["--where", "plate == A"]).refused();
    assert_eq!(message, "data.csv, line 7, column y: \"\" is a missing value; --omit-missing leaves such rows out");
    assert_eq!(line(&["--where", "t > 10"]).refused(), "data.csv: no row fulfils the condition of --where");
    let note = line(&["--omit-missing"]);
    assert!(note.errors.contains("--group-by plate"), "{note:?}");
}

/// One line, which names file, line, column and value.
#[test]
fn bad_files_are_refused_by_name() {
    for (text, expected) in [
        ("", "data.csv"),
        ("\n\n# nothing\n", "data.csv"),
        ("t,y\n", "data.csv"),
        ("t,y\n1,2\n2\n", "data.csv, line 3: 2 fields expected, 1 found"),
        ("t,y\n1,2\n2,3,4\n", "data.csv, line 3: 2 fields expected, 3 found"),
        ("t,y\n1,2\n2,three\n", "data.csv, line 3, column y: \"three\""),
        ("t,y\n1,2\nx,3\n", "data.csv, line 3, column t: \"x\""),
        ("t,y\n1,2\n2,1e999\n", "data.csv, line 3"),
        ("t,y\n1,2\n2,inf\n", "data.csv, line 3"),
        ("t,y\n1,2\n2,\n", "data.csv, line 3, column y"),
        ("t,y\n1,2\n2,NA\n", "data.csv, line 3, column y"),
        ("t,t\n1,2\n2,3\n", "t"),
        ("t,z\n1,2\n2,3\n", "y"),
        ("t\n1\n2\n", "y"),
        ("t,y\n1,2\n", "data.csv"),
        ("t,y\n1,2\n1,2\n", "data.csv"),
        ("t,y\n1,\"2\n2,3\n", "data.csv"),
        ("t;y\n1,5;2,5\n2,5;3\n", "data.csv, line 2"),
        ("t,y\n1,2\n2,0x10\n", "\"0x10\""),
        ("t,y\n1,2\n2,3 4\n", "\"3 4\""),
        ("t,y\n1,2\n2,--3\n", "\"--3\""),
        ("t,y\n1,2\n2,1.2.3\n", "\"1.2.3\""),
    ] {
        let message = Folder::with(text)
            .run(&["fit", "data.csv", "--x", "t", "--y", "y", "--formula", "a + b*t + c*t^2"])
            .refused();
        assert!(message.contains(expected) && message.lines().count() == 1, "{text:?}: {message}");
    }
    for bytes in [&b"t,y\n1,2\n2,\xff\xfe\n"[..], b"\x00\x01\x02", b"\x1f\x8b\x08broken", b"\x89PNG\r\n\x1a\n1,2,3"] {
        let message =
            Folder::with(bytes).run(&["fit", "data.csv", "--x", "t", "--y", "y", "--model", "linear"]).refused();
        assert!(message.contains("data.csv") && message.lines().count() == 1, "{bytes:?}: {message}");
    }
    assert!(run(&["fit", "absent.csv", "--model", "linear"]).refused().starts_with("absent.csv: "));
    assert!(Folder::new().run(&["fit", ".", "--model", "linear"]).refused().starts_with(".: "));
}

#[test]
fn bad_weights_are_refused_by_line() {
    let folder = Folder::with("t,y,s\n1,2,0.1\n2,3,0\n3,4,0.1\n");
    let fit =
        |more: &[&str]| folder.run(&[&["fit", "data.csv", "--x", "t", "--y", "y", "--model", "linear"], more].concat());
    let message = fit(&["--sigma", "s"]).refused();
    assert_eq!(message, "data.csv, line 3, column s: 0 is no standard deviation, which must be positive");
    assert!(fit(&["--sigma", "-1"]).refused().starts_with("--sigma is -1"));
    let folder = Folder::with("t,y\n1,2\n2,-3\n3,4\n");
    let message = folder.run(&["fit", "data.csv", "--model", "linear", "--counts"]).refused();
    assert_eq!(message, "data.csv, line 3, column y: -3 is no count, which must not be negative");
}

/// Ten million rows of two columns take a hundred bytes each, and no more than that.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "takes half a minute"]
fn large_files_take_bounded_memory() {
    let folder = Folder::new();
    let mut file = std::io::BufWriter::new(std::fs::File::create(folder.path("data.csv")).unwrap());
    writeln!(file, "x,y").unwrap();
    for i in 0..10_000_000 {
        let x = 1e-6 * f64::from(i);
        writeln!(file, "{x:.6},{:.6}", 2.0 * x + 1.0 + 0.01 * (1e3 * x).sin()).unwrap();
    }
    drop(file);
    // Kilobytes of address space.
    let limited = "ulimit -v 1500000; exec \"$0\" fit data.csv --formula 'a*x + b' --json=fit.json";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", limited, env!("CARGO_BIN_EXE_marquardt")]).current_dir(folder.path("."));
    assert!(command.status().unwrap().success());
    let report = serde_json::from_str(&folder.read("fit.json")).unwrap();
    assert_close(value(&report, "a"), 2.0, 1e-3);
}
