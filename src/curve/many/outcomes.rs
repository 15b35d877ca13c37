//! Results of a block of fits.

use std::ops::Range;

use super::normal_factors::NormalFactors;
use crate::curve::FittedCurve;
use crate::real::Real;
use crate::solver::FitStatus;
use crate::solver::lockstep::LaneResult;

/// Destination of the results of consecutive fits.
pub(super) struct Outcomes<'o, T> {
    /// The number of the first.
    pub(super) first: usize,
    /// Parameters of each.
    pub(super) n: usize,
    pub(super) parameters: &'o mut [T],
    pub(super) standard_errors: &'o mut [T],
    /// Rows of the covariances, if they are asked for.
    pub(super) covariances: &'o mut [T],
    pub(super) cost: &'o mut [T],
    pub(super) degrees_of_freedom: &'o mut [usize],
    pub(super) status: &'o mut [FitStatus],
    pub(super) iterations: &'o mut [usize],
}

impl<T: Real> Outcomes<'_, T> {
    /// The numbers of the fits.
    pub(super) fn fits(&self) -> Range<usize> {
        self.first..self.first + self.cost.len()
    }

    /// The fit has not begun, or has ended in lockstep in a way that the full engine may better.
    pub(super) fn is_open(&self, fit: usize) -> bool {
        use FitStatus::*;
        matches!(self.status[fit - self.first], Cancelled | MaxIterations | NoProgress | NonFiniteStart)
    }

    /// A fit that could not begin at its start.
    pub(super) fn refuse(&mut self, fit: usize, status: FitStatus, start: &[T]) {
        let nothing = T::from_f64(f64::NAN);
        self.fill(fit, status, start, nothing, nothing);
    }

    /// A fit whose bounds leave no free parameter, with this number of points.
    pub(super) fn hold(&mut self, fit: usize, start: &[T], cost: T, points: usize) {
        self.fill(fit, FitStatus::Converged, start, T::ZERO, cost);
        self.degrees_of_freedom[fit - self.first] = points;
    }

    /// A fit without steps, whose errors and covariances are this number.
    fn fill(&mut self, fit: usize, status: FitStatus, parameters: &[T], error: T, cost: T) {
        let fit = fit - self.first;
        let of_fit = fit * self.n..(fit + 1) * self.n;
        self.parameters[of_fit.clone()].copy_from_slice(parameters);
        self.standard_errors[of_fit].fill(error);
        if let Some(rows) = self.covariances.chunks_exact_mut(self.n * self.n).nth(fit) {
            rows.fill(error);
        }
        (self.cost[fit], self.status[fit]) = (cost, status);
        (self.degrees_of_freedom[fit], self.iterations[fit]) = (0, 0);
    }

    /// A fit by the full engine.
    pub(super) fn take_fitted(&mut self, fit: usize, status: FitStatus, fitted: &FittedCurve<'_, T>) {
        let (report, inference) = (fitted.report(), fitted.inference());
        self.fill(fit, status, &report.x, T::ZERO, report.cost);
        let fit = fit - self.first;
        (self.degrees_of_freedom[fit], self.iterations[fit]) = (inference.degrees_of_freedom(), report.iterations);
        let errors = self.standard_errors[fit * self.n..].iter_mut().zip(inference.parameters());
        errors.for_each(|(error, parameter)| *error = parameter.standard_error);
        if let Some(rows) = self.covariances.chunks_exact_mut(self.n * self.n).nth(fit) {
            rows.iter_mut().zip(inference.covariance().matrix()).for_each(|(entry, found)| *entry = found);
        }
    }

    /// A fit in lockstep that ended at these parameters, given their derivatives by the free ones if others are fixed or tied. It is left
    /// open where squares underflow, and where the normal equations do not determine all parameters: the full engine may.
    pub(super) fn take<const N: usize>(
        &mut self,
        fit: usize,
        arrival: &LaneResult<T, N>,
        normal: &NormalFactors<T, N>,
        parameters: &[T],
        derivatives: Option<&[T]>,
    ) {
        self.refuse(fit, arrival.status, parameters);
        let fit = fit - self.first;
        self.iterations[fit] = arrival.iterations;
        if !arrival.cost.is_finite() {
            return;
        }
        (self.cost[fit], self.degrees_of_freedom[fit]) = (arrival.cost, normal.degrees_of_freedom);
        let whitened = |index: usize| match derivatives {
            None => normal.whitened(|j| if j == index { T::ONE } else { T::ZERO }),
            Some(derivatives) => {
                let free = derivatives.len() / parameters.len();
                normal.whitened(|j| derivatives[index * free + j])
            }
        };
        let n = self.n;
        for index in 0..n {
            let gradient = whitened(index);
            self.standard_errors[fit * n + index] = normal.standard_error(&gradient);
            if self.covariances.is_empty() {
                continue;
            }
            let rows = &mut self.covariances[fit * n * n..(fit + 1) * n * n];
            for other in 0..=index {
                let covariance = normal.covariance(&gradient, &whitened(other), index == other);
                (rows[index * n + other], rows[other * n + index]) = (covariance, covariance);
            }
        }
        let is_certain = normal.is_certain() && arrival.cost > least_square();
        if arrival.status == FitStatus::Converged && !is_certain {
            self.status[fit] = FitStatus::NoProgress;
        }
    }
}

/// Sum of squares below which underflow may have taken terms of it.
pub(super) fn least_square<T: Real>() -> T {
    T::MIN_POSITIVE / T::EPSILON
}
