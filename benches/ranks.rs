//! The same solve on one rank and on several, in one run, and what a message between them takes.
//!
//! ```text
//! cargo bench --bench ranks                                                     two ranks that are threads
//! cargo bench --features mpi --bench ranks --no-run
//! mpirun -n 2 target/release/deps/ranks-*                                       two that are processes
//! ```

use std::time::Instant;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::distributed::{Communicator, on_threads};
use marquardt::problem::Sharded;
use marquardt::{EvaluationError, LeastSquares, LevenbergMarquardt};
use rand_distr::{Distribution, StandardNormal};

/// Rounds, of which the best counts.
const ROUNDS: usize = 7;

/// Residuals and parameters.
const SHAPES: [(usize, usize); 4] = [(100_000, 101), (10_000, 101), (100_000, 8), (1_000, 8)];

fn main() {
    let ranks = Communicator::world().expect("ranks that were started are there");
    if ranks.size() > 1 {
        return measure(&ranks);
    }
    on_threads(2, |ranks| measure(&ranks));
}

/// Compares one rank with all, shape by shape.
fn measure(ranks: &Communicator) {
    let say = |line: String| {
        if ranks.is_root() {
            println!("{line}");
        }
    };
    for (m, n) in SHAPES {
        let mut all = ranks.is_root().then(|| Dense::new(0..m, n));
        let mut shard = Dense::new(ranks.shard(m), n);
        let (mut plain, mut alone, mut together) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        let mut iterations = 0;
        for _ in 0..ROUNDS {
            if let Some(all) = &mut all {
                plain = plain.min(seconds(|| iterations = solve(&mut *all)));
                alone = alone.min(seconds(|| iterations = solve(Sharded::new(&mut *all, &Communicator::single()))));
            }
            wait(ranks);
            together = together.min(seconds(|| iterations = solve(Sharded::new(&mut shard, ranks))));
        }
        let milliseconds = [plain, alone, together].map(|seconds| 1e3 * seconds);
        let [plain, alone, together] = milliseconds;
        say(format!(
            "{m} × {n}, {iterations} iterations: {plain:.3} ms; as one rank {alone:.3} ms, {:+.2} %; \
             as {} ranks {together:.3} ms, {:.2} times as fast",
            100.0 * (alone / plain - 1.0),
            ranks.size(),
            plain / together,
        ));
    }
    for n in [1, 10, 100, 1000] {
        let numbers = if n == 1 { 1 } else { n * (n + 1) / 2 + n + 1 };
        let mut message = vec![1.0; numbers];
        let mut best = f64::INFINITY;
        for _ in 0..30 {
            wait(ranks);
            best = best.min(seconds(|| ranks.all_sum(&mut message).expect("all ranks are here")));
            message.fill(1.0);
        }
        say(format!("a sum of {numbers} numbers: {:.1} µs", 1e6 * best));
    }
}

fn seconds(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64()
}

/// Until all ranks are here.
fn wait(ranks: &Communicator) {
    ranks.all_sum(&mut [0.0]).expect("all ranks are here");
}

fn solve(mut problem: impl LeastSquares<f64>) -> usize {
    let start = vec![0.0; problem.parameter_count()];
    LevenbergMarquardt::new().minimize(&mut problem, &start).expect("the start is finite").iterations
}

/// A linear problem whose Jacobian is stored: derivatives cost a copy.
struct Dense {
    n: usize,
    jacobian: Vec<f64>,
    y: Vec<f64>,
}

impl Dense {
    /// These rows, which are the same whoever makes them.
    fn new(rows: std::ops::Range<usize>, n: usize) -> Self {
        let mut dense = Dense { n, jacobian: Vec::with_capacity(rows.len() * n), y: Vec::with_capacity(rows.len()) };
        for row in rows {
            let mut random = ChaCha8Rng::seed_from_u64(row as u64);
            let mut draw = || -> f64 { StandardNormal.sample(&mut random) };
            dense.jacobian.extend((0..n).map(|_| draw()));
            dense.y.push(draw());
        }
        dense
    }
}

impl LeastSquares<f64> for Dense {
    fn parameter_count(&self) -> usize {
        self.n
    }

    fn residual_count(&self) -> usize {
        self.y.len()
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        let rows = self.jacobian[first * self.n..].chunks_exact(self.n).zip(&self.y[first..]);
        for (r, (row, y)) in r.iter_mut().zip(rows) {
            *r = row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>() - y;
        }
        Ok(())
    }

    fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) -> Result<(), EvaluationError> {
        j.copy_from_slice(&self.jacobian[first * self.n..][..j.len()]);
        self.residuals(x, first, r)
    }
}
