//! Checks of the data of a fit.

use super::Data;
use crate::curve::noise::Noise;
use crate::curve::{CurveError, NanPolicy};
use crate::real::Real;

impl<T: Real> Data<'_, T> {
    /// Checks the data, and leaves out masked rows, and missing ones if the policy says so. A row counts as missing where any of
    /// its numbers is NaN or infinite.
    pub(in crate::curve) fn check(self, mask: Option<&[bool]>, policy: NanPolicy) -> Result<Self, CurveError> {
        self.check_shapes(mask)?;
        if mask.is_none() && self.is_complete() {
            return Ok(self);
        }
        let mut omitted = Vec::new();
        for row in 0..self.y_rows {
            let masked = mask.is_some_and(|mask| !mask[row]);
            let missing = if masked { None } else { self.missing(row) };
            match missing {
                Some(error) if policy == NanPolicy::Raise => return Err(error),
                None if !masked => {}
                _ => omitted.push(row),
            }
        }
        if omitted.len() == self.y_rows && !self.is_shared() {
            return Err(CurveError::NoObservations);
        }
        let kept = || (0..self.y_rows).filter(|row| omitted.binary_search(row).is_err());
        if let Noise::Sigma(sigma) = &self.noise {
            for row in kept() {
                let range = row * self.outputs..(row + 1) * self.outputs;
                if let Some(&value) = sigma[range].iter().find(|&&sigma| !(sigma > T::ZERO)) {
                    return Err(CurveError::NonPositiveSigma { row, value: value.to_f64() });
                }
            }
        }
        if omitted.is_empty() {
            return Ok(self);
        }
        let kept: Vec<usize> = kept().collect();
        Ok(Data { all_omitted: omitted.len(), omitted, ..self.select(&kept)? })
    }

    pub(super) fn check_shapes(&self, mask: Option<&[bool]>) -> Result<(), CurveError> {
        let (x, y) = (self.x_rows, self.y_rows);
        if x != y {
            return Err(CurveError::UnequalLengths { x, y });
        }
        // Where rows are shared, there may be none here.
        if y == 0 && !self.is_shared() || y > 0 && self.outputs == 0 {
            return Err(CurveError::NoObservations);
        }
        let (responses, names) = (self.outputs, self.response_names.len());
        if names > 0 && names != responses {
            return Err(CurveError::ResponseNameCount { responses, names });
        }
        let expected = self.y.len();
        match &self.noise {
            Noise::Sigma(sigma) if sigma.len() != expected => {
                return Err(CurveError::SigmaLength { sigma: sigma.len(), responses: expected });
            }
            Noise::Correlated(whitening) if whitening.count() != expected => {
                let count = whitening.count();
                return Err(CurveError::CovarianceShape { rows: count, columns: count, responses: Some(expected) });
            }
            _ => {}
        }
        match mask {
            Some(mask) if mask.len() != y => Err(CurveError::MaskLength { mask: mask.len(), rows: y }),
            _ => Ok(()),
        }
    }

    /// All numbers are finite, and all standard deviations positive. There are rows.
    fn is_complete(&self) -> bool {
        // Without an end in between, several numbers are looked at at once.
        let all = |numbers: &[T], holds: fn(T) -> bool| numbers.iter().fold(true, |all, &number| all & holds(number));
        let are_positive = match &self.noise {
            Noise::Sigma(sigma) => all(sigma, |sigma| sigma.is_finite() & (sigma > T::ZERO)),
            _ => true,
        };
        self.y_rows > 0 && are_positive && all(&self.x, T::is_finite) && all(&self.y, T::is_finite)
    }

    /// The first number of a row that is not finite.
    fn missing(&self, row: usize) -> Option<CurveError> {
        let column = |name: &str, values: &[T], width: usize| entry(name, &values[row * width..(row + 1) * width], row);
        let sigma = match &self.noise {
            Noise::Sigma(sigma) => column("sigma", sigma, self.outputs),
            _ => None,
        };
        let (x, rest) = self.x[row * self.width..][..self.width].split_at(self.predictors);
        let y = || column("y", &self.y, self.outputs);
        // Of what a row carries of its observation, the standard deviations of the predictors are known from nowhere else.
        entry("x", x, row).or_else(y).or(sigma).or_else(|| entry("sigma_x", rest.get(..self.predictors)?, row))
    }
}

/// The first of these entries of a row that is not finite.
fn entry<T: Real>(name: &str, values: &[T], row: usize) -> Option<CurveError> {
    let at = values.iter().position(|value| !value.is_finite())?;
    let variable = if values.len() == 1 { name.into() } else { format!("{name}{}", at + 1) };
    Some(CurveError::NonFiniteDatum { variable, row, value: values[at].to_f64() })
}
