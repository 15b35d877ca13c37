//! Parts that are none of the crate's, in its loop: each is a file and a line here.

mod doubling;
mod halved;
mod logarithmic;
mod lu_model;

use std::marker::PhantomData;

use super::damping::{DampingPolicy, GainRatio};
use super::descent::{Arrival, Descent, DescentParts};
use super::refinement::{Acceleration, GeodesicAcceleration, Refinement};
use super::solve::Solve;
use super::space::{EuclideanSpace, Space};
use super::start::start;
use super::{LevenbergMarquardt, Report, Scaling, Settings};
use crate::clock::Stopwatch;
use crate::evaluation::{ProblemRows, RowWorkspace};
use crate::linear::{LinearForm, LinearModel, Plan, RowModel};
use crate::problem::{Analytic, LeastSquares};
use crate::storage::Dynamic;

/// Any parts.
struct OwnParts<M, G, R, D>(PhantomData<(M, G, R, D)>);

impl<M: LinearModel<f64>, G: Space<f64>, R: Refinement<f64>, D: DampingPolicy<f64>> DescentParts<f64>
    for OwnParts<M, G, R, D>
{
    type Storage = Dynamic;
    type Model = M;
    type Space = G;
    type Refinement = R;
    type Damping = D;
}

/// Solves with these parts.
fn solve<M: LinearModel<f64>, G: Space<f64>, R: Refinement<f64>, D: DampingPolicy<f64>>(
    problem: &mut dyn LeastSquares<f64>,
    x: &[f64],
    parts: (M, G, R, D),
) -> Report<f64> {
    let (m, n) = (problem.residual_count(), x.len());
    let mut workspace = RowWorkspace::<f64, Dynamic>::new(m, n, m);
    let mut evaluation = ProblemRows::new(problem, &mut workspace);
    let mut descent =
        Descent::<f64, OwnParts<M, G, R, D>>::new((x.to_vec(), n), parts, Scaling::default(), Arrival::Linearize);
    start(&mut descent, &mut evaluation).unwrap();
    let settings = Settings::default();
    let report = Solve::new(descent, &mut evaluation, &settings, None, Stopwatch::start()).run();
    assert!(report.is_converged(), "{report}");
    report
}

/// The crate's normal equations, for `m` rows of `n` columns.
fn normal_equations(m: usize, n: usize) -> RowModel<f64, Dynamic> {
    RowModel::new(&Plan::of_rows(LinearForm::Cholesky, false, (m, n), m))
}

/// Rosenbrock's valley, with its minimum at `(1, 1)`.
fn valley() -> impl LeastSquares<f64> {
    Analytic::new(2, 2, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
        r.copy_from_slice(&[10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]]);
        jacobian.into_iter().for_each(|j| j.copy_from_slice(&[-20.0 * x[0], 10.0, -1.0, 0.0]));
        Ok(())
    })
}

#[test]
fn the_crates_parts_find_the_minimum() {
    let parts = (
        normal_equations(2, 2),
        EuclideanSpace,
        GeodesicAcceleration::new(Acceleration::Never),
        GainRatio::<f64>::default(),
    );
    let report = solve(&mut valley(), &[-1.2, 1.0], parts);
    let reference =
        LevenbergMarquardt::<f64>::new().with_acceleration(Acceleration::Never).minimize(&mut valley(), &[-1.2, 1.0]);
    assert!(report.x.iter().all(|x| (x - 1.0).abs() < 1e-12));
    assert!(reference.unwrap().x.iter().zip(&report.x).all(|(x, y)| (x - y).abs() < 1e-12));
}
