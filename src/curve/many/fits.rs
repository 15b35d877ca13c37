//! The results of many fits.

use std::iter;

use ndarray::{Array1, Array2, Array3, Axis};

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
    /// The best point of each fit, a row a fit: where it would have started if it could not, NaN where that is not known.
    pub parameters: Array2<T>,
    /// Standard errors of the parameters, a row a fit: zero where a bound holds the parameter, infinite where the data do not
    /// determine it, NaN where there was no fit.
    pub standard_errors: Array2<T>,
    /// Covariances of the parameters, a matrix a fit, if they were [asked for](crate::FitMany::covariances); NaN where there was no fit.
    pub covariances: Option<Array3<T>>,
    /// `½ Σ ((f − y) / σ)²` at the best point, of counts half the deviance, under a robust loss half the sum of it; NaN where there was no
    /// fit.
    pub cost: Array1<T>,
    /// Observations of each fit in excess of its determined parameters; zero where there was no fit.
    pub degrees_of_freedom: Array1<usize>,
    /// Status of each fit.
    pub status: Array1<FitStatus>,
    /// Trial steps that each fit took.
    pub iterations: Array1<usize>,
    /// State of the parameters in a fit that moves all free ones, and their bounds.
    described: Vec<(ParameterState, [T; 2])>,
    noise: NoiseKind,
    /// Responses have standard deviations.
    has_sigma: bool,
}

impl<T: Real> ManyFits<T> {
    /// Makes room for the results of fits, none of which has begun.
    pub(super) fn none_yet(data: &DataSets<'_, T>, names: Vec<String>) -> Self {
        let (n, fits, nothing) = (names.len(), data.y.nrows(), T::from_f64(f64::NAN));
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
            has_sigma: data.sigma.is_some(),
        }
    }

    /// Splits the room into blocks of fits.
    pub(super) fn blocks(&mut self, fits: usize) -> Vec<Outcomes<'_, T>> {
        let n = self.names.len();
        let parameters = self.parameters.as_slice_mut().unwrap_or_default().chunks_mut(fits * n);
        let standard_errors = self.standard_errors.as_slice_mut().unwrap_or_default().chunks_mut(fits * n);
        let covariances = self.covariances.as_mut().and_then(Array3::as_slice_mut).unwrap_or_default();
        let covariances = covariances.chunks_mut(fits * n * n).chain(iter::repeat_with(<&mut [T]>::default));
        let cost = self.cost.as_slice_mut().unwrap_or_default().chunks_mut(fits);
        let freedoms = self.degrees_of_freedom.as_slice_mut().unwrap_or_default().chunks_mut(fits);
        let status = self.status.as_slice_mut().unwrap_or_default().chunks_mut(fits);
        let iterations = self.iterations.as_slice_mut().unwrap_or_default().chunks_mut(fits);
        let rows = parameters
            .zip(standard_errors)
            .zip(covariances)
            .zip(cost.zip(freedoms))
            .zip(status.zip(iterations))
            .enumerate();
        let block = |(number, (((of_parameters, covariances), (cost, degrees_of_freedom)), (status, iterations)))| {
            let (parameters, standard_errors) = of_parameters;
            Outcomes {
                first: number * fits,
                n,
                parameters,
                standard_errors,
                covariances,
                cost,
                degrees_of_freedom,
                status,
                iterations,
            }
        };
        rows.map(block).collect()
    }

    /// Statistics of one fit: intervals by Student's t distribution, and derived quantities. `None` unless
    /// [covariances](crate::FitMany::covariances) were asked for, there was a fit, and its noise is known or has degrees of freedom.
    ///
    /// ```
    /// use marquardt::models::Linear;
    /// use marquardt::{FitMany, Tie};
    /// use ndarray::array;
    ///
    /// let y = array![[0.1, 1.9, 4.2, 5.9], [5.0, 3.1, 0.8, -0.9]];
    /// let fits = FitMany::new(Linear, &[0.0, 1.0, 2.0, 3.0], &y).guessed().covariances(true).fit()?;
    /// let second = fits.inference(1).unwrap();
    /// assert!(second.confidence_interval("slope", 0.95)?.contains(-2.0));
    /// let root = second.derived(&Tie::parse("-intercept / slope")?)?;
    /// assert!((root.value - 2.5).abs() < 2.0 * root.standard_error);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn inference(&self, fit: usize) -> Option<FitInference<T>> {
        let (matrix, freedom) = (self.covariances.as_ref()?.index_axis(Axis(0), fit), self.degrees_of_freedom[fit]);
        let squares = self.cost[fit] + self.cost[fit];
        let is_known = matches!(self.noise, NoiseKind::Absolute | NoiseKind::Counts);
        // The cost of counts and of a robust fit is no sum of squares.
        let (squares, variance) = match self.noise {
            NoiseKind::Absolute => (squares, T::ONE),
            NoiseKind::Relative => (squares, squares / T::from_f64(freedom as f64)),
            NoiseKind::Counts | NoiseKind::Robust => (T::from_f64(f64::NAN), T::ONE),
        };
        if !(self.cost[fit].is_finite() && (is_known || freedom > 0)) {
            return None;
        }
        let names = self.names.iter().map(String::as_str);
        let covariance = Covariance::of_matrix(matrix, names, variance, squares, freedom)?;
        let covariance = if is_known { covariance.absolute() } else { covariance };
        let (kind, sigma) = match (self.noise, self.has_sigma) {
            (NoiseKind::Counts, _) => (ResponseKind::Counts, Some(vec![T::ONE])),
            (_, true) => (ResponseKind::Weighted, None),
            (_, false) => (ResponseKind::Uniform, Some(vec![T::ONE])),
        };
        let unit_variance = if self.noise == NoiseKind::Robust { T::INFINITY } else { variance };
        let parameters = (0..self.names.len()).map(|index| self.parameter(fit, index)).collect();
        Some(FitInference::new(parameters, covariance, ResponseNoise { kind, unit_variance, sigma }))
    }

    fn parameter(&self, fit: usize, index: usize) -> FittedParameter<T> {
        let (value, standard_error) = (self.parameters[[fit, index]], self.standard_errors[[fit, index]]);
        let state = match self.described[index] {
            (ParameterState::Free, [lower, _]) if standard_error == T::ZERO && value == lower => {
                ParameterState::AtLowerBound
            }
            (ParameterState::Free, [_, upper]) if standard_error == T::ZERO && value == upper => {
                ParameterState::AtUpperBound
            }
            (ParameterState::Free, _) if standard_error == T::INFINITY => ParameterState::Undetermined,
            (state, _) => state,
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

/// The state of a parameter if it moves, and its bounds.
fn description<T: Real>(parameter: &Parameter<T>) -> (ParameterState, [T; 2]) {
    let state = match parameter.role {
        Role::Free => ParameterState::Free,
        Role::Fixed => ParameterState::Fixed,
        Role::Tied(_) => ParameterState::Tied,
    };
    (state, [parameter.lower, parameter.upper])
}
