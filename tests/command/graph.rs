//! `marquardt graph`.

use super::command::Folder;
use super::documents;

/// A robot drives around a square; its last pose is measured from the first, and a third measurement is false.
fn square() -> String {
    let around = (0..4).map(|k| format!("EDGE_SE2 {k} {} 1 0 1.5707963 400 0 0 400 0 400\n", (k + 1) % 4));
    around.collect::<String>() + "EDGE_SE2 0 2 5 5 0 400 0 0 400 0 400\n"
}

#[test]
fn graphs_are_solved_saved_and_drawn() {
    let folder = Folder::new();
    folder.write("map.g2o", documents::read("examples/data/tiny_grid.g2o"));
    let run = folder.run(&["graph", "map.g2o", "--save", "solved.g2o", "--plot", "map.svg"]);
    let report = run.solved();
    for text in ["9 poses, 11 edges", "9.31390", "worst edges", "start: chordal"] {
        assert!(report.contains(text), "{text}: {report}");
    }
    assert!(folder.read("map.svg").contains("odometry"));
    let again = folder.run(&["graph", "solved.g2o", "--start", "given", "--memory", "1", "--json"]).json();
    assert!((again["given_cost"].as_f64().unwrap() - 9.3139094).abs() < 1e-6, "{again}");
    assert_eq!(again["vertices"].as_array().unwrap().len(), 9);
}

#[test]
fn false_loop_closures_are_left_out() {
    let folder = Folder::new();
    folder.write("square.g2o", square());
    let plain = folder.run(&["graph", "square.g2o", "--json"]).json();
    assert!(plain["cost"].as_f64().unwrap() > 100.0, "{plain}");
    let robust = folder.run(&["graph", "square.g2o", "--robust", "--json"]).json();
    assert!(robust["cost"].as_f64().unwrap() < 1e-6 && robust["lines_left_out"][0] == 5, "{robust}");
    assert!(folder.run(&["graph", "square.g2o", "--robust"]).solved().contains("left out: 1"));
    let warned = folder.run(&["graph", "square.g2o", "--loss", "cauchy", "--scale", "2"]);
    assert!(warned.errors.contains("4 vertices have no line"), "{warned:?}");
}

#[test]
fn errors_name_the_line() {
    let folder = Folder::new();
    folder.write("wrong.g2o", "VERTEX_SE2 0 0 0 0\nEDGE_SE2 0 1 1 0 x 1 0 0 1 0 1\n");
    folder.write("infinite.g2o", "EDGE_SE2 0 1 1 0 0 1 0 0 1 0 1\nEDGE_SE2 0 1 1e200 0 0 1e300 0 0 1 0 1\n");
    for (arguments, error) in [
        (["graph", "wrong.g2o", "--json"].as_slice(), "wrong.g2o: line 2: number 5 of EDGE_SE2 is \"x\""),
        (&["graph", "infinite.g2o"], "infinite.g2o: line 2: residual 0 of residual block 1 is"),
        (&["graph", "none.g2o"], "none.g2o: "),
        (&["graph", "square.g2o", "--scale", "2"], "--loss"),
        (&["graph", "square.g2o", "--memory", "0"], "0 is not in 1.."),
        (&["graph", "square.g2o", "--robust", "--confidence", "1"], "the confidence of a graduated solve cannot be 1"),
        (&["graph", "square.g2o", "--plot", "map.pdf"], "map.pdf: "),
    ] {
        folder.write("square.g2o", square());
        let run = folder.run(arguments);
        assert!(run.code == 2 && run.errors.contains(error), "{arguments:?}: {run:?}");
    }
}
