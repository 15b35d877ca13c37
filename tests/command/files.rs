//! Files of instruments and spreadsheets: what is skipped, converted and said.

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
    is_line(&text, &["--decimal-comma"], "line 5 has the units [s], [mV]");
    let message = fit(&text, &[]).errors;
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
        ("Instrument: X\nDate: 2024-05-01\nSample: dye\n", "data.csv"),
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
