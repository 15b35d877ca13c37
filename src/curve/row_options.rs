//! Options of single rows of the data, besides the standard deviations of their responses.

use std::borrow::Cow;

use ndarray::Array2;

use super::data::Mask;
use super::errors_in_x::PredictorErrors;
use super::replicates::Replicates;
use crate::real::Real;

/// Options of rows, which most fits have none of.
#[derive(Debug, Clone)]
pub(super) struct RowOptions<'a, T: Real> {
    /// A covariance of the responses, checked when fitting.
    pub(super) data_covariance: Option<Array2<T>>,
    pub(super) predictor_errors: PredictorErrors<'a, T>,
    pub(super) weights: Option<Cow<'a, [T]>>,
    pub(super) mask: Mask<'a>,
    pub(super) replicates: Option<Replicates<'a, T>>,
}

impl<T: Real> Default for RowOptions<'_, T> {
    fn default() -> Self {
        let predictor_errors = PredictorErrors::default();
        RowOptions { data_covariance: None, predictor_errors, weights: None, mask: None, replicates: None }
    }
}

impl<T: Real> RowOptions<'_, T> {
    /// The same, which borrow nothing.
    pub(super) fn into_owned(self) -> RowOptions<'static, T> {
        RowOptions {
            data_covariance: self.data_covariance,
            predictor_errors: self.predictor_errors.into_owned(),
            weights: self.weights.map(|weights| Cow::Owned(weights.into_owned())),
            mask: self.mask.map(|mask| Cow::Owned(mask.into_owned())),
            replicates: self.replicates.map(Replicates::into_owned),
        }
    }
}
