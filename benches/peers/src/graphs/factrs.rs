//! `factrs`: factor graphs, with its own reader and the settings of its example `g2o`.
//!
//! It has no reader and no residual for bundle adjustment.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

use factrs::assign_symbols;
use factrs::core::{GaussNewton, LevenMarquardt, SE2, SE3, Values};
use factrs::optimizers::{BaseOptParams, LevenParams, OptError, OptObserver};
use factrs::traits::Optimizer;
use factrs::utils::load_g20;

use super::Solved;
use super::clock::timed;
use super::g2o::{Dimension, Graph};

assign_symbols!(X: SE2, SE3);

/// Solves a pose graph by Gauss–Newton steps.
pub fn gauss_newton(graph: &Graph, file: &Path) -> Solved<Graph> {
    solve(graph, file, |factors| GaussNewton::new(base(), factors))
}

/// Solves a pose graph by Levenberg–Marquardt steps.
pub fn levenberg_marquardt(graph: &Graph, file: &Path) -> Solved<Graph> {
    let params = LevenParams { min_model_fidelity: -1e4, base: base(), ..Default::default() };
    solve(graph, file, |factors| LevenMarquardt::new(params, factors))
}

fn base() -> BaseOptParams {
    BaseOptParams { max_iterations: 200, error_tol_relative: 1e-4, ..Default::default() }
}

fn solve<O: Optimizer>(graph: &Graph, file: &Path, optimizer: impl FnOnce(factrs::core::Graph) -> O) -> Solved<Graph> {
    let (factors, start) = load_g20(file.to_str().expect("the name of the file is text"));
    let mut optimizer = optimizer(factors);
    let steps = Rc::new(Cell::new(0));
    optimizer.add_observer(Counter(Rc::clone(&steps)));
    let (result, time) = timed(|| optimizer.optimize(start));
    let values = match result {
        Ok(values) | Err(OptError::MaxIterations(values)) => values,
        Err(error) => panic!("{error:?}"),
    };
    let mut estimate = graph.clone();
    for vertex in &mut estimate.vertices {
        vertex.pose = pose(graph.dimension, &values, vertex.id);
    }
    Solved { estimate, iterations: Some(steps.get()), time }
}

fn pose(dimension: Dimension, values: &Values, id: u64) -> Vec<f64> {
    let key = X(u32::try_from(id).expect("the reader has taken it"));
    match dimension {
        Dimension::Plane => {
            let pose: &SE2 = values.get(key).expect("every vertex has a value");
            vec![pose.x(), pose.y(), pose.theta()]
        }
        Dimension::Space => {
            let pose: &SE3 = values.get(key).expect("every vertex has a value");
            let (place, turn) = (pose.xyz(), pose.rot());
            vec![place[0], place[1], place[2], turn.x(), turn.y(), turn.z(), turn.w()]
        }
    }
}

/// Counts steps.
struct Counter(Rc<Cell<usize>>);

impl OptObserver for Counter {
    fn on_step(&self, _: &Values, _: i64) {
        self.0.set(self.0.get() + 1);
    }
}
