//! Points of the unit cube.

use rand_distr::{Distribution, StandardUniform};

use super::Sampling;
use crate::statistics::latin_hypercube;
use crate::statistics::random::stream;

/// The first points of Halton's sequence line up in high dimensions, and are left out.
const SKIPPED: usize = 20;

/// `count` points of the unit cube.
pub(super) fn unit_cube(count: usize, dimensions: usize, sampling: Sampling) -> Vec<Vec<f64>> {
    match sampling {
        Sampling::Uniform(seed) => {
            let mut random = stream(seed, 0);
            let mut point = || (0..dimensions).map(|_| StandardUniform.sample(&mut random)).collect();
            (0..count).map(|_| point()).collect()
        }
        Sampling::LatinHypercube(seed) => latin_hypercube(count, dimensions, seed),
        Sampling::Halton => halton(count, &vec![0.0; dimensions]),
        Sampling::ShiftedHalton(seed) => {
            let mut random = stream(seed, 1);
            let shift: Vec<f64> = (0..dimensions).map(|_| StandardUniform.sample(&mut random)).collect();
            halton(count, &shift)
        }
    }
}

/// Halton's sequence (1960), moved modulo one.
fn halton(count: usize, shift: &[f64]) -> Vec<Vec<f64>> {
    let bases = primes(shift.len());
    let point = |index: usize| {
        let moved = bases.iter().zip(shift).map(|(&base, shift)| (radical_inverse(index, base) + shift).fract());
        moved.collect()
    };
    (SKIPPED..SKIPPED + count).map(point).collect()
}

/// The digits of a number after the point, in reverse order.
fn radical_inverse(mut index: usize, base: usize) -> f64 {
    let (mut value, mut place) = (0.0, 1.0);
    while index > 0 {
        place /= base as f64;
        value += (index % base) as f64 * place;
        index /= base;
    }
    value
}

/// The first prime numbers.
fn primes(count: usize) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::with_capacity(count);
    let mut candidate = 2;
    while found.len() < count {
        if found.iter().all(|prime| candidate % prime != 0) {
            found.push(candidate);
        }
        candidate += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_reversed() {
        assert_eq!([1, 2, 3, 4, 5].map(|k| radical_inverse(k, 2)), [0.5, 0.25, 0.75, 0.125, 0.625]);
        assert!((radical_inverse(5, 3) - 7.0 / 9.0).abs() < 1e-15);
        assert_eq!(primes(6), [2, 3, 5, 7, 11, 13]);
    }

    #[test]
    fn sequences_fill_the_cube_evenly() {
        for sampling in [Sampling::Halton, Sampling::ShiftedHalton(7), Sampling::LatinHypercube(7)] {
            let points = unit_cube(1000, 3, sampling);
            let inside = points.iter().filter(|p| p.iter().all(|&x| x < 0.5)).count();
            assert!((100..150).contains(&inside), "{sampling:?}: {inside} of 125");
            assert!(points.iter().flatten().all(|x| (0.0..1.0).contains(x)));
        }
        assert_ne!(unit_cube(3, 2, Sampling::ShiftedHalton(0)), unit_cube(3, 2, Sampling::ShiftedHalton(1)));
    }
}
