//! `tiny-solver`: factors with automatic derivatives, at its default settings.
//!
//! Its reader of g2o files leaves the information matrices out and puts a loss on every edge: its factors are of another
//! problem. Those here are of the same problem as the other crates', by its documented way to add a factor.
//!
//! It does not say how many iterations it took.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use nalgebra::{DVector, Isometry2, RealField, SMatrix, SVector, Vector2, Vector3, convert, dvector};
use tiny_solver::factors::{Factor, PriorFactor};
use tiny_solver::gauss_newton_optimizer::GaussNewtonOptimizer;
use tiny_solver::levenberg_marquardt_optimizer::LevenbergMarquardtOptimizer;
use tiny_solver::manifold::se3::{SE3, SE3Manifold};
use tiny_solver::optimizer::Optimizer;
use tiny_solver::problem::Problem;

use super::Solved;
use super::clock::timed;
use super::g2o::{Dimension, Edge, Graph};

/// Solves a pose graph by Gauss–Newton steps.
pub fn gauss_newton(graph: &Graph, _: &Path) -> Solved<Graph> {
    solve(graph, &GaussNewtonOptimizer::new())
}

/// Solves a pose graph by Levenberg–Marquardt steps.
pub fn levenberg_marquardt(graph: &Graph, _: &Path) -> Solved<Graph> {
    solve(graph, &LevenbergMarquardtOptimizer::default())
}

fn solve(graph: &Graph, optimizer: &impl Optimizer) -> Solved<Graph> {
    let (problem, start) = problem(graph);
    let (result, time) = timed(|| optimizer.optimize(&problem, &start, None));
    let values = result.expect("it finds a solution");
    let mut estimate = graph.clone();
    for (index, vertex) in estimate.vertices.iter_mut().enumerate() {
        let value = &values[&name(index)];
        vertex.pose = match graph.dimension {
            Dimension::Plane => vec![value[1], value[2], value[0]],
            Dimension::Space => vec![value[4], value[5], value[6], value[0], value[1], value[2], value[3]],
        };
    }
    Solved { estimate, iterations: None, time }
}

/// The problem of a graph and its starting point. Manifolds cannot be held constant, so priors hold the constant
/// vertices, as in the crate's own reader.
fn problem(graph: &Graph) -> (Problem, HashMap<String, DVector<f64>>) {
    let (mut problem, mut start) = (Problem::new(), HashMap::new());
    for (index, vertex) in graph.vertices.iter().enumerate() {
        if graph.dimension == Dimension::Space {
            problem.set_variable_manifold(&name(index), Arc::new(SE3Manifold));
        }
        start.insert(name(index), value(&vertex.pose));
    }
    for edge in &graph.edges {
        let names = edge.vertices.map(name);
        let names = [&names[0][..], &names[1]];
        match graph.dimension {
            Dimension::Plane => problem.add_residual_block(3, &names, Box::new(Between2::new(edge)), None),
            Dimension::Space => problem.add_residual_block(6, &names, Box::new(Between3::new(edge)), None),
        };
    }
    for &vertex in graph.constant() {
        let v = start[&name(vertex)].clone();
        problem.add_residual_block(v.len(), &[&name(vertex)], Box::new(PriorFactor { v }), None);
    }
    (problem, start)
}

fn name(vertex: usize) -> String {
    format!("x{vertex}")
}

/// Numbers of a pose in the order of this crate: the rotation first.
fn value(pose: &[f64]) -> DVector<f64> {
    match *pose {
        [x, y, angle] => dvector![angle, x, y],
        [x, y, z, i, j, k, w] => dvector![i, j, k, w, x, y, z],
        _ => unreachable!("poses have three numbers or seven"),
    }
}

/// `L` with `LᵀL` the information matrix.
fn root<const N: usize>(triangle: &[f64]) -> SMatrix<f64, N, N> {
    let mut matrix = SMatrix::<f64, N, N>::zeros();
    let places = (0..N).flat_map(|i| (i..N).map(move |j| (i, j)));
    for ((i, j), &entry) in places.zip(triangle) {
        matrix[(i, j)] = entry;
        matrix[(j, i)] = entry;
    }
    matrix.cholesky().expect("the reader has checked the edges").l().transpose()
}

/// `L log(M⁻¹ A⁻¹ B)` in the plane.
struct Between2 {
    measured: [f64; 3],
    root: SMatrix<f64, 3, 3>,
}

impl Between2 {
    fn new(edge: &Edge) -> Self {
        let measured = edge.measured[..].try_into().expect("poses in the plane have three numbers");
        Between2 { measured, root: root(&edge.information) }
    }
}

impl<T: RealField> Factor<T> for Between2 {
    fn residual_func(&self, params: &[DVector<T>]) -> DVector<T> {
        let [a, b] =
            [&params[0], &params[1]].map(|p| Isometry2::new(Vector2::new(p[1].clone(), p[2].clone()), p[0].clone()));
        let [x, y, angle] = self.measured.map(convert::<f64, T>);
        let error = Isometry2::new(Vector2::new(x, y), angle).inverse() * a.inverse() * b;
        let [x, y] = [error.translation.x.clone(), error.translation.y.clone()];
        let angle = error.rotation.angle();
        let half = angle.clone() * convert::<f64, T>(0.5);
        // h cot(h)
        let along = if half.clone().abs() < convert(1e-4) {
            T::one() - half.clone() * half.clone() / convert(3.0)
        } else {
            half.clone() / half.clone().tan()
        };
        let log =
            SVector::<T, 3>::new(along.clone() * x.clone() + half.clone() * y.clone(), along * y - half * x, angle);
        let r = self.root.cast::<T>() * log;
        DVector::from_column_slice(r.as_slice())
    }
}

/// `L log(M⁻¹ A⁻¹ B)` in space.
struct Between3 {
    /// In the order of this crate.
    measured: DVector<f64>,
    root: SMatrix<f64, 6, 6>,
}

impl Between3 {
    fn new(edge: &Edge) -> Self {
        Between3 { measured: value(&edge.measured), root: root(&edge.information) }
    }
}

impl<T: RealField> Factor<T> for Between3 {
    fn residual_func(&self, params: &[DVector<T>]) -> DVector<T> {
        let [a, b] = [&params[0], &params[1]].map(|p| SE3::from_vec(p.as_view()));
        let measured = SE3::from_vec(self.measured.as_view()).cast::<T>();
        let error = measured.inverse() * a.inverse() * b;
        let turn = error.rot.log();
        let turn = Vector3::new(turn[0].clone(), turn[1].clone(), turn[2].clone());
        let square = turn.norm_squared();
        // (1 − θ sin(θ) / (2 (1 − cos(θ)))) / θ²
        let across = if square < convert(1e-4) {
            square / convert(720.0) + convert(1.0 / 12.0)
        } else {
            let angle = square.clone().sqrt();
            let share = angle.clone() * angle.clone().sin() / ((T::one() - angle.cos()) * convert(2.0));
            (T::one() - share) / square
        };
        let cross = turn.cross(&error.xyz);
        let place = error.xyz - &cross * convert::<f64, T>(0.5) + turn.cross(&cross) * across;
        let mut log = SVector::<T, 6>::zeros();
        log.fixed_rows_mut::<3>(0).copy_from(&place);
        log.fixed_rows_mut::<3>(3).copy_from(&turn);
        let r = self.root.cast::<T>() * log;
        DVector::from_column_slice(r.as_slice())
    }
}
