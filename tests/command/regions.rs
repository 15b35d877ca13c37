//! Joint confidence regions.

use marquardt::CurveFit;

use super::command::{Folder, assert_close, decay, run};

#[test]
fn regions_are_those_of_the_library() {
    let folder = Folder::with(decay());
    let fit = ["fit", "data.csv", "--formula", "a*exp(-k*t)+c", "--contour", "a,k", "--contour-points", "points.csv"];
    let report = folder.run(&[&fit[..], &["--contour-plot", "region.svg", "--size", "500x400", "--json"]].concat());
    let report = report.json();
    let rows: Vec<[f64; 2]> = decay()
        .lines()
        .skip(1)
        .map(|row| {
            let (t, y) = row.split_once(',').unwrap();
            [t.parse().unwrap(), y.parse().unwrap()]
        })
        .collect();
    let (t, y): (Vec<f64>, Vec<f64>) = rows.iter().map(|&[t, y]| (t, y)).unzip();
    let expected = CurveFit::new(|t, [a, k, c]| a * (-k * t).exp() + c, &t, &y, [3.0, 0.5, 1.0]);
    let expected = expected.names(["a", "k", "c"]).fit().unwrap();
    let region = expected.contour("a", "k", 0.95, 96).unwrap();
    let low = region.points.iter().map(|point| point.at[1]).fold(f64::INFINITY, f64::min);
    let found = &report["regions"][3];
    assert_eq!((&found["level"], &found["parameter"]), (&0.95.into(), &"k".into()));
    assert_close(found["low"].as_f64().unwrap(), low, 1e-6);
    assert_eq!(report["contours"].as_array().unwrap().len(), 192);
    let points = folder.read("points.csv");
    assert!(points.starts_with("level,a,k\n0.683,") && points.lines().count() == 193, "{points}");
    let svg = folder.read("region.svg");
    assert!(svg.contains("68.3 %") && svg.contains("95 %") && svg.contains("width=\"500\" height=\"400\""));
    let text = folder.run(&fit).solved();
    assert!(text.contains("Joint confidence regions\nlevel  parameter"), "{text}");
}

#[test]
fn groups_have_regions_of_their_own() {
    let rows = |group: &str| decay().lines().skip(1).map(|row| format!("{group},{row}\n")).collect::<String>();
    let folder = Folder::with(format!("g,t,y\n{}{}", rows("A"), rows("B")));
    let fit = ["fit", "data.csv", "--formula", "a*exp(-k*t)+c", "--y", "y", "--group-by", "g", "--contour", "a,k"];
    folder.run(&[&fit[..], &["--contour-points", "points.csv", "--contour-plot", "region.svg"]].concat()).solved();
    let points = folder.read("points.csv");
    assert!(points.starts_with("g,level,a,k\nA,0.683,") && points.lines().count() == 385, "{points}");
    assert!(folder.read("region.svg").contains("B 95 %"));
}

#[test]
fn profiles_are_drawn() {
    let folder = Folder::with(decay());
    let fit = ["fit", "data.csv", "--formula", "a*exp(-k*t)+c", "--profile", "--profile-plot", "profiles.svg"];
    folder.run(&fit).solved();
    let svg = folder.read("profiles.svg");
    assert!(svg.contains("signed root") && [">\na\n<", ">\nk\n<", ">\n95 %\n<"].iter().all(|name| svg.contains(name)));
    assert_eq!(folder.run(&["fit", "data.csv", "--model", "linear", "--profile-plot", "p.svg"]).code, 2);
}

#[test]
fn wrong_pairs_are_refused() {
    let refused = |pair: &str| run(&["fit", "--contour", pair]).refused();
    assert_eq!(refused("vmax"), "--contour names two parameters, not \"vmax\"");
    assert_eq!(refused("vmax,x"), "--contour: there is no parameter \"x\"; the parameters are \"vmax\", \"km\"");
    assert_eq!(refused("km,km"), "--contour: a contour needs two parameters, not \"km\" twice");
    let fixed = run(&["fit", "--contour", "vmax,km", "--fix", "km=1"]).refused();
    assert_eq!(fixed, "--contour: \"km\" is fixed, and has no profile");
    let groups = Folder::with("g,x,y\nA,1,1\nA,2,3\nA,3,4\nB,1,1\nB,2,2\nB,3,4\n");
    let fit = ["fit", "data.csv", "--x", "x", "--y", "y", "--group-by", "g", "--model", "linear", "--contour"];
    let unknown = groups.run(&[&fit[..], &["slope,k"]].concat()).refused();
    assert_eq!(unknown, "--contour: there is no parameter \"k\"; the parameters are \"slope\", \"intercept\"");
    // A fit without a region is reported.
    let two = Folder::with("x,y\n1,1\n2,2\n");
    let fit = ["fit", "data.csv", "--model", "linear", "--contour", "slope,intercept", "--contour-points", "p.csv"];
    let report = two.run(&fit).solved();
    assert!(report.contains("0.95") && report.contains("no degrees of freedom"), "{report}");
    assert!(run(&["fit", "--contour", "vmax,km", "--contour-plot", "no.pdf"]).refused().starts_with("no.pdf: "));
    assert_eq!(run(&["fit", "--contour-points", "p.csv"]).code, 2);
}

#[test]
fn what_the_data_do_not_determine_has_no_region() {
    let folder = Folder::with(decay());
    let fit = ["fit", "data.csv", "--formula", "a*exp(-k*t)+c+d", "--contour"];
    let both = folder.run(&[&fit[..], &["c,d", "--contour-plot", "region.svg"]].concat()).solved();
    assert_eq!(both.matches("the data determine neither \"c\" nor \"d\"").count(), 2, "{both}");
    assert!(!folder.read("region.svg").contains("95 %"));
    let one = folder.run(&[&fit[..], &["a,c", "--profile"]].concat()).solved();
    assert!(one.contains("the data do not determine \"c\"") && !one.contains("fit again"), "{one}");
}
