//! Problems of blocks: the answer depends neither on the form of the linear system nor on the order of blocks.

use std::marker::PhantomData;
use std::ops::ControlFlow;

use marquardt::graph::{
    AnalyticCostFunction, CostFunction, GraphError, ParameterBlock, Problem, RelativePose2, RelativePose3,
    WithJacobians,
};
use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::manifold::{Euclidean, Manifold, Pose2, Pose3, ProductManifold, SE2, SE3, SO2};
use marquardt::problem::{BlockJacobian, Bounded, Capabilities};
use marquardt::solver::{IterationRecord, Status};
use marquardt::{Bounds, EvaluationError, LeastSquares, LevenbergMarquardt, Loss, Real, Scalar, SolveError};
use nalgebra::DMatrix;
use proptest::prelude::*;

/// The prior of a vector.
struct Prior<const N: usize>([f64; N]);

impl<const N: usize> CostFunction<f64> for Prior<N> {
    type Blocks = (Euclidean<N>,);

    fn residual_count(&self) -> usize {
        N
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        r.iter_mut().zip(blocks[0].iter().zip(self.0)).for_each(|(r, (&x, mean))| *r = x - mean);
        Ok(())
    }
}

/// `sin` of the difference of two vectors' first numbers, and the product of their last.
#[derive(Clone, Copy)]
struct Coupling {
    weight: f64,
    target: f64,
}

impl CostFunction<f64> for Coupling {
    type Blocks = (Euclidean<2>, Euclidean<3>);

    fn residual_count(&self) -> usize {
        2
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        let (a, b) = (blocks[0], blocks[1]);
        r[0] = ((a[0] - b[0]).sin() + a[1] * b[1] * 0.1 - self.target) * self.weight;
        r[1] = a[1] * b[2] * 0.2 + b[1] - self.target;
        Ok(())
    }
}

/// Vectors of two and of three numbers with priors, and couplings between them.
#[derive(Debug, Clone)]
struct Couplings {
    pairs: Vec<(usize, usize)>,
    weights: Vec<f64>,
    sizes: (usize, usize),
}

fn couplings() -> impl Strategy<Value = Couplings> {
    (1..6_usize, 1..6_usize).prop_flat_map(|sizes| {
        let pairs = prop::collection::vec((0..sizes.0, 0..sizes.1), 1..20);
        (pairs, prop::collection::vec(0.2..2.0_f64, 20)).prop_map(move |(pairs, weights)| Couplings {
            pairs,
            weights,
            sizes,
        })
    })
}

/// Blocks in this order, and the loss of the couplings.
struct Built {
    problem: Problem,
    twos: Vec<ParameterBlock<Euclidean<2>>>,
    threes: Vec<ParameterBlock<Euclidean<3>>>,
}

fn build(couplings: &Couplings, reversed: bool, loss: Option<Loss>) -> Built {
    let mut problem = Problem::new();
    let start = |i: usize| 0.3 * (i as f64 * 1.3).sin();
    let order =
        |count: usize| -> Vec<usize> { if reversed { (0..count).rev().collect() } else { (0..count).collect() } };
    let mut twos = vec![None; couplings.sizes.0];
    let mut threes = vec![None; couplings.sizes.1];
    if reversed {
        for i in order(couplings.sizes.1) {
            threes[i] = Some(problem.add_parameter_block(Euclidean::<3>, &[start(i), 0.1, -start(i)]).unwrap());
        }
    }
    for i in order(couplings.sizes.0) {
        twos[i] = Some(problem.add_parameter_block(Euclidean::<2>, &[start(i + 7), 0.5]).unwrap());
    }
    if !reversed {
        for i in order(couplings.sizes.1) {
            threes[i] = Some(problem.add_parameter_block(Euclidean::<3>, &[start(i), 0.1, -start(i)]).unwrap());
        }
    }
    let (twos, threes): (Vec<_>, Vec<_>) =
        (twos.into_iter().flatten().collect(), threes.into_iter().flatten().collect());
    let add_priors = |problem: &mut Problem| {
        for (i, &block) in twos.iter().enumerate() {
            problem.add_residual_block(Prior([i as f64 * 0.1, 0.4]), (block,)).unwrap();
        }
        for (i, &block) in threes.iter().enumerate() {
            problem.add_residual_block(Prior([0.2, i as f64 * 0.2, 0.3]), (block,)).unwrap();
        }
    };
    if !reversed {
        add_priors(&mut problem);
    }
    for k in order(couplings.pairs.len()) {
        let (i, j) = couplings.pairs[k];
        let coupling = Coupling { weight: couplings.weights[k], target: 0.3 * (k as f64).cos() };
        let blocks = (twos[i], threes[j]);
        match loss {
            None => problem.add_residual_block(coupling, blocks).unwrap(),
            Some(loss) => problem.add_robust_residual_block(coupling, blocks, loss, 0.3).unwrap(),
        };
    }
    if reversed {
        add_priors(&mut problem);
    }
    Built { problem, twos, threes }
}

impl Built {
    fn points(&self) -> Vec<f64> {
        let twos = self.twos.iter().flat_map(|&block| self.problem.point(block).unwrap().to_vec());
        twos.chain(self.threes.iter().flat_map(|&block| self.problem.point(block).unwrap().to_vec())).collect()
    }
}

fn near(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * (1.0 + a.abs()))
}

/// Largest differences of answers that should be the same, relative to the numbers.
const AGREEMENT: f64 = 1e-10;

/// Forms that are compared with the one that is chosen.
const FORMS: [LinearForm; 5] =
    [LinearForm::Cholesky, LinearForm::Qr, LinearForm::Schur, LinearForm::Cgnr, LinearForm::IterativeSchur];

/// A relative pose of points of any manifold with the numbers of SE(2).
struct Relative<M>(RelativePose2<f64>, PhantomData<fn() -> M>);

impl<M: Manifold<f64> + 'static> CostFunction<f64> for Relative<M> {
    type Blocks = (M, M);

    fn residual_count(&self) -> usize {
        3
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        CostFunction::<f64>::evaluate(&self.0, blocks, r)
    }
}

/// Poses in the plane with noisy measurements between them, which contradict each other.
#[derive(Debug, Clone)]
struct Map {
    poses: Vec<[f64; 3]>,
    edges: Vec<(usize, usize, [f64; 3])>,
}

fn maps() -> impl Strategy<Value = Map> {
    (3..12_usize).prop_flat_map(|count| {
        let noise = || prop::array::uniform3(-0.1..0.1_f64);
        let closures = prop::collection::vec((0..count, 0..count, noise()), 0..8);
        (prop::collection::vec(noise(), count), prop::collection::vec(noise(), count), closures).prop_map(
            move |(starts, steps, closures)| {
                let truth = |i: usize| Pose2::new((i as f64).cos() * 3.0, i as f64, 0.7 * i as f64);
                let off = |pose: Pose2<f64>, by: [f64; 3]| pose.compose(Pose2::new(by[0], by[1], by[2]));
                let numbers = |pose: Pose2<f64>| [pose.translation[0], pose.translation[1], pose.rotation.log()];
                let poses = starts.iter().enumerate().map(|(i, &noise)| numbers(off(truth(i), noise))).collect();
                let chain = (1..count).map(|i| (i - 1, i, steps[i]));
                let pairs = chain.chain(closures.into_iter().filter(|&(i, j, _)| i != j));
                let edges =
                    pairs.map(|(i, j, noise)| (i, j, numbers(off(truth(i).between(truth(j)), noise)))).collect();
                Map { poses, edges }
            },
        )
    })
}

impl Map {
    /// The cost and the points of all poses, the first of which is constant.
    fn solve<M: Manifold<f64> + Clone + 'static>(
        &self,
        manifold: M,
        reversed: bool,
        loss: Option<(Loss, f64)>,
        solver: LinearSolver,
    ) -> Result<(f64, Vec<f64>), TestCaseError> {
        let count = self.poses.len();
        let mut problem = Problem::new();
        let mut blocks = vec![None; count];
        for k in 0..count {
            let k = if reversed { count - 1 - k } else { k };
            let [x, y, angle] = self.poses[k];
            blocks[k] =
                Some(problem.add_parameter_block(manifold.clone(), &Pose2::new(x, y, angle).to_array()).unwrap());
        }
        let blocks: Vec<ParameterBlock<M>> = blocks.into_iter().flatten().collect();
        problem.set_constant(blocks[0]).unwrap();
        let mut edges = self.edges.clone();
        if reversed {
            edges.reverse();
        }
        for (i, j, [x, y, angle]) in edges {
            let information = [[4.0, 0.5, 0.0], [0.5, 3.0, 0.0], [0.0, 0.0, 9.0]];
            let edge = Relative::<M>(RelativePose2::new(Pose2::new(x, y, angle), information).unwrap(), PhantomData);
            match loss {
                None => problem.add_residual_block(edge, (blocks[i], blocks[j])).unwrap(),
                Some((loss, scale)) => {
                    problem.add_robust_residual_block(edge, (blocks[i], blocks[j]), loss, scale).unwrap()
                }
            };
        }
        let solver = LevenbergMarquardt::new().with_linear_solver(solver);
        let report = problem.solve(&solver).unwrap();
        prop_assert!(report.is_converged(), "{report}");
        let points = blocks.iter().flat_map(|&block| problem.point(block).unwrap().to_vec()).collect();
        // A graph without closures has no contradiction, and a cost of rounding.
        Ok((report.cost.max(1e-12), points))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever solves the linear system, and in whatever order blocks are added.
    #[test]
    fn forms_and_orders_agree(couplings in couplings(), robust: bool) {
        let loss = robust.then_some(Loss::Cauchy);
        let mut sparse = build(&couplings, false, loss);
        let report = sparse.problem.solve(&LevenbergMarquardt::new()).unwrap();
        prop_assert!(report.is_converged() && report.linear_form == LinearForm::SparseCholesky, "{report}");
        prop_assert!((sparse.problem.cost().unwrap() - report.cost).abs() <= 1e-12 * report.cost.max(1e-12));
        let mut reversed = build(&couplings, true, loss);
        reversed.problem.solve(&LevenbergMarquardt::new()).unwrap();
        prop_assert!(near(&sparse.points(), &reversed.points(), AGREEMENT), "{:?}, {:?}", sparse.points(), reversed.points());
        for form in FORMS {
            let mut other = build(&couplings, false, loss);
            let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form));
            let of_other = other.problem.solve(&solver).unwrap();
            prop_assert!(of_other.is_converged() && of_other.linear_form == form, "{of_other}");
            prop_assert!((of_other.cost - report.cost).abs() <= AGREEMENT * report.cost, "{form}: {report}{of_other}");
            prop_assert!(near(&sparse.points(), &other.points(), AGREEMENT), "{form}: {report}{of_other}");
        }
    }

    /// Whatever the chart of the poses, the order of blocks and edges, and the form of the linear system. Where all measurements of a
    /// loop are outliers, minima are flat: Huber's and Cauchy's losses have wider scales.
    #[test]
    fn charts_orders_and_forms_agree(
        map in maps(),
        loss in prop::sample::select(vec![
            None,
            Some((Loss::Huber, 0.6)),
            Some((Loss::SoftL1, 0.2)),
            Some((Loss::Cauchy, 2.0)),
        ]),
    ) {
        let reference = map.solve(SE2, false, loss, LinearSolver::Auto)?;
        for form in FORMS.into_iter().chain([LinearForm::SparseCholesky]) {
            for reversed in [false, true] {
                let solver = LinearSolver::Always(form);
                for other in [map.solve(SE2, reversed, loss, solver)?, map.solve(ProductManifold(Euclidean::<2>, SO2), reversed, loss, solver)?] {
                    prop_assert!((other.0 - reference.0).abs() <= AGREEMENT * reference.0, "{form}: {}, {}", other.0, reference.0);
                    prop_assert!(near(&other.1, &reference.1, AGREEMENT), "{form}, {reversed}: {:?}, {:?}", other.1, reference.1);
                }
            }
        }
    }

    /// Marginal covariances are blocks of the inverse of `JᵀJ`, taken by differences here.
    #[test]
    fn covariances_are_those_of_the_dense_inverse(couplings in couplings()) {
        let mut built = build(&couplings, false, None);
        built.problem.solve(&LevenbergMarquardt::new()).unwrap();
        let x = built.points();
        let n = x.len();
        // Residuals are recovered from the gradients of costs: the Hessian of Gauss–Newton is that of a sum of squares of rows.
        let rows = |x: &[f64]| {
            let two = |i: usize| &x[2 * i..2 * i + 2];
            let three = |j: usize| &x[2 * built.twos.len() + 3 * j..][..3];
            let mut rows = x.to_vec();
            for (k, &(i, j)) in couplings.pairs.iter().enumerate() {
                let coupling = Coupling { weight: couplings.weights[k], target: 0.0 };
                let mut r = [0.0; 2];
                coupling.evaluate(&[two(i), three(j)], &mut r).unwrap();
                rows.extend(r);
            }
            rows
        };
        let h = 1e-6;
        let columns = (0..n).map(|j| {
            let (mut ahead, mut behind) = (x.clone(), x.clone());
            ahead[j] += h;
            behind[j] -= h;
            rows(&ahead).iter().zip(rows(&behind)).map(|(a, b)| (a - b) / (2.0 * h)).collect::<Vec<f64>>()
        });
        let jacobian = DMatrix::from_columns(&columns.map(nalgebra::DVector::from_vec).collect::<Vec<_>>());
        let inverse = (jacobian.transpose() * jacobian).try_inverse().unwrap();
        let mut covariance = built.problem.covariance().unwrap();
        for (i, &a) in built.twos.iter().enumerate() {
            for (j, &b) in built.threes.iter().enumerate() {
                let block = covariance.block(a, b).unwrap();
                let (row, column) = (2 * i, 2 * built.twos.len() + 3 * j);
                for ((r, c), &found) in block.indexed_iter() {
                    prop_assert!((found - inverse[(row + r, column + c)]).abs() < 1e-8, "{found}");
                }
            }
            let errors = covariance.standard_errors(a).unwrap();
            prop_assert!((errors[1] - inverse[(2 * i + 1, 2 * i + 1)].sqrt()).abs() < 1e-8);
        }
    }
}

const UNIT: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// Poses around a circle, with a measurement between neighbours and across.
fn circle(poses: usize) -> (Problem, Vec<ParameterBlock<SE2>>) {
    let mut problem = Problem::new();
    let turn = std::f64::consts::TAU / poses as f64;
    let blocks: Vec<_> = (0..poses)
        .map(|i| Pose2::new(i as f64, (3 * i) as f64 * 0.1, 0.9 * turn * i as f64))
        .map(|pose| problem.add_parameter_block(SE2, &pose.to_array()).unwrap())
        .collect();
    let step = Pose2::new(1.0, 0.02, turn);
    for i in 0..poses {
        let edge = RelativePose2::new(step, UNIT).unwrap();
        problem.add_residual_block(edge, (blocks[i], blocks[(i + 1) % poses])).unwrap();
    }
    (problem, blocks)
}

#[test]
fn what_is_constant_stays_bit_for_bit() {
    let (mut problem, poses) = circle(20);
    problem.set_constant(poses[0]).unwrap();
    problem.set_subset_constant(poses[5], &[2]).unwrap();
    let (first, fifth) = (problem.point(poses[0]).unwrap().to_vec(), problem.point(poses[5]).unwrap().to_vec());
    let report = problem.solve(&LevenbergMarquardt::new()).unwrap();
    assert!(report.is_converged(), "{report}");
    assert_eq!(problem.point(poses[0]).unwrap(), first);
    let moved = problem.point(poses[5]).unwrap();
    // Its angle is held, its place is not.
    assert!((moved[2] - fifth[2]).abs() < 1e-12 && (moved[0] - fifth[0]).abs() > 1e-3, "{moved:?}, {fifth:?}");
    let mut covariance = problem.covariance().unwrap();
    assert_eq!(covariance.standard_errors(poses[0]).unwrap().to_vec(), [0.0; 3]);
    let errors = covariance.standard_errors(poses[5]).unwrap();
    assert!(errors[2] == 0.0 && errors[0] > 0.1);
    // Without the angle that is held, the cost is lower.
    problem.set_variable(poses[5]).unwrap();
    let free = problem.solve(&LevenbergMarquardt::new()).unwrap();
    assert!(free.is_converged() && free.cost < report.cost);
}

#[test]
fn a_graph_without_a_constant_pose_is_solved_and_undetermined() {
    let (mut problem, poses) = circle(12);
    let report = problem.solve(&LevenbergMarquardt::new()).unwrap();
    assert!(report.is_converged(), "{report}");
    let Err(GraphError::Undetermined { blocks }) = problem.covariance() else { panic!("the gauge is free") };
    assert_eq!(blocks.len(), poses.len());
    let free = report.cost;
    problem.set_constant(poses[3]).unwrap();
    let report = problem.solve(&LevenbergMarquardt::new()).unwrap();
    assert!(report.is_converged() && (report.cost - free).abs() < 1e-20, "{free}: {report}");
    assert!(problem.covariance().is_ok());
}

/// A pose that hangs on one measurement of its place alone: a user's own cost function of two types of blocks.
struct Landmark([f64; 2]);

impl CostFunction<f64> for Landmark {
    type Blocks = (SE2, Euclidean<2>);

    fn residual_count(&self) -> usize {
        2
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        let seen = Pose2::from_slice(blocks[0]).inverse_transform([blocks[1][0], blocks[1][1]]);
        r[0] = seen[0] - self.0[0];
        r[1] = seen[1] - self.0[1];
        Ok(())
    }
}

/// A landmark is so far from a pose.
struct Distance(f64);

impl CostFunction<f64> for Distance {
    type Blocks = (SE2, Euclidean<2>);

    fn residual_count(&self) -> usize {
        1
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        let (x, y) = (blocks[1][0] - blocks[0][0], blocks[1][1] - blocks[0][1]);
        r[0] = (x * x + y * y).sqrt() - self.0;
        Ok(())
    }
}

#[test]
fn blocks_that_are_undetermined_are_named() {
    let (mut problem, poses) = circle(6);
    problem.set_constant(poses[0]).unwrap();
    let loose = problem.add_parameter_block(SE2, &Pose2::new(0.0, 1.0, 0.0).to_array()).unwrap();
    let landmark = problem.add_parameter_block(Euclidean::<2>, &[2.0, 2.0]).unwrap();
    problem.add_residual_block(Landmark([1.0, 1.0]), (poses[2], landmark)).unwrap();
    problem.add_residual_block(Landmark([0.5, 1.0]), (loose, landmark)).unwrap();
    let report = problem.solve(&LevenbergMarquardt::new()).unwrap();
    assert!(report.is_converged(), "{report}");
    match problem.covariance() {
        Err(GraphError::Undetermined { blocks }) => assert_eq!(blocks, [loose.index()]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn poses_in_space_are_found_from_far_starts() {
    fn check<T: Real>(tolerance: f64) {
        let number = T::from_f64;
        let truth: Vec<Pose3<T>> = (0..15)
            .map(|i| {
                let t = f64::from(i);
                Pose3::exp([t, 0.5 * t, -0.2 * t, 0.2 * t, -0.1 * t, 0.15 * t].map(number))
            })
            .collect();
        let mut problem = Problem::<T>::new();
        let blocks: Vec<_> = truth
            .iter()
            .enumerate()
            .map(|(i, &pose)| {
                let off = Pose3::exp([0.4, -0.3, 0.5, 0.3, 0.2, -0.3].map(|n| number(n * (i as f64).sin())));
                let mut start = pose.compose(off).to_array();
                SE3.normalize(&mut start);
                problem.add_parameter_block(SE3, &start).unwrap()
            })
            .collect();
        let mut start = truth[0].to_array();
        SE3.normalize(&mut start);
        problem.set_point(blocks[0], &start).unwrap();
        problem.set_constant(blocks[0]).unwrap();
        let information = std::array::from_fn(|i| std::array::from_fn(|j| number(if i == j { 2.0 } else { 0.1 })));
        for (i, j) in (0..14).map(|i| (i, i + 1)).chain([(0, 7), (14, 2), (9, 4)]) {
            let edge = RelativePose3::new(truth[i].between(truth[j]), information).unwrap();
            problem.add_robust_residual_block(edge, (blocks[i], blocks[j]), Loss::Huber, number(1.0)).unwrap();
        }
        let report = problem.solve(&LevenbergMarquardt::new()).unwrap();
        assert!(report.is_converged(), "{report}");
        for (&block, truth) in blocks.iter().zip(&truth) {
            let error = truth.between(Pose3::from_slice(problem.point(block).unwrap())).log();
            assert!(error.iter().all(|e| e.to_f64().abs() < tolerance), "{error:?} {report}");
        }
    }
    check::<f64>(1e-9);
    check::<f32>(1e-2);
}

/// An observer sees every trial, may end the solve, and finds the points; residuals of a block are those of its cost function.
#[test]
fn solves_are_observed_and_residuals_asked_for() {
    let (mut problem, poses) = circle(12);
    let (other, others) = circle(12);
    let range = problem.point_range(poses[5]).unwrap();
    let (mut costs, mut last) = (Vec::new(), Vec::new());
    let solver = LevenbergMarquardt::new();
    let mut watch = |record: &IterationRecord<f64>, x: &[f64]| {
        costs.push(record.cost);
        last = x[range.clone()].to_vec();
        if record.iteration == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let report = problem.solve_observed(&solver, &mut watch).unwrap();
    assert_eq!((report.status, report.iterations, costs.len()), (Status::Cancelled, 2, 2));
    assert_eq!(problem.point(poses[5]).unwrap(), last);
    assert_eq!(problem.cost().unwrap(), report.cost);

    let edge = RelativePose2::new(Pose2::new(1.0, 0.5, 0.0), UNIT).unwrap();
    let block = problem.add_residual_block(edge, (poses[0], poses[1])).unwrap();
    let squares: f64 = problem.residuals(block).unwrap().iter().map(|r| r * r).sum();
    assert!((problem.cost().unwrap() - report.cost - 0.5 * squares).abs() < 1e-12);
    assert!(matches!(other.residuals(block), Err(GraphError::ForeignHandle { .. })));
    assert!(matches!(problem.point_range(others[3]), Err(GraphError::ForeignHandle { index: 3 })));
}

#[test]
fn what_cannot_be_built_is_named() {
    let (mut problem, poses) = circle(4);
    let (mut other, others) = circle(4);
    let edge = || RelativePose2::new(Pose2::new(1.0, 0.0, 0.0), UNIT).unwrap();
    let message = |error: GraphError| error.to_string();
    assert!(matches!(
        problem.add_residual_block(edge(), (poses[0], others[1])),
        Err(GraphError::ForeignHandle { index: 1 })
    ));
    assert!(matches!(
        problem.add_residual_block(edge(), (poses[2], poses[2])),
        Err(GraphError::RepeatedBlock { residual_block: 4, parameter_block: 2 })
    ));
    let error = problem.add_parameter_block(SE2, &[0.0, 0.0, 2.0, 0.0]).unwrap_err();
    assert!(message(error).contains("SE2"));
    assert!(problem.add_parameter_block(SE2, &[0.0, f64::NAN, 1.0, 0.0]).is_err());
    assert!(problem.set_point(poses[0], &[0.0; 3]).is_err());
    assert!(matches!(
        problem.set_subset_constant(poses[0], &[3]),
        Err(GraphError::Direction { block: 0, tangent_size: 3, direction: 3 })
    ));
    let information_error = |information| match RelativePose2::new(Pose2::new(0.0, 0.0, 0.0), information) {
        Err(error) => error,
        Ok(edge) => panic!("{edge:?}"),
    };
    for (expected, information) in [
        (0, [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        (2, [[1.0, 0.0, 0.0], [0.0, 1.0, 2.0], [0.0, 2.0, 1.0]]),
        (1, [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    ] {
        let error = information_error(information);
        assert!(matches!(error, GraphError::InformationNotPositiveDefinite { row } if row == expected), "{error}");
    }
    let error = information_error([[1.0, 0.0, 0.5], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    assert!(matches!(error, GraphError::InformationNotSymmetric { row: 0, column: 2 }), "{error}");
    let error = information_error([[1.0, 0.0, 0.0], [0.0, f64::NAN, 0.0], [0.0, 0.0, 1.0]]);
    assert!(matches!(error, GraphError::InformationNotFinite { row: 1, column: 1 }), "{error}");
    assert!(problem.add_robust_residual_block(edge(), (poses[0], poses[2]), Loss::Huber, 0.0).is_err());
    assert!(other.point(poses[0]).is_err() && other.set_constant(poses[1]).is_err());

    // Measurements that are not numbers are named at the start.
    let nothing = RelativePose2::new(Pose2::new(f64::NAN, 0.0, 0.0), UNIT).unwrap();
    problem.add_residual_block(nothing, (poses[0], poses[2])).unwrap();
    let error = problem.solve(&LevenbergMarquardt::new()).unwrap_err();
    assert!(matches!(error, GraphError::NonFiniteResidual { residual_block: 4, residual: 0, .. }), "{error}");
    // Residual blocks count in the order in which they were added, whatever their type.
    let (mut mixed, poses) = circle(3);
    let landmark = mixed.add_parameter_block(Euclidean::<2>, &[1.0, 1.0]).unwrap();
    mixed.add_residual_block(Landmark([f64::INFINITY, 0.0]), (poses[0], landmark)).unwrap();
    mixed.add_residual_block(edge(), (poses[0], poses[2])).unwrap();
    let error = mixed.cost().unwrap_err();
    assert!(matches!(error, GraphError::NonFiniteResidual { residual_block: 3, residual: 0, .. }), "{error}");

    // A distance has no derivative where it is zero.
    let (mut ranges, poses) = circle(3);
    let place = [ranges.point(poses[1]).unwrap()[0], ranges.point(poses[1]).unwrap()[1]];
    let landmark = ranges.add_parameter_block(Euclidean::<2>, &place).unwrap();
    ranges.add_residual_block(Distance(1.0), (poses[0], landmark)).unwrap();
    ranges.add_residual_block(Distance(1.0), (poses[1], landmark)).unwrap();
    let error = ranges.solve(&LevenbergMarquardt::new()).unwrap_err();
    assert!(matches!(error, GraphError::NonFiniteDerivative { residual_block: 4 }), "{error}");

    other.add_parameter_block(SE2, &Pose2::new(0.0, 0.0, 0.0).to_array()).unwrap();
    assert!(matches!(other.solve(&LevenbergMarquardt::new()), Err(GraphError::Untouched { block: 4 })));

    let (mut large, _) = circle(50);
    let error = large.solve(&LevenbergMarquardt::new().with_memory_budget(1000)).unwrap_err();
    assert!(matches!(error, GraphError::Solve(SolveError::MemoryBudget { .. })), "{error}");
    assert!(matches!(Problem::<f64>::new().solve(&LevenbergMarquardt::new()), Err(GraphError::Solve(_))));
    let (mut held, blocks) = circle(3);
    blocks.iter().for_each(|&block| held.set_constant(block).unwrap());
    assert!(matches!(held.solve(&LevenbergMarquardt::new()), Err(GraphError::Solve(SolveError::NoParameters))));
}

/// A residual of Broyden's tridiagonal function (Moré, Garbow & Hillstrom 1981, problem 30).
struct Broyden;

impl CostFunction<f64> for Broyden {
    type Blocks = (Euclidean<1>, Euclidean<1>, Euclidean<1>);

    fn residual_count(&self) -> usize {
        1
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        let (before, x, after) = (blocks[0][0], blocks[1][0], blocks[2][0]);
        r[0] = (-x * 2.0 + 3.0) * x - before - after * 2.0 + 1.0;
        Ok(())
    }
}

#[test]
fn a_regular_sparse_system_is_solved_exactly() {
    let n = 3000;
    let mut problem = Problem::new();
    let edge = problem.add_parameter_block(Euclidean::<1>, &[0.0]).unwrap();
    let other_edge = problem.add_parameter_block(Euclidean::<1>, &[0.0]).unwrap();
    problem.set_constant(edge).unwrap();
    problem.set_constant(other_edge).unwrap();
    let blocks: Vec<_> = (0..n).map(|_| problem.add_parameter_block(Euclidean::<1>, &[-1.0]).unwrap()).collect();
    for i in 0..n {
        let before = if i == 0 { edge } else { blocks[i - 1] };
        let after = blocks.get(i + 1).copied().unwrap_or(other_edge);
        problem.add_residual_block(Broyden, (before, blocks[i], after)).unwrap();
    }
    let report = problem.solve(&LevenbergMarquardt::new()).unwrap();
    assert!(report.is_converged() && report.cost < 1e-25 && report.iterations < 20, "{}", report.cost);
}

/// A problem of one's own with a Jacobian of blocks: `x_i = x_{i+1}` and `x_0 = 1`, as it is or with faults.
struct Chained {
    n: usize,
    fault: Fault,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    NoSuchBlock,
    Twice,
    WrongColumns,
    WrongWidth,
    TooManyBlocks,
}

impl LeastSquares<f64> for Chained {
    fn parameter_count(&self) -> usize {
        self.n
    }

    fn residual_count(&self) -> usize {
        self.n
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        for (i, r) in (first..).zip(r) {
            *r = if i == 0 { x[0] - 1.0 } else { x[i] - x[i - 1] };
        }
        Ok(())
    }

    fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) -> Result<(), EvaluationError> {
        j.fill(0.0);
        for (i, row) in (first..).zip(j.chunks_exact_mut(self.n)) {
            row[i] = 1.0;
            if i > 0 {
                row[i - 1] = -1.0;
            }
        }
        self.residuals(x, first, r)
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<f64> {
        self
    }
}

impl Capabilities<f64> for Chained {
    fn blocks(&mut self) -> Option<&mut dyn BlockJacobian<f64>> {
        Some(self)
    }
}

impl BlockJacobian<f64> for Chained {
    fn column_blocks(&self) -> Vec<usize> {
        vec![1; if self.fault == Fault::WrongColumns { self.n - 1 } else { self.n }]
    }

    fn visit_structure(&self, visit: &mut dyn FnMut(&[usize])) {
        visit(&[0]);
        for i in 1..self.n {
            match self.fault {
                Fault::NoSuchBlock if i == 3 => visit(&[i, self.n]),
                Fault::Twice if i == 2 => visit(&[i, i]),
                _ => visit(&[i, i - 1]),
            }
        }
    }

    fn linearize_blocks(&mut self, x: &[f64], visit: &mut dyn FnMut(&[f64], &[f64])) -> Result<f64, EvaluationError> {
        let mut r = vec![0.0; self.n];
        self.residuals(x, 0, &mut r)?;
        visit(&r[..1], &[1.0]);
        for r in &r[1..] {
            visit(&[*r], if self.fault == Fault::WrongWidth { &[1.0] } else { &[1.0, -1.0] });
        }
        if self.fault == Fault::TooManyBlocks {
            visit(&[0.0], &[1.0]);
        }
        Ok(0.5 * r.iter().map(|r| r * r).sum::<f64>())
    }
}

#[test]
fn a_block_jacobian_of_ones_own_is_solved_and_its_faults_are_named() {
    let start: Vec<f64> = (0..40).map(|i| f64::from(i).sin()).collect();
    let solve = |fault| LevenbergMarquardt::new().minimize(&mut Chained { n: 40, fault }, &start);
    let report = solve(Fault::None).unwrap();
    assert!(report.is_converged() && report.linear_form == LinearForm::SparseCholesky, "{report}");
    assert!(report.x.iter().all(|x| (x - 1.0).abs() < 1e-12));
    assert!(matches!(solve(Fault::NoSuchBlock), Err(SolveError::ResidualBlock { residual_block: 3 })));
    assert!(matches!(solve(Fault::Twice), Err(SolveError::ResidualBlock { residual_block: 2 })));
    assert!(matches!(solve(Fault::WrongColumns), Err(SolveError::ColumnBlocks)));
    for (fault, block) in [(Fault::WrongWidth, 1), (Fault::TooManyBlocks, 40)] {
        let message = solve(fault).unwrap_err().to_string();
        assert!(message.contains(&format!("residual block {block} ")), "{fault:?}: {message}");
    }
    // Bounds hold variables, which forms that iterate do not.
    let bounds = Bounds::new(vec![-2.0; 40], [vec![0.5], vec![2.0; 39]].concat()).unwrap();
    let mut bounded = Bounded::new(Chained { n: 40, fault: Fault::None }, bounds).unwrap();
    let inside: Vec<f64> = start.iter().map(|x| x.clamp(-1.0, 0.4)).collect();
    let report = LevenbergMarquardt::new().minimize(&mut bounded, &inside).unwrap();
    assert!(report.is_converged() && report.x.iter().all(|x| (x - 0.5).abs() < 1e-9), "{report}");
    assert_eq!(report.linear_form, LinearForm::SparseCholesky);
    let always = |form| LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form));
    let iterative = always(LinearForm::Cgnr).minimize(&mut bounded, &inside);
    assert!(matches!(iterative, Err(SolveError::BoundedForm { .. })));
    let sparse = always(LinearForm::SparseCholesky);
    let mut dense = marquardt::problem::FiniteDifference::new(1, 1, |x: &[f64], r: &mut [f64]| {
        r[0] = x[0];
        Ok(())
    });
    assert!(matches!(sparse.minimize(&mut dense, &[1.0]), Err(SolveError::LinearForm { .. })));
}

/// The sum of four vectors of six numbers: more directions than one pass of dual numbers takes.
struct Sum;

impl CostFunction<f64> for Sum {
    type Blocks = (Euclidean<6>, Euclidean<6>, Euclidean<6>, Euclidean<6>);

    fn residual_count(&self) -> usize {
        6
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        for (i, r) in r.iter_mut().enumerate() {
            *r = blocks[0][i] + blocks[1][i] * 2.0 + blocks[2][i] * 3.0 + blocks[3][i] * 4.0 - (1.0 + i as f64);
        }
        Ok(())
    }
}

#[test]
fn many_directions_take_several_passes() {
    let mut problem = Problem::new();
    let blocks: [_; 4] = std::array::from_fn(|_| problem.add_parameter_block(Euclidean::<6>, &[0.3; 6]).unwrap());
    for block in blocks {
        problem.add_residual_block(Prior([0.0; 6]), (block,)).unwrap();
    }
    problem.set_subset_constant(blocks[1], &[0, 3]).unwrap();
    problem.add_residual_block(Sum, (blocks[0], blocks[1], blocks[2], blocks[3])).unwrap();
    let report = problem.solve(&LevenbergMarquardt::new()).unwrap();
    assert!(report.is_converged());
    // The shortest solution of a linear equation with a unit prior, for each number by itself.
    for i in 0..6 {
        let held = i == 0 || i == 3;
        let (weights, target) =
            if held { ([1.0, 0.0, 3.0, 4.0], 0.4 + i as f64) } else { ([1.0, 2.0, 3.0, 4.0], 1.0 + i as f64) };
        let share = target / (1.0 + weights.iter().map(|w| w * w).sum::<f64>());
        for (k, block) in blocks.into_iter().enumerate() {
            let expected = if held && k == 1 { 0.3 } else { weights[k] * share };
            let found = problem.point(block).unwrap()[i];
            assert!((found - expected).abs() < 1e-12, "{i}, {k}: {found}, {expected}");
        }
    }
}

/// Numbers of neighbours differ by so much.
struct Difference(f64);

impl CostFunction<f64> for Difference {
    type Blocks = (Euclidean<2>, Euclidean<2>);

    fn residual_count(&self) -> usize {
        2
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        r[0] = (blocks[1][0] - blocks[0][0]).sin() - self.0;
        r[1] = blocks[1][1] - blocks[0][1] + blocks[0][0] * 0.1 - self.0;
        Ok(())
    }
}

/// A grid in space, which fills in terribly.
fn grid(side: usize) -> (Problem, Vec<ParameterBlock<Euclidean<2>>>) {
    let mut problem = Problem::new();
    let place = |i: usize, j: usize, k: usize| (i * side + j) * side + k;
    let blocks: Vec<_> = (0..side * side * side)
        .map(|k| problem.add_parameter_block(Euclidean::<2>, &[0.1 * (k as f64).sin(), 0.2]).unwrap())
        .collect();
    problem.add_residual_block(Prior([0.1, 0.2]), (blocks[0],)).unwrap();
    for (i, j, k) in (0..side).flat_map(|i| (0..side).flat_map(move |j| (0..side).map(move |k| (i, j, k)))) {
        for (a, b, c) in [(i + 1, j, k), (i, j + 1, k), (i, j, k + 1)] {
            if a.max(b).max(c) < side {
                let (one, other) = (place(i, j, k), place(a, b, c));
                let difference = Difference(0.05 * ((one * other) as f64).cos());
                problem.add_residual_block(difference, (blocks[one], blocks[other])).unwrap();
            }
        }
    }
    (problem, blocks)
}

#[test]
fn conjugate_gradients_take_over_where_the_factor_does_not_fit() {
    let solve = |solver: LevenbergMarquardt<f64>| {
        let (mut problem, blocks) = grid(6);
        let report = problem.solve(&solver)?;
        assert!(report.is_converged(), "{report}");
        let points: Vec<f64> = blocks.iter().flat_map(|&block| problem.point(block).unwrap().to_vec()).collect();
        Ok((report, points))
    };
    let needed = |form| {
        let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form)).with_memory_budget(1000);
        match solve(solver) {
            Err(GraphError::Solve(SolveError::MemoryBudget { needed, .. })) => needed,
            other => panic!("{other:?}"),
        }
    };
    // The residuals alone are more than a thousand bytes; what the form needs besides is known once the structure is.
    let residuals = needed(LinearForm::SparseCholesky);
    let budget = |bytes| LevenbergMarquardt::new().with_memory_budget(bytes);
    let sparse = LinearSolver::Always(LinearForm::SparseCholesky);
    let Err(GraphError::Solve(SolveError::MemoryBudget { needed, .. })) =
        solve(budget(residuals).with_linear_solver(sparse))
    else {
        panic!("the factor takes more than the residuals")
    };
    let (exact, points) = solve(budget(needed)).unwrap();
    assert_eq!(exact.linear_form, LinearForm::SparseCholesky);
    let (report, found) = solve(budget(needed - 1)).unwrap();
    assert!(report.linear_form == LinearForm::Cgnr, "{}", report.linear_form);
    assert!(near(&points, &found, AGREEMENT), "{report}");
    // Whatever the forcing term is, the end is exact; few iterations for each make more steps.
    for solver in [budget(needed - 1).with_forcing_term(0.0), budget(needed - 1).with_forcing_term(0.5)] {
        assert!(near(&points, &solve(solver).unwrap().1, AGREEMENT));
    }
    let (short, _) = solve(budget(needed - 1).with_max_linear_iterations(25)).unwrap();
    assert!(short.iterations > report.iterations && (short.cost - exact.cost).abs() < 1e-6 * exact.cost, "{short}");
    for wrong in [budget(needed).with_forcing_term(1.0), budget(needed).with_forcing_term(f64::NAN)] {
        assert!(matches!(solve(wrong), Err(GraphError::Solve(SolveError::Setting { setting: "forcing_term", .. }))));
    }
    assert!(solve(budget(needed).with_max_linear_iterations(0)).is_err());
}

/// The measured place of a landmark, with derivatives by hand; `fault` is added to one of them.
struct Sighting {
    place: [f64; 2],
    fault: f64,
}

impl AnalyticCostFunction<f64> for Sighting {
    type Blocks = (SE2, Euclidean<2>);

    fn residual_count(&self) -> usize {
        2
    }

    fn evaluate(
        &self,
        blocks: &[&[f64]],
        r: &mut [f64],
        jacobians: Option<&mut [&mut [f64]]>,
    ) -> Result<(), EvaluationError> {
        let (&[x, y, cos, sin], &[a, b]) = (blocks[0], blocks[1]) else { return Err("two blocks are expected".into()) };
        let (dx, dy) = (a - x, b - y);
        r[0] = cos * dx + sin * dy - self.place[0];
        r[1] = cos * dy - sin * dx - self.place[1];
        if let Some([of_pose, of_landmark]) = jacobians {
            of_pose.copy_from_slice(&[-cos, -sin, dx, dy, sin, -cos, dy + self.fault, -dx]);
            of_landmark.copy_from_slice(&[cos, sin, -sin, cos]);
        }
        Ok(())
    }
}

#[test]
fn derivatives_by_hand_are_those_of_dual_numbers_or_named() {
    fn solve<F: CostFunction<f64, Blocks = (SE2, Euclidean<2>)>>(
        loss: Option<Loss>,
        sighting: impl Fn([f64; 2]) -> F,
    ) -> (Vec<f64>, f64, usize, Problem) {
        let (mut problem, poses) = circle(8);
        problem.set_constant(poses[0]).unwrap();
        problem.set_subset_constant(poses[3], &[1]).unwrap();
        let landmark = problem.add_parameter_block(Euclidean::<2>, &[2.0, 2.0]).unwrap();
        for (i, &pose) in poses.iter().enumerate() {
            let place = [1.0 + 0.3 * i as f64, 2.0 - 0.2 * i as f64];
            match loss {
                None => problem.add_residual_block(sighting(place), (pose, landmark)).unwrap(),
                Some(loss) => problem.add_robust_residual_block(sighting(place), (pose, landmark), loss, 0.5).unwrap(),
            };
        }
        let report = problem.solve(&LevenbergMarquardt::new()).unwrap();
        assert!(report.is_converged(), "{report}");
        let points = poses.iter().flat_map(|&pose| problem.point(pose).unwrap().to_vec());
        let points = points.chain(problem.point(landmark).unwrap().to_vec()).collect();
        (points, report.cost, report.iterations, problem)
    }
    for loss in [None, Some(Loss::SoftL1)] {
        let (exact, cost, iterations, problem) = solve(loss, Landmark);
        problem.check_derivatives().unwrap();
        let by_hand = solve(loss, |place| WithJacobians(Sighting { place, fault: 0.0 }));
        by_hand.3.check_derivatives().unwrap();
        assert!(near(&exact, &by_hand.0, 1e-11) && (cost - by_hand.1).abs() < 1e-12 * cost);
        assert_eq!(iterations, by_hand.2);
    }
    // The third residual block of sightings is wrong, in the second residual's derivative with respect to the angle.
    let (mut problem, poses) = circle(4);
    let landmark = problem.add_parameter_block(Euclidean::<2>, &[2.0, 2.0]).unwrap();
    problem.set_subset_constant(poses[2], &[0]).unwrap();
    for i in 0..4 {
        let fault = if i == 2 { 0.3 } else { 0.0 };
        let sighting = WithJacobians(Sighting { place: [1.0, 0.5], fault });
        problem.add_robust_residual_block(sighting, (poses[i], landmark), Loss::Huber, 0.1).unwrap();
    }
    let error = problem.check_derivatives().unwrap_err();
    let GraphError::WrongDerivative { residual_block, residual, parameter_block, direction, given, difference } = error
    else {
        panic!("{error}")
    };
    assert_eq!((residual_block, residual, parameter_block, direction), (6, 1, poses[2].index(), 2));
    assert!((given - difference).abs() > 0.01);
    // What is not finite is named, too.
    let pose = problem.add_parameter_block(SE2, &Pose2::new(0.0, 0.0, 0.0).to_array()).unwrap();
    let sighting = WithJacobians(Sighting { place: [1.0, 0.5], fault: f64::NAN });
    problem.add_residual_block(sighting, (pose, landmark)).unwrap();
    let error = problem.solve(&LevenbergMarquardt::new()).unwrap_err();
    assert!(matches!(error, GraphError::NonFiniteDerivative { residual_block: 8 }), "{error}");
}

/// The fourth difference of five places of a beam on a cubic spring, under a load.
struct Bending {
    step: f64,
}

impl CostFunction<f64> for Bending {
    type Blocks = (Euclidean<1>, Euclidean<1>, Euclidean<1>, Euclidean<1>, Euclidean<1>);

    fn residual_count(&self) -> usize {
        1
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        let u = |k: usize| blocks[k][0];
        let force = u(2).powi(3) * 10.0 + u(2) - 100.0;
        r[0] = u(0) + u(4) - (u(1) + u(3)) * 4.0 + u(2) * 6.0 + force * self.step.powi(4);
        Ok(())
    }
}

/// A beam between two clamps, of places that are free.
pub(super) fn beam(free: usize) -> (Problem, Vec<ParameterBlock<Euclidean<1>>>) {
    let mut problem = Problem::new();
    let places: Vec<_> = (0..free + 4).map(|_| problem.add_parameter_block(Euclidean::<1>, &[1.0]).unwrap()).collect();
    for clamped in [0, 1, free + 2, free + 3] {
        problem.set_point(places[clamped], &[0.0]).unwrap();
        problem.set_constant(places[clamped]).unwrap();
    }
    let step = 1.0 / (free + 1) as f64;
    for window in places.windows(5) {
        let &[a, b, c, d, e] = window else { continue };
        problem.add_residual_block(Bending { step }, (a, b, c, d, e)).unwrap();
    }
    (problem, places)
}

/// The condition of `J` grows with the fourth power of the number of places, that of `JᵀJ` with the eighth. What places make of the
/// clamps is of the first order in their distance.
#[test]
fn stiff_beams_bend_alike_with_any_number_of_places() {
    let deflection = |free: usize| {
        let (mut problem, places) = beam(free);
        let report = problem.solve(&LevenbergMarquardt::new()).unwrap();
        assert!(report.is_converged() && report.iterations <= 12, "{free}: {report}");
        problem.point(places[2 + free / 2]).unwrap()[0]
    };
    let [coarse, medium, fine] = [49, 199, 799].map(deflection);
    let ratio = (coarse - medium) / (medium - fine);
    assert!((ratio - 4.0).abs() < 0.4, "{coarse} {medium} {fine}");
}
