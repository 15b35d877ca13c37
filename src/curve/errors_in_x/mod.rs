//! Errors in the predictors: orthogonal distances and effective variances.

mod approach;
mod distance_curve;
mod effective_variance;
mod foot_points;
mod observed_row;
mod predictor_slopes;
mod root;
mod single_search;

use std::borrow::Cow;

pub(super) use distance_curve::DistanceCurve;
pub(super) use observed_row::{ObservedRow, observed_width, push_observed};

use super::data::Data;
use super::noise::Noise;
use super::{AnyCurve, CurveError, Rows};
use crate::real::Real;

/// Method by which errors in the predictors are taken into account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ErrorsInX {
    /// Orthogonal distance regression: the true predictors `x + δ` are unknowns, and the sum of `(y − f(x + δ))²/σ_y² + δ²/σ_x²` is
    /// minimised over the parameters and the shifts `δ`. The shifts are eliminated point by point, so that cost and memory grow linearly
    /// with the number of points. Boggs, Byrd and Schnabel, A stable and efficient algorithm for nonlinear orthogonal distance regression,
    /// SIAM J. Sci. Stat. Comput. 8 (1987) 1052.
    #[default]
    OrthogonalDistance,
    /// Effective variances: the sum of `(y − f(x))² / (σ_y² + f′(x)² σ_x²)` is minimised. This costs less than orthogonal distances, but is
    /// biased if the slope of the curve changes within `σ_x`. Orear, Least squares when both variables have uncertainties, Am. J. Phys. 50
    /// (1982) 912.
    EffectiveVariance,
}

/// Errors in the predictors as they were asked for.
#[derive(Debug, Clone)]
pub(super) struct PredictorErrors<'a, T: Clone> {
    pub(super) sigma: Option<PredictorSigma<'a, T>>,
    pub(super) method: ErrorsInX,
    /// The curve is a condition `f(x) = 0`, which the true predictors meet.
    pub(super) is_implicit: bool,
}

/// Standard deviations of the predictors: a row for each observation, or one for all.
#[derive(Debug, Clone)]
pub(super) struct PredictorSigma<'a, T: Clone> {
    rows: usize,
    width: usize,
    values: Cow<'a, [T]>,
}

impl<'a, T: Real> PredictorSigma<'a, T> {
    pub(super) fn new(sigma: Rows<'a, T>) -> Self {
        PredictorSigma { rows: sigma.count(), width: sigma.width(), values: sigma.into_flat() }
    }

    /// The standard deviations of the predictors of a row.
    pub(super) fn of_row(&self, row: usize) -> &[T] {
        let row = if self.rows == 1 { 0 } else { row };
        &self.values[row * self.width..(row + 1) * self.width]
    }

    /// Checks that there is a row for each observation, or one for all, with a number for each predictor, none of them negative.
    fn check(&self, rows: usize, predictors: usize) -> Result<(), CurveError> {
        let has_rows = self.rows == rows || self.rows == 1;
        if rows > 0 && !(has_rows && self.width == predictors) {
            let (found_rows, found_columns) = (self.rows, self.width);
            return Err(CurveError::SigmaXShape { rows, columns: predictors, found_rows, found_columns });
        }
        match self.values.iter().position(|&sigma| sigma < T::ZERO) {
            Some(index) => {
                let (row, column, value) = (index / self.width, index % self.width, self.values[index].to_f64());
                Err(CurveError::NegativeSigmaX { row, column, value })
            }
            None => Ok(()),
        }
    }
}

impl<T: Real> Default for PredictorErrors<'_, T> {
    fn default() -> Self {
        PredictorErrors { sigma: None, method: ErrorsInX::default(), is_implicit: false }
    }
}

impl<'a, T: Real> PredictorErrors<'a, T> {
    /// The same, which borrows nothing.
    pub(super) fn into_owned(self) -> PredictorErrors<'static, T> {
        let owned = |PredictorSigma { rows, width, values }: PredictorSigma<'_, T>| PredictorSigma {
            rows,
            width,
            values: Cow::Owned(values.into_owned()),
        };
        PredictorErrors { sigma: self.sigma.map(owned), method: self.method, is_implicit: self.is_implicit }
    }

    /// Makes the curve one of distances, and its rows carry their observations, if there are errors in the predictors.
    pub(super) fn apply<'c>(
        &self,
        curve: AnyCurve<'c, T>,
        data: Data<'c, T>,
    ) -> Result<(AnyCurve<'c, T>, Data<'c, T>), CurveError>
    where
        T: 'c,
    {
        let one = || PredictorSigma { rows: 1, width: data.width(), values: vec![T::ONE; data.width()].into() };
        let sigma = match &self.sigma {
            Some(sigma) => sigma,
            None if self.is_implicit => &one(),
            None => return Ok((curve, data)),
        };
        if self.is_implicit && !matches!(data.noise, Noise::Uniform) {
            let (first, second) = ("an implicit curve", "a sigma of responses");
            return Err(CurveError::Conflict {
                first,
                second,
                reason: "there are no responses, and sigma_x has the errors",
            });
        }
        sigma.check(data.rows(), data.width())?;
        if self.is_implicit
            && let Some(row) = (0..data.rows()).find(|&row| sigma.of_row(row).iter().all(|&sigma| sigma == T::ZERO))
        {
            return Err(CurveError::ExactCondition { row });
        }
        let mut ranges = data.ranges();
        for (column, range) in ranges.iter_mut().enumerate().filter(|(_, range)| **range == T::ZERO) {
            // A predictor that is always zero has no size but that of its errors.
            *range = (0..data.rows()).map(|row| sigma.of_row(row)[column]).fold(T::ZERO, T::max);
        }
        let mut data = data.carrying_observations(sigma, self.is_implicit)?;
        if self.is_implicit && self.sigma.is_some() {
            // Distances have a known unit.
            data.noise = Noise::Sigma(vec![T::ONE; data.rows()].into());
        }
        let distance = DistanceCurve { curve, ranges, method: self.method, is_implicit: self.is_implicit };
        Ok((Box::new(distance), data))
    }
}
