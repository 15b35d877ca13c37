//! Points that a network of random weights has put into classes.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use ndarray::Array2;

pub const INPUTS: usize = 100;
pub const POINTS: usize = 20_000;
/// Points that networks are trained with; all others test them.
pub const TRAINING: usize = 18_000;

const CLASSES: usize = 10;
/// Units of the teacher's hidden layer.
const UNITS: usize = 12;

/// Normally distributed points, and the class of each: the largest output of a network of twelve tanh units.
pub fn draw(seed: u64) -> [Array2<f64>; 2] {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let points = normal(POINTS, INPUTS, &mut random);
    let inner = normal(INPUTS, UNITS, &mut random) * (1.5 / (INPUTS as f64).sqrt());
    let outer = normal(UNITS, CLASSES, &mut random);
    let outputs = points.dot(&inner).mapv(f64::tanh).dot(&outer);
    let largest = |row: usize| (0..CLASSES).max_by(|&a, &b| outputs[[row, a]].total_cmp(&outputs[[row, b]]));
    let classes = Array2::from_shape_fn((POINTS, 1), |(row, _)| largest(row).unwrap_or(0) as f64);
    [points, classes]
}

/// Numbers of the standard normal distribution, by Box and Muller's transformation.
pub fn normal(rows: usize, columns: usize, random: &mut impl Rng) -> Array2<f64> {
    let mut uniform = || ((random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    Array2::from_shape_simple_fn((rows, columns), || {
        let radius = (-2.0 * uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * uniform()).cos()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_on_points_and_classes() {
        let [points, classes] = draw(3);
        assert_eq!((points.dim(), classes.dim()), ((POINTS, INPUTS), (POINTS, 1)));
        assert_eq!(points, draw(3)[0]);
        assert_ne!(points, draw(4)[0]);
        assert!(points.mean().is_some_and(|mean| mean.abs() < 0.01));
        assert!((points.std(0.0) - 1.0).abs() < 0.01);
        let members = |class: usize| classes.iter().filter(|&&of| of == class as f64).count();
        assert!((0..CLASSES).map(members).filter(|&members| members > 100).count() >= 8);
    }
}
