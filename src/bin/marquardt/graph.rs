//! `marquardt graph`: the poses of a graph of measured relative poses.

use std::io::{self, Write};

use marquardt::curve::LegendPlace;
use marquardt::graph::{
    GraduatedNonConvexity, GraphError, GraphFileError, PoseGraph, PoseGraphReport, PoseGraphSolver,
};
use serde_json::json;

use crate::arguments::{GraphArguments, memory_option};
use crate::failure::{Ending, Failure};
use crate::table::ResultTable;
use crate::{interrupt, terminal};

/// Width and height of the picture, in pixels.
const SIZE: (u32, u32) = (1240, 640);

/// Worst edges that the report names.
const WORST_EDGES: usize = 5;

/// Reads a graph, solves it, and says how well the measurements agree.
pub fn run(arguments: &GraphArguments) -> Result<Ending, Failure> {
    let file = arguments.file.display();
    let given = PoseGraph::read(&arguments.file).map_err(|error| match error {
        // The file is in the text.
        error @ GraphFileError::Io { .. } => Failure::new(error.to_string()),
        error => Failure::new(format!("{file}: {error}")),
    })?;
    for warning in given.warnings() {
        terminal::note(format_args!("warning: {file}: {warning}"));
    }
    let mut graph = given.clone();
    let solved = solver(arguments).solve(&mut graph).map_err(|error| explain(&error, arguments, &given))?;
    if let Some(path) = &arguments.save {
        graph.save_g2o(path).map_err(|error| Failure::new(error.to_string()))?;
    }
    if let Some(path) = &arguments.plot {
        // Both along the same axes.
        let axes = graph.widest_axes();
        let [before, after] = [("before", solved.given_cost), ("after", solved.report.cost)]
            .map(|(when, cost)| format!("{when}: cost {cost:.5e}"));
        let left = given.plot_along(axes).title(&before).legend(LegendPlace::None);
        let plot = left.beside(graph.plot_along(axes).title(&after)).size(SIZE.0, SIZE.1);
        plot.save(path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    }
    let mut out = io::stdout().lock();
    if arguments.json {
        writeln!(out, "{:#}", as_json(&graph, &solved))?;
    } else {
        print(&mut out, &graph, &solved, arguments.robust)?;
    }
    Ok(Ending::of(solved.report.is_converged()))
}

fn solver(arguments: &GraphArguments) -> PoseGraphSolver {
    let poses = PoseGraphSolver::new();
    let mut solver = poses.solver().clone().with_ftol(arguments.ftol).with_cancel_token(interrupt::token());
    solver = arguments.memory.limit(solver);
    if let Some(iterations) = arguments.max_iterations {
        solver = solver.with_max_iterations(iterations);
    }
    let poses = poses.with_solver(solver).with_start(arguments.start.into());
    match arguments.loss {
        Some(loss) => poses.with_loss(loss, arguments.scale),
        None if arguments.robust => {
            let graduated = GraduatedNonConvexity::new().with_confidence(arguments.confidence);
            let with_scale = |scale| graduated.with_noise_scale(scale);
            poses.with_robust_closures(arguments.noise_scale.map_or(graduated, with_scale))
        }
        None => poses,
    }
}

/// The error, with the line of its edge if it has one.
fn explain(error: &GraphError, arguments: &GraphArguments, graph: &PoseGraph) -> Failure {
    let file = arguments.file.display();
    Failure::new(match graph.line_of(error) {
        Some(line) => format!("{file}: line {line}: {error}"),
        None => format!("{file}: {error}{}", memory_option(error)),
    })
}

fn print(out: &mut impl Write, graph: &PoseGraph, solved: &PoseGraphReport, robust: bool) -> io::Result<()> {
    let report = &solved.report;
    let (points, poses): (Vec<_>, Vec<_>) = graph.vertices().iter().partition(|vertex| vertex.is_point);
    let mut counts = format!("{} poses", poses.len());
    if !points.is_empty() {
        counts += &format!(", {} points", points.len());
    }
    writeln!(out, "{counts}, {} edges", graph.edges().len())?;
    writeln!(out, "start: {}", format!("{:?}", solved.start).to_lowercase())?;
    writeln!(
        out,
        "cost: {:.8e} as given, {:.8e} at the start, {:.8e} in the end",
        solved.given_cost, report.initial_cost, report.cost
    )?;
    writeln!(out, "status: {}; iterations: {}; by {}", report.status, report.iterations, report.linear_form)?;
    if robust {
        writeln!(out, "false loop closures left out: {}", solved.false_edges.len())?;
    }
    let worst = worst_edges(solved);
    if !worst.is_empty() {
        writeln!(out, "\nworst edges")?;
        let mut table = ResultTable::new(["line", "from", "to", "cost"]);
        for edge in worst {
            let [from, to] = graph.edges()[edge].vertices.map(|vertex| graph.vertices()[vertex].id.to_string());
            table.texts([graph.edges()[edge].line.to_string(), from, to, format!("{:.4e}", solved.edge_costs[edge])]);
        }
        writeln!(out, "{table}")?;
    }
    Ok(())
}

/// Edges of largest cost, those that were left out aside.
fn worst_edges(solved: &PoseGraphReport) -> Vec<usize> {
    let mut edges: Vec<usize> = (0..solved.edge_costs.len()).collect();
    edges.retain(|edge| solved.false_edges.binary_search(edge).is_err());
    edges.sort_by(|&a, &b| solved.edge_costs[b].total_cmp(&solved.edge_costs[a]));
    edges.truncate(WORST_EDGES);
    edges
}

fn as_json(graph: &PoseGraph, solved: &PoseGraphReport) -> serde_json::Value {
    let report = &solved.report;
    let vertices = graph.vertices().iter().map(|vertex| json!({"id": vertex.id, "coordinates": vertex.coordinates}));
    let lines = |edges: &[usize]| edges.iter().map(|&edge| graph.edges()[edge].line).collect::<Vec<_>>();
    json!({
        "status": report.status.to_string(),
        "converged": report.is_converged(),
        "start": format!("{:?}", solved.start).to_lowercase(),
        "given_cost": solved.given_cost,
        "initial_cost": report.initial_cost,
        "cost": report.cost,
        "iterations": report.iterations,
        "lines_left_out": lines(&solved.false_edges),
        "worst_lines": lines(&worst_edges(solved)),
        "warnings": graph.warnings().iter().map(ToString::to_string).collect::<Vec<_>>(),
        "vertices": vertices.collect::<Vec<_>>(),
    })
}
