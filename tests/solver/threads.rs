//! One solve on all cores: the number of threads changes neither a bit of the answer nor the error that ends it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use marquardt::graph::{CostFunction, Problem, RelativePose2, RelativePose3};
use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::manifold::{Euclidean, Pose2, Pose3, SE2, SE3};
use marquardt::problem::{Capabilities, ConcurrentRows};
use marquardt::solver::{Acceleration, Status};
use marquardt::{EvaluationError, LeastSquares, LevenbergMarquardt, Loss, Scalar};

/// The results of `work` on one and three threads.
fn on_threads<R: Send>(work: impl Fn() -> R + Send + Sync) -> [R; 2] {
    [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(&work)
    })
}

#[track_caller]
fn assert_equal<R: PartialEq + std::fmt::Debug + Send>(work: impl Fn() -> R + Send + Sync) -> R {
    let [one, three] = on_threads(work);
    assert!(one == three, "the number of threads changes the answer");
    one
}

/// Numbers that look random, between −1 and 1.
fn noise(seed: usize) -> f64 {
    (seed as f64 * 12.9898).sin() * 43758.5453 % 1.0
}

/// The points, the cost and its way there, to the last bit.
fn outcome<'a>(problem: &mut Problem, points: impl Fn(&Problem) -> Vec<f64> + 'a) -> (Vec<u64>, u64, usize) {
    let report = problem.solve(&LevenbergMarquardt::new()).unwrap();
    assert!(report.is_converged(), "{report}");
    let bits = points(problem).iter().map(|x| x.to_bits()).collect();
    (bits, report.cost.to_bits(), report.iterations)
}

/// Neighbours on a grid.
fn neighbours(side: usize) -> impl Iterator<Item = (usize, usize)> {
    let across = (0..side * side).filter(move |k| k % side > 0).map(|k| (k - 1, k));
    across.chain((side..side * side).map(move |k| (k - side, k)))
}

fn scaled_identity<const N: usize>(weight: f64) -> [[f64; N]; N] {
    std::array::from_fn(|i| std::array::from_fn(|j| if i == j { weight } else { 0.0 }))
}

#[test]
fn poses_in_the_plane_do_not_depend_on_the_number_of_threads() {
    let solve = || {
        let mut problem = Problem::new();
        let truth = |k: usize| Pose2::new((k % 24) as f64, (k / 24) as f64, noise(k));
        let start = |k: usize| {
            let pose = truth(k).to_array();
            Pose2::new(pose[0] + 0.1 * noise(k + 1), pose[1] + 0.1 * noise(k + 2), pose[2] + 0.1 * noise(k + 3))
        };
        let poses: Vec<_> =
            (0..24 * 24).map(|k| problem.add_parameter_block(SE2, &start(k).to_array()).unwrap()).collect();
        problem.set_constant(poses[0]).unwrap();
        for (e, (i, j)) in neighbours(24).enumerate() {
            let spoilt = if e % 50 == 7 { 3.0 } else { 0.02 };
            let measured = truth(i).between(truth(j)) * Pose2::new(spoilt * noise(e), 0.0, 0.02 * noise(e + 9));
            let edge = RelativePose2::new(measured, scaled_identity(25.0)).unwrap();
            if e % 3 == 0 {
                problem.add_residual_block(edge, (poses[i], poses[j])).unwrap();
            } else {
                problem.add_robust_residual_block(edge, (poses[i], poses[j]), Loss::Huber, 1.0).unwrap();
            }
        }
        outcome(&mut problem, |problem| poses.iter().flat_map(|&pose| problem.point(pose).unwrap().to_vec()).collect())
    };
    assert_equal(solve);
}

#[test]
fn poses_in_space_do_not_depend_on_the_number_of_threads() {
    let solve = || {
        let mut problem = Problem::new();
        let twist = |k: usize, size: f64| std::array::from_fn(|i| size * noise(6 * k + i));
        let truth = |k: usize| {
            let place = Pose3::exp([(k % 18) as f64, (k / 18) as f64, 0.0, 0.0, 0.0, 0.0]);
            place * Pose3::exp(twist(k, 0.5))
        };
        let poses: Vec<_> = (0..18 * 18)
            .map(|k| (truth(k) * Pose3::exp(twist(k + 5000, 0.05))).to_array())
            .map(|point| problem.add_parameter_block(SE3, &point).unwrap())
            .collect();
        problem.set_constant(poses[0]).unwrap();
        for (e, (i, j)) in neighbours(18).enumerate() {
            let measured = truth(i).between(truth(j)) * Pose3::exp(twist(e + 9000, 0.02));
            let edge = RelativePose3::new(measured, scaled_identity(100.0)).unwrap();
            problem.add_residual_block(edge, (poses[i], poses[j])).unwrap();
        }
        outcome(&mut problem, |problem| poses.iter().flat_map(|&pose| problem.point(pose).unwrap().to_vec()).collect())
    };
    assert_equal(solve);
}

/// A point as a camera without rotation sees it.
struct Sight([f64; 2]);

impl CostFunction<f64> for Sight {
    type Blocks = (Euclidean<4>, Euclidean<3>);

    fn residual_count(&self) -> usize {
        2
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        let ([camera, point], [u, v]) = ([blocks[0], blocks[1]], self.0);
        let scale = camera[3] / (point[2] - camera[2]);
        r[0] = scale * (point[0] - camera[0]) - u;
        r[1] = scale * (point[1] - camera[1]) - v;
        Ok(())
    }
}

#[test]
fn bundles_do_not_depend_on_the_number_of_threads() {
    let solve = || {
        let mut problem = Problem::new();
        let camera = |k: usize| [3.0 * noise(k), 3.0 * noise(k + 1), 0.3 * noise(k + 2), 2.0 + 0.1 * noise(k + 3)];
        let point = |k: usize| [4.0 * noise(k + 400), 4.0 * noise(k + 401), 8.0 + noise(k + 402)];
        let cameras: Vec<_> = (0..25)
            .map(|k| {
                let start = camera(7 * k).map(|x| x + 0.02 * noise(k + 100));
                let block = problem.add_parameter_block(Euclidean::<4>, &start).unwrap();
                if k < 2 {
                    problem.set_point(block, &camera(7 * k)).unwrap();
                    problem.set_constant(block).unwrap();
                }
                block
            })
            .collect();
        let points: Vec<_> = (0..1200)
            .map(|k| problem.add_parameter_block(Euclidean::<3>, &point(5 * k).map(|x| x + 0.1 * noise(k))).unwrap())
            .collect();
        for (k, &block) in points.iter().enumerate() {
            for seen in 0..5 {
                let which = (k + 5 * seen + k / 7 * seen) % 25;
                let (c, p) = (camera(7 * which), point(5 * k));
                let scale = c[3] / (p[2] - c[2]);
                let error = if (k + seen) % 40 == 0 { 1.0 } else { 0.001 };
                let at = [0, 1].map(|i| scale * (p[i] - c[i]) + error * noise(k + 31 * seen + i));
                problem.add_robust_residual_block(Sight(at), (cameras[which], block), Loss::Cauchy, 0.01).unwrap();
            }
        }
        outcome(&mut problem, |problem| points.iter().flat_map(|&p| problem.point(p).unwrap().to_vec()).collect())
    };
    assert_equal(solve);
}

/// What happens in the residual blocks of these numbers, once the point has moved.
#[derive(Clone, Copy)]
struct Fault {
    number: usize,
    faults: [usize; 2],
    panics: bool,
}

impl CostFunction<f64> for Fault {
    type Blocks = (Euclidean<1>, Euclidean<1>);

    fn residual_count(&self) -> usize {
        1
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, blocks: &[&[S]], r: &mut [S]) -> Result<(), EvaluationError> {
        let has_moved = blocks[0][0].value() != 1.0;
        if has_moved && self.faults.contains(&self.number) {
            assert!(!self.panics, "residual block {} panics", self.number);
            return Err(format!("residual block {} fails", self.number).into());
        }
        r[0] = blocks[0][0] * blocks[1][0] - 2.0 - noise(self.number);
        Ok(())
    }
}

fn with_faults(faults: [usize; 2], panics: bool) -> Problem {
    let mut problem = Problem::new();
    let blocks: Vec<_> = (0..1000).map(|_| problem.add_parameter_block(Euclidean::<1>, &[1.0]).unwrap()).collect();
    for number in 0..3000 {
        let (i, j) = (number % 1000, (number * 7 + 1) % 1000);
        if i != j {
            problem.add_residual_block(Fault { number, faults, panics }, (blocks[i], blocks[j])).unwrap();
        }
    }
    problem
}

/// Steps for which the products of the columns have too few digits.
#[test]
fn beams_do_not_depend_on_the_number_of_threads() {
    let solve = || {
        let (mut problem, places) = super::graph::beam(1200);
        outcome(&mut problem, move |problem| places.iter().map(|&place| problem.point(place).unwrap()[0]).collect())
    };
    assert_equal(solve);
}

#[test]
fn the_same_residual_block_ends_the_solve_on_any_number_of_threads() {
    let message = assert_equal(|| {
        let report = with_faults([2900, 1500], false).solve(&LevenbergMarquardt::new()).unwrap();
        assert_eq!(report.status, Status::EvaluationFailed);
        report.error.unwrap().to_string()
    });
    assert_eq!(message, "residual block 1500 fails");
}

#[test]
fn panics_of_residual_blocks_come_through() {
    let messages = on_threads(|| {
        let mut problem = with_faults([1500, 1500], true);
        let outcome = catch_unwind(AssertUnwindSafe(|| problem.solve(&LevenbergMarquardt::new())));
        outcome.err().and_then(|payload| payload.downcast_ref::<String>().cloned())
    });
    for message in messages {
        assert_eq!(message.as_deref(), Some("residual block 1500 panics"));
    }
}

/// An exponential decay under the pseudo-Huber loss: rows that stand for it.
struct Decay {
    rows: usize,
    x: Vec<f64>,
}

impl Decay {
    /// Fills rows, and returns their true cost.
    fn fill(&self, x: &[f64], first: usize, r: &mut [f64], mut jacobian: Option<&mut [f64]>) -> f64 {
        let mut cost = 0.0;
        for (k, r) in r.iter_mut().enumerate() {
            let row = first + k;
            let t = 4.0 * row as f64 / self.rows as f64;
            let decay = (-x[1] * t).exp();
            let residual = x[0] * decay - 3.0 * (-0.7 * t).exp() - 2.0 * noise(row);
            let size = residual.hypot(1.0);
            // The slope ρ/s of the loss and the square root of its curvature s⁻³.
            let root = size.powf(-1.5);
            *r = residual / size / root;
            cost += size - 1.0;
            if let Some(jacobian) = &mut jacobian {
                jacobian[2 * k..2 * k + 2].copy_from_slice(&[root * decay, -root * x[0] * t * decay]);
            }
        }
        cost
    }
}

impl ConcurrentRows<f64> for Decay {
    fn evaluate_rows(&self, first: usize, r: &mut [f64]) -> Result<f64, EvaluationError> {
        Ok(self.fill(&self.x, first, r, None))
    }

    fn linearize_rows(
        &self,
        first: usize,
        r: &mut [f64],
        jacobian: &mut [f64],
        _: &mut Vec<f64>,
    ) -> Result<f64, EvaluationError> {
        Ok(self.fill(&self.x, first, r, Some(jacobian)))
    }
}

/// The problem, with the cost of the rows that were evaluated last.
struct DecayLoss(Decay, f64);

impl LeastSquares<f64> for DecayLoss {
    fn parameter_count(&self) -> usize {
        2
    }

    fn residual_count(&self) -> usize {
        self.0.rows
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        self.1 = self.0.fill(x, first, r, None);
        Ok(())
    }

    fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) -> Result<(), EvaluationError> {
        self.1 = self.0.fill(x, first, r, Some(j));
        Ok(())
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<f64> {
        self
    }
}

impl Capabilities<f64> for DecayLoss {
    fn cost_of(&mut self, _: usize, _: &[f64]) -> Option<f64> {
        Some(self.1)
    }

    fn concurrent(&mut self, x: &[f64]) -> Option<&dyn ConcurrentRows<f64>> {
        self.0.x = x.to_vec();
        Some(&self.0)
    }
}

/// Rows that stand for a loss are not differenced on one path more than on the other.
#[test]
fn rows_that_stand_for_a_loss_bend_no_step_on_any_number_of_threads() {
    let solve = |rows: usize, acceleration: Acceleration| {
        let solver = LevenbergMarquardt::new().with_acceleration(acceleration);
        let mut problem = DecayLoss(Decay { rows, x: Vec::new() }, 0.0);
        let report = solver.minimize(&mut problem, &[0.5, 3.0]).unwrap();
        assert!(report.is_converged(), "{report}");
        (report.x.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), report.iterations)
    };
    for rows in [500, 60_000] {
        let plain = assert_equal(|| solve(rows, Acceleration::Never));
        assert_eq!(assert_equal(|| solve(rows, Acceleration::Always)), plain, "{rows} rows");
    }
}

/// A dense system: rows with entries everywhere, and a curved residual.
struct Dense {
    n: usize,
}

impl LeastSquares<f64> for Dense {
    fn parameter_count(&self) -> usize {
        self.n
    }

    fn residual_count(&self) -> usize {
        self.n
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        let mut j = vec![0.0; r.len() * self.n];
        self.linearize(x, first, r, &mut j)
    }

    fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) -> Result<(), EvaluationError> {
        for (i, (r, row)) in (first..).zip(r.iter_mut().zip(j.chunks_exact_mut(self.n))) {
            row.iter_mut().enumerate().for_each(|(k, entry)| *entry = noise(i * self.n + k) / self.n as f64);
            *r = row.iter().zip(x).map(|(entry, x)| entry * x).sum::<f64>() + x[i] + 0.1 * x[i] * x[i] - noise(i);
            row[i] += 1.0 + 0.2 * x[i];
        }
        Ok(())
    }
}

/// Large products and factorisations.
#[test]
fn dense_systems_do_not_depend_on_the_number_of_threads() {
    for form in [LinearForm::Cholesky, LinearForm::Dual] {
        let bits = assert_equal(|| {
            let solver = LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form));
            let report = solver.minimize(&mut Dense { n: 300 }, &[0.0; 300]).unwrap();
            assert!(report.is_converged(), "{report}");
            report.x.iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        });
        assert_eq!(bits.len(), 300);
    }
}
