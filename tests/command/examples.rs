//! The commands that help texts and documents show: all of them run.

use std::process::Command;

use marquardt::npy;
use ndarray::{Array1, Array2, Array3};

use super::command::{Folder, run};
use super::documents::{self, Document};

/// Rows of a table with a heading.
fn csv(heading: &str, count: i32, row: impl Fn(f64, f64) -> Vec<f64>) -> String {
    let noise = |i: i32| (f64::from(i) * 0.618).fract() - 0.5;
    let numbers = |i: i32| row(f64::from(i), noise(i)).iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    (0..count).fold(heading.to_owned(), |text, i| text + "\n" + &numbers(i)) + "\n"
}

/// A folder with all the files that the commands name.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("enzyme.csv", documents::read("examples/data/enzyme.csv"));
    folder.write("map.g2o", documents::read("examples/data/tiny_grid.g2o"));
    folder.write("problem.txt", documents::read("examples/data/cameras.txt"));
    for name in ["density.csv", "cap.csv", "plate.csv", "spectrum.csv", "line.csv"] {
        folder.write(name, documents::read(&format!("tests/command/gnuplot/{name}")));
    }
    let saturation = |x: f64, noise: f64| vec![x + 1.0, 5.0 * (x + 1.0) / (x + 4.0) + 0.1 * noise];
    folder.write("data.csv", csv("x,y", 12, saturation));
    folder.write("small.csv", csv("x,y", 12, |x, noise| vec![x, 2.0 * x + noise]));
    folder.write("d.csv", csv("x,y", 30, |x, noise| vec![0.1 * x, 2.0 * (-0.1 * x).exp() + 0.5 + 0.1 * noise]));
    folder.write(
        "decay.csv",
        csv("t,counts", 40, |t, noise| vec![t, (90.0 * (-0.2 * t).exp() + 9.0 + 4.0 * noise).round()]),
    );
    folder.write(
        "sums.csv",
        csv("t,y", 40, |t, noise| vec![0.5 * t, 0.7 * (-0.5 * t).exp() + 0.3 * (-0.05 * t).exp() + 0.01 * noise]),
    );
    folder.write("means.csv", csv("x,mean,sem,n", 8, |x, noise| vec![x, 2.0 * x + noise, 0.3, 4.0]));
    let impedance = |x: f64, noise: f64| {
        let (w, c) = (10.0_f64.powf(0.2 * x), 2e-6);
        let damped = 1.0 + (w * 250.0 * c).powi(2);
        let (re, im) = (12.0 + 250.0 / damped + 0.1 * noise, -250.0 * w * 250.0 * c / damped + 0.1 * noise);
        vec![w, re, im, re.hypot(im)]
    };
    folder.write("impedance.csv", csv("omega,re,im,modulus", 31, impedance));
    let oral = |t: f64, noise: f64| {
        let t = t + 0.5;
        vec![t, 100.0 * 1.2 / (20.0 * 0.95) * ((-0.25 * t).exp() - (-1.2 * t).exp()) + 0.01 * noise]
    };
    folder.write("drug.csv", csv("hours,conc", 12, oral));
    let peak = |x: f64| (-0.5 * ((x - 20.0) / 4.0_f64).powi(2)).exp();
    folder.write("peak.csv", csv("x,y", 60, |x, noise| vec![x, 10.0 * peak(x) + 0.1 * x + 0.2 * noise]));
    folder.write("wave.csv", csv("x,y", 60, |x, noise| vec![0.1 * x, 1.5 * (0.2 * x).sin() + 0.1 * noise]));
    let plate = csv("conc,signal,plate", 60, |x, noise| vec![x, 10.0 * peak(x) + 0.2 * noise, 1.0]);
    folder.write("big.csv", plate.replace(",1\n", ",A\n"));
    assert!(Command::new("gzip").arg(folder.path("big.csv")).status().unwrap().success());
    let measurement = |x: f64, noise: f64| vec![x, 0.0, 2.5 * x + 1.5 + noise];
    folder.write("messung.txt", csv("", 20, measurement).trim_start().replace(',', ";").replace('.', ","));
    let spectrum = csv("Wavelength nm,Abs.", 40, |x, noise| vec![x, 10.0 * peak(x) + 0.2 * noise]);
    folder.write("uv.txt", "Instrument: UV-1800\nDate: 2024-05-01\nSample: dye\n\n".to_owned() + &spectrum);
    let rent = |i: i32| format!("{:02}/{:02}/2024;\"1,{:03}.50\"\n", i % 28 + 1, i / 28 + 1, 100 + i * i % 7 + i);
    folder.write("rent.csv", "day;rent\n".to_owned() + &(0..60).map(rent).collect::<String>());
    let hill = |x: f64, shift: f64| 9.0 * (x + 1.0).powi(2) / (9.0 + (x + 1.0).powi(2)) + shift;
    folder.write(
        "wide.csv",
        csv("dose,rep1,rep2", 9, |x, noise| vec![x + 1.0, hill(x, 0.1 * noise), hill(x, 0.05 - 0.1 * noise)]),
    );
    for (name, slope) in [("run1.csv", 2.0), ("run2.csv", 3.0)] {
        folder.write(name, csv("x,y", 12, |x, noise| vec![x, slope * x + noise]));
    }
    folder.write("book.xlsx", include_bytes!("files/book.xlsx"));
    let day = |i: i32| format!("2024-05-{:02},{}\n", 2 * i + 1, 10.0 + 0.8 * f64::from(i) + 0.1 * f64::from(i * i % 3));
    folder.write("growth.csv", "day,height\n".to_owned() + &(0..12).map(day).collect::<String>());
    folder.write("later.csv", "time\n2024-05-02\n2024-05-03\n");
    let rate = |s: f64, i: f64| 12.0 * s / (2.0 * (1.0 + i / 1.5) + s);
    let row = |n: i32| {
        let (s, i) = ([0.5, 1.0, 2.0, 5.0, 10.0][n as usize % 5], f64::from(n / 5));
        format!("{s},{i},{}\n", rate(s, i) + 0.05 * (f64::from(n) * 1.7).sin())
    };
    folder.write("inhibition.csv", "substrate,inhibitor,rate\n".to_owned() + &(0..20).map(row).collect::<String>());
    let well = |name: &str, k: f64| {
        let response = |x: f64| 9.0 * x * x / (k + x * x) + 0.1 * (7.0 * x + k).sin();
        name.to_owned() + &[0.3, 1.0, 3.0, 10.0, 30.0, 100.0].map(|x| format!(",{}", response(x))).concat() + "\n"
    };
    folder.write("wells.csv", "well,0.3,1,3,10,30,100\n".to_owned() + &well("A1", 4.0) + &well("A2", 25.0));
    folder.write("new.csv", csv("x,dose", 5, |x, _| vec![x + 0.5, x + 0.5]));
    folder.write("times.csv", csv("t", 20, |t, _| vec![t]));
    let decay = |shift: usize, t: usize| 2.0 * (-0.3 * t as f64).exp() + 1.0 + 0.01 * ((shift + 3 * t) as f64).sin();
    npy::write(folder.path("stack.npy"), &Array3::from_shape_fn((2, 3, 20), |(i, j, t)| decay(i + 7 * j, t))).unwrap();
    npy::write(folder.path("photons.npy"), &Array2::from_shape_fn((4, 20), |(i, t)| (100.0 * decay(i, t)).round()))
        .unwrap();
    npy::write(folder.path("big.npy"), &Array1::from_shape_fn(20, |t| decay(0, t)).insert_axis(ndarray::Axis(0)))
        .unwrap();
    let groups = ["fit", "plate.csv", "--x", "dose", "--y", "response", "--model", "hill", "--group-by", "compound"];
    folder.run(&[&groups[..], &["--json=groups.json"]].concat()).solved();
    folder
}

/// Runs lines as a shell does, and lists those that fail.
fn failures(folder: &Folder, lines: impl IntoIterator<Item = String>) -> Vec<String> {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_marquardt"));
    let others = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{others}", program.parent().unwrap().display());
    let failure = |line: String| {
        let output =
            Command::new("sh").args(["-c", &line]).env("PATH", &path).current_dir(folder.path(".")).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_readable = cfg!(feature = "excel") || !line.contains(".xlsx");
        (is_readable && !output.status.success()).then(|| format!("{line}\n  {:?}: {errors}", output.status.code()))
    };
    lines.into_iter().filter_map(failure).collect()
}

/// Commands among the lines of a text: a backslash continues one, and what stands behind two spaces explains it. An ellipsis stands for
/// what is left out; such a command is none.
fn commands(text: &str) -> Vec<String> {
    let joined = text.lines().fold(String::new(), |text, line| match line.trim_end().strip_suffix('\\') {
        Some(begun) => text + begun.trim_start(),
        None => text + line.trim_start() + "\n",
    });
    let is_command =
        |line: &&str| ["marquardt ", "zcat "].iter().any(|begin| line.starts_with(begin)) && !line.contains('…');
    joined.lines().filter(is_command).map(|line| line.split("  ").next().unwrap_or(line).to_owned()).collect()
}

#[test]
fn examples_of_the_help_run() {
    let folder = folder();
    let mut count = 0;
    for subcommand in ["", "fit", "compare", "many", "predict", "graph", "bundle", "models", "completions", "man"] {
        let help: Vec<&str> = [subcommand, "--help"].into_iter().filter(|argument| !argument.is_empty()).collect();
        let help = run(&help).solved();
        // Of a description, whose lines end anywhere: up to the file that is written.
        let written = |rest: &str| {
            let (command, file) = rest.split_once('>').expect("it writes a file");
            let file = file.split_whitespace().next().expect("it has a name").trim_end_matches(',');
            format!("{} > {file}", command.split_whitespace().collect::<Vec<_>>().join(" "))
        };
        let inline = help.split("for example: ").skip(1).map(written);
        let examples: Vec<String> = commands(&help).into_iter().chain(inline).collect();
        count += examples.len();
        assert_eq!(failures(&folder, examples), [""; 0]);
    }
    assert!(count >= 30, "{count} examples");
}

#[test]
fn commands_of_documents_run() {
    let mut count = 0;
    for Document { name, text } in documents::all().filter(|document| document.name != "CHANGELOG.md") {
        let folder = folder();
        // In a sentence, a command with no more than a subcommand is a name.
        let is_whole = |code: &&str| code.starts_with("marquardt ") && code.split_whitespace().count() > 2;
        let prose = documents::prose(&text).collect::<Vec<_>>().join(" ");
        let inline = prose.split('`').skip(1).step_by(2).filter(is_whole).map(str::to_owned);
        let shown: Vec<String> = documents::code(&text).flat_map(|block| commands(&block)).chain(inline).collect();
        count += shown.len();
        assert_eq!(failures(&folder, shown), [""; 0], "{name}");
    }
    assert!(count >= 20, "{count} commands");
}
