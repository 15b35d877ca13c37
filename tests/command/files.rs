//! Files of instruments and spreadsheets: what is skipped, converted and said.

use marquardt::npy;
use ndarray::{Array1, Array2, Array3};

use super::command::{Folder, Run, assert_close, value};

/// Fits a line to `data.csv`, and returns the slope, the intercept and the notes.
#[track_caller]
fn line(data: impl AsRef<[u8]>, more: &[&str]) -> (f64, f64, String) {
    let run = fit(data, more);
    let notes = run.errors.clone();
    let report = run.json();
    (value(&report, "slope"), value(&report, "intercept"), notes)
}

fn fit(data: impl AsRef<[u8]>, more: &[&str]) -> Run {
    Folder::with(data).run(&[&["fit", "data.csv", "--model", "linear", "--json"], more].concat())
}

/// Rows on the line `2 x + 1`, nearly.
const ROWS: &str = "0,1.01\n1,2.99\n2,5.01\n3,6.99\n";

#[track_caller]
fn is_line(data: impl AsRef<[u8]>, more: &[&str], note: &str) {
    let (slope, intercept, notes) = line(data, more);
    assert_close(slope, 1.996, 1e-9);
    assert_close(intercept, 1.006, 1e-9);
    assert!(notes.contains(note) && notes.is_empty() == note.is_empty(), "{notes:?} instead of {note:?}");
}

#[test]
fn lines_above_the_table_are_skipped() {
    let preambles = [
        "Instrument: UV-1800\nDate: 2024-05-01\nSample: dye\n\n",
        "Instrument,UV-1800\nOperator,Bob\nDate,2024-05-01\n",
        "Export\n",
        "Serial 12,5,8; made 01.05.2024 12:30:00, Bob\nGain: 5\nRange: 0, 100\n\n\n",
        "\"Quoted, with comma\"\nVersion 1.2\n3 channels\n",
        "% made by MATLAB\n% 2024-05-01, 12:00\n",
        "// first\n! second\n; third\n",
        "Title\tof tabs\tand more\nA;b;c;d\n",
        "[Header]\n5\n12:30\n2024-05-01\n\n[Data]\n",
    ];
    for preamble in preambles {
        let number = preamble.lines().count() + 1;
        for heading in ["x,y\n", "Wavelength nm,Abs.\n"] {
            let text = format!("{preamble}{heading}{ROWS}");
            let note = format!("the lines above line {number}, the heading, were skipped");
            for text in [text.replace('\n', "\r\n"), text.clone()] {
                is_line(text, &[], &note);
            }
            let skip = number.to_string();
            is_line(&text, &["--header-row", &skip], "");
            is_line(&text, &["--skip", &(number - 1).to_string()], "");
        }
        is_line(
            format!("{preamble}{ROWS}"),
            &[],
            &format!("the lines above line {number}, the first row, were skipped"),
        );
    }
    for count in 1..=40 {
        let preamble: String = (0..count).map(|i| format!("Channel {i}: {i}.5, 2024-05-{i:02}\n")).collect();
        for separator in [",", ";", "\t", " "] {
            let table = format!("time,signal\n{ROWS}").replace(',', separator);
            is_line(format!("{preamble}{table}"), &[], &format!("line {}, the heading", count + 1));
        }
    }
}

#[test]
fn decimal_commas_are_read_below_other_lines() {
    let rows = ROWS.replace(',', ";").replace('.', ",");
    let text = format!("Messgerät: X, 5;3\nDatum: 01.05.2024\n\nZeit;Spannung\n[s];[mV]\n{rows}");
    is_line(&text, &["--decimal-comma"], "line 5 has the units s, mV");
    let message = fit(&text, &[]).refused();
    assert!(message.contains("line 6, column \"Spannung\"") && message.contains("decimal-comma"), "{message}");
}

/// A table whose rows have texts, and one without columns of numbers.
#[test]
fn tables_of_texts_are_found() {
    let text = "Plate 7\nReader: A, B, C\n\nwell,x,y\nA1,0,1.01\nA2,1,2.99\nA3,2,5.01\nA4,3,6.99\n";
    is_line(text, &["--x", "x", "--y", "y"], "above line 4, the heading");
    // What a condition leaves out is no unit and no line above the table.
    for row in ["bad,failed,x", "bad,0,failed", "bad,,"] {
        let text = format!("status,x,y\n{row}\nok,0,1.01\nok,1,2.99\nok,2,5.01\nok,3,6.99\n");
        is_line(text, &["--x", "x", "--y", "y", "--where", "status == ok"], "");
    }
    is_line(format!("x,y\n0,failed\n{ROWS}"), &["--where", "y != failed"], "");
}

#[test]
fn units_are_labels() {
    for units in ["s,mV", "(s),(mV)", "[s],[mV]", "s,-", "sec,something", "1/s,mol/L"] {
        for preamble in ["", "# comment\n\n"] {
            let number = preamble.lines().count() + 2;
            is_line(format!("{preamble}x,y\n{units}\n{ROWS}"), &[], &format!("line {number} has the units"));
        }
    }
    let folder = Folder::with(format!("time,signal\n[s],[mV]\n{ROWS}"));
    folder.run(&["fit", "data.csv", "--model", "linear", "--plot", "fit.svg"]).solved();
    let plot = folder.read("fit.svg");
    assert!(plot.contains("time (s)") && plot.contains("signal (mV)"));
}

#[test]
fn what_is_no_row_is_skipped() {
    is_line(ROWS.replace('\n', ",\n"), &[], "");
    is_line(format!("x;y;\n{ROWS}").replace(',', ";"), &[], "");
    is_line(format!("x,y\n{}", ROWS.replace('\n', ",,\n")), &[], "");
    is_line(format!("x,y,,\n{ROWS}"), &[], "");
    for comment in ["% pause", "// pause, and more, and more", "! pause", "; pause"] {
        is_line(ROWS.replacen('\n', &format!("\n{comment}\n"), 1), &[], "comments between the rows were skipped: 1");
    }
}

/// A row that is no row of the table is not skipped in silence.
#[test]
fn other_lines_are_refused() {
    for (text, expected) in [
        ("x,y\n1,2\n3\n4,5\n6,7\n", "line 3: 2 fields expected, 1 found; --skip or --header-row"),
        ("x,y\n1\n2,3\n4,5\n", "line 2: 2 fields expected, 1 found"),
        ("x\n1,5\n2,5\n3,7\n", "line 2: 1 fields expected, 2 found"),
        ("x,y\n1,2\n2,3\n3,4\nend of file\n", "line 5: 2 fields expected, 1 found"),
        ("Instrument: X\nDate: 2024-05-01\nSample: dye\n", "line 2"),
    ] {
        let message = fit(text, &[]).refused();
        assert!(message.contains(expected) && message.lines().count() == 1, "{text:?}: {message}");
    }
    let text = format!("x,y\n{ROWS}");
    let message = fit(&text, &["--skip", "9"]).refused();
    assert_eq!(message, "data.csv: there are no data below the lines that --skip or --header-row skips");
    for options in [&["--header-row", "0"][..], &["--skip", "-1"], &["--header-row", "1", "--skip", "1"]] {
        assert_eq!(fit(&text, options).code, 2, "{options:?}");
    }
}

#[test]
fn missing_values_have_many_codes() {
    let text = "x,y\n0,1.01\n1,2.99\n7,NA\n2,5.01\n5,#N/A\n6,-\n3,6.99\n";
    is_line(text, &["--omit-missing"], "column \"y\": missing values are written as \"#N/A\", \"-\"");
    for code in ["N/A", "null", "None", ".", "?", "n/a", "#NV", "--", "#DIV/0!"] {
        is_line(text.replace("#N/A", code), &["--omit-missing"], code);
        let message = fit(text.replace("NA", code), &[]).refused();
        let expected =
            format!("line 4, column \"y\": {code:?} is a missing value; --omit-missing leaves such rows out");
        assert!(message.contains(&expected), "{message}");
    }
    for (text, code) in [("<0.5", "<*"), ("<LOD", "<LOD"), (">100", ">*"), ("-999.00", "-999"), ("void", "void,lost")] {
        let rows = format!("x,y\n{ROWS}8,{text}\n");
        is_line(&rows, &["--omit-missing", "--missing", code], text);
        let message = fit(&rows, &["--missing", code]).refused();
        assert!(message.contains("line 6") && message.contains("is a missing value"), "{message}");
        if text.starts_with(['<', '>']) {
            let message = fit(&rows, &["--omit-missing"]).refused();
            assert!(message.contains("the limit") && message.contains("option missing"), "{message}");
        }
    }
    let run = fit(format!("x,y\n{ROWS}8,BDL\n"), &[]).refused();
    assert!(
        run.ends_with("it is below the limit of detection: the option missing \"BDL\" reads it as a missing value")
    );
}

#[test]
fn dates_and_times_are_numbers() {
    for (times, note) in [
        (["2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02"], "days since 2024-02-28"),
        (["28.2.2024", "29.2.2024", "1.3.2024", "2.3.2024"], "days since 28.2.2024"),
        (["28-Feb-24", "29-Feb-24", "01-Mar-24", "02-Mar-24"], "days since"),
        (["12:00:00", "12:00:01", "12:00:02.0", "12:00:03"], "seconds since 12:00:00"),
        (["23:59:58", "23:59:59", "00:00:00", "00:00:01"], "a day more after each of 1 midnights"),
        (
            ["2024-02-28T23:59:59.5Z", "2024-02-29T00:00:00.5Z", "2024-02-29 00:00:01.5", "2024-02-29 00:00:02.5"],
            "seconds since",
        ),
    ] {
        let rows: String = times.iter().zip(ROWS.lines()).map(|(time, row)| format!("{time}{}\n", &row[1..])).collect();
        is_line(format!("when,y\n{rows}"), &[], note);
        is_line(&rows, &[], note);
        is_line(format!("Export of 2024-01-01 12:00:00, by Bob\n\nwhen,y\n{rows}"), &[], note);
        let semicolons = rows.replace(',', ";").replace(".0", ",0").replace(".99", ",99");
        is_line(format!("when;y\n{semicolons}"), &["--decimal-comma"], note);
    }
    let american = "when,y\n2/28/2024,1.01\n2/29/2024,2.99\n3/1/2024,5.01\n3/2/2024,6.99\n";
    is_line(american, &["--date-order", "mdy"], "days since 2/28/2024");
    let message = fit(american, &[]).refused();
    assert!(message.ends_with("it is a date if the option date-order says where day and month are"), "{message}");
    let message = fit(american, &["--date-order", "dmy"]).refused();
    assert!(message.contains("line 2, column \"when\": \"2/28/2024\""), "{message}");
    // A column that begins with a date has nothing else.
    for (row, line) in [("later,3\n", 5), ("5,3\n", 5)] {
        let text = format!("when,y\n2024-02-28,1\n2024-02-29,2\n2024-03-01,3\n{row}");
        assert!(fit(text, &[]).refused().contains(&format!("line {line}, column \"when\"")));
    }
    let groups = Folder::with(
        "day,x,y\n2024-01-01,0,1\n2024-01-01,1,3\n2024-01-01,2,5.1\n2024-01-02,0,1\n2024-01-02,1,2\n2024-01-02,2,3.1\n",
    );
    let run =
        groups.run(&["fit", "data.csv", "--x", "x", "--y", "y", "--model", "linear", "--group-by", "day", "--json"]);
    assert_eq!(run.json()["groups"][1]["group"], "2024-01-02");
}

#[test]
fn numbers_have_many_forms() {
    let percent = ROWS.replace("1.01", "101%").replace("2.99", "299 %").replace("5.01", "501%").replace("6.99", "699%");
    is_line(format!("x,y\n{percent}"), &[], "percentages are fractions: \"101%\" is read as a hundredth");
    is_line(ROWS.replace("5.01", "501.D-02").replace("6.99", "+0.699d1"), &[], "");
    let (slope, ..) = line("x,y\n−1,−2\n0,0\n–1,−2\n2,4\n", &[]);
    assert_close(slope, 2.0, 1e-9);
    let thousands = "x;y\n0;1,010\n1;2,990\n2;5,010\n3;6,990\n";
    for (separator, name) in [(',', ","), ('.', "."), ('\'', "'"), ('\u{202f}', " ")] {
        let text = thousands.replace(',', &separator.to_string());
        let more = if separator == '.' { &["--decimal-comma"][..] } else { &[] };
        let (slope, ..) = line(&text, &[&["--thousands", name], more].concat());
        assert_close(slope, 1996.0, 1e-9);
        let message = fit(&text, more).refused();
        assert!(message.contains("line 2, column \"y\"") && message.contains("option thousands"), "{message}");
    }
}

#[test]
fn texts_have_many_encodings() {
    let text = format!("Messgerät\nx,µM\n{ROWS}");
    let units: Vec<u16> = format!("\u{feff}{text}").encode_utf16().collect();
    let windows: Vec<u8> = text.chars().map(|c| c as u8).collect();
    for (bytes, note) in [
        (units.iter().flat_map(|unit| unit.to_le_bytes()).collect::<Vec<u8>>(), "above line 2"),
        (units.iter().flat_map(|unit| unit.to_be_bytes()).collect(), "above line 2"),
        (windows, "line 1, which is no UTF-8, is read as Windows-1252"),
        (format!("\u{feff}{text}").into_bytes(), "above line 2"),
    ] {
        is_line(&bytes, &["--y", "µM"], note);
    }
    let long: String = (0..20_000).map(|i| format!("{i},{},spare µ\n", 2 * i + i % 2)).collect();
    let bytes: Vec<u8> = format!("\u{feff}x,y,z\n{long}").encode_utf16().flat_map(|unit| unit.to_le_bytes()).collect();
    let (slope, ..) = line(bytes, &["--y", "y"]);
    assert_close(slope, 2.0, 1e-6);
}

#[test]
#[cfg(feature = "excel")]
fn spreadsheets_are_read() {
    let book = include_bytes!("files/book.xlsx");
    is_line(book, &["--y", "µM"], "the lines above line 4, the heading, were skipped; line 5 has the units s, mV\n");
    is_line(book, &[], "the sheet \"raw\" is read, of \"raw\", \"run1\"; --sheet names one");
    is_line(book, &["--x", "day", "--y", "µM", "--sheet", "raw"], "days since 2024-02-28");
    let (slope, ..) = line(book, &["--sheet", "run1", "--omit-missing"]);
    assert_close(slope, 1.0, 0.01);
    let message = fit(book, &["--sheet", "run1"]).refused();
    assert!(message.contains("line 4, column \"y\": \"n.a.\" is a missing value"), "{message}");
    let message = fit(book, &["--sheet", "run2"]).refused();
    assert_eq!(message, "data.csv: --sheet: there is no sheet \"run2\", only \"raw\", \"run1\"");
    is_line(include_bytes!("files/book.ods"), &[], "days since 2024-02-26");
    assert!(fit(&book[..book.len() / 2], &[]).refused().starts_with("data.csv: "));
}

#[test]
fn records_and_arrays_are_read() {
    let record = |(i, row): (usize, &str)| format!("{{\"time\": {i}, \"a\": {}}}", &row[2..]);
    let records = ROWS.lines().enumerate().map(record).collect::<Vec<_>>().join(",\n");
    is_line(format!("[{records}]"), &[], "");
    is_line(format!(" [\n{records},\n{{\"a\": null, \"time\": 7}}]"), &["--omit-missing", "--decimal-comma"], "");
    is_line("{\"time\": [0, 1, 2, 3], \"a\": [1.01, 2.99, 5.01, 6.99]}", &[], "");
    for text in [format!("[{records}"), "[{}]".to_owned(), "{\"x\": 1}".to_owned(), "[{\"x\": [1]}, 2]".to_owned()] {
        assert!(fit(&text, &[]).refused().starts_with("data.csv"), "{text}");
    }
    for archive in [&include_bytes!("files/columns.npz")[..], include_bytes!("files/compressed.npz")] {
        is_line(archive, &["--y", "signal"], "");
        for length in [40, archive.len() / 2, archive.len() - 30] {
            assert!(fit(&archive[..length], &[]).refused().starts_with("data.csv: "));
        }
    }
    let y = [1.01, 2.99, 5.01, 6.99];
    let array = Array2::from_shape_fn((4, 2), |(i, j)| if j == 0 { i as f64 } else { y[i] });
    is_line(npy::to_bytes(&array), &["--y", "c2"], "");
    let message = fit(npy::to_bytes(&Array3::<f64>::zeros((2, 2, 2))), &[]).refused();
    assert!(message.contains("it has 3 axes"), "{message}");
    assert!(fit(npy::to_bytes(&Array1::<f64>::zeros(4)), &[]).refused().contains("no column"));
    let message = fit(ROWS, &["--sheet", "a"]).refused();
    assert_eq!(message, "data.csv: --sheet is given, but it is no spreadsheet");
}

#[test]
fn several_files_are_fitted() {
    let folder = Folder::new();
    for (name, factor) in [("run1.csv", 1.0), ("run2.csv", 2.0), ("run10.csv", 3.0)] {
        let row = |i: u32| format!("{i},{}\n", factor * f64::from(i) + 0.01 * f64::from(i % 2));
        folder.write(name, "x,y\n".to_owned() + &(0..8).map(row).collect::<String>());
    }
    let fit = |more: &[&str]| folder.run(&[&["fit", "--model", "linear"], more].concat());
    let report = fit(&["--batch", "run*.csv", "--json"]).json();
    let slope = |index: usize| value(&report["groups"][index], "slope");
    assert_eq!(report["groups"][1]["group"], "run10.csv");
    assert!((slope(0) - 1.0).abs() < 0.01 && (slope(1) - 3.0).abs() < 0.01 && (slope(2) - 2.0).abs() < 0.01);
    let shared = fit(&["--batch", "run1.csv", "run2.csv", "--share", "intercept", "--json"]).json();
    assert_eq!(shared["groups"].as_array().unwrap().len(), 2);
    // What cannot be read or fitted is listed; the others are fitted.
    folder.write("run3.csv", "x,y\n1,2\n2,bad\n");
    folder.write("run4.csv", "x,y\n1,2\n");
    let run = fit(&["--batch", "run*.csv", "absent.csv", "--csv"]);
    assert_eq!((run.code, run.out.lines().count()), (2, 7), "{run:?}");
    for expected in ["run3.csv, line 3, column \"y\": \"bad\"", "run4.csv", "absent.csv"] {
        assert!(run.errors.lines().any(|line| line.starts_with("error: ") && line.contains(expected)), "{run:?}");
    }
    assert!(fit(&["--batch", "none*.csv"]).refused().contains("no file has such a name"));
    assert!(fit(&["--batch", "absent.csv"]).refused().contains("absent.csv"));
    assert!(fit(&["--batch", "run1.csv", "--csv=run1.csv"]).refused().contains("would be replaced"));
    assert_eq!(fit(&["data.csv", "--batch", "run1.csv"]).code, 2);
}

#[test]
fn columns_of_replicates_are_one_response() {
    let wide = "x,rep1,rep2,other\n0,1,1.2,5\n1,3.1,2.9,5\n2,5,NA,5\n3,7,7.1,5\n";
    let long = "x,y\n0,1\n1,3.1\n2,5\n3,7\n0,1.2\n1,2.9\n3,7.1\n";
    let (slope, intercept, notes) = line(wide, &["--y", "rep*", "--omit-missing"]);
    let (expected, expected_intercept, _) = line(long, &[]);
    assert_close(slope, expected, 1e-9);
    assert_close(intercept, expected_intercept, 1e-9);
    assert_eq!(notes, "");
    let report = fit(wide, &["--y", "rep*", "--omit-missing", "--sigma", "0.1*y+0.1"]).json();
    assert_eq!((&report["data"]["observations"], &report["data"]["omitted"]), (&7.into(), &1.into()));
    assert!(fit(wide, &["--y", "rep*"]).refused().contains("line 4, column \"rep2\": \"NA\" is a missing value"));
    let message = fit(wide, &["--y", "run*"]).refused();
    assert_eq!(message, "--y: no column is like \"run*\"; there are \"x\", \"rep1\", \"rep2\", \"other\"");
    let rows: String = (0..6000).map(|i| format!("{i},spare,{i},{}\n", i + 2)).collect();
    let (slope, intercept, _) = line(format!("x,name,rep1,rep2\n{rows}"), &["--y", "rep*"]);
    assert_close(slope, 1.0, 1e-9);
    assert_close(intercept, 1.0, 1e-6);
}

/// A spectrum of an instrument, with the parameters of the table alone.
#[test]
fn a_spectrum_below_lines_of_the_instrument_is_fitted() {
    let table = "Wavelength nm,Abs.\n400,0.1\n410,0.3\n420,0.7\n430,0.3\n440,0.1\n";
    let report = |data: String| Folder::with(data).run(&["fit", "data.csv", "--model", "gaussian", "--json"]).json();
    let whole = report(format!("Instrument: UV-1800\nDate: 2024-05-01\nSample: dye\n\n{table}"));
    assert_close(value(&whole, "amplitude"), 14.12, 1e-3);
    for name in ["amplitude", "center", "sigma"] {
        assert_close(value(&whole, name), value(&report(table.to_owned()), name), 1e-12);
    }
}

/// A word and numbers above texts are a heading of predictors; other headings of numbers look like a row.
#[test]
fn headings_may_be_predictors() {
    let hill = |x: f64, k: f64| 100.0 * x / (x + k) + (5.0 * x + k).sin();
    let doses = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0];
    let row = |(well, k): (&str, f64)| well.to_owned() + &doses.map(|x| format!(",{}", hill(x, k))).concat() + "\n";
    let rows = [("A1", 1.0), ("A2", 4.0)].map(row).concat();
    let formula = ["fit", "data.csv", "--formula", "top*x/(x+k)", "--start", "top=90"];
    for (heading, more) in [("well,0.1,0.3,1,3,10,30\n", &[][..]), (",0.1,0.3,1,3,10,30\n", &["--x-from-heading"])] {
        let folder = Folder::with(heading.to_owned() + &rows);
        let run = folder.run(&[&formula[..], more, &["--json"]].concat());
        assert!(run.errors.contains("the headings from 0.1 to 30 are predictors \"x\""), "{}", run.errors);
        let report = run.json();
        assert_eq!(report["groups"][1]["group"], "A2");
        assert_close(value(&report["groups"][0], "k"), 1.0, 0.1);
        assert_close(value(&report["groups"][1], "k"), 4.0, 0.1);
    }
    let folder = Folder::with("well,0.1,0.3,1,3,10,30\n".to_owned() + &rows);
    let more = ["--group-by", "well", "--share", "top", "--let", "lx=log10(x)", "--where", "x > 0.2"];
    let report = folder.run(&[&formula[..], &more, &["--json"]].concat()).json();
    assert_eq!(report["global"]["data"]["observations"], 10);
    // Errors name the line of the file.
    let broken = Folder::with("well,0.1,0.3,1\nA1,1,2,3\nA2,2,failed,4\n");
    let message = broken.run(&["fit", "data.csv", "--model", "linear"]).refused();
    assert!(message.contains("line 3") && message.contains("\"failed\" is not a number"), "{message}");
    let folder = Folder::with("Plate 7\nread,2024-05-01\n\nwell,0.1,0.3,1,3\nA1,5,12,34,68\nA2,3,9,22,51\n");
    let run = folder.run(&["fit", "data.csv", "--model", "linear"]);
    assert!(run.errors.contains("the lines above line 4") && run.solved().contains("A2       4"));
    let folder = Folder::with("well;0,1;0,3;1;3\nA1;5,1;12;34;68\nA2;3;9;22;51\n");
    let message = folder.run(&["fit", "data.csv", "--model", "linear"]).refused();
    assert!(message.ends_with("\"well\" is not a number; --decimal-comma reads the numbers beside it"), "{message}");
    folder.run(&["fit", "data.csv", "--model", "linear", "--decimal-comma"]).solved();
    // Not sorted, it is plain no more.
    let folder = Folder::with("well,0.1,3,1,0.3\nA1,1,2,3,4\nA2,2,3,4,5\nA3,3,4,5,6\n");
    let message = folder.run(&["fit", "data.csv", "--model", "linear"]).refused();
    assert!(message.ends_with("\"well\" is not a number; --header-row 1 takes this line for the heading, --x-from-heading its numbers for predictors"), "{message}");
    assert_eq!(folder.run(&["fit", "data.csv", "--model", "linear", "--x-from-heading"]).code, 0);
    let fit = ["fit", "data.csv", "--model", "linear", "--x", "0.1", "--y", "3", "--header-row", "1"];
    folder.run(&fit).solved();
    let message = fit_of_words(&["--x-from-heading"]);
    assert_eq!(message, "data.csv: no heading is a number");
}

fn fit_of_words(more: &[&str]) -> String {
    fit(format!("x,y\n{ROWS}"), more).refused()
}

/// Times count from the first one, or from `--since`, in its unit.
#[test]
fn times_count_from_an_origin() {
    let text = "day,y\n2024-02-28,1.01\n2024-02-29,2.99\n2024-03-01,5.01\n2024-03-02,6.99\n";
    is_line(text, &["--since", "2024-02-28"], "days since 2024-02-28");
    let (slope, intercept, _) = line(text, &["--since", "2024-02-26"]);
    assert_close(slope, 1.996, 1e-9);
    assert_close(intercept, 1.006 - 2.0 * 1.996, 1e-9);
    let (slope, intercept, notes) = line(text, &["--since", "2024-02-27T12:00"]);
    assert_close(86_400.0 * slope, 1.996, 1e-9);
    assert_close(intercept, 1.006 - 0.5 * 1.996, 1e-9);
    assert!(notes.contains("seconds since 2024-02-27T12:00"), "{notes}");
    for (since, problem) in [
        ("yesterday", "column \"day\", times since \"yesterday\": it is no origin of times, such as 2024-05-01"),
        ("12:30", "the column has no times of day without a date"),
    ] {
        let message = fit(text, &["--since", since]).refused();
        assert!(message.contains(problem), "{message}");
    }
    let message = fit(format!("x,y\n{ROWS}"), &["--since", "2024-01-01"]).refused();
    assert_eq!(message, "--since \"2024-01-01\": data.csv has no column of dates or times");
}
