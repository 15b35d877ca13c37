//! The results of many fits.

use std::iter;
use std::slice::ChunksMut;

use ndarray::{Array, Array1, Array2, Array3, Axis, Dimension};

use super::data_sets::DataSets;
use super::outcomes::Outcomes;
use crate::curve::criteria::NoiseKind;
use crate::curve::inference::{ResponseKind, ResponseNoise};
use crate::curve::parameter::{Parameter, Role};
use crate::curve::{FitInference, FittedParameter, ParameterState};
use crate::real::Real;
use crate::solver::{Covariance, FitStatus};

/// Results of many fits, fit by fit in the order of the data.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ManyFits<T> {
    /// Names of the parameters.
    pub names: Vec<String>,
    /// Parameters at the best point, one row for each fit. The row of a fit that could not start is its start, or NaN if the start is
    /// unknown.
    pub parameters: Array2<T>,
    /// Standard errors of the parameters, one row for each fit: 0 for a parameter that a bound holds, infinite for one that the data do not
    /// determine, NaN if there was no fit.
    pub standard_errors: Array2<T>,
    /// Covariance matrices of the parameters, one for each fit, if [enabled](crate::FitMany::covariances); NaN if there was no fit.
    pub covariances: Option<Array3<T>>,
    /// Cost at the best point: `½ Σ ((f − y) / σ)²`, half the deviance for counts, half the sum of the losses under a robust loss; NaN if
    /// there was no fit.
    pub cost: Array1<T>,
    /// Degrees of freedom of each fit, its observations minus its determined parameters; 0 if there was no fit.
    pub degrees_of_freedom: Array1<usize>,
    /// Status of each fit.
    pub status: Array1<FitStatus>,
    /// Number of trial steps of each fit.
    pub iterations: Array1<usize>,
    /// State of the parameters in a fit that moves all free ones, and their bounds.
    described: Vec<(ParameterState, [T; 2])>,
    noise: NoiseKind,
    kind: ResponseKind,
}

impl<T: Real> ManyFits<T> {
    /// Makes room for the results of fits, none of which has begun.
    pub(super) fn none_yet(data: &DataSets<'_, T>, names: Vec<String>) -> Self {
        let (n, fits, nothing) = (names.len(), data.y.nrows(), T::from_f64(f64::NAN));
        let kind = match data.sigma {
            _ if data.options.counts => ResponseKind::Counts,
            Some(_) => ResponseKind::Weighted,
            None => ResponseKind::Uniform,
        };
        let described = match &data.map {
            Some(map) => map.parameters.iter().map(description).collect(),
            None => vec![(ParameterState::Free, [-T::INFINITY, T::INFINITY]); n],
        };
        ManyFits {
            names,
            parameters: Array2::from_elem((fits, n), nothing),
            standard_errors: Array2::from_elem((fits, n), nothing),
            covariances: data.covariances.then(|| Array3::from_elem((fits, n, n), nothing)),
            cost: Array1::from_elem(fits, nothing),
            degrees_of_freedom: Array1::zeros(fits),
            status: Array1::from_elem(fits, FitStatus::Cancelled),
            iterations: Array1::zeros(fits),
            described,
            noise: data.options.noise_kind(),
            kind,
        }
    }

    /// Splits the room into blocks of fits.
    pub(super) fn blocks(&mut self, fits: usize) -> Vec<Outcomes<'_, T>> {
        let n = self.names.len();
        let of_all = self.covariances.as_mut().map(|covariances| chunks(covariances, fits));
        let covariances = of_all.into_iter().flatten().chain(iter::repeat_with(<&mut [T]>::default));
        let points = chunks(&mut self.parameters, fits).zip(chunks(&mut self.standard_errors, fits)).zip(covariances);
        let fit = chunks(&mut self.cost, fits).zip(chunks(&mut self.degrees_of_freedom, fits));
        let end = chunks(&mut self.status, fits).zip(chunks(&mut self.iterations, fits));
        let blocks = points.zip(fit).zip(end).enumerate().map(|(number, ((point, fit), (status, iterations)))| {
            let (first, ((parameters, standard_errors), covariances)) = (number * fits, point);
            let (cost, degrees_of_freedom) = fit;
            Outcomes {
                first,
                n,
                parameters,
                standard_errors,
                covariances,
                cost,
                degrees_of_freedom,
                status,
                iterations,
            }
        });
        blocks.collect()
    }

    /// Statistics of one fit: intervals by Student's t distribution, and derived quantities. `None` if
    /// [covariances](crate::FitMany::covariances) are not enabled, if there was no fit, if the noise is unknown and there are no degrees of
    /// freedom, or if a variance over- or underflows. Counts and robust fits have no residual variance: their
    /// [unscaled](Covariance::unscaled) covariance is the covariance itself.
    ///
    /// ```
    /// use marquardt::models::Linear;
    /// use marquardt::{FitMany, Tie};
    /// use ndarray::array;
    ///
    /// let y = array![[0.1, 1.9, 4.2, 5.9_f64], [5.0, 3.1, 0.8, -0.9]];
    /// let fits = FitMany::new(Linear, &[0.0, 1.0, 2.0, 3.0], &y).guessed().covariances(true).fit()?;
    /// let second = fits.inference(1).unwrap();
    /// assert!(second.confidence_interval("slope", 0.95)?.contains(-2.0));
    /// let root = second.derived(&Tie::parse("-intercept / slope")?)?;
    /// assert!((root.value - 2.5).abs() < 2.0 * root.standard_error);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn inference(&self, fit: usize) -> Option<FitInference<T>> {
        let &cost = self.cost.get(fit).filter(|cost| cost.is_finite())?;
        let (matrix, freedom) = (self.covariances.as_ref()?.index_axis(Axis(0), fit), self.degrees_of_freedom[fit]);
        let (is_known, squares, variance) = match self.noise {
            NoiseKind::Absolute => (true, cost + cost, T::ONE),
            NoiseKind::Relative => (false, cost + cost, (cost + cost) / T::from_f64(freedom as f64)),
            // The cost is no sum of squares.
            noise => (noise == NoiseKind::Counts, T::from_f64(f64::NAN), T::ONE),
        };
        let is_square = |(&variance, &error): (&T, &T)| {
            let root = variance.sqrt();
            root == error || (root - error).abs() <= T::from_f64(1e-3) * error
        };
        let are_exact = matrix.diag().iter().zip(self.standard_errors.row(fit)).all(is_square);
        if !is_known && freedom == 0 || !are_exact {
            return None;
        }
        let names = self.names.iter().map(String::as_str);
        let covariance = Covariance::of_matrix(matrix, names, variance, squares, freedom)?;
        let covariance = if is_known { covariance.absolute() } else { covariance };
        let sigma = (self.kind != ResponseKind::Weighted).then(|| vec![T::ONE]);
        let unit_variance = if self.noise == NoiseKind::Robust { T::INFINITY } else { variance };
        let parameters = (0..self.names.len()).map(|index| self.parameter(fit, index)).collect();
        let noise = ResponseNoise { kind: self.kind, unit_variance, sigma };
        Some(FitInference { parameters, covariance, noise })
    }

    fn parameter(&self, fit: usize, index: usize) -> FittedParameter<T> {
        let (value, standard_error) = (self.parameters[[fit, index]], self.standard_errors[[fit, index]]);
        let (role, [lower, upper]) = self.described[index];
        let state = match role {
            ParameterState::Free if standard_error == T::INFINITY => ParameterState::Undetermined,
            ParameterState::Free if standard_error == T::ZERO && value == lower => ParameterState::AtLowerBound,
            ParameterState::Free if standard_error == T::ZERO && value == upper => ParameterState::AtUpperBound,
            role => role,
        };
        FittedParameter { name: self.names[index].clone(), value, standard_error, state }
    }
}

impl<T> ManyFits<T> {
    /// Number of fits that ended at a minimum.
    pub fn converged(&self) -> usize {
        self.status.iter().filter(|status| status.is_converged()).count()
    }
}

/// Entries of this number of fits at a time.
fn chunks<E, D: Dimension>(array: &mut Array<E, D>, fits: usize) -> ChunksMut<'_, E> {
    let of_fit = array.shape()[1..].iter().product::<usize>();
    array.as_slice_mut().unwrap_or_default().chunks_mut(fits * of_fit)
}

/// The state of a parameter if it moves, and its bounds.
fn description<T: Real>(parameter: &Parameter<T>) -> (ParameterState, [T; 2]) {
    let state = match parameter.role {
        Role::Free => ParameterState::Free,
        Role::Fixed => ParameterState::Fixed,
        Role::Tied(_) => ParameterState::Tied,
    };
    (state, [parameter.lower, parameter.upper])
}
