//! How time and memory of sparse problems grow with their size: pose graphs in the plane, chains with local loops.
//!
//! ```text
//! cargo bench --bench growth                 a thousand poses to a million
//! cargo bench --bench growth -- 1e3 1e5      other numbers of poses
//! ```
//!
//! Every size is solved from the same kind of start, in a fixed number of iterations. The last column is the time of an iteration
//! for each edge, relative to that of the first size: one is linear.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use marquardt::graph::{GraphError, Problem, RelativePose2};
use marquardt::manifold::{Pose2, SE2};
use marquardt::{LevenbergMarquardt, Report};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

/// Iterations of the short and of the long solve, whose difference is free of what is done once.
const ITERATIONS: [usize; 2] = [2, 10];

/// Most edges that a size is repeated for, and the best of its times taken.
const REPEATED_EDGES: usize = 300_000;

/// Numbers of the measurements, from pose to pose.
const STEP: [f64; 3] = [1.0, 0.02, 0.05];

fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|size| size.parse().ok()).map(|size: f64| size as usize).collect();
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
    let rounds = (REPEATED_EDGES / poses).clamp(1, 20);
    let mut best = [f64::INFINITY; 3];
    let mut edges = 0;
    for _ in 0..rounds {
        let started = Instant::now();
        let mut problem = chain(poses)?;
        let set_up = started.elapsed().as_secs_f64();
        edges = problem.residual_block_count();
        let solver = LevenbergMarquardt::new().with_ftol(0.0).with_gtol(0.0).with_polish(false);
        let report: Report<f64> = problem.solve(&solver.clone().with_max_iterations(ITERATIONS[0]))?;
        let (short, few) = (report.elapsed.as_secs_f64(), report.iterations);
        drop((problem, report));
        let report = chain(poses)?.solve(&solver.with_max_iterations(ITERATIONS[1]))?;
        let (long, many) = (report.elapsed.as_secs_f64(), report.iterations);
        let iteration = (long - short) / (many - few).max(1) as f64;
        let times = [set_up, short - few as f64 * iteration, iteration];
        best.iter_mut().zip(times).for_each(|(best, time)| *best = best.min(time));
    }
    let bytes = ALLOCATOR.peak() - begin;
    let [set_up, structure, iteration] = best;
    Ok(Measured { edges, set_up, structure, iteration, bytes })
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
        for (back, every) in loops.into_iter().filter(|&(back, every)| i >= back && i % every == 0) {
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
