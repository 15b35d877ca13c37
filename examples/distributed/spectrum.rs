//! A spectrum of twenty peaks, fitted to points that ranks make for themselves.

use std::error::Error;
use std::ops::Range;
use std::time::Instant;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::distributed::Communicator;
use marquardt::{CurveFit, Model, ScalarOf};
use rand_distr::{Distribution, StandardNormal};

use super::Outcome;

const PEAKS: usize = 20;

/// Standard deviation of the noise; peaks are 0.5 to 2 high.
pub const NOISE: f64 = 0.01;

/// `y = Σ a exp(−½((x − c)/w)²)`; the parameters are `a`, `c`, `w` peak after peak.
struct Peaks;

impl Model<f64> for Peaks {
    fn parameter_count(&self) -> usize {
        3 * PEAKS
    }

    #[inline(always)]
    fn response<S: ScalarOf<f64>>(&self, x: &[S::Real], b: &[S]) -> S {
        let peak = |peak: &[S; 3]| {
            let z = (-peak[1] + x[0]) / peak[2];
            peak[0] * (z * z * -0.5).exp()
        };
        b.as_chunks().0.iter().map(peak).sum()
    }

    fn parameter_name(&self, index: usize) -> String {
        format!("{}{}", ["height", "center", "width"][index % 3], index / 3 + 1)
    }
}

/// Peaks of different heights and widths, each so close to the next that they overlap.
pub fn truth() -> Vec<f64> {
    let turn = |peak: usize, by: f64| (by * peak as f64).sin();
    let peak = |peak| {
        [1.25 + 0.75 * turn(peak, 2.3), 3.0 + 3.0 * peak as f64 + 0.2 * turn(peak, 3.7), 1.0 + 0.15 * turn(peak, 5.1)]
    };
    (0..PEAKS).flat_map(peak).collect()
}

/// Heights and widths that are off by up to 10 %, centres by up to 0.15 of a width.
fn start() -> Vec<f64> {
    let off = |(index, value): (usize, f64)| match index % 3 {
        1 => value + 0.15 * (1.9 * index as f64).sin(),
        0 => value * (1.0 + 0.1 * (1.3 * index as f64).sin()),
        _ => value * (1.0 + 0.1 * (2.9 * index as f64).sin()),
    };
    truth().into_iter().enumerate().map(off).collect()
}

/// Some rows of so many. The noise of a row depends on its number alone, so that the data are the same on any number of
/// ranks.
fn points(rows: Range<usize>, all: usize) -> (Vec<f64>, Vec<f64>) {
    let truth = truth();
    let x: Vec<f64> = rows.clone().map(|row| 63.0 * row as f64 / all as f64).collect();
    let noise = rows.map(|row| -> f64 { StandardNormal.sample(&mut ChaCha8Rng::seed_from_u64(row as u64)) });
    let y = x.iter().zip(noise).map(|(&x, noise)| Peaks.response(&[x], &truth) + NOISE * noise).collect();
    (x, y)
}

/// Fits this rank's share of so many points with that of the others. Returns the parameters, too.
pub fn fit(ranks: &Communicator, rows: usize) -> Result<(Outcome, Vec<f64>), Box<dyn Error>> {
    let (x, y) = points(ranks.shard(rows), rows);
    let begin = Instant::now();
    let fit = CurveFit::model(Peaks, &x, &y, &start()).communicator(ranks).fit()?;
    let seconds = begin.elapsed().as_secs_f64();
    let report = fit.report();
    if ranks.is_root() {
        println!("fit: {} parameters, {} iterations: {}", report.x.len(), report.iterations, report.status);
    }
    let outcome = Outcome { rows, seconds, loss: 2.0 * report.cost / rows as f64 };
    Ok((outcome, report.x.clone()))
}
