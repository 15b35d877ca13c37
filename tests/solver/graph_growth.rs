//! Problems that grow, kept up to date by a Bayes tree.

use marquardt::graph::{
    CostFunction, GraphError, IncrementalSolver, ParameterBlock, Prior, Problem, RelativePose2, ResidualBlock,
};
use marquardt::manifold::{Euclidean, Pose2, SE2};
use marquardt::problem::Loss;
use marquardt::{EvaluationError, LevenbergMarquardt, Real, Scalar};
use proptest::prelude::*;

const INFORMATION: [[f64; 3]; 3] = [[40.0, 1.0, 0.0], [1.0, 30.0, 2.0], [0.0, 2.0, 90.0]];

/// A walk on a grid, with a measurement of each pose from the one before, and of places where it has been before.
struct Walk {
    edges: Vec<(usize, usize, Pose2<f64>)>,
    count: usize,
}

impl Walk {
    fn new(count: usize, seed: u64, noise: f64) -> Self {
        let mut state = seed;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from((state >> 40) as u32) / f64::from(1 << 23) - 1.0
        };
        let mut poses = vec![Pose2::new(0.0, 0.0, 0.0)];
        let mut edges = Vec::new();
        for k in 1..count {
            let turn = [0.0, 0.0, 1.0, -1.0][(2.0 + 2.0 * random()).clamp(0.0, 3.0) as usize];
            let next = poses[k - 1] * Pose2::new(1.0, 0.0, turn * std::f64::consts::FRAC_PI_2);
            poses.push(next);
            let near = |other: &Pose2<f64>| {
                let [x, y] = next.inverse_transform(other.translation);
                x * x + y * y < 0.5
            };
            let seen = poses[..k - 1].iter().position(near);
            for other in std::iter::once(k - 1).chain(seen) {
                let error = Pose2::new(noise * random(), noise * random(), noise * random());
                edges.push((other, k, poses[other].between(next) * error));
            }
        }
        Walk { edges, count }
    }

    /// Adds pose `k` with its measurements.
    fn extend(&self, k: usize, problem: &mut Problem, poses: &mut Vec<ParameterBlock<SE2>>) -> Vec<ResidualBlock> {
        let own: Vec<_> = self.edges.iter().filter(|edge| edge.1 == k).collect();
        let start = match own.first() {
            Some((a, _, measured)) => Pose2::from_slice(problem.point(poses[*a]).unwrap()) * *measured,
            None => Pose2::new(0.0, 0.0, 0.0),
        };
        poses.push(problem.add_parameter_block(SE2, &start.to_array()).unwrap());
        if k == 0 {
            problem.set_constant(poses[0]).unwrap();
        }
        let edge = |&&(a, b, measured): &&(usize, usize, Pose2<f64>)| {
            let function = RelativePose2::new(measured, INFORMATION).unwrap();
            problem.add_residual_block(function, (poses[a], poses[b])).unwrap()
        };
        own.iter().map(edge).collect()
    }
}

/// Asserts that a solve of the whole does not lower the cost, and leaves the points where they are.
fn assert_minimum(problem: &mut Problem, poses: &[ParameterBlock<SE2>], tolerance: f64) {
    let points = |problem: &Problem| -> Vec<f64> {
        poses.iter().flat_map(|&pose| problem.point(pose).unwrap().to_vec()).collect()
    };
    let (cost, before) = (problem.cost().unwrap(), points(problem));
    let report = problem.solve(&LevenbergMarquardt::new()).unwrap();
    assert!(cost <= report.cost * (1.0 + tolerance) + 1e-20, "{cost} and {}", report.cost);
    let far = before.iter().zip(points(problem)).find(|(before, after)| (*before - after).abs() > 5e-3);
    assert!(far.is_none(), "{far:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn walks_fed_pose_by_pose_end_where_all_at_once_does(seed: u64, count in 3..60_usize) {
        let walk = Walk::new(count, seed, 0.05);
        let (mut problem, mut poses, mut solver) = (Problem::new(), Vec::new(), IncrementalSolver::new());
        for k in 0..walk.count {
            walk.extend(k, &mut problem, &mut poses);
            let report = solver.update(&mut problem).unwrap();
            prop_assert!(!report.is_full && report.eliminated <= k);
        }
        let report = solver.update_until_settled(&mut problem, 50).unwrap();
        prop_assert_eq!(report.pending, 0);
        assert_minimum(&mut problem, &poses, 1e-6);
    }
}

#[test]
fn a_zero_threshold_ends_at_the_minimum_itself() {
    let walk = Walk::new(80, 4, 0.1);
    let (mut problem, mut poses) = (Problem::new(), Vec::new());
    let mut solver = IncrementalSolver::new().with_relinearization_threshold(1e-9);
    for k in 0..walk.count {
        walk.extend(k, &mut problem, &mut poses);
        solver.update(&mut problem).unwrap();
    }
    solver.update_until_settled(&mut problem, 50).unwrap();
    assert_minimum(&mut problem, &poses, 1e-12);
}

#[test]
fn residual_blocks_are_excluded_and_included_and_points_are_moved() {
    let walk = Walk::new(60, 11, 0.02);
    let (mut problem, mut poses, mut solver) = (Problem::new(), Vec::new(), IncrementalSolver::new());
    for k in 0..walk.count {
        walk.extend(k, &mut problem, &mut poses);
        solver.update(&mut problem).unwrap();
    }
    let settle = |solver: &mut IncrementalSolver, problem: &mut Problem| {
        let report = solver.update_until_settled(problem, 50).unwrap();
        assert!(!report.is_full && report.pending == 0, "{report:?}");
        assert_minimum(problem, &poses, 1e-6);
    };
    settle(&mut solver, &mut problem);
    let clean = problem.cost().unwrap();

    let wrong = RelativePose2::new(Pose2::new(3.0, 1.0, 0.5), INFORMATION).unwrap();
    let wrong = problem.add_residual_block(wrong, (poses[5], poses[50])).unwrap();
    settle(&mut solver, &mut problem);
    assert!(problem.cost().unwrap() > 10.0 * clean);
    problem.set_excluded(wrong, true).unwrap();
    settle(&mut solver, &mut problem);
    assert!((problem.cost().unwrap() / clean - 1.0).abs() < 1e-5);
    problem.set_excluded(wrong, false).unwrap();
    problem.set_loss(wrong, Some((Loss::GemanMcClure, 1.0))).unwrap();
    settle(&mut solver, &mut problem);
    assert!(problem.cost().unwrap() < clean + 1.0);

    problem.set_point(poses[30], &Pose2::new(1.0, 2.0, 3.0).to_array()).unwrap();
    solver.update_until_settled(&mut problem, 50).unwrap();
    assert_minimum(&mut problem, &poses, 1e-6);
}

#[test]
fn blocks_become_constant_and_variable() {
    let walk = Walk::new(30, 3, 0.02);
    let (mut problem, mut poses, mut solver) = (Problem::new(), Vec::new(), IncrementalSolver::new());
    for k in 0..walk.count {
        walk.extend(k, &mut problem, &mut poses);
        if k == 20 {
            problem.set_constant(poses[10]).unwrap();
            problem.set_subset_constant(poses[15], &[2]).unwrap();
        }
        if k == 25 {
            problem.set_variable(poses[10]).unwrap();
        }
        let held = problem.point(poses[10.min(k)]).unwrap().to_vec();
        solver.update(&mut problem).unwrap();
        assert!(!(20..25).contains(&k) || problem.point(poses[10]).unwrap() == held);
    }
    solver.update_until_settled(&mut problem, 50).unwrap();
    assert_minimum(&mut problem, &poses, 1e-6);
}

#[test]
fn what_a_tree_cannot_solve_is_left_to_the_full_solve() {
    fn check<T: Real>(tolerance: f64) {
        let [one, two] = [1.0, 2.0].map(T::from_f64);
        let (mut problem, mut solver) = (Problem::<T>::new(), IncrementalSolver::<T>::new());
        let first = problem.add_parameter_block(Euclidean::<1>, &[one]).unwrap();
        problem.add_residual_block(Prior::new([two], [[one]]).unwrap(), (first,)).unwrap();
        assert!(!solver.update(&mut problem).unwrap().is_full);
        let found = |problem: &Problem<T>| problem.point(first).unwrap()[0].to_f64();
        assert!((found(&problem) - 2.0).abs() < tolerance);

        // A block that nothing determines.
        let second = problem.add_parameter_block(Euclidean::<2>, &[one, two]).unwrap();
        assert!(matches!(solver.update(&mut problem), Err(GraphError::Untouched { block: 1 })));
        let gram = [[one, one], [one, one]];
        problem.add_residual_block(Prior::with_rounded_information([two, two], gram).unwrap(), (second,)).unwrap();
        assert!(solver.update(&mut problem).unwrap().is_full);
        problem
            .add_residual_block(Prior::new([one, one], [[one, T::ZERO], [T::ZERO, one]]).unwrap(), (second,))
            .unwrap();
        assert!(!solver.update(&mut problem).unwrap().is_full);

        problem.set_upper_bound(first, 0, one).unwrap();
        problem.set_point(first, &[T::ZERO]).unwrap();
        assert!(solver.update(&mut problem).unwrap().is_full);
        assert_eq!(found(&problem), 1.0);
    }
    check::<f64>(1e-12);
    check::<f32>(1e-5);
    // Another problem, and an empty one.
    let mut solver = IncrementalSolver::<f64>::new();
    let mut problem = Problem::new();
    let block = problem.add_parameter_block(Euclidean::<1>, &[1.0]).unwrap();
    problem.add_residual_block(Prior::new([f64::MAX], [[1.0]]).unwrap(), (block,)).unwrap();
    assert!(solver.update(&mut problem).is_err());
    let report = solver.update(&mut Problem::new()).unwrap();
    assert_eq!((report.eliminated, report.pending), (0, 0));
}

/// A slope whose square is subnormal, with a residual that asks for a step beyond all numbers.
struct Faint;

impl CostFunction<f64> for Faint {
    type Blocks = (Euclidean<1>,);

    fn residual_count(&self) -> usize {
        1
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        r[0] = blocks[0][0] * 1e-160 + 1e153;
        Ok(())
    }
}

#[test]
fn a_step_beyond_all_numbers_leaves_the_points_of_the_last_update() {
    let (mut problem, mut solver) = (Problem::new(), IncrementalSolver::new());
    let block = problem.add_parameter_block(Euclidean::<1>, &[1.0]).unwrap();
    problem.add_residual_block(Prior::new([2.0], [[1.0]]).unwrap(), (block,)).unwrap();
    solver.update(&mut problem).unwrap();
    // The curvature is positive, but the step to its minimum overflows.
    let next = problem.add_parameter_block(Euclidean::<1>, &[3.0]).unwrap();
    problem.add_residual_block(Faint, (next,)).unwrap();
    let _ = solver.update(&mut problem);
    let points = [problem.point(block).unwrap()[0], problem.point(next).unwrap()[0]];
    assert!((points[0] - 2.0).abs() < 1e-9 && points[1].is_finite(), "{points:?}");
}
