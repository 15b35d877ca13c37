//! Numbers that the examples of all adapters learn, row after row.

#![allow(dead_code, reason = "each example takes one of them")]

use std::error::Error;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;

use super::race::{shuffle, unit};

/// Points in `[-1, 1]¹⁰`, and Friedman's first function there, with mean 0 and variance 1.
///
/// J. H. Friedman, Multivariate Adaptive Regression Splines, Annals of Statistics 19 (1991), 1–67.
pub fn friedman(seed: u64) -> (Vec<f64>, Vec<f64>) {
    const POINTS: usize = 8000;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let x: Vec<f64> = (0..10 * POINTS).map(|_| unit(&mut random)).collect();
    let friedman = |x: &[f64]| {
        10.0 * (std::f64::consts::PI * x[0] * x[1]).sin() + 20.0 * (x[2] - 0.5).powi(2) + 10.0 * x[3] + 5.0 * x[4]
    };
    let y: Vec<f64> = x.chunks_exact(10).map(friedman).collect();
    let mean = y.iter().sum::<f64>() / POINTS as f64;
    let variance = y.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / POINTS as f64;
    let y = y.into_iter().map(|y| (y - mean) / variance.sqrt()).collect();
    (x.into_iter().map(|x| 2.0 * x - 1.0).collect(), y)
}

/// Twenty thousand points from -1 to 1, and sinc(10x) there.
pub fn sinc() -> (Vec<f64>, Vec<f64>) {
    const POINTS: usize = 20_000;
    let x: Vec<f64> = (0..POINTS).map(|i| (2 * i + 1) as f64 / POINTS as f64 - 1.0).collect();
    let y = x.iter().map(|x| (10.0 * x).sin() / (10.0 * x)).collect();
    (x, y)
}

/// E. Alpaydin & C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository 1998, doi 10.24432/C50P49,
/// under CC BY 4.0.
const DIGITS: &str = include_str!("../../examples/classify/digits.csv");

/// Images of digits that a network is trained with; all others test it.
pub const TRAINING_DIGITS: usize = 1437;

/// Grey values from 0 to 1 of 8 × 8 pixels, and the digit of each image, in a random order.
pub fn digits(seed: u64) -> Result<(Vec<f64>, Vec<f64>), Box<dyn Error>> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for line in DIGITS.lines() {
        rows.push(line.split(',').map(str::parse).collect::<Result<_, _>>()?);
    }
    shuffle(&mut rows, &mut ChaCha8Rng::seed_from_u64(seed));
    let pixels = rows.iter().flat_map(|row| row[..64].iter().map(|grey| grey / 16.0)).collect();
    Ok((pixels, rows.iter().map(|row| row[64]).collect()))
}
