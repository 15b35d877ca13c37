//! `marquardt predict`: from a stored fit.

use marquardt::CurveFit;
use marquardt::models::MichaelisMenten;

use super::command::{Folder, assert_close, run};

/// Values and bands are those of the fit that was stored.
#[test]
fn a_stored_fit_predicts() {
    let folder = Folder::new();
    folder.run(&["fit", "--json=fit.json"]).solved();
    let rows = folder.run(&["predict", "fit.json", "--at", "0.5,3", "--json"]).json();
    let data: Vec<[f64; 2]> = include_str!("../../examples/data/enzyme.csv")
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
        .map(|line| line.split_once(',').map(|(x, y)| [x.parse().unwrap(), y.parse().unwrap()]).unwrap())
        .collect();
    let (x, y): (Vec<f64>, Vec<f64>) = data.iter().map(|&[x, y]| (x, y)).unzip();
    let fit = CurveFit::guessed(MichaelisMenten, &x, &y).fit().unwrap();
    let at = [0.5, 3.0];
    let (values, confidence) = (fit.predict(&at).unwrap(), fit.confidence_band(&at, 0.95).unwrap());
    let prediction = fit.prediction_band(&at, 0.95).unwrap();
    for (index, row) in rows.as_array().unwrap().iter().enumerate() {
        let number = |name: &str| row[name].as_f64().unwrap();
        assert_eq!(number("conc"), at[index]);
        assert_close(number("rate"), values[index], 1e-14);
        assert_close(number("low"), confidence[index].low, 1e-14);
        assert_close(number("high"), confidence[index].high, 1e-14);
        assert_close(number("prediction_low"), prediction[index].low, 1e-14);
        assert_close(number("prediction_high"), prediction[index].high, 1e-14);
    }
}

#[test]
fn predictors_come_from_files_and_fits_from_groups() {
    let folder =
        Folder::with("g,u,v,y\nA,1,2,5.1\nA,2,1,4\nA,3,3,9.1\nA,4,1,6\nB,1,1,0.1\nB,2,5,3\nB,3,2,-1.1\nB,7,3,-4\n");
    let formula = ["fit", "data.csv", "--formula", "p*u + q*v", "--y", "y"];
    folder.run(&[&formula[..], &["--group-by", "g", "--json=fit.json"]].concat()).solved();
    folder.write("new.csv", "v,u\n1,0\n0,1\n");
    let csv = folder.run(&["predict", "fit.json", "new.csv", "--group", "A", "--csv"]).solved();
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    assert_eq!(lines.next().unwrap()[..3], ["u", "v", "y"]);
    let [q, p] = [lines.next().unwrap(), lines.next().unwrap()].map(|line| line[2].parse::<f64>().unwrap());
    assert_close(p, 1.0, 0.1);
    assert_close(q, 2.0, 0.1);
    assert_eq!(
        folder.run(&["predict", "fit.json", "new.csv"]).refused(),
        "fit.json: --group is needed; the groups are \"A\", \"B\""
    );
    let message = folder.run(&["predict", "fit.json", "new.csv", "--group", "C"]).refused();
    assert_eq!(message, "fit.json: there is no group \"C\"; the groups are \"A\", \"B\"");
    let message = folder.run(&["predict", "fit.json", "--group", "A", "--at", "1"]).refused();
    assert_eq!(message, "--at gives one predictor, but the fit has 2");
}

/// Predictions count times from the origin of the fit.
#[test]
fn dates_count_from_the_origin_of_the_fit() {
    let rows = "2024-03-01,1.1\n2024-03-02,2.9\n2024-03-04,7.1\n2024-03-08,14.9\n";
    let folder = Folder::with(format!("day,y\n{rows}"));
    let fit = ["fit", "data.csv", "--model", "linear", "--json=fit.json"];
    folder.run(&fit).solved();
    folder.write("new.csv", "day\n2024-03-11\n2024-03-21\n");
    folder.write("times.csv", "when\n2024-03-11T00:00:00\n2024-03-21 00:00\n");
    folder.write("numbers.csv", "day\n10\n20\n");
    let predict = |more: &[&str]| folder.run(&[&["predict", "fit.json"], more, &["--csv"]].concat()).solved();
    let expected = predict(&["numbers.csv"]);
    assert_eq!(predict(&["new.csv"]), expected);
    assert_eq!(predict(&["times.csv", "--x", "when"]), expected);
    assert_eq!(predict(&["--at", "10,20"]), expected);
    // Columns that are computed from times, too.
    let weeks = ["--let", "week=day/7", "--x", "week"];
    folder.run(&[&fit[..], &weeks, &["--y", "y"]].concat()).solved();
    let value = |csv: &str| csv.lines().nth(1).unwrap().split(',').nth(1).unwrap().parse::<f64>().unwrap();
    assert_close(value(&predict(&[&["new.csv"], &weeks[..]].concat())), value(&expected), 1e-12);
    // A fit of numbers knows of no origin.
    folder.write("data.csv", "day,y\n0,1.1\n1,2.9\n3,7.1\n7,14.9\n");
    folder.run(&fit).solved();
    let message = folder.run(&["predict", "fit.json", "new.csv"]).refused();
    let start = "column \"day\" has times, but \"day\" of the fit were numbers; --since says where they count from";
    assert!(message.starts_with(start) && message.ends_with("(the first one is 2024-03-11)"), "{message}");
    assert_close(value(&predict(&["new.csv", "--since", "2024-03-01"])), value(&expected), 1e-12);
}

#[test]
fn predictors_are_needed_and_finite() {
    let folder = Folder::with("conc\n1\nNA\n2\n");
    folder.run(&["fit", "--json=fit.json"]).solved();
    assert_eq!(folder.run(&["predict", "fit.json"]).refused(), "a file of predictors, or --at, is needed");
    assert!(folder.run(&["predict", "fit.json", "--at", "1,nan"]).refused().starts_with("--at is NaN"));
    let message = folder.run(&["predict", "fit.json", "data.csv"]).refused();
    assert!(message.starts_with("data.csv, line 3, column \"conc\": \"NA\" is a missing value"), "{message}");
    let markdown = folder.run(&["predict", "fit.json", "data.csv", "--omit-missing", "--markdown"]).solved();
    assert!(markdown.starts_with("| conc | rate |") && markdown.lines().count() == 4, "{markdown}");
    let message = folder.run(&["predict", "fit.json", "data.csv", "--x", "conc,conc"]).refused();
    assert_eq!(message, "--x names 2 of the predictors, which are \"conc\"");
    assert_eq!(folder.run(&["predict", "fit.json", "data.csv", "--at", "1"]).code, 2);
}

#[test]
fn what_is_no_fit_is_refused() {
    let folder = Folder::new();
    folder.write("fit.json", "{}");
    let message = folder.run(&["predict", "fit.json", "--at", "1"]).refused();
    assert_eq!(message, "fit.json: it is no fit that `marquardt fit --json` wrote");
    folder.write("fit.json", "{\"fit\": ");
    assert!(folder.run(&["predict", "fit.json", "--at", "1"]).refused().starts_with("fit.json: "));
    assert!(run(&["predict", "absent.json", "--at", "1"]).refused().starts_with("absent.json: "));
    folder.run(&["fit", "--json=fit.json"]).solved();
    let broken = folder.read("fit.json").replace("michaelis_menten", "hill");
    folder.write("fit.json", broken);
    let message = folder.run(&["predict", "fit.json", "--at", "1"]).refused();
    assert_eq!(message, "fit.json: the model \"hill\" has 3 parameters, but the fit has 2");
}

/// A zone may lead to a time of day before midnight.
#[test]
fn times_of_day_with_a_zone_have_an_origin() {
    let rows: String = (0..8).map(|i| format!("{i:02}:30+02:00,{}\n", 2 * i + i % 2)).collect();
    let folder = Folder::with("t,y\n".to_owned() + &rows);
    folder.run(&["fit", "data.csv", "--model", "linear", "--json=fit.json"]).solved();
    let predicted = folder.run(&["predict", "fit.json", "data.csv", "--csv"]).solved();
    let first: Vec<_> = predicted.lines().skip(1).take(2).filter_map(|row| row.split(',').next()).collect();
    assert_eq!(first, ["0", "3600"], "{predicted}");
}
