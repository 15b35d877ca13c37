//! Solves a pose graph in the format of g2o, and draws it before and after.
//!
//! ```text
//! cargo run --release --example pose_graph                       a small graph in space
//! cargo run --release --example pose_graph -- M3500.g2o          any graph in the plane or in space
//! cargo run --release --example pose_graph -- map.g2o --loss cauchy --scale 2 --save solved.g2o
//! cargo run --release --example pose_graph -- map.g2o --robust   false loop closures are found and left out
//! cargo run --release --example pose_graph -- map.g2o --form cgnr
//! cargo run --release --example pose_graph -- --help
//! ```

#[path = "../common/names.rs"]
mod names;
mod options;

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use marquardt::Report;
use marquardt::curve::LegendPlace;
use marquardt::graph::{GraduatedNonConvexity, GraphError, PoseGraph, PoseGraphReport, PoseGraphSolver};
use marquardt::linear::LinearSolver;
use options::Options;

const TINY_GRID: &str = include_str!("../data/tiny_grid.g2o");
const TINY_GRID_FILE: &str = "examples/data/tiny_grid.g2o";

/// Width and height of the picture, in pixels.
const SIZE: (u32, u32) = (1240, 640);

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let file = options.file.as_deref().unwrap_or(Path::new(TINY_GRID_FILE));
    let before = if options.file.is_some() { PoseGraph::read(file) } else { PoseGraph::parse(TINY_GRID) };
    let before = before.map_err(|error| format!("{}: {error}", file.display()))?;
    for warning in before.warnings() {
        eprintln!("warning: {}: {warning}", file.display());
    }
    let mut after = before.clone();
    let (solved, elapsed) = solve(&mut after, options).map_err(|error| with_line(error, &before, file))?;

    let mut out = io::stdout();
    let report = &solved.report;
    writeln!(out, "{}, by {}, from the start {:?}", report.status, report.linear_form, solved.start)?;
    if options.robust {
        writeln!(out, "{} false loop closures left out", solved.false_edges.len())?;
    }
    let [first, last] = [("before", solved.given_cost), ("after", report.cost)]
        .map(|(when, cost)| format!("{when}: cost {}", significant(cost)));
    // Both along the same axes.
    let axes = after.widest_axes();
    let left = before.plot_along(axes).title(&first).legend(LegendPlace::None);
    let plot = left.beside(after.plot_along(axes).title(&last)).size(SIZE.0, SIZE.1);
    plot.save(&options.plot).map_err(|error| format!("{}: {error}", options.plot.display()))?;
    writeln!(out, "drawn to {}", options.plot.display())?;
    if let Some(path) = &options.save {
        after.save_g2o(path)?;
        writeln!(out, "saved to {}", path.display())?;
    }
    writeln!(out, "{}", summary(&after, &solved.report, elapsed))?;
    Ok(())
}

/// Moves the poses to a minimum of the cost; returns the time of the solve, too.
fn solve(graph: &mut PoseGraph, options: &Options) -> Result<(PoseGraphReport, Duration), GraphError> {
    // The measurements determine a map to far fewer digits than the polish would find, at a factorisation a step.
    let poses = PoseGraphSolver::new();
    let mut solver = poses.solver().clone().with_ftol(options.ftol);
    if let Some(iterations) = options.max_iterations {
        solver = solver.with_max_iterations(iterations);
    }
    if let Some(form) = options.form {
        solver = solver.with_linear_solver(LinearSolver::Always(form));
    }
    let mut poses = poses.with_start(options.start).with_solver(solver);
    if let Some(loss) = options.loss {
        poses = poses.with_loss(loss, options.scale);
    }
    if options.robust {
        poses = poses.with_robust_closures(GraduatedNonConvexity::new());
    }
    let begin = Instant::now();
    Ok((poses.solve(graph)?, begin.elapsed()))
}

/// The error with the line of its edge, if it has one.
fn with_line(error: GraphError, graph: &PoseGraph, file: &Path) -> Box<dyn Error> {
    match graph.line_of(&error) {
        Some(line) => format!("{}:{line}: {error}", file.display()).into(),
        None => format!("{}: {error}", file.display()).into(),
    }
}

fn summary(graph: &PoseGraph, report: &Report<f64>, elapsed: Duration) -> String {
    format!(
        "pose_graph: poses={} edges={} initial_cost={} cost={} iterations={} seconds={:.4}",
        graph.vertices().len(),
        graph.edges().len(),
        significant(report.initial_cost),
        significant(report.cost),
        report.iterations,
        elapsed.as_secs_f64()
    )
}

/// Eight significant digits.
fn significant(number: f64) -> String {
    let exponent = number.abs().log10().floor();
    if (-4.0..7.0).contains(&exponent) {
        format!("{number:.*}", (7.0 - exponent) as usize)
    } else {
        format!("{number:.7e}")
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn options(line: &str) -> Options {
        Options::parse_from(["pose_graph"].into_iter().chain(line.split_whitespace()))
    }

    fn solved(text: &str, line: &str) -> (PoseGraph, Report<f64>) {
        let mut graph = PoseGraph::parse(text).unwrap();
        let (solved, _) = solve(&mut graph, &options(line)).unwrap();
        (graph, solved.report)
    }

    #[test]
    fn the_small_graph_is_solved() {
        for start in ["best", "given", "odometry", "chordal", "spectral"] {
            let (graph, report) = solved(TINY_GRID, &format!("--start {start}"));
            assert!(report.is_converged(), "{}", report.status);
            assert!((report.cost - 9.313909).abs() < 1e-6 * report.cost, "{start}: {}", report.cost);
            assert!(report.gradient_cosine < 1e-4, "{}", report.gradient_cosine);
            assert_eq!(graph.vertices()[0].coordinates, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        }
        // Where the gradient vanishes to rounding, the cost is the same.
        let (_, exact) = solved(TINY_GRID, "--ftol 0");
        assert!(exact.gradient_cosine < 1e-7 && (exact.cost - 9.313909).abs() < 1e-5, "{exact:?}");
        let (_, robust) = solved(TINY_GRID, "--loss huber --scale 0.5");
        assert!(robust.cost < 9.0, "{}", robust.cost);
    }

    #[test]
    fn the_saved_graph_has_the_same_cost() {
        let folder = std::env::temp_dir();
        let name = |end: &str| folder.join(format!("marquardt-pose-graph-{}.{end}", std::process::id()));
        let (plot, saved) = (name("svg"), name("g2o"));
        run(&Options { plot: plot.clone(), save: Some(saved.clone()), ..options("") }).unwrap();
        let again = PoseGraph::read(&saved).unwrap();
        let (again, _) = solve(&mut again.clone(), &options("")).unwrap();
        let (_, first) = solved(TINY_GRID, "");
        assert!((again.given_cost - first.cost).abs() < 1e-12 * first.cost);
        let drawing = fs::read_to_string(&plot).unwrap();
        assert!(drawing.contains("after: cost 9.31390"));
        // Files that are refused and files that cannot be written are named.
        fs::write(&saved, "VERTEX_SE2 1 0 0\n").unwrap();
        let error = run(&Options { file: Some(saved.clone()), ..options("") }).unwrap_err().to_string();
        assert_eq!(error, format!("{}: line 1: VERTEX_SE2 takes 4 numbers, not 3", saved.display()));
        let error = run(&Options { plot: folder.join("no/such/folder.svg"), ..options("") }).unwrap_err().to_string();
        assert!(error.contains("no/such/folder.svg: "), "{error}");
        [plot, saved].iter().for_each(|path| fs::remove_file(path).unwrap());
    }

    #[test]
    fn edges_of_infinite_cost_are_named() {
        let text = "EDGE_SE2 0 1 1 0 0 1 0 0 1 0 1\nEDGE_SE2 0 1 1e200 0 0 1e300 0 0 1 0 1\n";
        let mut graph = PoseGraph::parse(text).unwrap();
        let error = solve(&mut graph, &options("")).map(drop).unwrap_err();
        let message = with_line(error, &graph, Path::new("map.g2o")).to_string();
        assert!(message.starts_with("map.g2o:2: residual "), "{message}");
    }

    #[test]
    fn the_last_line_has_all_figures() {
        let (graph, report) = solved(TINY_GRID, "--max-iterations 1");
        let line = summary(&graph, &report, Duration::from_millis(1250));
        assert!(line.starts_with("pose_graph: poses=9 edges=11 initial_cost="), "{line}");
        assert!(line.ends_with(" iterations=1 seconds=1.2500"), "{line}");
        assert_eq!([9.3139094, 676.12345678, 0.0].map(significant), ["9.3139094", "676.12346", "0.0000000e0"]);
        assert_eq!([1e-12, 1.5e9, 0.6341].map(significant), ["1.0000000e-12", "1.5000000e9", "0.63410000"]);
    }
}
