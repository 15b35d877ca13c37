//! Robust fits: a loss under which outliers do not decide, its scale, and what standard errors then are.

use std::sync::Arc;

use super::Curve;
use super::likelihood::Likelihood;
use super::map::ParameterMap;
use super::misfit::Misfit;
use super::ranks::agreed;
use super::setting::Setting;
use crate::problem::shared_mad_scale;
use crate::{EvaluationError, Loss, Real, Report, RobustLoss, SolveError};

/// Fits after which a scale that still moves is left as it is.
const MAX_FITS: usize = 200;

/// Fits by least absolute deviations that bring a start near the good data, before a loss that ignores outliers decides
/// which those are.
const APPROACHES: usize = 5;

/// So many standard deviations are small enough for a smooth absolute value to count as one.
const SHARP: f64 = 0.1;

/// Units of the last digit by which a scale may move and yet be settled.
const SETTLED: f64 = 4096.0;

/// A secant may lead so many times as far as the change that it follows from.
const FAR: f64 = 10.0;

/// A robust loss as it was asked for.
#[derive(Debug, Clone)]
pub(super) struct Robustness<T> {
    pub(super) loss: Arc<dyn RobustLoss<T>>,
    /// The scale `C`; `None` is for the residuals to say.
    pub(super) scale: Option<T>,
}

impl<T: Real, C: Curve<T>> Setting<'_, T, C> {
    /// Solves under a robust loss from these parameters, and keeps the loss with its scale for later solves. Collective.
    ///
    /// A scale that is not given follows from the median absolute deviation of the residuals at the fit, which follows from
    /// the scale. There may be several fits where they agree: that from the start is compared with that from the least
    /// absolute deviations, which nearly half of the data cannot draw far away, and the smaller scale wins (as among
    /// S-estimates: Rousseeuw & Yohai 1984).
    pub(super) fn solve_robust(&mut self, robust: Robustness<T>, start: &[T]) -> Result<Report<T>, SolveError> {
        let Robustness { loss, scale } = robust;
        if let Some(scale) = scale {
            self.likelihood = Likelihood::Robust(loss, scale);
            return self.solve(start);
        }
        let absolute: Arc<dyn RobustLoss<T>> = Arc::new(Loss::SoftL1);
        let (_, approach) = self.solve_with_mad(&absolute, T::from_f64(SHARP), start, APPROACHES)?;
        let tuning = loss.tuning();
        let (scale, report) = self.solve_with_mad(&loss, tuning, &approach.x, MAX_FITS)?;
        let (scale_from_start, from_start) = self.solve_with_mad(&loss, tuning, start, MAX_FITS)?;
        if scale_from_start < scale {
            return Ok(from_start);
        }
        self.likelihood = Likelihood::Robust(loss, scale);
        Ok(report)
    }

    /// Repeats the fit until its scale does not move any more, or as often as that. Returns the scale, too.
    fn solve_with_mad(
        &mut self,
        loss: &Arc<dyn RobustLoss<T>>,
        tuning: T,
        start: &[T],
        fits: usize,
    ) -> Result<(T, Report<T>), SolveError> {
        let mut scale = self.judge_scale(tuning, start)?;
        let mut last = None;
        for fit in 1.. {
            self.likelihood = Likelihood::Robust(loss.clone(), scale);
            let report = self.solve(last.as_ref().map_or(start, |(_, _, report): &(T, T, Report<T>)| &report.x))?;
            let change = self.judge_scale(tuning, &report.x)? - scale;
            if fit == fits || change.abs() <= T::from_f64(SETTLED) * T::EPSILON * scale {
                return Ok((scale, report));
            }
            // The secant of the changes, which should vanish, unless it leads away.
            let secant = last.as_ref().map(|&(scale_before, change_before, _)| {
                scale - change * (scale - scale_before) / (change - change_before)
            });
            let near = |&next: &T| (next - scale).abs() <= T::from_f64(FAR) * change.abs();
            last = Some((scale, change, report));
            scale = secant.filter(near).unwrap_or(scale + change);
        }
        unreachable!("the last fit returns")
    }

    /// So many times the standard deviation that the residuals at these parameters suggest; next to nothing where all of
    /// them are zero. Collective.
    fn judge_scale(&self, tuning: T, at: &[T]) -> Result<T, SolveError> {
        let residuals = agreed(self.data.ranks(), self.whitened_residuals(at).map_err(SolveError::Evaluation))?;
        let scale = shared_mad_scale(self.data.ranks(), &residuals)?;
        Ok((tuning * scale).max(T::EPSILON * T::EPSILON))
    }

    /// Whitened residuals of the data, before any loss weighs them.
    pub(super) fn whitened_residuals(&self, at: &[T]) -> Result<Vec<T>, EvaluationError> {
        let mut residuals = vec![T::ZERO; self.data.y().len()];
        if !residuals.is_empty() {
            self.least_squares(&self.map).whitened(&self.map.gather(at), 0, &mut residuals)?;
        }
        Ok(residuals)
    }

    /// The problem without a likelihood: whitened residuals, and their squares.
    pub(super) fn least_squares<'p>(&'p self, map: &'p ParameterMap<T>) -> Misfit<'p, T, C> {
        Misfit::new(&self.curve, &self.data, map, &Likelihood::Gaussian)
    }
}
