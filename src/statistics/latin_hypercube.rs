//! Points that fill a cube evenly.

use rand_distr::{Distribution, StandardUniform};

use super::random::{permutation, stream};

/// A Latin hypercube: `count` points of the unit cube, exactly one in each of `count` slices across any axis
/// (McKay, Beckman & Conover 1979).
pub(crate) fn latin_hypercube(count: usize, dimensions: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut points = vec![vec![0.0; dimensions]; count];
    for dimension in 0..dimensions {
        let mut random = stream(seed, dimension);
        let slices = permutation(count, &mut random);
        for (point, slice) in points.iter_mut().zip(slices) {
            let within: f64 = StandardUniform.sample(&mut random);
            point[dimension] = (slice as f64 + within) / count as f64;
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slice_holds_one_point() {
        let points = latin_hypercube(17, 3, 5);
        for dimension in 0..3 {
            let mut slices: Vec<_> = points.iter().map(|point| (17.0 * point[dimension]) as usize).collect();
            slices.sort_unstable();
            assert_eq!(slices, (0..17).collect::<Vec<_>>());
        }
        assert_ne!(points, latin_hypercube(17, 3, 6));
    }
}
