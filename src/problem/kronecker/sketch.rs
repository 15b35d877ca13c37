//! Second moments of many columns by few rows.

use crate::kernels::vector::add_scaled;
use crate::real::Real;

/// A sample, by its place in the batch and random bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) place: usize,
    pub(super) bits: u64,
}

/// A sketch `S` of rows `x`, with `E[SᵀS] = Σ xᵀx`: each row is added, with a random sign, to the row of `S` that its place selects
/// (Charikar, Chen & Farach-Colton 2004). Sums of sketches are sketches, of ranks and of moving averages as well.
pub(super) struct Sketch<'a, T> {
    /// Rows of `columns` entries, and a last column of a bias where there is one.
    pub(super) numbers: &'a mut [T],
    pub(super) rank: usize,
    pub(super) columns: usize,
}

impl<T: Real> Sketch<'_, T> {
    /// Adds rows, as many for each of the samples, times the roots of the samples' weights. `uses` tells apart rows of several uses.
    pub(super) fn add(self, rows: &[T], (samples, uses): (&[Sample], usize), root: impl Fn(usize) -> T) {
        let Sketch { numbers, rank, columns } = self;
        let (sketch, ones) = numbers.split_at_mut(rank * columns);
        // After the rows, there may be a column of ones, and then the entries that an inverse takes.
        let ones = if ones.len() > rank * rank + 1 { &mut ones[..rank] } else { &mut [] };
        let positions = rows.len() / columns / samples.len().max(1);
        let of_samples = rows.chunks_exact((positions * columns).max(1));
        for (index, (rows, &Sample { place, bits })) in of_samples.zip(samples).enumerate() {
            for (position, row) in rows.chunks_exact(columns).enumerate() {
                let odd = 2 * (uses * positions + position) as u64 + 1;
                let sign = if bits.wrapping_mul(odd) >> 63 == 0 { T::ONE } else { -T::ONE };
                let (factor, to) = (sign * root(index), (place * positions + position) % rank);
                add_scaled(&mut sketch[to * columns..(to + 1) * columns], factor, row);
                if let Some(sum) = ones.get_mut(to) {
                    *sum += factor;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_sketches_is_the_second_moment() {
        let (count, columns, rank, positions) = (12, 3, 4, 2);
        let rows: Vec<f64> = (0..count * positions * columns).map(|k| (k as f64 * 0.7).sin()).collect();
        let mut expected = [0.0; 16];
        for row in rows.chunks_exact(columns) {
            let row = [row[0], row[1], row[2], 1.0];
            (0..16).for_each(|k| expected[k] += row[k / 4] * row[k % 4]);
        }
        let (draws, mut state) = (20_000, 1_u64);
        let mut mean = [0.0; 16];
        for _ in 0..draws {
            let mut draw = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state ^ state >> 29
            };
            let samples: Vec<Sample> = (0..count).map(|place| Sample { place, bits: draw() }).collect();
            let mut numbers = vec![0.0; rank * (columns + 1) + rank * rank + 1];
            Sketch { numbers: &mut numbers, rank, columns }.add(&rows, (&samples, 0), |_| 1.0);
            for i in 0..rank {
                let row = |k: usize| numbers[if k < columns { i * columns + k } else { rank * columns + i }];
                (0..16).for_each(|k| mean[k] += row(k / 4) * row(k % 4) / draws as f64);
            }
        }
        for (mean, expected) in mean.iter().zip(expected) {
            assert!((mean - expected).abs() < 0.25, "{mean} is not {expected}");
        }
    }
}
