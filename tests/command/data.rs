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
    assert_eq!(message, "data.csv, line 7, column \"y\": \"\" is a missing value; --omit-missing leaves such rows out");
    assert_eq!(line(&["--where", "t > 10"]).refused(), "data.csv: no row fulfils the condition of --where");
    let note = line(&["--omit-missing"]);
    assert!(note.errors.contains("--group-by \"plate\""), "{note:?}");
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
        ("t,y\n1,2\n2,three\n", "data.csv, line 3, column \"y\": \"three\""),
        ("t,y\n1,2\nx,3\n", "data.csv, line 3, column \"t\": \"x\""),
        ("t,y\n1,2\n2,1e999\n", "data.csv, line 3"),
        ("t,y\n1,2\n2,inf\n", "data.csv, line 3"),
        ("t,y\n1,2\n2,\n", "data.csv, line 3, column \"y\""),
        ("t,y\n1,2\n2,NA\n", "data.csv, line 3, column \"y\""),
        ("t,t\n1,2\n2,3\n", "t"),
        ("t,z\n1,2\n2,3\n", "y"),
        ("t\n1\n2\n", "y"),
        ("t,y\n1,2\n", "data.csv"),
        ("t,y\n1,2\n1,2\n", "data.csv"),
        ("t,y\n1,\"2\n2,3\n", "data.csv"),
        ("t;y\n1,5;2,5\n2,5;3\n", "data.csv, line 2, column \"t\": \"1,5\" is not a number; decimal commas"),
        ("t,y\n1,2\n2,0x10\n", "\"0x10\""),
        ("t,y\n1,2\n2,3 4\n", "\"3 4\""),
        ("t,y\n1,2\n2,--3\n", "\"--3\""),
        ("t,y\n1,2\n2,1.2.3\n", "\"1.2.3\""),
        ("t,y\n1,2\n2,3\n,,\n", "data.csv, line 4: 2 fields expected, 3 found"),
        ("t,y\n1,2\n2,1_000\n", "\"1_000\""),
        ("t,y\n1,2\n2,1 000\n", "\"1 000\""),
        ("t,y\n1,2\n2,\"3\n4,5\n", "data.csv"),
        ("t y\n1 2\n3\n", "data.csv, line 3: 2 fields expected, 1 found"),
    ] {
        let message = Folder::with(text)
            .run(&["fit", "data.csv", "--x", "t", "--y", "y", "--formula", "a + b*t + c*t^2"])
            .refused();
        assert!(message.contains(expected) && message.lines().count() == 1, "{text:?}: {message}");
    }
    for bytes in [
        &b"t,y\n1,2\n2,\xff\xfe\n"[..],
        b"\x00\x01\x02",
        b"\x1f\x8b\x08broken",
        b"\x89PNG\r\n\x1a\n1,2,3",
        b"\xff\xfet\0,\0y\0\n\0",
    ] {
        let message =
            Folder::with(bytes).run(&["fit", "data.csv", "--x", "t", "--y", "y", "--model", "linear"]).refused();
        assert!(message.contains("data.csv") && message.lines().count() == 1, "{bytes:?}: {message}");
    }
    assert!(run(&["fit", "absent.csv", "--model", "linear"]).refused().starts_with("absent.csv: "));
    assert!(Folder::new().run(&["fit", ".", "--model", "linear"]).refused().starts_with(".: "));
}

/// Columns have any names: those of functions, constants, other alphabets, and such as no word of a formula can be.
#[test]
fn columns_have_any_names() {
    let folder = Folder::with("Größe,dose (mM),beta,e,y\n1,2,1,5,9\n2,1,3,4,11\n3,5,2,9,20\n4,4,4,1,16\n5,3,0,2,11\n");
    let names = |formula: &str, more: &[&str]| {
        let report = folder.run(&[&["fit", "data.csv", "--formula", formula, "--json"], more].concat()).json();
        report["x"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("a*Größe + c", &["--y", "y"]), ["Größe"]);
    assert_eq!(names("a*Größe + b*\"dose (mM)\" + c*beta + d*e", &[]), ["Größe", "dose (mM)", "beta", "e"]);
    assert_eq!(names("a*x + c", &["--x", "dose (mM)", "--y", "5"]), ["dose (mM)"]);
    assert_eq!(names("a*beta + c", &["--x", "beta", "--y", "y"]), ["beta"]);
    let message = folder.run(&["fit", "data.csv", "--formula", "a*gamma + e", "--y", "y"]).refused();
    assert!(message.contains("gamma is a function"), "{message}");
}

/// The response is the first column, from the second on, that is no predictor.
#[test]
fn the_response_is_found() {
    let folder = Folder::with("u,v,y\n1,2,5\n2,1,4\n3,3,9.1\n4,1,6\n");
    for (arguments, expected) in [
        (&["--formula", "p*u + q*v"][..], "y"),
        (&["--formula", "p*u + q"], "v"),
        (&["--formula", "p*v + q"], "y"),
        (&["--formula", "p*x + q", "--x", "v"], "y"),
        (&["--model", "linear"], "v"),
        (&["--model", "linear", "--x", "2"], "y"),
        (&["--model", "linear", "--x", "v", "--y", "u"], "u"),
    ] {
        let report = folder.run(&[&["fit", "data.csv", "--json"], arguments].concat()).json();
        assert_eq!(report["y"], expected, "{arguments:?}");
    }
}

/// Of a long file, columns that nobody asks for are not kept; those that are asked for in any way are.
#[test]
fn long_files_of_many_columns_are_read() {
    let mut text = "name,time,signal,group,sd,spare,dose\n".to_owned();
    for i in 0..6000 {
        let (time, group) = (0.001 * f64::from(i), ["A", "B"][i as usize % 2]);
        text += &format!("row {i},{time},{},{group},0.5,{i},{}\n", 2.0 * time + 1.0, i % 5);
    }
    let folder = Folder::with(text);
    let report = folder.run(&[
        "fit",
        "data.csv",
        "--formula",
        "a*time + b",
        "--y",
        "signal",
        "--sigma",
        "sd",
        "--where",
        "dose > 2",
        "--group-by",
        "group",
        "--json",
    ]);
    let report = report.json();
    assert_close(value(&report["groups"][1], "a"), 2.0, 1e-9);
    assert_eq!(report["groups"][0]["data"]["observations"], 1200);
    let by_number = folder.run(&["fit", "data.csv", "--model", "linear", "--x", "2", "--y", "3", "--json"]);
    assert_close(value(&by_number.json(), "slope"), 2.0, 1e-9);
    let note = folder.run(&["fit", "data.csv", "--model", "linear", "--x", "time", "--y", "signal"]);
    assert!(note.errors.contains("column \"group\" has 2 texts"), "{}", note.errors);
    let response = folder.run(&["fit", "data.csv", "--model", "linear", "--x", "2", "--json"]).json();
    assert_eq!(response["y"], "signal");
    let message = folder.run(&["fit", "data.csv", "--model", "linear", "--x", "none", "--y", "signal"]).refused();
    assert!(message.contains("there is no column \"none\""), "{message}");
}

/// The input is no output.
#[test]
fn data_are_not_replaced() {
    let folder = Folder::with(decay());
    for option in ["--csv=data.csv", "--residuals=./data.csv"] {
        let message = folder.run(&["fit", "data.csv", "--model", "linear", option]).refused();
        assert!(message.ends_with("data.csv: it is read, and would be replaced"), "{message}");
    }
    assert_eq!(folder.read("data.csv"), decay());
}

#[test]
fn bad_weights_are_refused_by_line() {
    let folder = Folder::with("t,y,s\n1,2,0.1\n2,3,0\n3,4,0.1\n");
    let fit =
        |more: &[&str]| folder.run(&[&["fit", "data.csv", "--x", "t", "--y", "y", "--model", "linear"], more].concat());
    let message = fit(&["--sigma", "s"]).refused();
    assert_eq!(message, "data.csv, line 3, column \"s\": 0 is no standard deviation, which must be positive");
    assert!(fit(&["--sigma", "-1"]).refused().starts_with("--sigma is -1"));
    let folder = Folder::with("t,y\n1,2\n2,-3\n3,4\n");
    let message = folder.run(&["fit", "data.csv", "--model", "linear", "--counts"]).refused();
    assert_eq!(message, "data.csv, line 3, column \"y\": -3 is no count, which must not be negative");
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

/// A comma before three digits is taken for nothing, and the message names both numbers that it may be.
#[test]
fn separators_of_thousands_are_told_from_decimals() {
    let line = |cell: &str, more: &[&str]| {
        let folder = Folder::with(format!("t;y\n1;2\n2;{cell}\n3;5\n4;4\n"));
        folder.run(
            &[&["fit", "data.csv", "--y", "y", "--model", "linear", "--json", "--residuals", "r.csv"], more].concat(),
        )
    };
    for (cell, numbers) in
        [("12,777", ["12777", "12.777"]), ("-1,234", ["-1234", "-1.234"]), ("\"1,000\"", ["1000", "1.000"])]
    {
        let message = line(cell, &[]).refused();
        assert!(numbers.iter().all(|number| message.contains(number)), "{message}");
        assert!(message.starts_with("data.csv, line 3, column \"y\": "), "{message}");
        assert_eq!(line(cell, &["--decimal-comma"]).code, 0);
    }
    assert!(line("1,234,567", &[]).refused().ends_with("option thousands: it is 1234567"));
    assert!(line("1,5", &[]).refused().contains("decimal-comma"));
    // Among decimal commas, a point is not one.
    let message = line("1.234", &["--decimal-comma"]).refused();
    assert!(message.contains("1234 if the point separates thousands"), "{message}");
    assert_eq!(line("0.125", &["--decimal-comma"]).code, 0);
}

/// Of replicates, the first is fitted, and a note names the others.
#[test]
fn columns_that_are_left_out_are_named() {
    let folder = Folder::with("x,A,B,C,name\n1,2,3,4,p\n2,3,4,5,q\n3,4.5,5,6,r\n4,5,6,7.5,s\n");
    let notes = |more: &[&str]| folder.run(&[&["fit", "data.csv", "--model", "linear"], more].concat());
    let expected = "note: the response is column \"A\"; left out: \"B\", \"C\"; --y names another column\n";
    assert_eq!(notes(&[]).errors, expected);
    assert_eq!(notes(&["--y", "A"]).errors, "");
    assert_eq!(notes(&["--sigma", "C", "--where", "B > 0"]).errors, "");
    let compared = folder.run(&["compare", "data.csv", "--models", "linear,quadratic"]);
    assert_eq!((compared.code, &*compared.errors), (0, expected));
    let wide: String = (1..=20).map(|i| format!(",y{i}")).collect();
    let rows: String = (0..2000).map(|i| format!("{i}{}\n", format!(",{}.5", i % 7).repeat(20))).collect();
    folder.write("data.csv", format!("x{wide}\n{rows}"));
    let note = notes(&[]).errors;
    assert!(note.contains("column \"y1\"") && note.contains("\"y7\" and 13 more"), "{note}");
}

#[test]
fn counts_are_integers() {
    let folder = Folder::with("t,y\n1,2\n2,2.5\n3,4\n");
    let message = folder.run(&["fit", "data.csv", "--model", "linear", "--counts"]).refused();
    assert_eq!(message, "data.csv, line 3, column \"y\": 2.5 is no count, which is an integer");
}

#[test]
fn columns_are_computed() {
    let rows: String = (1..=12).map(|i| format!("{},{}\n", 10_i32.pow(i / 2), 3 * i + i % 2)).collect();
    let folder = Folder::with("dose,rate\n".to_owned() + &rows + "0,7\n,8\n");
    let fit = |more: &[&str]| folder.run(&[&["fit", "data.csv", "--json", "--omit-missing"], more].concat());
    let computed = ["--let", "logdose=log10(dose)", "--let", "twice = 2*logdose", "--where", "dose > 0"];
    let found = fit(&[&computed[..], &["--x", "twice", "--y", "rate", "--model", "linear"]].concat()).json();
    let expected = fit(&["--formula", "slope*2*log10(dose) + intercept", "--where", "0 < dose"]).json();
    assert_close(value(&found, "slope"), value(&expected, "slope"), 1e-9);
    assert_eq!(found["data"]["observations"], 12);
    // Formulas have them, and conditions of any form.
    let over = ["--let", "l=log10(dose)", "--formula", "a + b*l", "--where", "dose*2 > 1 and (rate < 30 or rate > 33)"];
    let over = fit(&over).json();
    assert_eq!(over["data"]["observations"], 11, "{over}");
    let refused = |more: &[&str]| fit(&[more, &["--model", "linear"]].concat()).refused();
    assert_eq!(refused(&["--let", "l=log(dse)"]), "--let: there is no column \"dse\", only \"dose\", \"rate\"");
    assert!(
        refused(&["--let", "dose=2*rate"]).contains("both named \"dose\""),
        "{}",
        refused(&["--let", "dose=2*rate"])
    );
    assert!(refused(&["--let", "l=log10(dose", "--x", "l"]).contains("closing parenthesis"));
    assert!(
        refused(&["--let", "l=log10(dose)", "--x", "l", "--y", "rate"]).contains("line 14, column \"l\": \"-inf\"")
    );
    assert_eq!(refused(&["--where", "2*dse > 3"]), "--where: there is no column \"dse\", only \"dose\", \"rate\"");
}
