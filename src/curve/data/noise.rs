//! Noise of the data of a fit: standard deviations, weights and covariances.

use std::borrow::Cow;

use super::{Data, Mask};
use crate::curve::CurveError;
use crate::curve::noise::{Noise, Whitening};
use crate::curve::rows::Rows;
use crate::kernels::vector::safe_norm;
use crate::real::Real;

impl<'a, T: Real> Data<'a, T> {
    /// Numbers for the responses: one each, or one for all responses to a row.
    pub(in crate::curve) fn for_responses(&self, numbers: Rows<'a, T>) -> Cow<'a, [T]> {
        let is_of_rows = numbers.width() == 1 && numbers.count() == self.y_rows && self.outputs > 1;
        let numbers = numbers.into_flat();
        if is_of_rows { numbers.iter().flat_map(|&number| vec![number; self.outputs]).collect() } else { numbers }
    }

    /// Inverse squares of the moduli of the responses to each row, one for each response.
    pub(in crate::curve) fn weights_by_modulus(&self) -> Vec<T> {
        let weight = |row: &[T]| {
            let modulus = T::from_f64(safe_norm(row.iter().map(|y| y.to_f64())));
            // What is missing has no weight of its own.
            let weight = if modulus.is_finite() { (modulus * modulus).recip() } else { T::ONE };
            vec![weight; row.len()]
        };
        self.y.chunks(self.outputs.max(1)).flat_map(weight).collect()
    }

    /// Sets the noise.
    pub(in crate::curve) fn with_sigma(self, sigma: Rows<'a, T>) -> Self {
        Data { noise: Noise::Sigma(self.for_responses(sigma)), ..self }
    }

    /// Sets the noise.
    pub(in crate::curve) fn with_whitening(self, whitening: Whitening<T>) -> Self {
        Data { noise: Noise::Correlated(whitening), ..self }
    }

    /// Sets the noise by weights, the inverse squares of standard deviations up to a factor. Returns a mask, too, that leaves out rows whose
    /// weights are zero.
    pub(in crate::curve) fn with_weights(self, weights: &[T], mask: Mask<'a>) -> Result<(Self, Mask<'a>), CurveError> {
        let conflict = |second, reason| Err(CurveError::Conflict { first: "weights", second, reason });
        match self.noise {
            Noise::Uniform => {}
            Noise::Sigma(_) => return conflict("sigma", "a weight is the inverse square of a sigma"),
            Noise::Correlated(_) => return conflict("a covariance of the data", "its inverse has the weights"),
        }
        let (responses, outputs) = (self.y.len(), self.outputs.max(1));
        if weights.len() != responses {
            return Err(CurveError::WeightsLength { weights: weights.len(), responses });
        }
        let is_left_out: Vec<bool> =
            weights.chunks_exact(outputs).map(|row| row.iter().all(|&weight| weight == T::ZERO)).collect();
        let is_wrong = |(index, &weight): (usize, &T)| {
            let is_right = weight > T::ZERO && weight.is_finite() || is_left_out[index / outputs];
            !is_right && mask.as_ref().is_none_or(|mask| mask.get(index / outputs) != Some(&false))
        };
        if let Some(index) = weights.iter().enumerate().position(is_wrong) {
            return Err(CurveError::Weight { row: index / outputs, value: weights[index].to_f64() });
        }
        let sigma = weights.iter().map(|&weight| if weight > T::ZERO { weight.sqrt().recip() } else { T::ONE });
        let data = Data { noise: Noise::Sigma(sigma.collect()), ..self };
        if !is_left_out.contains(&true) {
            return Ok((data, mask));
        }
        let is_in = |row: usize| mask.as_ref().is_none_or(|mask| mask.get(row) == Some(&true));
        let mask: Vec<bool> = is_left_out.iter().enumerate().map(|(row, out)| !out && is_in(row)).collect();
        Ok((data, Some(mask.into())))
    }
}
