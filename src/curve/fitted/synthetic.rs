//! Data that might have been observed as well.

use std::iter::zip;

use chacha20::ChaCha8Rng;
use ndarray::{Array2, ArrayView1};
use rand_distr::{Distribution, Poisson, StandardNormal};

use crate::curve::CurveError;
use crate::curve::data::Data;
use crate::real::Real;
use crate::statistics::random::{below, stream};

/// Kind of draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Residuals,
    Cases,
    Parametric,
}

/// Distribution that data are drawn from.
pub(super) struct DrawSource<'p, T: Clone> {
    pub(super) data: &'p Data<'p, T>,
    /// The responses of the curve.
    pub(super) fitted: &'p [T],
    /// Predictors at which these are, where there are errors in x.
    pub(super) fitted_x: Option<&'p Array2<T>>,
    pub(super) draw: Draw<T>,
}

/// Noise about the curve, or rows.
pub(super) enum Draw<T> {
    /// Rows of residuals, brought to unit variance.
    Residuals(Vec<T>),
    /// Draws rows of the data, with at least this number of different observations.
    Cases {
        free: usize,
    },
    /// The normal distribution, in units of the noise.
    Normal(T),
    Poisson,
}

impl<T: Real> Draw<T> {
    /// Whitened residuals over `√(1 − leverage)`, about their mean.
    pub(super) fn residuals(data: &Data<'_, T>, whitened: Vec<T>, leverages: &[T]) -> Self {
        let outputs = data.outputs();
        let mut errors: Vec<T> =
            zip(whitened, leverages).map(|(residual, &leverage)| freed(residual, leverage)).collect();
        for output in 0..outputs {
            let column = errors.iter().skip(output).step_by(outputs);
            let mean = column.copied().sum::<T>() / T::from_f64(data.rows() as f64);
            errors.iter_mut().skip(output).step_by(outputs).for_each(|error| *error -= mean);
        }
        Draw::Residuals(errors)
    }
}

impl<T: Real> DrawSource<'_, T> {
    /// The data of a replicate.
    pub(super) fn draw(&self, seed: u64, index: usize) -> Result<Data<'_, T>, CurveError> {
        let mut random = stream(seed, index);
        match &self.draw {
            Draw::Residuals(errors) => Ok(self.with_noise(self.exchanged(errors, &mut random))),
            Draw::Cases { free } => self.some_rows(*free, &mut random),
            Draw::Normal(size) => {
                let mut draw = || T::from_f64(StandardNormal.sample(&mut random)) * *size;
                let data = self.with_noise(self.fitted.iter().map(|_| draw()).collect());
                Ok(match self.fitted_x {
                    Some(fitted_x) => self.with_errors_in_x(fitted_x, &data, draw),
                    None => data,
                })
            }
            Draw::Poisson => {
                let draw = |&mean: &T| T::from_f64(count(mean.to_f64(), &mut random));
                Ok(self.data.with_responses(self.fitted.iter().map(draw).collect()))
            }
        }
    }

    /// Rows of `errors`, each drawn from all.
    fn exchanged(&self, errors: &[T], random: &mut ChaCha8Rng) -> Vec<T> {
        let (rows, outputs) = (self.data.rows(), self.data.outputs());
        let rows = (0..rows).map(|_| below(rows, random));
        rows.flat_map(|row| &errors[row * outputs..(row + 1) * outputs]).copied().collect()
    }

    /// The curve, with noise that is yet to be brought from unit variance to its own.
    fn with_noise(&self, mut noise: Vec<T>) -> Data<'_, T> {
        self.data.noise.colour(&mut noise);
        zip(&mut noise, self.fitted).for_each(|(y, &fitted)| *y += fitted);
        self.data.with_responses(noise)
    }

    /// The data with other predictors as well, each off by its deviation times a number that is drawn.
    fn with_errors_in_x(&self, fitted_x: &Array2<T>, data: &Data<'_, T>, mut draw: impl FnMut() -> T) -> Data<'_, T> {
        let row = |(row, fitted): (usize, ArrayView1<'_, T>)| {
            let sigma = self.data.sigma_x(row).unwrap_or_default();
            fitted.iter().zip(sigma).map(|(&x, &sigma)| x + sigma * draw()).collect::<Vec<_>>()
        };
        let x: Vec<T> = fitted_x.rows().into_iter().enumerate().flat_map(row).collect();
        self.data.observing(&x, data.y().to_vec())
    }

    /// Draws as many rows as there are, with replacement; enough of them must be different.
    fn some_rows(&self, free: usize, random: &mut ChaCha8Rng) -> Result<Data<'_, T>, CurveError> {
        let count = self.data.rows();
        let rows: Vec<usize> = (0..count).map(|_| below(count, random)).collect();
        let mut is_drawn = vec![false; count];
        rows.iter().for_each(|&row| is_drawn[row] = true);
        let observations = self.data.outputs() * is_drawn.iter().filter(|&&is_drawn| is_drawn).count();
        if observations < free {
            return Err(CurveError::TooFewObservations { observations, parameters: free });
        }
        self.data.select(&rows)
    }
}

/// Returns a residual corrected for the leverage of its observation; zero where the leverage is one.
fn freed<T: Real>(residual: T, leverage: T) -> T {
    let left = T::ONE - leverage;
    if left > T::EPSILON.sqrt() { residual / left.sqrt() } else { T::ZERO }
}

/// A number with the Poisson distribution; the mean where that is too large for any other to be told from it.
fn count(mean: f64, random: &mut ChaCha8Rng) -> f64 {
    Poisson::new(mean).map_or(mean.round(), |poisson| poisson.sample(random))
}
