//! Initializers of weights.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use ndarray::{ArrayD, IxDyn};
use rand_distr::{Distribution, StandardNormal, StandardUniform};

use crate::real::Real;

/// The standard deviation of a standard normal variable that is cut off at ±2.
const TRUNCATED_STD: f64 = 0.879_625_661_034_239_8;

/// Values of a variable at the start, with Keras' names and definitions.
///
/// The families of Glorot, He and LeCun take the variance from the layer's width: `fan_in` entries go into each of its
/// `fan_out` units. Their normal distributions are cut off at two standard deviations, and scaled so that the variance
/// is as named. Numbers are drawn in `f64`, so that `f32` starts from the same ones, rounded.
///
/// ```
/// use marquardt::nn::Initializer;
///
/// let weight = Initializer::GlorotUniform.sample::<f64>(&[20, 4], 4, 20, 0);
/// let limit = (6.0_f64 / (4.0 + 20.0)).sqrt();
/// assert!(weight.iter().all(|&w| -limit <= w && w <= limit));
/// assert_eq!(weight, Initializer::GlorotUniform.sample::<f64>(&[20, 4], 4, 20, 0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Initializer {
    /// Zeros.
    Zeros,
    /// Ones.
    Ones,
    /// Sets all entries to one value.
    Constant {
        /// The number.
        value: f64,
    },
    /// Uniform on `[−limit, limit]`.
    Uniform {
        /// The bound.
        limit: f64,
    },
    /// Normal around zero.
    Normal {
        /// The standard deviation.
        std: f64,
    },
    /// Normal around zero, cut off at two standard deviations.
    TruncatedNormal {
        /// The standard deviation before the cut.
        std: f64,
    },
    /// Uniform, of variance `2 / (fan_in + fan_out)`: Keras' default for the weights of a dense layer.
    #[default]
    GlorotUniform,
    /// Normal, of variance `2 / (fan_in + fan_out)`.
    GlorotNormal,
    /// Uniform, of variance `2 / fan_in`: for `relu` and its relatives.
    HeUniform,
    /// Normal, of variance `2 / fan_in`.
    HeNormal,
    /// Uniform, of variance `1 / fan_in`.
    LecunUniform,
    /// Normal, of variance `1 / fan_in`.
    LecunNormal,
    /// A random matrix whose rows are orthogonal and of length `gain`, or its columns where it has more rows. Of a
    /// convolution's weight, each filter is a row, as in PyTorch.
    Orthogonal {
        /// The length.
        gain: f64,
    },
}

impl Initializer {
    /// An array of this shape, from a seed of its own.
    ///
    /// A layer's weights have the shape `[fan_out, fan_in]`.
    pub fn sample<T: Real>(self, shape: &[usize], fan_in: usize, fan_out: usize, seed: u64) -> ArrayD<T> {
        self.draw(shape, fan_in, fan_out, &mut ChaCha8Rng::seed_from_u64(seed))
    }

    /// An array of this shape from a stream of random numbers.
    pub(crate) fn draw<T: Real>(
        self,
        shape: &[usize],
        fan_in: usize,
        fan_out: usize,
        random: &mut ChaCha8Rng,
    ) -> ArrayD<T> {
        let mut normal = || -> f64 { StandardNormal.sample(random) };
        let mut values = ArrayD::from_elem(IxDyn(shape), T::ZERO);
        match self.resolve(fan_in.max(1) as f64, fan_out.max(1) as f64) {
            Self::Constant { value } => values.fill(T::from_f64(value)),
            Self::Normal { std } => values.map_inplace(|value| *value = T::from_f64(std * normal())),
            Self::TruncatedNormal { std } => values.map_inplace(|value| {
                let within = std::iter::repeat_with(&mut normal).find(|value| value.abs() <= 2.0);
                *value = T::from_f64(std * within.expect("draws do not end"));
            }),
            Self::Uniform { limit } => values.map_inplace(|value| {
                let unit: f64 = StandardUniform.sample(random);
                *value = T::from_f64(limit * (2.0 * unit - 1.0));
            }),
            Self::Orthogonal { gain } => {
                let rows = if shape.len() > 1 { shape[0] } else { 1 };
                let columns = values.len().checked_div(rows).unwrap_or(0).max(1);
                let frame = orthonormal(rows.min(columns), rows.max(columns), &mut normal);
                for (i, value) in values.iter_mut().enumerate() {
                    let (row, column) = (i / columns, i % columns);
                    let element = if rows <= columns { frame[row][column] } else { frame[column][row] };
                    *value = T::from_f64(gain * element);
                }
            }
            resolved => unreachable!("{resolved:?} depends on the width of the layer"),
        }
        values
    }

    /// The same distribution without reference to the width of the layer.
    fn resolve(self, fan_in: f64, fan_out: f64) -> Self {
        let uniform = |variance: f64| Self::Uniform { limit: (3.0 * variance).sqrt() };
        let truncated = |variance: f64| Self::TruncatedNormal { std: variance.sqrt() / TRUNCATED_STD };
        match self {
            Self::Zeros => Self::Constant { value: 0.0 },
            Self::Ones => Self::Constant { value: 1.0 },
            Self::GlorotUniform => uniform(2.0 / (fan_in + fan_out)),
            Self::GlorotNormal => truncated(2.0 / (fan_in + fan_out)),
            Self::HeUniform => uniform(2.0 / fan_in),
            Self::HeNormal => truncated(2.0 / fan_in),
            Self::LecunUniform => uniform(1.0 / fan_in),
            Self::LecunNormal => truncated(1.0 / fan_in),
            resolved => resolved,
        }
    }
}

/// `count` orthonormal vectors of `length ≥ count` entries, uniform over all such frames: normal draws, orthogonalised
/// by Gram and Schmidt twice, as once is not enough when two draws nearly align.
fn orthonormal(count: usize, length: usize, normal: &mut impl FnMut() -> f64) -> Vec<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let mut frame: Vec<Vec<f64>> = Vec::with_capacity(count);
    for _ in 0..count {
        let mut vector: Vec<f64> = (0..length).map(|_| normal()).collect();
        for _ in 0..2 {
            for earlier in &frame {
                let along = dot(&vector, earlier);
                vector.iter_mut().zip(earlier).for_each(|(v, e)| *v -= along * e);
            }
            let norm = dot(&vector, &vector).sqrt();
            vector.iter_mut().for_each(|v| *v /= norm);
        }
        frame.push(vector);
    }
    frame
}

#[cfg(test)]
mod tests {
    use ndarray::Ix2;

    use super::*;

    const FAN_IN: usize = 100;
    const FAN_OUT: usize = 300;

    fn weights(initializer: Initializer) -> ArrayD<f64> {
        initializer.sample(&[FAN_OUT, FAN_IN], FAN_IN, FAN_OUT, 7)
    }

    /// Mean zero, the variance as named, and no value beyond the bound.
    #[track_caller]
    fn check(initializer: Initializer, variance: f64, bound: f64) {
        let values = weights(initializer);
        let count = values.len() as f64;
        let mean = values.sum() / count;
        let found = values.iter().map(|v| v * v).sum::<f64>() / count;
        assert!(mean.abs() < 3.0 * (variance / count).sqrt(), "{initializer:?}: mean {mean}");
        assert!((found / variance - 1.0).abs() < 0.03, "{initializer:?}: variance {found} for {variance}");
        let largest = values.iter().fold(0.0, |largest: f64, v| largest.max(v.abs()));
        assert!(largest <= bound, "{initializer:?}: {largest} beyond {bound}");
        assert!(bound.is_infinite() || largest > 0.995 * bound, "{initializer:?}: only {largest} of {bound}");
    }

    #[test]
    fn variances_and_bounds_are_as_named() {
        use Initializer::*;
        let (glorot, he, lecun) = (2.0 / 400.0, 2.0 / 100.0, 1.0 / 100.0);
        check(Uniform { limit: 0.3 }, 0.03, 0.3);
        check(Normal { std: 0.5 }, 0.25, f64::INFINITY);
        check(TruncatedNormal { std: 0.5 }, 0.25 * TRUNCATED_STD.powi(2), 1.0);
        for (initializer, variance) in [(GlorotUniform, glorot), (HeUniform, he), (LecunUniform, lecun)] {
            check(initializer, variance, (3.0 * variance).sqrt());
        }
        for (initializer, variance) in [(GlorotNormal, glorot), (HeNormal, he), (LecunNormal, lecun)] {
            check(initializer, variance, 2.0 * variance.sqrt() / TRUNCATED_STD);
        }
    }

    #[test]
    fn constants_are_constant() {
        for (initializer, value) in
            [(Initializer::Zeros, 0.0), (Initializer::Ones, 1.0), (Initializer::Constant { value: -2.5 }, -2.5)]
        {
            assert!(weights(initializer).iter().all(|&v| v == value));
        }
    }

    #[test]
    fn orthogonal_matrices_are() {
        for (rows, columns) in [(5, 12), (12, 5), (6, 6), (1, 4)] {
            let matrix = Initializer::Orthogonal { gain: 2.0 }.sample::<f64>(&[rows, columns], columns, rows, 1);
            let matrix = matrix.into_dimensionality::<Ix2>().unwrap();
            let product = if rows <= columns { matrix.dot(&matrix.t()) } else { matrix.t().dot(&matrix) };
            for ((i, j), &value) in product.indexed_iter() {
                let expected = if i == j { 4.0 } else { 0.0 };
                assert!((value - expected).abs() < 1e-14, "{rows} × {columns}: ({i}, {j}) is {value}");
            }
        }
    }

    #[test]
    fn a_seed_decides_all_numbers() {
        let draw = |seed| Initializer::HeNormal.sample::<f64>(&[30], 3, 10, seed);
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert_eq!(Initializer::HeNormal.sample::<f32>(&[30], 3, 10, 1), draw(1).mapv(|v| v as f32));
        let first = Initializer::Uniform { limit: 1.0 }.sample::<f64>(&[2], 1, 1, 0);
        assert_eq!(
            first.as_slice().unwrap(),
            [0.418_150_830_853_123_66, -0.068_156_555_420_779_7],
            "the stream of a seed is part of the interface"
        );
    }
}
