//! Reports to hand on, without a browser; `tests/page` opens them in one.

use serde_json::Value;

use marquardt::npy;
use ndarray::Array3;

use super::command::{Folder, assert_close, decay};

/// The page, once it is seen that it needs no other file.
#[track_caller]
fn page(folder: &Folder) -> String {
    let page = folder.read("fit.html");
    let own = page.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http:", "https:", "src=", "href=", "@import", "url("] {
        let data = own.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
        assert!(!own.replace(data, "").contains(outside), "{outside}");
    }
    assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">") && page.contains("default-src 'none'"));
    page
}

/// The data of the page.
#[track_caller]
fn data(folder: &Folder) -> Value {
    let page = page(folder);
    let (_, begun) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    serde_json::from_str(begun.split_once("</script>").unwrap().0).unwrap()
}

#[track_caller]
fn length(list: &Value) -> usize {
    list.as_array().unwrap_or_else(|| panic!("{list}")).len()
}

#[test]
fn a_page_has_the_fit_and_its_origin() {
    let folder = Folder::with(decay());
    let fit = ["fit", "data.csv", "--model", "exponential_decay_offset", "--report", "fit.html", "--profile"];
    folder.run(&[&fit[..], &["--where", "t > 0", "--log-y"]].concat()).solved();
    let data = data(&folder);
    let command =
        "marquardt fit data.csv --model exponential_decay_offset --report fit.html --profile --where 't > 0' --log-y";
    assert_eq!(data["origin"]["command"], command);
    assert_eq!(data["origin"]["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(data["log"], serde_json::json!([false, true]));
    let fit = &data["fits"][0];
    assert_eq!(fit["parameters"][1]["name"], "decay");
    assert_eq!(fit["tables"][0][0], "Profile-likelihood intervals at 95 %");
    assert_eq!([length(&fit["profiles"]), length(&fit["correlation"]), length(&fit["series"])], [3, 3, 1]);
    let points = &fit["series"][0]["points"];
    let number = |name: &str| points[name][7].as_f64().unwrap();
    assert!((number("y") - number("fitted") - number("residuals")).abs() < 1e-7);
    assert_eq!([length(&points["x"]), length(&fit["quantiles"][0])], [39, 39]);
    assert!(length(&fit["series"][0]["confidence"][0]) > 300 && length(&fit["series"][0]["terms"]) == 0);
}

#[test]
fn pages_are_small() {
    let rows = |count: usize| (0..count).map(|i| format!("{i},{}\n", (i as f64 * 0.618).sin() + 1e-4 * i as f64));
    for (count, limit, drawn) in [(1000, 300_000, 1000..1001), (50_000, 600_000, 2000..12_000)] {
        let folder = Folder::with("x,y\n".to_owned() + &rows(count).collect::<String>());
        folder.run(&["fit", "data.csv", "--model", "linear", "--report", "fit.html"]).solved();
        assert!(page(&folder).len() <= limit, "{}", page(&folder).len());
        let points = &data(&folder)["fits"][0]["series"][0]["points"];
        assert!(drawn.contains(&length(&points["x"])) && points["total"] == count, "{}", length(&points["x"]));
        let stand_for = points["counts"].as_array().map(|counts| counts.iter().filter_map(Value::as_u64).sum::<u64>());
        assert_eq!(stand_for, (count > 1000).then_some(count as u64));
    }
}

/// No text of the user is taken for a part of the page.
#[test]
fn odd_names_stay_texts() {
    let folder = Folder::with("\"<b>x</b>\",\"</script><script>alert(1)//\"\n0,1\n1,2.1\n2,2.9\n3,4.2\n");
    let title = "<!-- \"/*data*/\" & '</SCRIPT>";
    folder.run(&["fit", "data.csv", "--model", "linear", "--title", title, "--report", "fit.html"]).solved();
    let (page, data) = (page(&folder), data(&folder));
    assert_eq!(page.matches("</script>").count(), 2, "those of the page itself");
    assert!(!page.contains("<!--") && !page.contains("<b>"));
    assert_eq!(data["title"], title);
    assert_eq!(data["fits"][0]["y_label"], "</script><script>alert(1)//");
    assert!(data["origin"]["command"].as_str().unwrap().contains(r"'<!-- "), "quoted for a shell");
}

/// What is not finite is null or a text, and what there is not is empty.
#[test]
fn pages_of_odd_fits_are_whole() {
    let folder = Folder::with("u,v,y\n0,1,2\n1,5,3\n2,2,9\n3,8,4\n");
    let fit = |more: &[&str]| folder.run(&[&["fit", "data.csv", "--report", "fit.html"], more].concat());
    assert_ne!(fit(&["--x", "u", "--y", "y", "--formula", "a + b*u + c*u"]).code, 2);
    assert_eq!(data(&folder)["fits"][0]["parameters"][1]["standard_error"], "NaN");
    fit(&["--y", "y", "--formula", "a*u + b*v"]);
    let several = data(&folder);
    assert_eq!(several["fits"][0]["x_label"], "fitted y");
    assert_eq!(length(&several["fits"][0]["series"][0]["line"][0]), 0);
    fit(&["--x", "u", "--y", "v,y", "--formula", "a + i*b*u"]);
    let parts = data(&folder);
    assert_eq!([&parts["fits"][0]["series"][0]["name"], &parts["fits"][0]["series"][1]["name"]], ["v", "y"]);
    let two = Folder::with("x,y\n1,2\n2,4\n");
    two.run(&["fit", "data.csv", "--model", "linear", "--report", "fit.html"]);
    assert_eq!(data(&two)["fits"][0]["strip"], Value::Null);
}

#[test]
fn terms_of_a_sum_add_up_to_the_curve() {
    let peak = |x: f64| 5.0 * (-0.5 * (x - 10.0) * (x - 10.0)).exp() + 0.2 * x + (3.0 * x).sin() / 50.0;
    let rows = (0..60).map(|i| format!("{},{}\n", f64::from(i) / 3.0, peak(f64::from(i) / 3.0)));
    let folder = Folder::with("x,y\n".to_owned() + &rows.collect::<String>());
    folder.run(&["fit", "data.csv", "--model", "gaussian+linear", "--report", "fit.html"]).solved();
    let series = &data(&folder)["fits"][0]["series"][0];
    let at = |line: &Value| line[1][120].as_f64().unwrap();
    let terms = series["terms"].as_array().unwrap();
    assert_eq!(terms.iter().map(|term| term["name"].as_str().unwrap()).collect::<Vec<_>>(), ["gaussian", "linear"]);
    let sum: f64 = terms.iter().map(|term| at(&term["line"])).sum();
    assert!((sum - at(&series["line"])).abs() < 1e-4);
}

#[test]
fn groups_share_a_page() {
    let rows = (0..24).map(|i| format!("{},{},{}\n", i / 2, 3 * (i / 2) + i % 2 + (i * i) % 3, ["a", "b"][i % 2]));
    let folder = Folder::with("x,y,plate\n".to_owned() + &rows.collect::<String>());
    let fit = ["fit", "data.csv", "--model", "linear", "--group-by", "plate", "--report", "fit.html"];
    folder.run(&fit).solved();
    let own = data(&folder);
    assert_eq!([&own["fits"][0]["group"], &own["fits"][1]["group"], &own["group_by"]], ["a", "b", "plate"]);
    assert_eq!(own["tests"]["heading"][0], "parameter");
    folder.run(&[&fit[..], &["--share", "slope"]].concat()).solved();
    let shared = data(&folder);
    assert_eq!([length(&shared["fits"]), length(&shared["fits"][0]["series"])], [1, 2]);
    assert_eq!(shared["fits"][0]["series"][1]["name"], "b");
}

/// Rows of weight 0 are none of the fit, and neither of its residuals.
#[test]
fn rows_without_weight_are_left_out() {
    let folder = Folder::with("x,y,w,g\n1,2,1,a\n2,40,0,a\n3,6.1,1,a\n4,8,1,a\n1,3,0,b\n2,3,1,b\n3,4.1,1,b\n4,5,1,b\n");
    let fit = ["fit", "data.csv", "--x", "x", "--y", "y", "--model", "linear", "--weights", "w"];
    let files = ["--report", "fit.html", "--residuals", "residuals.csv"];
    for more in [&["--group-by", "g"][..], &["--group-by", "g", "--share", "slope"], &[]] {
        folder.run(&[&fit[..], &files, more].concat()).solved();
        let lines = folder.read("residuals.csv");
        assert_eq!(lines.lines().filter(|line| line.contains(",40,") || line.contains(",1,3,")).count(), 0, "{lines}");
        let fits = data(&folder)["fits"].as_array().unwrap().clone();
        let series = fits.iter().flat_map(|fit| fit["series"].as_array().unwrap());
        assert_eq!(series.map(|series| length(&series["points"]["x"])).sum::<usize>(), 6);
    }
}

#[test]
fn pages_are_html() {
    let folder = Folder::with("x,y,z\n0,1,2\n1,2,4\n2,3,6\n");
    let message = folder.run(&["fit", "--report", "fit.pdf"]).refused();
    assert_eq!(message, "fit.pdf: a report is a page; --report fit.html writes it, and a browser prints it as PDF");
    let many = ["many", "data.csv", "--model", "linear", "--report"];
    let message = folder.run(&[&many[..], &["fits.pdf"]].concat()).refused();
    assert!(message.contains("a browser prints it as PDF"), "{message}");
    for (path, expected) in [("data.csv", "extension"), ("no/fits.html", "no such folder")] {
        let message = folder.run(&[&many[..], &[path]].concat()).refused();
        assert!(message.contains(expected), "{message}");
    }
}

/// Error bars, and the weights that a robust loss leaves.
#[test]
fn points_have_errors_and_weights() {
    let rows = (0..20).map(|i| format!("{i},{},{},0.5\n", 2 * i + i % 3 + if i == 7 { 60 } else { 0 }, 1 + i % 2));
    let folder = Folder::with("x,y,sd,sx\n".to_owned() + &rows.collect::<String>());
    let fit = ["fit", "data.csv", "--x", "x", "--y", "y", "--model", "linear", "--report", "fit.html"];
    let points = |more: &[&str]| {
        folder.run(&[&fit[..], more].concat()).solved();
        data(&folder)["fits"][0]["series"][0]["points"].clone()
    };
    let plain = points(&[]);
    assert!(plain["errors"].is_null() && plain["x_errors"].is_null() && plain["weights"].is_null());
    let both = points(&["--sigma", "sd", "--sigma-x", "sx", "--absolute-sigma"]);
    assert_eq!([&both["errors"][0], &both["errors"][1], &both["x_errors"][3]], [1.0, 2.0, 0.5]);
    let robust = points(&["--robust=tukey"]);
    assert_eq!((&robust["weights"][7], length(&robust["weights"])), (&Value::from(0.0), 20));
    points(&["--outliers"]);
    let outliers = &data(&folder)["fits"][0]["series"][0]["outliers"];
    assert_eq!(outliers, &serde_json::json!([[7.0], [75.0]]));
}

#[test]
fn labels_are_those_that_are_given() {
    let folder = Folder::with(decay());
    let fit = ["fit", "data.csv", "--model", "exponential_decay", "--report", "fit.html", "--plot", "fit.svg"];
    folder.run(&[&fit[..], &["--x-label", "time (h)", "--y-label", "dose", "--size", "600x400"]].concat());
    assert_eq!([&data(&folder)["fits"][0]["x_label"], &data(&folder)["fits"][0]["y_label"]], ["time (h)", "dose"]);
    let plot = folder.read("fit.svg");
    assert!(plot.contains("time (h)") && plot.contains("dose") && plot.contains("width=\"600\" height=\"400\""));
    folder.run(&[&fit[..], &["--legend", "none"]].concat());
    assert!(plot.contains("95 % confidence band") && !folder.read("fit.svg").contains("95 % confidence band"));
    for wrong in ["600", "10x400", "600x5000", "axb"] {
        let message = folder.run(&[&fit[..], &["--size", wrong]].concat());
        assert!(message.code == 2 && message.errors.contains("such as 900x680"), "{}", message.errors);
    }
}

/// The page says what came from the file of settings, and the command that does without it.
#[test]
fn settings_in_force_are_on_the_page() {
    let folder = Folder::with(decay());
    folder.write(
        "study.toml",
        "formula = \"a*exp(-k*t)+c\"\nmax-iterations = 80\nstart = [\"a=2\", \"k=0.3\"]\nno-retry = true\n",
    );
    folder
        .run(&[
            "fit",
            "data.csv",
            "--config",
            "study.toml",
            "--max-iterations",
            "90",
            "--y",
            "y",
            "--report",
            "fit.html",
        ])
        .solved();
    let origin = data(&folder)["origin"].clone();
    let options = origin["options"].as_array().unwrap();
    let option = |name: &str| options.iter().find(|option| option[0] == name).unwrap_or_else(|| panic!("{origin}"));
    assert_eq!(option("formula"), &serde_json::json!(["formula", "a*exp(-k*t)+c", true]));
    assert_eq!(option("max-iterations"), &serde_json::json!(["max-iterations", "90", false]));
    assert_eq!(option("start"), &serde_json::json!(["start", "a=2, k=0.3", true]));
    assert_eq!([&option("no-retry")[1], &option("file")[2]], [&Value::from("on"), &Value::from(false)]);
    assert_eq!(
        origin["command"],
        "marquardt fit data.csv --config study.toml --max-iterations 90 --y y --report fit.html"
    );
    let whole = origin["whole_command"].as_str().unwrap();
    assert!(whole.contains("'--formula=a*exp(-k*t)+c'") && !whole.contains("config"), "{whole}");
    folder.run(&["fit", "data.csv", "--model", "linear", "--report", "fit.html"]);
    assert_eq!(data(&folder)["origin"]["whole_command"], Value::Null);
}

/// A page of many groups has the results of all, and pictures of some.
#[test]
fn pages_of_many_groups_are_small() {
    let rows = (0..600 * 8).map(|i| format!("{},{},g{}\n", i % 8, 3 * (i % 8) + (i * i) % 5, i / 8));
    let folder = Folder::with("x,y,group\n".to_owned() + &rows.collect::<String>());
    let fit =
        ["fit", "data.csv", "--x", "x", "--y", "y", "--model", "linear", "--group-by", "group", "--report", "fit.html"];
    assert_ne!(folder.run(&fit).code, 2);
    assert!(page(&folder).len() < 2_000_000, "{}", page(&folder).len());
    let fits = data(&folder)["fits"].as_array().unwrap().clone();
    let drawn = fits.iter().filter(|fit| fit.get("series").is_some()).count();
    assert!(fits.len() == 600 && (100..=140).contains(&drawn), "{} {drawn}", fits.len());
    assert_eq!(fits[1]["group"], "g1");
    assert!(fits[1].get("series").is_none() && fits[1]["parameters"][0]["value"].is_number());
    assert_eq!(data(&folder)["missing_fits"], 0);
}

/// Maps, distributions and some of the fits of an image, and those that failed.
#[test]
fn pages_of_images_have_maps() {
    let folder = Folder::new();
    let mut stack = Array3::from_shape_fn((30, 40, 12), |(i, j, t)| {
        (2.0 + i as f64) * (-(0.1 + 0.01 * j as f64) * t as f64).exp() + 1e-3 * ((i + j + t) as f64).sin()
    });
    stack[[3, 5, 2]] = f64::NAN;
    npy::write(folder.path("stack.npy"), &stack).unwrap();
    let options = ["--formula", "a*exp(-k*x)", "--start", "a=3,k=0.2", "--out", "fits.npy", "--report", "fit.html"];
    let run = folder.run(&[&["many", "stack.npy"], &options[..], &["--block", "7"]].concat());
    assert_eq!((run.code, run.errors.trim()), (1, "1199 of 1200 fits converged"));
    assert!(page(&folder).len() < 300_000);
    let data = data(&folder);
    assert_eq!([&data["total"], &data["converged"], &data["sampled"]], [1200, 1199, 1200]);
    assert_eq!(data["failed"], serde_json::json!([["3, 5", "the data are not finite"]]));
    let map = &data["map"];
    assert_eq!([&map["rows"], &map["columns"], &map["step"]], [30, 40, 1]);
    let names: Vec<&Value> = map["layers"].as_array().unwrap().iter().map(|layer| &layer["name"]).collect();
    assert_eq!(names, ["a", "k", "standard error of a", "standard error of k", "residual sd"]);
    // Two letters are a level of a value.
    let layer = &map["layers"][1];
    let [low, high] = ["low", "high"].map(|end| layer[end].as_f64().unwrap());
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let levels = layer["levels"].as_str().unwrap();
    let level = |row: usize, column: usize| {
        let at = 2 * (40 * row + column);
        let place = |at: usize| letters.find(&levels[at..=at]).unwrap();
        64 * place(at) + place(at + 1)
    };
    assert_eq!((levels.len(), level(3, 5)), (2 * 1200, 0));
    let value = low + (high - low) * (level(10, 20) - 1) as f64 / 4094.0;
    assert_close(value, 0.3, 0.01);
    let distribution = &data["distributions"][1];
    assert_eq!((&distribution["name"], &distribution["count"]), (&Value::from("k"), &Value::from(1199)));
    assert_close(distribution["quantiles"][2].as_f64().unwrap(), 0.3, 0.05);
    let drawn = data["drawn"].as_array().unwrap();
    let of = |reason: &str| drawn.iter().filter(|one| one["reason"] == reason).collect::<Vec<_>>();
    assert!(of("failed").len() == 1 && of("misfit").len() == 12 && (30..=40).contains(&of("spread").len()));
    let (curve, x) = (&of("spread")[3], data["grid"].as_array().unwrap());
    let own = |index: usize| curve["fit"][1][index].as_f64().unwrap();
    let expected = own(0) * (-own(1) * x[50].as_f64().unwrap()).exp();
    assert_close(curve["line"][50].as_f64().unwrap(), expected, 1e-3);
}

/// Columns of a table are fits by name; all of a plate are drawn.
#[test]
fn pages_of_plates_have_all_wells() {
    let wells: Vec<String> = (0..96).map(|well| format!("{}{}", char::from(b'A' + well / 12), 1 + well % 12)).collect();
    let response =
        |well: usize, dose: f64| 100.0 * dose / (1.0 + well as f64 / 10.0 + dose) + 0.1 * (dose + well as f64).sin();
    let rows = (0..10).map(|i| {
        let dose = 0.05 * 2.5_f64.powi(i);
        let wells: Vec<String> = (0..96).map(|well| response(well, dose).to_string()).collect();
        format!("{dose},{}\n", wells.join(","))
    });
    let folder = Folder::new();
    folder.write("plate.csv", format!("dose,{}\n{}", wells.join(","), rows.collect::<String>()));
    folder.run(&["many", "plate.csv", "--model", "hill", "--out", "fits.csv", "--report", "fit.html"]).solved();
    let data = data(&folder);
    assert_eq!((&data["x_label"], length(&data["drawn"]), length(&data["rows"])), (&Value::from("dose"), 96, 96));
    assert_eq!((&data["rows"][13][0], &data["map"]), (&Value::from("B2"), &Value::Null));
    assert_close(data["rows"][13][1][1].as_f64().unwrap(), 2.3, 0.02);
}

#[test]
fn groups_that_cannot_be_fitted_are_on_the_page() {
    let row = |i: usize| {
        format!(
            "g{},{},{}\n",
            i / 5,
            i % 5,
            if (i / 5).is_multiple_of(2) { (i % 5).to_string() } else { String::new() }
        )
    };
    let folder = Folder::with("g,x,y\n".to_owned() + &(0..2500).map(row).collect::<String>());
    let fit = ["fit", "data.csv", "--model", "linear", "--x", "x", "--y", "y", "--group-by", "g", "--omit-missing"];
    assert_eq!(folder.run(&[&fit[..], &["--report", "fit.html"]].concat()).code, 2);
    let page = data(&folder);
    assert_eq!((&page["failed_total"], &page["total"], &page["bad"]), (&250.into(), &250.into(), &0.into()));
    assert_eq!(length(&page["failed"]), 200);
    assert!(page["failed"][0].as_str().unwrap().starts_with("group \"g1\" of \"g\": "), "{}", page["failed"][0]);
}

#[test]
fn curves_of_two_predictors_have_a_surface() {
    let row = |i: usize| {
        let (a, b) = ((i % 23) as f64 / 10.0, (i / 23) as f64);
        format!("{a},{b},{}\n", 2.0 * a + 0.5 * b + 1.0)
    };
    let folder = Folder::with("a,b,y\n".to_owned() + &(0..700).map(row).collect::<String>());
    let fit = ["fit", "data.csv", "--formula", "p*a+q*b+c", "--report", "fit.html", "--y", "y"];
    folder.run(&fit).solved();
    let page = data(&folder);
    let surface = &page["fits"][0]["surface"];
    assert_eq!(surface["names"], serde_json::json!(["a", "b"]));
    let cells = surface["cells"].as_u64().unwrap() as usize;
    assert_eq!(surface["layer"]["levels"].as_str().unwrap().len(), 2 * cells * cells);
    assert!(length(&surface["points"]) <= 300);
    // The least value is at the lower left, the greatest at the upper right.
    let levels = surface["layer"]["levels"].as_str().unwrap();
    assert!(levels.starts_with(|letter| letter != 'A') && &levels[2 * cells * (cells - 1)..][..2] == "AB", "{levels}");
    let one = Folder::with(decay());
    one.run(&["fit", "data.csv", "--model", "linear", "--report", "fit.html"]).solved();
    assert!(data(&one)["fits"][0]["surface"].is_null());
}

/// A joint fit has one report, which has all points of groups that are few enough, and no square of their number of parameters.
#[test]
fn pages_of_joint_fits_have_all_points_and_are_small() {
    let row = |i: usize| format!("g{},{},{}\n", i / 6, i % 6, 3 * (i % 6) + i / 60 + i * i % 7);
    let folder = Folder::with("g,x,y\n".to_owned() + &(0..6 * 60).map(row).collect::<String>());
    let fit = ["fit", "data.csv", "--model", "linear", "--x", "x", "--y", "y", "--group-by", "g", "--share", "slope"];
    folder.run(&[&fit[..], &["--report", "fit.html"]].concat()).solved();
    assert!(page(&folder).len() < 2_000_000, "{} bytes", page(&folder).len());
    let page = data(&folder);
    let series = page["fits"][0]["series"].as_array().unwrap();
    assert_eq!(series.len(), 60);
    assert!(series.iter().all(|series| length(&series["points"]["x"]) == 6));
    assert!(page["fits"][0]["correlation"].is_null());
}
