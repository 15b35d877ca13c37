//! `marquardt fit`: the curve and what is known of its parameters.

use super::command::{Folder, assert_close, decay, field, run, value};

const FORMULA: &str = "a*exp(-k*t)+c";

#[test]
fn without_arguments_the_data_of_the_program_are_fitted() {
    let text = run(&["fit"]).solved();
    assert!(text.starts_with("enzyme.csv: michaelis_menten\nrate = vmax x / (km + x)\n"), "{text}");
    assert!(text.contains("vmax                8.327 ± 0.115"), "{text}");
}

#[test]
fn a_formula_over_columns_is_the_model() {
    let by_formula = run(&["fit", "--formula", "vmax*conc/(km+conc)", "--start", "vmax=5,km=1", "--json"]).json();
    let by_x = run(&["fit", "--formula", "vmax*x/(km+x)", "--x", "conc", "--start", "vmax=5,km=1", "--json"]).json();
    let by_model = run(&["fit", "--model", "michaelis_menten", "--json"]).json();
    for name in ["vmax", "km"] {
        assert_close(value(&by_formula, name), value(&by_model, name), 1e-8);
        assert_eq!(value(&by_formula, name), value(&by_x, name));
        assert_close(field(&by_formula, name, "standard_error"), field(&by_model, name, "standard_error"), 1e-6);
    }
}

#[test]
fn a_bad_end_is_left_unless_it_is_to_be_kept() {
    let rows = "conc,rate\n0.02,76\n0.02,47\n0.06,97\n0.06,107\n0.11,123\n0.11,139\n0.22,159\n0.22,152\n0.56,191\n\
        0.56,201\n1.1,207\n1.1,200\n";
    let folder = Folder::with(rows);
    let fit = |more: &[&str]| {
        let start = ["--start", "vmax=1,km=1"];
        folder.run(&[&["fit", "data.csv", "--formula", "vmax*conc/(km+conc)", "--json"], &start[..], more].concat())
    };
    let (kept, first) = (fit(&[]).json(), fit(&["--no-retry"]));
    assert_eq!(first.code, 3, "{first:?}");
    let first: serde_json::Value = serde_json::from_str(&first.out).unwrap();
    assert_close(value(&kept, "km"), 0.064_121_1, 1e-5);
    assert!(value(&first, "km") < 0.0 || value(&first, "km") > 1.0);
    assert!(kept["attempts"].as_u64() > Some(1) && kept["kept_attempt"].is_string(), "{kept}");
    assert!(first["attempts"] == 1 && first["kept_attempt"].is_null(), "{first}");
}

#[test]
fn parameters_are_started_bounded_fixed_and_tied() {
    let folder = Folder::with(decay());
    let fit = |more: &[&str]| {
        folder.run(&[&["fit", "data.csv", "--y", "y", "--formula", FORMULA, "--json"], more].concat()).json()
    };
    let free = fit(&["--start", "a=2,k=0.3"]);
    assert_close(value(&free, "a"), 3.0, 0.01);
    assert_close(value(&free, "k"), 0.5, 0.01);
    let bounded = fit(&["--start", "a=2,k=0.3", "--bounds", "k=..0.4,a=0.."]);
    assert_eq!(value(&bounded, "k"), 0.4);
    let fixed = fit(&["--start", "a=2,k=0.3", "--fix", "c=1,k=0.5"]);
    assert_eq!((value(&fixed, "c"), value(&fixed, "k")), (1.0, 0.5));
    assert_close(value(&fixed, "a"), 3.0, 0.01);
    let tied = fit(&["--start", "a=2,k=0.3", "--tie", "c=a/3"]);
    assert_close(value(&tied, "c"), value(&tied, "a") / 3.0, 1e-14);
}

#[test]
fn relations_between_parameters_hold() {
    let folder = Folder::with(decay());
    let first = ["fit", "data.csv", "--formula", FORMULA, "--y", "y", "--start", "a=1,k=0.3,c=0.1"];
    let free = folder.run(&[&first[..], &["--json"]].concat()).json();
    let sum = value(&free, "a") + value(&free, "c");
    let relations = [format!("a + c <= {}", 0.9 * sum), "-k<0".to_owned()];
    let more = ["--constrain", &relations[0], "--constrain", &relations[1]];
    let held = folder.run(&[&first[..], &more, &["--json"]].concat()).json();
    assert_close(value(&held, "a") + value(&held, "c"), 0.9 * sum, 1e-12);
    assert!(field(&held, "a", "standard_error") > 0.0 && value(&held, "k") > 0.0);
    let text = folder.run(&[&first[..], &more].concat()).solved();
    assert!(text.contains(&format!("the relation {} holds the fit at its limit", relations[0])), "{text}");
}

#[test]
fn priors_sigma_and_counts_change_the_likelihood() {
    let folder = Folder::with(decay());
    let fit = |more: &[&str]| {
        let first = ["fit", "data.csv", "--y", "y", "--formula", FORMULA, "--start", "a=2,k=0.3", "--json"];
        folder.run(&[&first, more].concat()).json()
    };
    let sigma = fit(&["--sigma", "0.01", "--absolute-sigma"]);
    let relative = fit(&["--sigma", "0.01"]);
    assert_close(value(&sigma, "a"), value(&relative, "a"), 1e-9);
    assert!(field(&sigma, "a", "standard_error") != field(&relative, "a", "standard_error"));
    let prior = fit(&["--sigma", "0.01", "--absolute-sigma", "--prior", "k=0.6~0.0001"]);
    assert_close(value(&prior, "k"), 0.6, 0.01);
    let counts = |t: u32| (30.0 * (-0.25 * f64::from(t)).exp() + 10.0).round();
    folder.write("data.csv", "t,y\n".to_owned() + &(0..20).map(|t| format!("{t},{}\n", counts(t))).collect::<String>());
    let (counts, squares) = (fit(&["--counts"]), fit(&[]));
    assert_close(value(&counts, "k"), 0.25, 0.05);
    assert!(value(&counts, "k") != value(&squares, "k"));
}

#[test]
fn outliers_have_little_weight_under_a_robust_loss() {
    let folder = Folder::with(decay().replacen("0.25,", "0.25,9", 1));
    let fit = |more: &[&str]| {
        let first = ["fit", "data.csv", "--y", "y", "--formula", FORMULA, "--start", "a=2,k=0.3", "--json"];
        folder.run(&[&first, more].concat())
    };
    assert!((value(&fit(&[]).json(), "a") - 3.0).abs() > 0.5);
    for loss in ["--robust", "--robust=cauchy", "--robust=tukey"] {
        assert_close(value(&fit(&[loss]).json(), "a"), 3.0, 0.02);
    }
    assert_close(value(&fit(&["--robust=huber", "--f-scale", "0.01"]).json(), "a"), 3.0, 0.02);
}

#[test]
fn intervals_by_profiles_and_resampling() {
    let report = run(&["fit", "--profile", "--bootstrap=50", "--seed", "3", "--json"]).json();
    let profile = &report["profile"][0];
    assert_eq!(profile["parameter"], "vmax");
    assert!(profile["low"].as_f64() < Some(8.2) && profile["high"].as_f64() > Some(8.4), "{profile}");
    let bootstrap = &report["bootstrap"][1];
    assert!(bootstrap["standard_error"].as_f64() > Some(0.02), "{bootstrap}");
    let derived = run(&["fit", "--profile", "--derive", "twice=2*vmax", "--json"]).json();
    let (parameter, quantity) = (&derived["profile"][0], &derived["profile"][2]);
    assert_eq!(quantity["parameter"], "twice");
    for end in ["value", "low", "high"] {
        assert_close(quantity[end].as_f64().unwrap(), 2.0 * parameter[end].as_f64().unwrap(), 1e-9);
    }
    let text = run(&["fit", "--profile"]).solved();
    assert!(text.contains("Profile-likelihood intervals at 95 %\nparameter"), "{text}");
}

#[test]
fn many_starts_find_the_best_minimum() {
    let rows: String = (0..60)
        .map(|i| (f64::from(i) * 0.1, (3.0 * f64::from(i) * 0.1).sin()))
        .map(|(x, y)| format!("{x} {y}\n"))
        .collect();
    let folder = Folder::with(rows);
    let first = ["fit", "data.csv", "--no-heading", "--formula", "a*sin(w*x)", "--start", "w=1", "--json"];
    let more = ["--multi-start=64", "--range", "w=0..10,a=0.5..2", "--seed", "1"];
    let report = folder.run(&[&first[..], &more].concat()).json();
    assert_close(value(&report, "w").abs(), 3.0, 1e-6);
    assert!(report["minima"].as_array().unwrap().len() > 1);
}

#[test]
fn iterations_are_shown_while_it_runs() {
    let run = run(&["fit", "--watch"]);
    let lines = run.errors.lines().count();
    assert!(run.errors.starts_with("  trial") && lines > 4, "{run:?}");
    run.solved();
}

/// Data and formula of a question about `nlsLM` (techutils, 2018): an isotherm with a parameter called `e`.
#[test]
fn a_parameter_may_be_called_e() {
    let folder = Folder::with("X,Y\n10,155\n30,250\n50,270\n70,330\n100,320\n125,323\n");
    let fit =
        |more: &[&str]| folder.run(&[&["fit", "data.csv", "--formula", "Q*e*X/(1+e*X)", "--json"], more].concat());
    for start in ["Q=300", "Q=300,e=0.07", "e=0.01,Q=100"] {
        let report = fit(&["--start", start]).json();
        assert_close(value(&report, "Q"), 366.2778, 1e-6);
        assert_close(value(&report, "e"), 0.072102, 1e-4);
    }
    let note = fit(&["--start", "Q=300"]).errors;
    assert_eq!(note, "note: \"e\" is a parameter; Euler's number is exp(1)\n");
    assert_eq!(fit(&["--start", "Q=300,e=0.07"]).errors, "");
    let message = folder.run(&["fit", "data.csv", "--formula", "Q*pi*X/(1+X)", "--start", "pi=3"]).refused();
    assert!(
        message.starts_with("data.csv: there is no parameter \"pi\"") && message.ends_with("in double quotes only"),
        "{message}"
    );
    let quoted = ["fit", "data.csv", "--formula", "\"pi\"*X/(1+X)", "--start", "pi=3"];
    assert_eq!(folder.run(&quoted).code, 0);
}

/// Pearson's data with York's weights; York et al., Am. J. Phys. 72 (2004) 367.
#[test]
fn errors_of_predictors() {
    let rows = "x,y,wx,wy\n0,5.9,1000,1\n0.9,5.4,1000,1.8\n1.8,4.4,500,4\n2.6,4.6,800,8\n3.3,3.5,200,20\n4.4,3.7,80,20\n\
        5.2,2.8,60,70\n6.1,2.8,20,70\n6.5,2.4,1.8,100\n7.4,1.5,1,500\n";
    let mut lines = rows.lines();
    let heading = lines.next().unwrap().replace("wx", "sx").replace("wy", "sy");
    let deviations = lines.map(|line| {
        let numbers: Vec<f64> = line.split(',').map(|number| number.parse().unwrap()).collect();
        format!("{},{},{},{}\n", numbers[0], numbers[1], numbers[2].sqrt().recip(), numbers[3].sqrt().recip())
    });
    let folder = Folder::with(format!("{heading}\n{}", deviations.collect::<String>()));
    let fit = |more: &[&str]| {
        let first = ["fit", "data.csv", "--x", "x", "--y", "y", "--model", "linear", "--sigma", "sy", "--json"];
        folder.run(&[&first, more].concat())
    };
    let york = fit(&["--sigma-x", "sx", "--absolute-sigma", "--residuals", "r.csv"]).json();
    assert_close(value(&york, "slope"), -0.480533407, 1e-8);
    assert_close(value(&york, "intercept"), 5.479910224, 1e-8);
    assert_close(field(&york, "slope", "standard_error"), 0.057985, 1e-6);
    assert!(folder.read("r.csv").starts_with("line,x,y,fitted,residual,fitted x\n"));
    let effective = fit(&["--sigma-x", "sx", "--effective-variance"]).json();
    assert_close(value(&effective, "slope"), -0.480533407, 1e-8);
    let same = fit(&["--sigma-x", "0.1"]).json();
    assert!(value(&same, "slope") != value(&fit(&[]).json(), "slope"));
    // Columns that are used are not said to be left out.
    let found = folder.run(&["fit", "data.csv", "--model", "linear", "--sigma", "2*sy", "--sigma-x", "sx"]);
    assert!(found.code == 0 && !found.errors.contains("left out"), "{found:?}");
    assert_eq!(fit(&["--sigma-x", "0.1,0.2"]).refused(), "--sigma-x gives 2, but the predictors are \"x\"");
    assert!(fit(&["--sigma-x=-0.1"]).refused().contains("must not be negative"));
    assert!(fit(&["--effective-variance"]).refused().contains("--sigma-x"));
}

#[test]
fn quantities_are_derived() {
    let folder = Folder::with(decay());
    let fit = |more: &[&str]| {
        let first = ["fit", "data.csv", "--y", "y", "--formula", FORMULA, "--start", "a=2,k=0.3"];
        folder.run(&[&first, more].concat())
    };
    let derive = ["--derive", "half_life=ln(2)/k", "--derive", "start=a+c"];
    let report = fit(&[&derive[..], &["--json", "--bootstrap=50"]].concat()).json();
    let half_life = &report["derived"][0];
    assert_close(half_life["value"].as_f64().unwrap(), std::f64::consts::LN_2 / value(&report, "k"), 1e-12);
    assert!(half_life["name"] == "half_life" && half_life["interval"]["low"].is_number(), "{report}");
    assert_eq!(report["bootstrap"].as_array().unwrap().len(), 5);
    assert!(fit(&[&derive[..], &["--csv"]].concat()).solved().contains("\nhalf_life,"));
    assert!(fit(&derive).solved().contains("= ln(2)/k"));
    let unknown = fit(&["--derive", "half_life=ln(2)/rate"]).refused();
    assert!(unknown.contains("\"half_life\" is computed from \"rate\", which is no parameter"), "{unknown}");
    assert!(fit(&["--derive", "half_life=ln(2"]).refused().contains("--derive"));
    let of_model = run(&["fit", "--derive-all", "--json"]).json();
    assert!(!of_model["derived"].as_array().unwrap().is_empty(), "{of_model}");
}

#[test]
fn unknowns_are_read_off() {
    let report = run(&["fit", "--x-for", "4.1,4.1+4.3,100", "--json"]).json();
    let unknowns = report["unknowns"].as_array().unwrap();
    let (vmax, km) = (value(&report, "vmax"), value(&report, "km"));
    for (unknown, response) in unknowns.iter().zip([4.1, 4.2]) {
        let x = unknown["x"].as_f64().unwrap();
        assert_close(vmax * x / (km + x), response, 1e-9);
        assert!(unknown["low"].as_f64().unwrap() < x && x < unknown["high"].as_f64().unwrap());
    }
    assert!(unknowns[2]["x"].is_null() && unknowns[2]["note"].as_str().unwrap().contains("does not reach 100"));
    let width = |row: &serde_json::Value| row["high"].as_f64().unwrap() - row["low"].as_f64().unwrap();
    assert!(width(&unknowns[1]) < 0.9 * width(&unknowns[0]), "two responses say more than one");
    // Where the noise differs from row to row, a formula of the response says what it is in the unknown.
    let unknown = |more: &[&str]| {
        let report = run(&[&["fit", "--x-for", "4.1", "--json"], more].concat()).json();
        let [x, error] = ["x", "standard_error"].map(|name| report["unknowns"][0][name].as_f64());
        (x, error, report["unknowns"][0]["note"].to_string())
    };
    let (weighted, given) = (unknown(&["--weights", "1/y^2"]), unknown(&["--sigma", "1*rate", "--x-for-sigma", "4.1"]));
    assert_close(weighted.0.unwrap(), given.0.unwrap(), 1e-9);
    assert_close(weighted.1.unwrap(), given.1.unwrap(), 1e-9);
    let (_, none, note) = unknown(&["--sigma", "0.1+0.01*conc"]);
    assert!(none.is_none() && note.contains("--x-for-sigma says what it is"), "{note}");
    assert!(run(&["fit", "--x-for", "4.1"]).solved().contains("Unknowns, intervals at 95 %"));
}

/// Errors as a column, a number and a formula are the same where their numbers are; weights are their inverse squares.
#[test]
fn sigma_and_weights_are_computed() {
    let rows = (0..12).map(|t| {
        let y = 9.0 * (-0.3 * f64::from(t)).exp() + 0.05 * (12.9 * f64::from(t)).sin();
        format!("{t},{y},{},{}\n", 0.05 * y, (0.05 * y).powi(-2))
    });
    let folder = Folder::with("t,signal,error,weight\n".to_owned() + &rows.collect::<String>());
    let fit = |more: &[&str]| {
        let first = ["fit", "data.csv", "--x", "t", "--y", "signal", "--formula", "a*exp(-k*t)", "--start", "a=5,k=1"];
        folder.run(&[&first, more, &["--json"]].concat())
    };
    let by_column = fit(&["--sigma", "error"]).json();
    for same in [
        &["--sigma", "0.05*signal"][..],
        &["--sigma", "0.05*y"],
        &["--weights", "weight"],
        &["--weights", "1/y^2"],
        &["--weights", "400/signal^2"],
    ] {
        let by_other = fit(same).json();
        assert_close(value(&by_other, "k"), value(&by_column, "k"), 1e-8);
        assert_close(field(&by_other, "k", "standard_error"), field(&by_column, "k", "standard_error"), 1e-6);
    }
    assert!((value(&fit(&[]).json(), "k") - value(&by_column, "k")).abs() > 1e-6);
    assert!(fit(&["--weights", "1-t"]).refused().contains("line 4: -1 of --weights is no weight"));
    assert!(fit(&["--weights", "q^2"]).refused().contains("q^2"));
    assert!(fit(&["--weights", "1/y", "--sigma", "error"]).refused().contains("--sigma"));
}

#[test]
fn outliers_are_left_out() {
    let rows = (0..30).map(|x| {
        let x = f64::from(x);
        let outlier = if x == 11.0 { 8.0 } else { 0.0 };
        format!("{x},{}\n", 1.0 + 0.5 * x + 0.1 * (12.9898 * x).sin() + outlier)
    });
    let folder = Folder::with("x,y\n".to_owned() + &rows.collect::<String>());
    let fit = |more: &[&str]| folder.run(&[&["fit", "data.csv", "--model", "linear"], more].concat());
    let report = fit(&["--outliers", "--json", "--residuals", "r.csv", "--plot", "p.svg"]).json();
    assert_close(value(&report, "slope"), 0.5, 0.01);
    let outliers = report["outliers"].as_array().unwrap();
    assert_eq!((outliers.len(), outliers[0]["line"].as_u64(), outliers[0]["x"].as_f64()), (1, Some(13), Some(11.0)));
    assert_eq!(report["data"]["observations"], 29);
    assert_eq!(folder.read("r.csv").lines().count(), 30);
    assert!(!folder.read("r.csv").contains("\n13,") && folder.read("p.svg").contains("left out"));
    assert!(fit(&["--outliers=0.001"]).solved().contains("Outliers, left out"));
    assert!(fit(&["--outliers=2"]).refused().contains("must be between 0 and 1"));
    assert!(fit(&["--outliers", "--robust"]).refused().contains("--robust"));
}

#[test]
fn residuals_are_tested() {
    let report = run(&["fit", "--residual-tests", "--json"]).json();
    let tests = report["residual_tests"].as_array().unwrap();
    let has = |name: &str| tests.iter().any(|test| test["test"] == name);
    assert!(has("runs") && has("Shapiro-Wilk") && has("Durbin-Watson"), "{report}");
    assert!(run(&["fit", "--residual-tests"]).solved().contains("Tests of the residuals"));
}

#[test]
fn models_of_two_predictors() {
    let rows = (0..20).map(|i| {
        let (s, inhibitor) = ([0.5, 1.0, 2.0, 4.0, 8.0][i % 5], [0.0, 1.0, 3.0, 9.0][i / 5]);
        let rate = 10.0 * s / (2.0 * (1.0 + inhibitor / 1.5) + s) + 0.02 * (12.9898 * i as f64).sin();
        format!("{inhibitor},{s},{rate}\n")
    });
    let folder = Folder::with("inhibitor,substrate,rate\n".to_owned() + &rows.collect::<String>());
    let fit = |more: &[&str]| folder.run(&[&["fit", "data.csv", "--model", "competitive_inhibition"], more].concat());
    let by_name = fit(&["--json", "--y", "rate"]).json();
    assert_close(value(&by_name, "ki"), 1.5, 0.05);
    let by_order = fit(&["--json", "--y", "rate", "--x", "substrate,inhibitor"]).json();
    assert_eq!(value(&by_name, "ki"), value(&by_order, "ki"));
    assert!(fit(&["--x", "substrate"]).refused().contains("substrate"));
    assert!(run(&["models", "inhibition"]).solved().contains("mixed_inhibition"));
}

/// Means with standard deviations and numbers give the report of the replicates.
#[test]
fn means_of_replicates() {
    let means = Folder::with(
        "x,y,n,sd,sem\n0,1,2,0.2,0.1414213562373095\n1,3.1,3,0.4,0.23094010767585033\n2,4.8,1,,\n3,7.2,2,0.6,0.4242640687119285\n",
    );
    // Each mean and its standard deviation in values.
    let half = [0.2, 0.4 * 2.0_f64.sqrt(), 0.6].map(|sd| sd * 0.5_f64.sqrt());
    let y = [1.0 - half[0], 1.0 + half[0], 3.1 - half[1], 3.1, 3.1 + half[1], 4.8, 7.2 - half[2], 7.2 + half[2]];
    let x = [0, 0, 1, 1, 1, 2, 3, 3];
    let rows: String = x.iter().zip(y).map(|(x, y)| format!("{x},{y}\n")).collect();
    let raw = Folder::with(format!("x,y\n{rows}"));
    let fit = ["fit", "data.csv", "--y", "y", "--model", "linear", "--residual-tests", "--json"];
    let expected = raw.run(&fit).json();
    let lack_of_fit = |report: &serde_json::Value| {
        let tests = report["residual_tests"].as_array().unwrap().clone();
        tests.into_iter().find(|test| test["test"] == "lack of fit").unwrap()["p_value"].as_f64().unwrap()
    };
    for more in [["--replicates", "n", "--sd", "sd"], ["--replicates", "n", "--sd", "sem*sqrt(n)"]] {
        let found = means.run(&[&fit[..], &more, &["--residuals", "r.csv"]].concat()).json();
        for name in ["slope", "intercept"] {
            assert_close(value(&found, name), value(&expected, name), 1e-9);
        }
        assert_eq!(found["data"]["observations"], 8);
        assert_close(lack_of_fit(&found), lack_of_fit(&expected), 1e-9);
        assert_eq!(found["residual_tests"].as_array().unwrap().len(), 1);
        let residuals = means.read("r.csv");
        assert!(residuals.lines().count() == 5 && residuals.contains("\n5,3,7.2,"), "{residuals}");
    }
    let wrong = |more: &[&str]| means.run(&[&fit[..], more].concat()).refused();
    assert!(wrong(&["--replicates", "sd", "--sd", "n", "--omit-missing"]).contains("line 2: 0.2 of --replicates"));
    assert!(wrong(&["--replicates", "2", "--sd", "sd"]).contains("line 4: NaN of --sd"));
    assert!(wrong(&["--replicates", "2", "--sd", "-1"]).contains("line 2: -1 of --sd"));
    assert!(wrong(&["--replicates", "n"]).contains("--sd"));
    assert!(wrong(&["--replicates", "n", "--sd", "sd", "--robust"]).contains("exclude each other"));
}
