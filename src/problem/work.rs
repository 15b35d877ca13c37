//! Cost of a computation: flops, entries moved, and an estimate of the time that both take.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul};

/// Estimated flops, memory traffic and relative time of a computation.
///
/// It decides on the form of the linear system, and [`Network::summary`](crate::nn::Network::summary) prints it. Sizes are floating-point
/// numbers, so that they cannot overflow.
///
/// ```
/// use marquardt::problem::Work;
///
/// // The product of a 64 × 100 with a 100 × 10 matrix, and a function of all that comes out.
/// let layer = Work::product(64.0, 100.0, 10.0) + Work::elementwise(640.0, 20.0, 2.0);
/// assert_eq!(layer.flops(), 2.0 * 64.0 * 100.0 * 10.0 + 640.0 * 20.0);
/// assert_eq!(layer.bytes::<f32>(), 4.0 * (64.0 * 100.0 + 100.0 * 10.0 + 640.0 + 640.0 * 2.0));
/// assert!(layer.time() < (layer * 2.0).time());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Work {
    flops: f64,
    /// Entries read and written.
    numbers: f64,
    time: f64,
}

/// Kinds of operations, each with its own rate of flops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rate {
    /// Products of matrices.
    Product,
    /// Products of which only the lower triangle is computed, and counted.
    Triangle,
    /// Factorisations of matrices.
    Factorization,
    /// Passes over entries, and products of matrices with vectors.
    Elementwise,
}

impl Rate {
    /// Flops in a nanosecond, about the rate of network steps in `f64` on one core with AVX2. In `f32` everything is twice as
    /// fast; only ratios matter.
    fn nominal(self) -> f64 {
        match self {
            Rate::Product => 25.0,
            Rate::Triangle => 25.0,
            Rate::Factorization => 18.0,
            Rate::Elementwise => 5.0,
        }
    }
}

/// Entries moved in a nanosecond, between the rates of the second-level cache and of the memory.
const BANDWIDTH: f64 = 2.0;

impl Work {
    /// No work.
    pub const NONE: Work = Work { flops: 0.0, numbers: 0.0, time: 0.0 };

    /// Creates the work of `flops` flops on `entries` entries read from memory or written to it.
    pub fn new(rate: Rate, flops: f64, numbers: f64) -> Self {
        Work { flops, numbers, time: flops / rate.nominal() + numbers / BANDWIDTH }
    }

    /// The product of a `rows × depth` matrix with a `depth × columns` matrix.
    pub fn product(rows: f64, depth: f64, columns: f64) -> Self {
        let numbers = rows * depth + depth * columns + rows * columns;
        Self::new(Rate::Product, 2.0 * rows * depth * columns, numbers)
    }

    /// The lower triangle of `AAᵀ`, for an `A` of `rows × depth`.
    pub fn triangle(rows: f64, depth: f64) -> Self {
        let triangle = 0.5 * rows * (rows + 1.0);
        Self::new(Rate::Triangle, 2.0 * triangle * depth, rows * depth + triangle)
    }

    /// Cholesky's factorisation of an `n × n` matrix.
    pub fn cholesky(n: f64) -> Self {
        Self::new(Rate::Factorization, n * n * n / 3.0, n * n)
    }

    /// The solution of a system whose `n × n` matrix is factorised.
    pub fn substitution(n: f64) -> Self {
        Self::elementwise(n * n, 2.0, 1.0)
    }

    /// Creates the work of a pass with `flops` flops for each of `count` results, and `entries` entries read and written for each.
    pub fn elementwise(count: f64, flops: f64, numbers: f64) -> Self {
        Self::new(Rate::Elementwise, count * flops, count * numbers)
    }

    /// Floating-point operations.
    pub fn flops(self) -> f64 {
        self.flops
    }

    /// Bytes read and written, by entries of this type.
    pub fn bytes<T>(self) -> f64 {
        self.numbers * size_of::<T>() as f64
    }

    /// Time on a nominal machine, for comparisons with other work only.
    pub fn time(self) -> f64 {
        self.time
    }
}

impl Add for Work {
    type Output = Work;

    fn add(self, other: Work) -> Work {
        Work { flops: self.flops + other.flops, numbers: self.numbers + other.numbers, time: self.time + other.time }
    }
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        *self = *self + other;
    }
}

/// Multiplies the work by a number of repetitions.
impl Mul<f64> for Work {
    type Output = Work;

    fn mul(self, times: f64) -> Work {
        Work { flops: self.flops * times, numbers: self.numbers * times, time: self.time * times }
    }
}

impl Sum for Work {
    fn sum<I: Iterator<Item = Work>>(works: I) -> Work {
        works.fold(Work::NONE, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_adds_up() {
        let (a, b) = (Work::product(3.0, 4.0, 5.0), Work::elementwise(7.0, 20.0, 2.0));
        let sum: Work = [a, b, b].into_iter().sum();
        assert_eq!(sum, a + b * 2.0);
        assert_eq!(sum.flops(), 120.0 + 280.0);
        assert_eq!(sum.bytes::<f64>(), 8.0 * (12.0 + 20.0 + 15.0 + 28.0));
        assert_eq!(Work::NONE + a, a);
    }

    #[test]
    fn whatever_grows_takes_longer() {
        let of = |size: f64| {
            [
                Work::product(size, 8.0, 8.0),
                Work::product(8.0, size, 8.0),
                Work::product(8.0, 8.0, size),
                Work::triangle(size, 8.0),
                Work::triangle(8.0, size),
                Work::cholesky(size),
                Work::substitution(size),
                Work::elementwise(size, 1.0, 0.0),
                Work::elementwise(8.0, size, 0.0),
                Work::elementwise(8.0, 0.0, size),
            ]
        };
        for (small, large) in of(10.0).into_iter().zip(of(11.0)) {
            assert!(small.time() < large.time(), "{small:?}, {large:?}");
            assert!(small.flops() <= large.flops() && small.bytes::<f32>() <= large.bytes::<f32>());
        }
    }
}
