//! Graphs of poses.

use marquardt::LevenbergMarquardt;
use marquardt::graph::{GraduatedNonConvexity, PoseGraph, PoseGraphSolver, Start};
use marquardt::solver::CancelToken;
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::value_error;
use crate::options::{given, loss};
use crate::run;
use crate::status::status_word;

/// Solves a graph, given as the text of a file of g2o or by its name; returns poses, points and what was done.
#[pyfunction]
#[pyo3(signature = (text, is_file, options, threads=0))]
pub fn pose_graph<'py>(
    py: Python<'py>,
    text: String,
    is_file: bool,
    options: &Bound<'py, PyDict>,
    threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let token = CancelToken::new();
    let start = match given::<String>(options, "start")?.as_deref() {
        None | Some("best") => Start::Best,
        Some("given") => Start::Given,
        Some("odometry") => Start::Odometry,
        Some("chordal") => Start::Chordal,
        Some("spectral") => Start::Spectral,
        Some(other) => {
            let known = "'best', 'given', 'odometry', 'chordal' or 'spectral'";
            return Err(value_error(format!("start must be {known}, not {other:?}")));
        }
    };
    let mut solver = LevenbergMarquardt::new().with_cancel_token(token.clone()).with_log(false).with_polish(false);
    solver = solver.with_ftol(given(options, "ftol")?.unwrap_or(1e-8));
    if let Some(iterations) = given(options, "max_iterations")? {
        solver = solver.with_max_iterations(iterations);
    }
    let mut poses = PoseGraphSolver::new().with_start(start).with_solver(solver);
    if let Some(name) = given::<String>(options, "loss")? {
        poses = poses.with_loss(loss(&name)?, given(options, "f_scale")?.unwrap_or(1.0));
    }
    if let Some(true) = given(options, "robust")? {
        poses = poses.with_robust_closures(GraduatedNonConvexity::new());
    }
    let work = move || {
        let read = if is_file { PoseGraph::read(&text) } else { PoseGraph::parse(&text) };
        let mut graph = read.map_err(|error| error.to_string())?;
        let solved = poses.solve(&mut graph).map_err(|error| match graph.line_of(&error) {
            Some(line) => format!("line {line}: {error}"),
            None => error.to_string(),
        })?;
        Ok::<_, String>((graph, solved))
    };
    let (graph, solved) = run::elsewhere(py, threads, || token.cancel(), work)?.map_err(value_error)?;
    let of = |is_point: bool| {
        let vertices = graph.vertices().iter().filter(move |vertex| vertex.is_point == is_point);
        vertices.map(|vertex| (vertex.id, vertex.coordinates.clone())).unzip::<u64, Vec<f64>, Vec<_>, Vec<_>>()
    };
    let result = PyDict::new(py);
    for (name, (ids, coordinates)) in [("poses", of(false)), ("points", of(true))] {
        let rows = match coordinates.is_empty() {
            true => PyArray2::zeros(py, [0, 0], false),
            false => PyArray2::from_vec2(py, &coordinates).map_err(value_error)?,
        };
        result.set_item(name, (ids, rows))?;
    }
    result.set_item("edge_costs", solved.edge_costs)?;
    result.set_item("false_edges", solved.false_edges)?;
    result.set_item("given_cost", solved.given_cost)?;
    result.set_item("start", format!("{:?}", solved.start).to_lowercase())?;
    result.set_item("cost", solved.report.cost)?;
    result.set_item("status", status_word(solved.report.status))?;
    result.set_item("message", solved.report.status.to_string())?;
    result.set_item("success", solved.report.is_converged())?;
    result.set_item("iterations", solved.report.iterations)?;
    result.set_item("warnings", graph.warnings().iter().map(ToString::to_string).collect::<Vec<_>>())?;
    Ok(result)
}
