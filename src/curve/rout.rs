//! Outliers by a false discovery rate, and the fit without them (ROUT).

use std::sync::Arc;

use super::checked_fit::CheckedFit;
use super::likelihood::Likelihood;
use super::noise::Noise;
use super::robust::Robustness;
use super::second_attempt::best_attempt;
use super::{AnyCurve, Curve, CurveError, CurveFit, FittedCurve};
use crate::precision::compile_once;
use crate::problem::{Loss, RobustLoss};
use crate::real::Real;
use crate::solver::SolveError;
use crate::statistics::distributions::f_tail;
use crate::statistics::sample_quantile;

/// Share of the absolute residuals that a standard deviation is larger than.
const WITHIN_ONE: f64 = 0.6827;

/// Share of the points that are never outliers.
const SAFE: f64 = 0.7;

/// Robust fits in which the scale has to settle, and the relative change at which it has.
const MAX_FITS: usize = 50;
const SETTLED: f64 = 1e-6;

/// A fit without outliers, and the list of outliers.
#[derive(Debug)]
#[non_exhaustive]
pub struct CleanedFit<'a, T: Real> {
    /// Least-squares fit to the other rows.
    pub fit: FittedCurve<'a, T>,
    /// Outliers, in the order of the rows.
    pub outliers: Vec<Outlier<T>>,
}

/// An outlier: an observation too far from the robust curve to be explained by noise.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Outlier<T> {
    /// Index of its row in the data as given, from 0.
    pub row: usize,
    /// Its response.
    pub y: T,
    /// Residual from the robust curve, divided by the robust standard deviation of the residuals.
    pub t: f64,
    /// Two-sided p-value: probability of a residual at least as large, if the observation has only noise.
    pub p_value: f64,
}

compile_once! {
    clean_any<'a>(fit: (CurveFit<'a, T, AnyCurve<'a, T>>, f64)) -> Result<CleanedFit<'a, T>, CurveError> = fit.0.clean(fit.1)
}

impl<'a, T: Real, C: Curve<T>> CurveFit<'a, T, C> {
    /// Finds outliers, and fits the other rows by least squares: the ROUT method with a false discovery rate of `q`, such as 0.01. Motulsky
    /// and Brown, Detecting outliers when fitting data with nonlinear regression, BMC Bioinformatics 7 (2006) 123.
    ///
    /// First, a fit under Cauchy's loss, which outliers hardly influence; its scale is the 68.27th percentile of the absolute residuals,
    /// corrected for the degrees of freedom. Then the largest 30 % of the residuals are tested in ascending order: the first residual that
    /// is significant at its share of `q`, and all larger ones, are outliers. In a fraction of about `q` of data sets without outliers, an
    /// observation is removed.
    ///
    /// # Errors
    ///
    /// [`CurveError::OutlierRate`] for a `q` that is not between 0 and 1, and as [`fit`](Self::fit). Counts, a robust loss, several
    /// responses in a row, a covariance of the data and rows shared by ranks are refused.
    ///
    /// ```
    /// use marquardt::CurveFit;
    /// use marquardt::models::Linear;
    ///
    /// let x: Vec<f64> = (0..20).map(f64::from).collect();
    /// let mut y: Vec<f64> = x.iter().map(|x| 1.0 + 2.0 * x + 0.1 * (12.9 * x).sin()).collect();
    /// y[6] += 4.0;
    /// let cleaned = CurveFit::guessed(Linear, &x, &y).remove_outliers(0.01)?;
    /// assert_eq!(cleaned.outliers.iter().map(|outlier| outlier.row).collect::<Vec<_>>(), [6]);
    /// assert!((cleaned.fit.parameter("slope").unwrap().value - 2.0).abs() < 0.01);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    #[doc(alias = "rout")]
    pub fn remove_outliers(self, q: f64) -> Result<CleanedFit<'a, T>, CurveError>
    where
        C: 'a,
    {
        clean_any((self.boxed()?, q))
    }
}

impl<'a, T: Real> CurveFit<'a, T, AnyCurve<'a, T>> {
    fn clean(self, q: f64) -> Result<CleanedFit<'a, T>, CurveError> {
        if !(q > 0.0 && q < 1.0) {
            return Err(CurveError::OutlierRate { value: q });
        }
        let mut checked = self.checked()?;
        checked.check_for_outliers()?;
        checked.method.observer = None;
        let start: Vec<T> = checked.map.parameters.iter().map(|parameter| parameter.start).collect();
        let robust = checked.solve_for_outliers(&start).map_err(|error| checked.explain(error, &start))?;
        let RobustCurve { at, residuals, deviation } = robust;
        let outliers = checked.outliers(&residuals, deviation, q);
        let is_outlier = |row: &usize| outliers.binary_search_by_key(row, |&(row, ..)| row).is_ok();
        let kept: Vec<usize> = (0..checked.data.rows()).filter(|row| !is_outlier(row)).collect();
        let outlier = |&(row, t, p_value): &(usize, f64, f64)| Outlier {
            row: checked.data.original_row(row),
            y: checked.data.y()[row],
            t,
            p_value,
        };
        let found: Vec<Outlier<T>> = outliers.iter().map(outlier).collect();
        let removed = found.iter().map(|outlier| outlier.row).collect();
        let data = checked.data.select(&kept)?.leaving_out(&checked.data, removed);
        let mut checked = CheckedFit { data, likelihood: Likelihood::Gaussian, ..checked };
        let report = checked.solve_under_loss(&at).map_err(|error| checked.explain(error, &at))?;
        let retry = checked.method.retry;
        let fit = FittedCurve::new(checked, report)?;
        Ok(CleanedFit { fit: if retry { best_attempt(fit)? } else { fit }, outliers: found })
    }
}

/// A curve that outliers do not draw away.
struct RobustCurve<T> {
    at: Vec<T>,
    /// Whitened residuals from it, and their robust standard deviation.
    residuals: Vec<T>,
    deviation: f64,
}

impl<T: Real> CheckedFit<'_, T> {
    fn check_for_outliers(&self) -> Result<(), CurveError> {
        let first = match () {
            () if self.options.counts => "counts",
            () if self.options.robust.is_some() => "a robust loss",
            () if self.data.outputs() > 1 => "several responses in a row",
            () if self.data.has_means() => "standard deviations of replicates",
            () if self.data.is_shared() => "several ranks",
            () if matches!(self.data.noise, Noise::Correlated(_)) => "a covariance of the data",
            () => return Ok(()),
        };
        let (second, reason) = ("the removal of outliers", "it takes single residuals of least squares");
        Err(CurveError::Conflict { first, second, reason })
    }

    /// Fits under Cauchy's loss, with the scale that the residuals suggest.
    fn solve_for_outliers(&mut self, start: &[T]) -> Result<RobustCurve<T>, SolveError> {
        let loss: Arc<dyn RobustLoss<T>> = Arc::new(Loss::Cauchy);
        let mut at = self.solve_robust(Robustness { loss: loss.clone(), scale: None }, start)?.x;
        let (mut last, mut fits) = (f64::INFINITY, 0);
        loop {
            let residuals = self.whitened_residuals(&at).map_err(SolveError::Evaluation)?;
            let deviation = self.robust_deviation(&residuals);
            let is_settled = (deviation - last).abs() <= SETTLED * deviation;
            if is_settled || !(deviation > 0.0) || fits == MAX_FITS {
                return Ok(RobustCurve { at, residuals, deviation });
            }
            (last, fits) = (deviation, fits + 1);
            self.likelihood = Likelihood::Robust(loss.clone(), T::from_f64(deviation));
            at = self.solve(&at)?.x;
        }
    }

    /// The robust standard deviation of the residuals.
    fn robust_deviation(&self, residuals: &[T]) -> f64 {
        let mut sizes: Vec<f64> = residuals.iter().map(|residual| residual.to_f64().abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let count = residuals.len() as f64;
        sample_quantile(&sizes, WITHIN_ONE) * count / (count - self.map.free().len() as f64).max(1.0)
    }

    /// Rows of the outliers with `t` and its probability, in ascending order.
    fn outliers(&self, residuals: &[T], deviation: f64, q: f64) -> Vec<(usize, f64, f64)> {
        let count = residuals.len();
        let freedom = count.saturating_sub(self.map.free().len());
        if !(deviation > 0.0) || freedom == 0 {
            return Vec::new();
        }
        let mut sorted: Vec<(f64, usize)> =
            residuals.iter().enumerate().map(|(row, residual)| (residual.to_f64().abs() / deviation, row)).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        // The square of a Student t is an F with one degree of freedom in the numerator.
        let p_value = |t: f64| f_tail(t * t, 1.0, freedom as f64);
        let first = (SAFE * count as f64) as usize;
        let significant = |&index: &usize| p_value(sorted[index].0) < q * (count - index) as f64 / count as f64;
        let Some(first) = (first..count).find(significant) else { return Vec::new() };
        let mut outliers: Vec<_> = sorted[first..].iter().map(|&(t, row)| (row, t, p_value(t))).collect();
        outliers.sort_unstable_by_key(|&(row, ..)| row);
        outliers
    }
}
