//! How time and memory of sparse problems grow with their size: pose graphs in the plane, chains with local loops.
//!
//! ```text
//! cargo bench --bench growth                 a thousand poses to a million
//! cargo bench --bench growth -- 1e3 1e5      other numbers of poses
//! ```
//!
//! Every size is solved from the same kind of start, in a fixed number of iterations. The last column is the time of an iteration
//! for each edge, relative to that of the first size: one is linear. Then come whole solves with band matrices, and
//! grids of poses in space by each form, which shows where conjugate gradients pay.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::graph::{GraphError, Problem, RelativePose2, RelativePose3};
use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::manifold::{Manifold, Pose2, Pose3, SE2, SE3};
use marquardt::problem::Sparsity;
use marquardt::solver::IterationRecord;
use marquardt::solver::damping::Multiplicative;
use marquardt::{AutoDiff, EvaluationError, LevenbergMarquardt, Report, Residuals, Scalar};
use rand_distr::{Distribution, StandardNormal};

/// Iterations of a solve. The first is not counted: it ends what is done once.
const ITERATIONS: usize = 6;

/// Poses that all rounds of a size have together, unless one round has more.
const POSES_OF_ALL_ROUNDS: usize = 300_000;

/// Sides of the grids in space, whose factors fill in.
const GRIDS: [usize; 3] = [8, 14, 20];

/// Numbers of the measurements, from pose to pose.
const STEP: [f64; 3] = [1.0, 0.02, 0.05];

fn main() {
    let sizes: Vec<usize> =
        std::env::args().filter_map(|size| size.parse().ok()).map(|size: f64| size as usize).collect();
    let sizes = if sizes.is_empty() { vec![1_000, 10_000, 100_000, 1_000_000] } else { sizes };
    println!("    poses    edges  set up  structure  iteration  ns an edge  bytes an edge  relative");
    let mut first = None;
    for poses in sizes {
        let measured = measure(poses).expect("the graph can be solved");
        let of_edge = 1e9 * measured.iteration / measured.edges as f64;
        println!(
            "{poses:>9}{:>9}{:>8.3}{:>11.3}{:>11.5}{of_edge:>12.0}{:>15.0}{:>10.2}",
            measured.edges,
            measured.set_up,
            measured.structure,
            measured.iteration,
            measured.bytes as f64 / measured.edges as f64,
            of_edge / *first.get_or_insert(of_edge)
        );
    }
    const UNKNOWNS: usize = 100_000;
    let step = 1.0 / (UNKNOWNS + 1) as f64;
    let bent = (1..=UNKNOWNS).map(|i| i as f64 * step).map(|t| t * (t - 1.0)).collect();
    let (broyden, value) = (solve(Broyden(UNKNOWNS), vec![-1.0; UNKNOWNS]), solve(BoundaryValue(UNKNOWNS), bent));
    for (name, (duration, report)) in [("Broyden's tridiagonal function", broyden), ("Boundary value problem", value)] {
        println!("{name} of {UNKNOWNS} unknowns: {duration:.3} s, {} iterations, {}", report.iterations, report.status);
    }
    for side in GRIDS {
        let chosen = LinearSolver::Auto;
        let others =
            [LinearForm::SparseCholesky, LinearForm::IterativeSchur, LinearForm::Cgnr].map(LinearSolver::Always);
        for linear_solver in [chosen].into_iter().chain(others) {
            let mut problem = grid(side).expect("the graph is sound");
            let solver = LevenbergMarquardt::new().with_linear_solver(linear_solver).with_ftol(1e-8).with_polish(false);
            let started = seconds();
            let report = problem.solve(&solver).expect("the graph can be solved");
            println!(
                "grid of {side}³ poses, {}{}: {:.3} s, cost {:.6}, {} iterations",
                if linear_solver == chosen { "chosen: " } else { "" },
                report.linear_form,
                seconds() - started,
                report.cost,
                report.iterations
            );
        }
    }
}

/// A grid of poses in space, each measured from its neighbours.
fn grid(side: usize) -> Result<Problem, GraphError> {
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut noise = |scale: f64| -> Pose3<f64> {
        Pose3::exp(std::array::from_fn(|_| {
            let number: f64 = StandardNormal.sample(&mut random);
            scale * number
        }))
    };
    let mut problem = Problem::new();
    let places: Vec<[usize; 3]> =
        (0..side * side * side).map(|k| [k / (side * side), k / side % side, k % side]).collect();
    let truth: Vec<Pose3<f64>> = places
        .iter()
        .map(|place| Pose3::exp([place[0] as f64, place[1] as f64, place[2] as f64, 0.0, 0.0, 0.0]))
        .collect();
    let mut blocks = Vec::new();
    for pose in &truth {
        let mut start = pose.compose(noise(0.05)).to_array();
        SE3.normalize(&mut start);
        blocks.push(problem.add_parameter_block(SE3, &start)?);
    }
    problem.set_constant(blocks[0])?;
    let information = std::array::from_fn(|i| std::array::from_fn(|j| if i == j { 400.0 } else { 0.0 }));
    for (k, place) in places.iter().enumerate() {
        for (axis, back) in [side * side, side, 1].into_iter().enumerate() {
            if place[axis] > 0 {
                let measured = truth[k - back].between(truth[k]).compose(noise(0.02));
                problem
                    .add_residual_block(RelativePose3::new(measured, information)?, (blocks[k - back], blocks[k]))?;
            }
        }
    }
    Ok(problem)
}

/// A whole solve by dual numbers with a pattern, with its seconds.
fn solve(residuals: impl Residuals<f64>, start: Vec<f64>) -> (f64, Report<f64>) {
    let started = seconds();
    let sparsity = Sparsity::banded(start.len(), 1, 1);
    let mut problem = AutoDiff(residuals).with_sparsity(sparsity).expect("the pattern is of this size");
    let report = LevenbergMarquardt::new().minimize(&mut problem, &start).expect("the start is finite");
    (seconds() - started, report)
}

/// Moré, Garbow & Hillstrom 1981, problem 30.
struct Broyden(usize);

impl Residuals<f64> for Broyden {
    fn parameter_count(&self) -> usize {
        self.0
    }

    fn residual_count(&self) -> usize {
        self.0
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, x: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        for (i, r) in (first..).zip(r) {
            *r = x[i] * (-x[i] * 2.0 + 3.0) + 1.0;
            if i > 0 {
                *r -= x[i - 1];
            }
            if i + 1 < self.0 {
                *r -= x[i + 1] * 2.0;
            }
        }
        Ok(())
    }
}

/// Moré, Garbow & Hillstrom 1981, problem 28: `−u″ + (u + t + 1)³ / 2 = 0` between zeros, by differences.
struct BoundaryValue(usize);

impl Residuals<f64> for BoundaryValue {
    fn parameter_count(&self) -> usize {
        self.0
    }

    fn residual_count(&self) -> usize {
        self.0
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, x: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        let h = 1.0 / (self.0 + 1) as f64;
        for (i, r) in (first..).zip(r) {
            let t = (i + 1) as f64 * h;
            *r = x[i] * 2.0 + (x[i] + (t + 1.0)).powi(3) * (0.5 * h * h);
            if i > 0 {
                *r -= x[i - 1];
            }
            if i + 1 < self.0 {
                *r -= x[i + 1];
            }
        }
        Ok(())
    }
}

/// Seconds, and the most bytes that were in use.
struct Measured {
    edges: usize,
    set_up: f64,
    structure: f64,
    iteration: f64,
    bytes: usize,
}

fn measure(poses: usize) -> Result<Measured, GraphError> {
    let begin = ALLOCATOR.in_use();
    ALLOCATOR.forget_peak();
    let rounds = (POSES_OF_ALL_ROUNDS / poses).max(1);
    let mut means = [0.0; 3];
    let mut edges = 0;
    for _ in 0..rounds {
        let started = seconds();
        let mut problem = chain(poses)?;
        let set_up = seconds() - started;
        edges = problem.residual_block_count();
        let solver = LevenbergMarquardt::new()
            .with_damping(Multiplicative::default())
            .with_max_iterations(ITERATIONS)
            .with_ftol(0.0)
            .with_gtol(0.0)
            .with_polish(false);
        let mut ends = Vec::with_capacity(ITERATIONS);
        let started = seconds();
        problem.solve_observed(&solver, &mut |_: &IterationRecord<f64>, _: &[f64]| {
            ends.push(seconds());
            ControlFlow::Continue(())
        })?;
        let [first, .., last] = ends[..] else { panic!("a solve of {poses} poses has fewer than two iterations") };
        let iteration = (last - first) / (ends.len() - 1) as f64;
        let structure = first - started - iteration;
        let times = [set_up, structure, iteration];
        means.iter_mut().zip(times).for_each(|(mean, time)| *mean += time / rounds as f64);
    }
    let bytes = ALLOCATOR.peak() - begin;
    let [set_up, structure, iteration] = means;
    Ok(Measured { edges, set_up, structure, iteration, bytes })
}

/// Seconds that the main thread has run for, where the system says it, and of the clock elsewhere.
fn seconds() -> f64 {
    static STARTED: OnceLock<Instant> = OnceLock::new();
    let started = STARTED.get_or_init(Instant::now);
    let of_thread = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = of_thread.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| started.elapsed().as_secs_f64(), |nanoseconds| 1e-9 * nanoseconds)
}

/// A robot that drives in curves, and sees the places where it was 7 and 23 steps ago now and then.
fn chain(poses: usize) -> Result<Problem, GraphError> {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut noise = |scale: f64| -> [f64; 3] {
        std::array::from_fn(|_| {
            let number: f64 = StandardNormal.sample(&mut random);
            scale * number
        })
    };
    let moved = |pose: Pose2<f64>, by: [f64; 3]| pose.compose(Pose2::new(by[0], by[1], by[2]));
    let mut truth = vec![Pose2::new(0.0, 0.0, 0.0)];
    for i in 1..poses {
        let turn = if i / 40 % 2 == 0 { STEP[2] } else { -STEP[2] };
        truth.push(moved(truth[i - 1], [STEP[0], STEP[1], turn]));
    }
    let mut problem = Problem::new();
    let mut blocks = Vec::with_capacity(poses);
    for &pose in &truth {
        blocks.push(problem.add_parameter_block(SE2, &moved(pose, noise(0.05)).to_array())?);
    }
    problem.set_constant(blocks[0])?;
    let information = [[400.0, 0.0, 0.0], [0.0, 400.0, 0.0], [0.0, 0.0, 2500.0]];
    for i in 1..poses {
        let loops = [(1, 1), (7, 3), (23, 5)];
        for (back, _) in loops.into_iter().filter(|&(back, every)| i >= back && i % every == 0) {
            let measured = moved(truth[i - back].between(truth[i]), noise(0.02));
            problem.add_residual_block(RelativePose2::new(measured, information)?, (blocks[i - back], blocks[i]))?;
        }
    }
    Ok(problem)
}

/// The system's allocator, which counts bytes.
struct Counting {
    in_use: AtomicUsize,
    peak: AtomicUsize,
}

#[global_allocator]
static ALLOCATOR: Counting = Counting { in_use: AtomicUsize::new(0), peak: AtomicUsize::new(0) };

impl Counting {
    fn in_use(&self) -> usize {
        self.in_use.load(Ordering::Relaxed)
    }

    fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    fn forget_peak(&self) {
        self.peak.store(self.in_use(), Ordering::Relaxed);
    }
}

// SAFETY: every call is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = self.in_use.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        self.peak.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        self.in_use.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}
