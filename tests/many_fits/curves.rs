//! Models, random data of theirs, and single fits to compare with.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::curve::{FitOptions, ManyFits};
use marquardt::number::Number;
use marquardt::{Bounds, Dual, FitMany, FittedCurve, Model, Real, ScalarOf, model};
use ndarray::Array2;
use rand_distr::{Distribution, Normal, Uniform};

/// A model in both precisions.
pub trait Formula: Model<f64> + Model<f32> + Copy + Send + Sync {}

impl<M: Model<f64> + Model<f32> + Copy + Send + Sync> Formula for M {}

/// The bounds of a model's parameters as options.
pub fn within<T: Real>(model: &impl Model<T>, bounds: &Bounds<T>) -> FitOptions<T> {
    let ends = bounds.lower().iter().zip(bounds.upper()).enumerate();
    ends.fold(FitOptions::new(), |options, (index, (&lower, &upper))| {
        options.bounds(&model.parameter_name(index), lower..=upper)
    })
}

pub fn line() -> impl Formula {
    model!(|x; slope, intercept| slope * x + intercept)
}

pub fn decay() -> impl Formula {
    model!(|x; amplitude, lifetime| amplitude * exp(-x / lifetime))
}

pub fn rate() -> impl Formula {
    model!(|x; rate| exp(-x * rate))
}

pub fn saturation() -> impl Formula {
    model!(|x; rise, half, inhibition| rise * x / (1 + half * x + inhibition * x * x))
}

pub fn peak() -> impl Formula {
    model!(|x; amplitude, center, width, offset| amplitude * exp(-0.5 * ((x - center) / width).powi(2)) + offset)
}

pub fn logistic() -> impl Formula {
    model!(|x; top, bottom, middle, slope, asymmetry| {
        bottom + (top - bottom) / pow(1 + pow(x / middle, -slope), asymmetry)
    })
}

pub fn two_peaks() -> impl Formula {
    model!(|x; a, b, c, d, e, f, slope, intercept| {
        a * exp(-0.5 * ((x - b) / c).powi(2)) + d * exp(-0.5 * ((x - e) / f).powi(2)) + slope * x + intercept
    })
}

pub fn two_peaks_on_parabola() -> impl Formula {
    model!(|x; a, b, c, d, e, f, bend, slope, intercept| {
        a * exp(-0.5 * ((x - b) / c).powi(2)) + d * exp(-0.5 * ((x - e) / f).powi(2)) + (bend * x + slope) * x + intercept
    })
}

/// Peaks side by side, of three parameters each; parameters left over are the coefficients of a polynomial.
#[derive(Debug, Clone, Copy)]
pub struct Peaks {
    pub parameters: usize,
}

/// Distance of one peak from the next.
const SPACING: f64 = 4.0;

impl<T: Real> Model<T> for Peaks {
    fn parameter_count(&self) -> usize {
        self.parameters
    }

    #[inline(always)]
    fn response<S: ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> S {
        let (peaks, coefficients) = b[..self.parameters].as_chunks::<3>();
        let mut sum = S::constant(S::Real::from_f64(0.0));
        for &coefficient in coefficients {
            sum = sum * (x[0] * T::from_f64(0.1)) + coefficient;
        }
        for &[height, center, width] in peaks {
            let u = (-center + x[0]) / width;
            sum += height * (u * u * T::from_f64(-0.5)).exp();
        }
        sum
    }
}

impl Peaks {
    /// Random curves.
    pub fn draw<T: Real>(self, fits: usize, points: usize, seed: u64) -> Curves<T> {
        let truth = self.truth();
        self.design(&truth).draw(self, fits, points, seed)
    }

    /// Between which numbers each parameter lies.
    pub fn truth(self) -> Vec<(f64, f64)> {
        let peaks = (0..self.parameters / 3).flat_map(|k| {
            let center = SPACING * k as f64;
            [(1.0, 2.0), (center - 0.5, center + 0.5), (0.5, 0.8)]
        });
        peaks.chain([(-0.2, 0.2); 2]).take(self.parameters).collect()
    }

    pub fn design(self, truth: &[(f64, f64)]) -> Design<'_> {
        Design { range: (-2.0, SPACING * (self.parameters / 3) as f64 - 2.0), truth, noise: 0.02, off: 0.2 }
    }
}

/// What random curves are like.
pub struct Design<'a> {
    /// Where they are observed, evenly spaced.
    pub range: (f64, f64),
    /// Between which numbers each parameter lies.
    pub truth: &'a [(f64, f64)],
    pub noise: f64,
    /// How far starts are off, in units of half of the width between these numbers.
    pub off: f64,
}

pub const LINE: Design = Design { range: (0.0, 1.0), truth: &[(-2.0, 2.0), (-1.0, 1.0)], noise: 0.1, off: 2.0 };

pub const DECAY: Design = Design { range: (0.0, 6.0), truth: &[(0.5, 3.0), (0.8, 3.0)], noise: 0.03, off: 0.3 };

pub const RATE: Design = Design { range: (0.1, 4.0), truth: &[(0.3, 2.0)], noise: 0.03, off: 0.5 };

pub const SATURATION: Design =
    Design { range: (0.1, 4.1), truth: &[(2.7, 12.0), (0.45, 2.0), (0.63, 2.8)], noise: 0.01, off: 0.5 };

pub const PEAK: Design =
    Design { range: (-5.0, 5.0), truth: &[(0.7, 2.0), (-2.0, 2.0), (0.6, 1.5), (-0.5, 0.5)], noise: 0.03, off: 0.3 };

pub const LOGISTIC: Design = Design {
    range: (0.2, 12.0),
    truth: &[(1.5, 3.0), (-0.2, 0.2), (2.0, 4.0), (2.0, 4.0), (0.8, 1.4)],
    noise: 0.003,
    off: 0.1,
};

pub const TWO_PEAKS: Design = Design {
    range: (-5.0, 5.0),
    truth: &[(1.0, 2.0), (-2.5, -1.5), (0.5, 0.8), (1.0, 2.0), (1.5, 2.5), (0.5, 0.8), (-0.1, 0.1), (-0.3, 0.3)],
    noise: 0.02,
    off: 0.2,
};

pub const TWO_PEAKS_ON_PARABOLA: Design = Design {
    range: (-5.0, 5.0),
    truth: &[
        (1.0, 2.0),
        (-2.5, -1.5),
        (0.5, 0.8),
        (1.0, 2.0),
        (1.5, 2.5),
        (0.5, 0.8),
        (-0.02, 0.02),
        (-0.1, 0.1),
        (-0.3, 0.3),
    ],
    noise: 0.02,
    off: 0.2,
};

/// Observations of curves in the same places, and starts; a row a curve.
pub struct Curves<T> {
    pub x: Vec<T>,
    pub y: Array2<T>,
    pub start: Array2<T>,
}

impl Design<'_> {
    /// Random curves.
    pub fn draw<T: Real>(&self, model: impl Model<f64>, fits: usize, points: usize, seed: u64) -> Curves<T> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let noise = Normal::new(0.0, self.noise).unwrap();
        let step = (self.range.1 - self.range.0) / (points - 1) as f64;
        let x: Vec<f64> = (0..points).map(|i| self.range.0 + step * i as f64).collect();
        let (mut y, mut start) = (Vec::new(), Vec::new());
        for _ in 0..fits {
            let mut uniform = |low: f64, high: f64| Uniform::new(low, high).unwrap().sample(&mut random);
            let truth: Vec<f64> = self.truth.iter().map(|&(low, high)| uniform(low, high)).collect();
            start.extend(
                self.truth.iter().zip(&truth).map(|(&(low, high), truth)| {
                    T::from_f64(truth + self.off * 0.5 * (high - low) * uniform(-1.0, 1.0))
                }),
            );
            y.extend(x.iter().map(|&x| T::from_f64(model.response(&[x], &truth) + noise.sample(&mut random))));
        }
        Curves {
            x: x.into_iter().map(T::from_f64).collect(),
            y: Array2::from_shape_vec((fits, points), y).unwrap(),
            start: Array2::from_shape_vec((fits, self.truth.len()), start).unwrap(),
        }
    }
}

impl<T: Real> Curves<T> {
    /// The fits of all.
    pub fn fit(&self, model: impl Model<T>) -> ManyFits<T> {
        FitMany::new(model, &self.x, &self.y).start(&self.start).fit().unwrap()
    }

    /// Observations and start of one.
    pub fn row(&self, row: usize) -> (&[T], &[T]) {
        (self.y.row(row).to_slice().unwrap(), self.start.row(row).to_slice().unwrap())
    }
}

/// Fit at one point, in double precision.
pub struct AtPoint {
    /// Half the sum of the squared residuals.
    pub cost: f64,
    /// Largest cosine between the residuals and the derivatives with respect to a parameter that no bound holds.
    pub cosine: f64,
}

/// Of up to `N` parameters; `points` are predictor, response and standard deviation.
pub fn at_point<T: Real, const N: usize>(
    model: &impl Model<f64>,
    points: &[[f64; 3]],
    at: &[T],
    bounds: &Bounds<T>,
) -> AtPoint {
    let (mut squares, mut gradient, mut norms) = (0.0, [0.0; N], [0.0; N]);
    for &[x, y, sigma] in points {
        let value = |j: usize| at.get(j).map_or(0.0, |value| value.to_f64());
        let variables: [Dual<f64, N>; N] = std::array::from_fn(|j| Dual::variable(value(j), j));
        let residual = (model.response(&[x], &variables) - y) / sigma;
        squares += residual.value * residual.value;
        for (j, derivative) in residual.gradient.into_iter().enumerate() {
            gradient[j] += derivative * residual.value;
            norms[j] += derivative * derivative;
        }
    }
    let is_free = |j: usize| {
        let (lower, upper) = (bounds.lower()[j], bounds.upper()[j]);
        norms[j] > 0.0 && !(at[j] <= lower && gradient[j] > 0.0 || at[j] >= upper && gradient[j] < 0.0)
    };
    let cosines = (0..at.len()).filter(|&j| is_free(j)).map(|j| gradient[j].abs() / (norms[j] * squares).sqrt());
    AtPoint { cost: 0.5 * squares, cosine: cosines.fold(0.0, f64::max) }
}

/// [`AtPoint::cosine`] alone.
pub fn largest_cosine<T: Real, const N: usize>(
    model: &impl Model<f64>,
    points: &[[f64; 3]],
    at: &[T],
    bounds: &Bounds<T>,
) -> f64 {
    at_point::<T, N>(model, points, at, bounds).cosine
}

/// One of many fits is this one: the same cost to 1e-8, the same standard errors to 1e-5, the same parameters to 1e-4 of
/// those.
pub fn assert_same(fits: &ManyFits<f64>, row: usize, fit: &FittedCurve<f64>) {
    assert!(fits.status[row].is_converged() && fit.report().is_converged(), "{row}: {}\n{fit}", fits.status[row]);
    let (cost, expected) = (fits.cost[row], fit.report().cost);
    assert!((cost - expected).abs() <= 1e-8 * expected, "{row}: {cost} and {expected}\n{fit}");
    for (j, parameter) in fit.parameters().iter().enumerate() {
        let (value, error) = (fits.parameters[[row, j]], fits.standard_errors[[row, j]]);
        let expected = parameter.standard_error;
        let margin = 1e-4 * if expected.is_finite() { expected } else { 0.0 };
        assert!(!expected.is_finite() || (value - parameter.value).abs() <= margin, "{row}, {j}: {value}\n{fit}");
        let is_same = error == expected || (error - expected).abs() <= 1e-5 * expected;
        assert!(is_same || error.is_nan() && expected.is_nan(), "{row}, {j}: ± {error}\n{fit}");
    }
}

/// All numbers of these rows, and what became of them, are the same to the last bit.
pub fn assert_identical<T: Real>(left: &ManyFits<T>, right: &ManyFits<T>, rows: impl IntoIterator<Item = usize>) {
    let bits = |value: &T| value.to_f64().to_bits();
    let of = |fits: &ManyFits<T>, row: usize| {
        let numbers =
            fits.parameters.row(row).into_iter().chain(fits.standard_errors.row(row)).chain([&fits.cost[row]]);
        (numbers.map(bits).collect::<Vec<_>>(), fits.status[row], fits.iterations[row])
    };
    for row in rows {
        assert_eq!(of(left, row), of(right, row), "row {row}");
    }
}
