//! Bounds of parameter blocks, beside the dense solver and beside SciPy.

use marquardt::graph::{CostFunction, GraphError, ParameterBlock, Prior, Problem};
use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::manifold::{Euclidean, ProductManifold, SE2, SO2};
use marquardt::problem::{BoundSide, Bounded, FiniteDifference};
use marquardt::solver::damping::TrustRegion;
use marquardt::{Bounds, EvaluationError, LevenbergMarquardt, Loss, Report, Scalar, SolveError};

/// `a (x₀ − y₁) + ½ sin(b x₁) − c` and `0.3 x₁ y₀ + y₀ − d`.
#[derive(Debug, Clone, Copy)]
struct Link([f64; 4]);

impl Link {
    fn at<S: Scalar<Real = f64>>(&self, x: &[S], y: &[S], r: &mut [S]) {
        let [a, b, c, d] = self.0;
        r[0] = (x[0] - y[1]) * a + (x[1] * b).sin() * 0.5 - c;
        r[1] = x[1] * y[0] * 0.3 + y[0] - d;
    }
}

impl CostFunction<f64> for Link {
    type Blocks = (Euclidean<2>, Euclidean<2>);

    fn residual_count(&self) -> usize {
        2
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        self.at(blocks[0], blocks[1], r);
        Ok(())
    }
}

/// Blocks of two numbers in a chain; each is pulled to a place, too. `tests/reference/generate_graph_bounds.py` makes the same.
struct Chain {
    links: Vec<Link>,
    pulls: Vec<[f64; 3]>,
    bounds: Vec<[f64; 2]>,
    start: Vec<f64>,
}

impl Chain {
    fn of(seed: u64) -> Self {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / 2.0_f64.powi(53)
        };
        for _ in 0..4 {
            next();
        }
        let blocks = 3 + (seed % 6) as usize;
        let links = (1..blocks).map(|_| Link([(); 4].map(|()| 4.0 * next() - 2.0))).collect();
        let pulls = (0..blocks).map(|_| [next() + 0.2, 4.0 * next() - 2.0, 4.0 * next() - 2.0]).collect();
        let (mut bounds, mut start) = (Vec::new(), Vec::new());
        for _ in 0..2 * blocks {
            let [kind, low, width, place] = [(); 4].map(|()| next());
            let (low, high) = (low - 1.0, low - 1.0 + width);
            let lower = if kind < 0.6 { low } else { f64::NEG_INFINITY };
            bounds.push([lower, if kind > 0.3 { high } else { f64::INFINITY }]);
            start.push(low + place * (high - low));
        }
        Chain { links, pulls, bounds, start }
    }

    fn problem(&self) -> (Problem, Vec<ParameterBlock<Euclidean<2>>>) {
        let mut problem = Problem::new();
        let starts = self.start.chunks(2).zip(self.bounds.chunks(2));
        let blocks = starts.map(|(start, bounds)| {
            let block = problem.add_parameter_block(Euclidean::<2>, start).unwrap();
            for (coordinate, [lower, upper]) in bounds.iter().enumerate() {
                problem.set_lower_bound(block, coordinate, *lower).unwrap();
                problem.set_upper_bound(block, coordinate, *upper).unwrap();
            }
            block
        });
        let blocks: Vec<_> = blocks.collect();
        for (link, pair) in self.links.iter().zip(blocks.windows(2)) {
            problem.add_residual_block(*link, (pair[0], pair[1])).unwrap();
        }
        for (&[weight, a, b], &block) in self.pulls.iter().zip(&blocks) {
            let information = [[weight * weight, 0.0], [0.0, weight * weight]];
            problem.add_residual_block(Prior::new([a, b], information).unwrap(), (block,)).unwrap();
        }
        (problem, blocks)
    }

    fn residuals(&self, x: &[f64], r: &mut [f64]) {
        let (of_links, of_pulls) = r.split_at_mut(2 * self.links.len());
        for (i, (link, r)) in self.links.iter().zip(of_links.chunks_mut(2)).enumerate() {
            link.at(&x[2 * i..2 * i + 2], &x[2 * i + 2..2 * i + 4], r);
        }
        for ((&[weight, a, b], r), x) in self.pulls.iter().zip(of_pulls.chunks_mut(2)).zip(x.chunks(2)) {
            (r[0], r[1]) = (weight * (x[0] - a), weight * (x[1] - b));
        }
    }

    fn solve_dense(&self) -> Report<f64> {
        let (n, m) = (self.start.len(), 2 * (self.links.len() + self.pulls.len()));
        let plain = FiniteDifference::new(n, m, |x: &[f64], r: &mut [f64]| {
            self.residuals(x, r);
            Ok(())
        });
        let (lower, upper): (Vec<f64>, Vec<f64>) = self.bounds.iter().map(|&[lower, upper]| (lower, upper)).unzip();
        let mut bounded = Bounded::new(plain, Bounds::new(lower, upper).unwrap()).unwrap();
        LevenbergMarquardt::new().minimize(&mut bounded, &self.start).unwrap()
    }

    /// Checks that the cost falls in no direction within the bounds, by its derivatives.
    fn assert_minimum(&self, x: &[f64]) {
        let cost = |x: &[f64]| {
            let mut r = vec![0.0; 2 * (self.links.len() + self.pulls.len())];
            self.residuals(x, &mut r);
            0.5 * r.iter().map(|r| r * r).sum::<f64>()
        };
        for (j, &[lower, upper]) in self.bounds.iter().enumerate() {
            assert!(lower <= x[j] && x[j] <= upper, "coordinate {j}: {} is not within {lower} to {upper}", x[j]);
            let step = 1e-6;
            let slope = (cost(&moved(x, j, step)) - cost(&moved(x, j, -step))) / (2.0 * step);
            let is_held = x[j] == lower && slope > 0.0 || x[j] == upper && slope < 0.0;
            assert!(is_held || slope.abs() < 1e-5, "coordinate {j}: slope {slope}");
        }
    }
}

fn moved(x: &[f64], j: usize, step: f64) -> Vec<f64> {
    let mut moved = x.to_vec();
    moved[j] += step;
    moved
}

#[test]
fn random_chains_end_where_the_dense_solver_does() {
    let (mut same, mut lower, mut at_bounds) = (0, 0, 0);
    for seed in 1..=500 {
        let chain = Chain::of(seed);
        let (mut problem, blocks) = chain.problem();
        let report = problem.solve(&LevenbergMarquardt::new()).unwrap();
        assert!(report.is_converged() && report.linear_form == LinearForm::SparseCholesky, "{seed}: {report}");
        let x: Vec<f64> = blocks.iter().flat_map(|&block| problem.point(block).unwrap().to_vec()).collect();
        chain.assert_minimum(&x);
        for active in &report.active {
            let [low, high] = chain.bounds[active.parameter];
            assert!(x[active.parameter] == if active.side == BoundSide::Lower { low } else { high }, "{seed}");
        }
        at_bounds += report.active.len();
        let dense = chain.solve_dense();
        same += usize::from((report.cost / dense.cost - 1.0).abs() < 1e-9);
        lower += usize::from(report.cost < dense.cost * (1.0 - 1e-9));
    }
    // The others end in another minimum, which is certified as well.
    assert!(same >= 490 && same + lower >= 494 && at_bounds > 500, "{same} the same, {lower} lower, {at_bounds}");
}

#[test]
fn scipy_finds_no_lower_minimum() {
    let mut worse = Vec::new();
    for line in include_str!("../reference/graph_bounds.csv").lines().filter(|line| !line.starts_with('#')) {
        let (seed, cost) = line.split_once(',').unwrap();
        let (seed, cost): (u64, f64) = (seed.parse().unwrap(), cost.parse().unwrap());
        let report = Chain::of(seed).problem().0.solve(&LevenbergMarquardt::new()).unwrap();
        if report.cost > cost * (1.0 + 1e-9) {
            worse.push(seed);
        }
    }
    assert!(worse.is_empty(), "{worse:?}");
}

#[test]
fn bounds_are_kept_under_losses_by_a_trust_region_and_in_single_steps() {
    for seed in 1..=40 {
        let chain = Chain::of(seed);
        let (mut problem, blocks) = chain.problem();
        let solver = LevenbergMarquardt::new().with_damping(TrustRegion::default());
        let report = problem.solve(&solver).unwrap();
        assert!(report.is_converged(), "{seed}: {report}");
        let x: Vec<f64> = blocks.iter().flat_map(|&block| problem.point(block).unwrap().to_vec()).collect();
        chain.assert_minimum(&x);
        let mut robust = chain.problem().0;
        let link = robust.add_robust_residual_block(Link([9.0; 4]), (blocks[0], blocks[1]), Loss::Huber, 1.0);
        assert!(matches!(link, Err(GraphError::ForeignHandle { .. })));
        for iterations in 1..4 {
            let (mut problem, blocks) = chain.problem();
            problem.solve(&LevenbergMarquardt::new().with_max_iterations(iterations)).unwrap();
            let x = blocks.iter().flat_map(|&block| problem.point(block).unwrap().to_vec());
            assert!(x.zip(&chain.bounds).all(|(x, [lower, upper])| *lower <= x && x <= *upper));
        }
    }
}

/// A rotation in the plane with a number: an angle, and a length.
struct Ray {
    target: [f64; 2],
}

impl CostFunction<f64> for Ray {
    type Blocks = (ProductManifold<SO2, Euclidean<1>>,);

    fn residual_count(&self) -> usize {
        2
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        let ray = blocks[0];
        (r[0], r[1]) = (ray[0] * ray[2] - self.target[0], ray[1] * ray[2] - self.target[1]);
        Ok(())
    }
}

#[test]
fn numbers_of_a_product_have_bounds() {
    let mut problem = Problem::new();
    let fixed = problem.add_parameter_block(Euclidean::<2>, &[7.0, 7.0]).unwrap();
    problem.set_constant(fixed).unwrap();
    let ray = problem.add_parameter_block(ProductManifold(SO2, Euclidean::<1>), &[1.0, 0.0, 0.5]).unwrap();
    problem.add_residual_block(Ray { target: [3.0, 4.0] }, (ray,)).unwrap();
    problem.set_upper_bound(ray, 2, 2.0).unwrap();
    let report = problem.solve(&LevenbergMarquardt::new()).unwrap();
    assert!(report.is_converged(), "{report}");
    let point = problem.point(ray).unwrap();
    assert!((point[0] - 0.6).abs() < 1e-9 && (point[1] - 0.8).abs() < 1e-9 && point[2] == 2.0, "{point:?}");
    // The coordinates of all blocks are counted.
    assert_eq!((report.active.len(), report.active[0].parameter, report.active[0].side), (1, 4, BoundSide::Upper));
    // A bound that holds takes part in the covariance.
    let errors = problem.covariance().unwrap().standard_errors(ray).unwrap();
    assert!((errors[0] - 0.5).abs() < 1e-9 && errors[1] < 1e-12, "{errors}");
    assert!(matches!(problem.set_upper_bound(ray, 0, 1.0), Err(GraphError::Bounds { coordinate: 0, .. })));
}

#[test]
fn bounds_that_make_no_sense_are_refused() {
    let mut problem = Problem::new();
    let block = problem.add_parameter_block(Euclidean::<2>, &[0.0, 5.0]).unwrap();
    let pose = problem.add_parameter_block(SE2, &[0.0, 0.0, 1.0, 0.0]).unwrap();
    problem.set_lower_bound(block, 1, 1.0).unwrap();
    for (coordinate, bound) in [(1, 0.0), (1, f64::NAN), (1, f64::NEG_INFINITY), (2, 9.0)] {
        let error = problem.set_upper_bound(block, coordinate, bound).unwrap_err();
        assert!(matches!(error, GraphError::Bounds { block: 0, .. }), "{error}");
    }
    assert!(problem.set_lower_bound(pose, 0, 0.0).is_err(), "a pose is no vector");
    problem.set_upper_bound(block, 1, 2.0).unwrap();
    problem.set_constant(pose).unwrap();
    problem.add_residual_block(Prior::new([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]).unwrap(), (block,)).unwrap();
    let error = problem.solve(&LevenbergMarquardt::new()).unwrap_err();
    assert_eq!(error.to_string(), "coordinate 1 of parameter block 0 is 5 at the start, out of its bounds 1 to 2");
    problem.set_point(block, &[0.0, 2.0]).unwrap();
    for form in [LinearForm::Schur, LinearForm::IterativeSchur, LinearForm::Cgnr] {
        let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form));
        let error = problem.solve(&solver).unwrap_err();
        assert!(matches!(error, GraphError::Solve(SolveError::BoundedForm { .. })), "{error}");
    }
    problem.solve(&LevenbergMarquardt::new()).unwrap();
    assert_eq!(problem.point(block).unwrap(), [0.0, 1.0]);
    // Bounds are taken off again; those of constant blocks do not count.
    problem.set_lower_bound(block, 1, f64::NEG_INFINITY).unwrap();
    problem.solve(&LevenbergMarquardt::new()).unwrap();
    assert!(problem.point(block).unwrap()[1].abs() < 1e-12);
}

#[test]
fn bounds_hold_in_single_precision() {
    let mut problem = Problem::<f32>::new();
    let block = problem.add_parameter_block(Euclidean::<2>, &[1.0, 1.0]).unwrap();
    problem.add_residual_block(Prior::new([-2.0, 3.0], [[2.0, 1.0], [1.0, 2.0]]).unwrap(), (block,)).unwrap();
    problem.set_lower_bound(block, 0, 0.0).unwrap();
    let report = problem.solve(&LevenbergMarquardt::new()).unwrap();
    let point = problem.point(block).unwrap();
    assert!(report.is_converged() && point[0] == 0.0 && (point[1] - 2.0).abs() < 1e-5, "{point:?}");
}
