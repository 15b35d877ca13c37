//! Reports to hand on, without a browser; `tests/page` opens them in one.

use serde_json::Value;

use super::command::{Folder, decay};

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
    let folder = Folder::new();
    let message = folder.run(&["fit", "--report", "fit.pdf"]).refused();
    assert!(message.contains(".html"), "{message}");
}
