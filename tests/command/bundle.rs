//! `marquardt bundle`.

use super::command::Folder;
use super::documents;

#[test]
fn bundles_are_adjusted_saved_and_drawn() {
    let folder = Folder::new();
    folder.write("problem.txt", documents::read("examples/data/cameras.txt"));
    let run = folder.run(&["bundle", "problem.txt", "--save", "adjusted.txt", "--plot", "scene.svg"]);
    let report = run.solved();
    for text in ["7 images by 7 cameras, 150 points, 788 observations", "7.1551", "worst images", "1.3476 after"] {
        assert!(report.contains(text), "{text}: {report}");
    }
    assert!(folder.read("scene.svg").contains("cameras"));
    let again = folder.run(&["bundle", "adjusted.txt", "--json"]).json();
    assert!((again["given_error"].as_f64().unwrap() - 1.3476).abs() < 1e-4, "{again}");
    let robust = folder.run(&["bundle", "problem.txt", "--robust"]).solved();
    assert!(robust.contains("observations beyond 1 pixels: "), "{robust}");
    // The same in the format of COLMAP.
    folder.run(&["bundle", "adjusted.txt", "--save", "sparse", "--colmap"]).solved();
    let colmap = folder.run(&["bundle", "sparse", "--save", "again", "--json"]).json();
    assert!((colmap["given_error"].as_f64().unwrap() - 1.3476).abs() < 1e-4, "{colmap}");
    assert!(folder.read("again/images.txt").contains("0.jpg"));
}

#[test]
fn errors_name_file_and_line() {
    let folder = Folder::new();
    folder.write("problem.txt", documents::read("examples/data/cameras.txt"));
    folder.write("wrong.txt", "1 1 1\n0 0 1 x\n");
    folder.write("plane.txt", "1 1 1\n0 0 1 2\n0 0 0 0 0 0 500 0 0\n1 2 0\n");
    for (arguments, error) in [
        (["bundle", "wrong.txt"].as_slice(), "wrong.txt: line 2: number 2 of observation 0 is \"x\""),
        (&["bundle", "plane.txt"], "plane.txt: point 0 in image 0: residual 0 of residual block 0 is"),
        (&["bundle", "none.txt"], "none.txt: "),
        (&["bundle", "."], "cameras.txt: "),
        (&["bundle", "problem.txt", "--scale", "2"], "--robust"),
        (&["bundle", "problem.txt", "--robust", "--scale", "0"], "the scale of a loss must be positive"),
        (&["bundle", "problem.txt", "--plot", "scene.pdf"], "scene.pdf: "),
        (&["bundle", "problem.txt", "--colmap"], "--save"),
    ] {
        let run = folder.run(arguments);
        assert!(run.code == 2 && run.errors.contains(error), "{arguments:?}: {run:?}");
    }
}
