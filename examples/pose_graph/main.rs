//! Solves a pose graph in the format of g2o, and draws it before and after.
//!
//! ```text
//! cargo run --release --example pose_graph                       a small graph in space
//! cargo run --release --example pose_graph -- M3500.g2o          any graph in the plane or in space
//! cargo run --release --example pose_graph -- map.g2o --loss cauchy --scale 2 --save solved.g2o
//! cargo run --release --example pose_graph -- map.g2o --form cgnr
//! cargo run --release --example pose_graph -- --help
//! ```

mod drawing;
mod g2o;
#[path = "../common/names.rs"]
mod names;
mod options;

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use g2o::{Dimension, Graph, Poses, Skipped};
use marquardt::graph::{GraphError, Problem};
use marquardt::linear::LinearSolver;
use marquardt::manifold::{SE2, SE3};
use marquardt::{LevenbergMarquardt, Report};
use options::Options;

const TINY_GRID: &str = include_str!("../data/tiny_grid.g2o");
const TINY_GRID_FILE: &str = "examples/data/tiny_grid.g2o";

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
    let before = if options.file.is_some() { Graph::read(file)? } else { Graph::parse(TINY_GRID, file)? };
    for Skipped { tag, line, count } in &before.skipped {
        eprintln!("warning: {}:{line}: the tag {tag} is unknown, lines skipped: {count}", file.display());
    }
    let mut after = before.clone();
    let (report, elapsed) = solve(&mut after, options).map_err(|error| with_line(error, &before, file))?;

    let mut out = io::stdout();
    writeln!(out, "{}, by {}", report.status, report.linear_form)?;
    let write =
        |path: &Path, text: String| fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()));
    let titles = [("before", report.initial_cost), ("after", report.cost)]
        .map(|(when, cost)| format!("{when}: cost {}", significant(cost)));
    write(&options.plot, drawing::svg(&before, &after, [&titles[0], &titles[1]]))?;
    writeln!(out, "drawn to {}", options.plot.display())?;
    if let Some(path) = &options.save {
        write(path, after.to_text())?;
        writeln!(out, "saved to {}", path.display())?;
    }
    writeln!(out, "{}", summary(&after, &report, elapsed))?;
    Ok(())
}

/// Moves the poses to a minimum of the cost; returns the time of the solve alone, too.
fn solve(graph: &mut Graph, options: &Options) -> Result<(Report<f64>, Duration), GraphError> {
    match graph.dimension {
        Dimension::Plane => solve_poses::<SE2>(graph, options),
        Dimension::Space => solve_poses::<SE3>(graph, options),
    }
}

fn solve_poses<M: Poses>(graph: &mut Graph, options: &Options) -> Result<(Report<f64>, Duration), GraphError> {
    let mut problem = Problem::new();
    let mut blocks = Vec::with_capacity(graph.vertices.len());
    for vertex in &graph.vertices {
        blocks.push(problem.add_parameter_block(M::default(), &M::point(&vertex.pose))?);
    }
    for &vertex in graph.constant() {
        problem.set_constant(blocks[vertex])?;
    }
    for edge in &graph.edges {
        let function = M::edge(&edge.measured, &edge.information)?;
        let ends = (blocks[edge.vertices[0]], blocks[edge.vertices[1]]);
        match options.loss.filter(|_| edge.is_loop_closure()) {
            Some(loss) => problem.add_robust_residual_block(function, ends, loss, options.scale)?,
            None => problem.add_residual_block(function, ends)?,
        };
    }
    // The measurements determine a map to far fewer digits than the polish would find, at a factorisation a step.
    let mut solver = LevenbergMarquardt::new().with_ftol(options.ftol).with_polish(false);
    if let Some(iterations) = options.max_iterations {
        solver = solver.with_max_iterations(iterations);
    }
    if let Some(form) = options.form {
        solver = solver.with_linear_solver(LinearSolver::Always(form));
    }
    let begin = Instant::now();
    let report = problem.solve(&solver)?;
    let elapsed = begin.elapsed();
    for (vertex, &block) in graph.vertices.iter_mut().zip(&blocks) {
        vertex.pose = M::pose(problem.point(block)?);
    }
    Ok((report, elapsed))
}

/// The error with the line of its edge, if it has one: edges are the residual blocks, in their order.
fn with_line(error: GraphError, graph: &Graph, file: &Path) -> Box<dyn Error> {
    let block = match error {
        GraphError::NonFiniteResidual { residual_block, .. } | GraphError::Evaluation { residual_block, .. } => {
            residual_block
        }
        error => return format!("{}: {error}", file.display()).into(),
    };
    format!("{}:{}: {error}", file.display(), graph.edges[block].line).into()
}

fn summary(graph: &Graph, report: &Report<f64>, elapsed: Duration) -> String {
    format!(
        "pose_graph: poses={} edges={} initial_cost={} cost={} iterations={} seconds={:.4}",
        graph.vertices.len(),
        graph.edges.len(),
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
    use std::f64::consts::{FRAC_PI_2, PI};

    use super::*;

    const FILE: &str = "map.g2o";

    fn options(line: &str) -> Options {
        Options::parse_from(["pose_graph"].into_iter().chain(line.split_whitespace()))
    }

    fn solved(text: &str, line: &str) -> (Graph, Report<f64>) {
        let mut graph = Graph::parse(text, Path::new(FILE)).unwrap();
        let (report, _) = solve(&mut graph, &options(line)).unwrap();
        (graph, report)
    }

    /// A robot drives around a square, and its last pose is measured from the first.
    fn square(more: &str) -> String {
        let mut text = String::new();
        for (id, pose) in ["0 0 0", "1.1 0.1 1.4", "0.9 1.2 3.3", "-0.1 0.8 -1.4"].into_iter().enumerate() {
            text += &format!("VERTEX_SE2 {id} {pose}\n");
        }
        for id in 0..4 {
            text += &format!("EDGE_SE2 {id} {} 1 0 {FRAC_PI_2} 4 0.1 0 4 0 9\n", (id + 1) % 4);
        }
        text + more
    }

    #[test]
    fn the_small_graph_is_solved() {
        let (graph, report) = solved(TINY_GRID, "");
        assert!(report.is_converged(), "{}", report.status);
        assert!((report.cost - 9.313909).abs() < 1e-6 * report.cost, "{}", report.cost);
        assert!(report.gradient_cosine < 1e-4, "{}", report.gradient_cosine);
        // Where the gradient vanishes to rounding, the cost is the same.
        let (_, exact) = solved(TINY_GRID, "--ftol 0");
        assert!(exact.gradient_cosine < 1e-7 && (report.cost - exact.cost).abs() < 1e-7, "{exact:?}");
        assert_eq!(graph.vertices[0].pose, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_square_closes() {
        let (graph, report) = solved(&square(""), "");
        assert!(report.is_converged() && report.cost < 1e-12);
        for (vertex, expected) in graph.vertices.iter().zip([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]) {
            assert!(vertex.pose.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{vertex:?}");
        }
        assert!((graph.vertices[2].pose[2].abs() - PI).abs() < 1e-6);
    }

    #[test]
    fn fixed_vertices_stay() {
        let (graph, _) = solved(&square("FIX 1"), "");
        assert!(graph.vertices[1].pose.iter().zip([1.1, 0.1, 1.4]).all(|(a, b)| (a - b).abs() < 1e-15));
        assert!((graph.vertices[0].pose[0]).abs() > 1e-3);
    }

    #[test]
    fn robust_losses_discount_false_loop_closures() {
        let text = square("EDGE_SE2 0 2 5 5 0 100 0 0 100 0 100\n");
        let corner = |line: &str| {
            let (graph, report) = solved(&text, line);
            assert!(report.is_converged(), "{}", report.status);
            (graph.vertices[2].pose[0] - 1.0).abs()
        };
        assert!(corner("") > 0.5);
        assert!(corner("--loss geman_mcclure --scale 1") < 0.05);
    }

    #[test]
    fn the_saved_graph_has_the_same_cost() {
        let folder = std::env::temp_dir();
        let name = |end: &str| folder.join(format!("marquardt-pose-graph-{}.{end}", std::process::id()));
        let (plot, saved) = (name("svg"), name("g2o"));
        run(&Options { plot: plot.clone(), save: Some(saved.clone()), ..options("") }).unwrap();
        let mut graph = Graph::read(&saved).unwrap();
        let (again, _) = solve(&mut graph, &options("")).unwrap();
        let (_, first) = solved(TINY_GRID, "");
        assert!((again.initial_cost - first.cost).abs() < 1e-12 * first.cost);
        let drawing = fs::read_to_string(&plot).unwrap();
        assert!(drawing.contains("after: cost 9.31390"));
        // Files that are refused and files that cannot be written are named.
        fs::write(&saved, "VERTEX_SE2 1 0 0\n").unwrap();
        let error = run(&Options { file: Some(saved.clone()), ..options("") }).unwrap_err().to_string();
        assert_eq!(error, format!("{}:1: VERTEX_SE2 takes 4 numbers, not 3", saved.display()));
        let error = run(&Options { plot: folder.join("no/such/folder.svg"), ..options("") }).unwrap_err().to_string();
        assert!(error.contains("no/such/folder.svg: "), "{error}");
        [plot, saved].iter().for_each(|path| fs::remove_file(path).unwrap());
    }

    #[test]
    fn edges_of_infinite_cost_are_named() {
        let text = square("EDGE_SE2 0 2 1e200 0 0 1e300 0 0 1 0 1\n");
        let mut graph = Graph::parse(&text, Path::new(FILE)).unwrap();
        let error = solve(&mut graph, &options("")).map(drop).unwrap_err();
        let message = with_line(error, &graph, Path::new(FILE)).to_string();
        assert!(message.starts_with("map.g2o:9: residual "), "{message}");
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
