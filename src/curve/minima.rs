//! Minima found by fits from many starts.

use std::fmt;

use super::checked_fit::CheckedFit;
use super::failure::FitFailure;
use super::{CurveError, FittedCurve, MultiStartError};
use crate::distributed::{Communicator, CommunicatorError};
use crate::kernels::vector::dot;
use crate::problem::LeastSquares;
use crate::real::Real;
use crate::solver::{Report, SolveError};

/// Two solutions count as one minimum if their fitted curves differ by less than 0.01 standard deviations of the noise.
const SAME: f64 = 1e-2;

/// The result of fits from many starts.
pub struct Minima<'a, T: Real> {
    /// The best fit.
    pub best: FittedCurve<'a, T>,
    /// All minima found, the lowest first.
    pub minima: Vec<Minimum<T>>,
    /// Starts whose fit ended without a minimum, in their order.
    pub failed: Vec<FailedStart<T>>,
}

/// A minimum, and the number of starts that led to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum<T> {
    /// All parameters of the curve.
    pub parameters: Vec<T>,
    /// Half the sum of squares, or the value of the loss that replaces it.
    pub cost: T,
    /// Number of starts that led there.
    pub starts: usize,
}

/// A start that did not lead to a minimum.
#[derive(Debug)]
pub struct FailedStart<T> {
    /// All parameters of the curve at the start.
    pub start: Vec<T>,
    /// Reason why the fit failed.
    pub reason: FitFailure,
    /// Best point reached; `None` if the fit could not start.
    pub end: Option<Vec<T>>,
    /// Cost at that point; infinite if the fit could not start.
    pub cost: T,
}

impl<T: Real> fmt::Debug for Minima<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Minima { best, minima, failed } = self;
        f.debug_struct("Minima").field("best", best).field("minima", minima).field("failed", failed).finish()
    }
}

impl<'a, T: Real> Minima<'a, T> {
    /// Sorts the results of all starts. The best fit is a converged one, unless there is none. Collective.
    pub(super) fn gather(
        checked: CheckedFit<'a, T>,
        starts: Vec<Vec<T>>,
        reports: Vec<Result<Report<T>, SolveError>>,
    ) -> Result<Self, MultiStartError> {
        let (mut converged, mut stuck, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        for (start, report) in starts.into_iter().zip(reports) {
            let (reason, end, cost) = match report {
                Ok(report) if report.is_converged() => {
                    converged.push(report);
                    continue;
                }
                Ok(report) => {
                    let (end, cost) = (report.x.clone(), report.cost);
                    let reason = FitFailure::NotConverged(report.status);
                    stuck.push(report);
                    (reason, Some(end), cost)
                }
                Err(error) => (error.into(), None, T::INFINITY),
            };
            failed.push(FailedStart { start, reason, end, cost });
        }
        let by_cost = |a: &Report<T>, b: &Report<T>| a.cost.to_f64().total_cmp(&b.cost.to_f64());
        converged.sort_by(by_cost);
        stuck.sort_by(by_cost);
        let minima = distinct(&checked, &converged)?;
        let Some(best) = converged.into_iter().chain(stuck).next() else {
            return Err(MultiStartError::AllFailed {
                failed: failed.into_iter().map(|failed| failed.reason).collect(),
            });
        };
        Ok(Minima { best: FittedCurve::new(checked, best)?, minima, failed })
    }
}

/// A minimum, and the numbers by which other solutions are compared with it.
struct Basin<T> {
    minimum: Minimum<T>,
    /// The free parameters.
    free: Vec<T>,
    /// The whitened derivatives by them.
    jacobian: Vec<T>,
    /// Squared changes of the curve, and twice the changes of the cost, that are too small to tell.
    tolerance: [T; 2],
}

impl<T: Real> Basin<T> {
    fn new(checked: &CheckedFit<'_, T>, report: &Report<T>, rounding: T) -> Self {
        let (mut curve_problem, free) = (checked.curve_problem(), checked.map.gather(&report.x));
        let m = curve_problem.residual_count();
        let (mut r, mut jacobian) = (vec![T::ZERO; m], vec![T::ZERO; m * free.len()]);
        if curve_problem.linearize(&free, 0, &mut r, &mut jacobian).is_err() {
            jacobian.fill(T::ZERO);
        }
        let excess = checked.informative_count().saturating_sub(free.len()).max(1);
        let chi_square = report.sum_of_squares();
        let variance = if checked.is_absolute() { T::ONE } else { chi_square / T::from_f64(excess as f64) };
        let in_curve = T::from_f64(SAME * SAME) * variance + rounding;
        let in_cost = T::from_f64(64.0) * T::EPSILON.sqrt() * chi_square + rounding;
        let minimum = Minimum { parameters: report.x.clone(), cost: report.cost, starts: 0 };
        Basin { minimum, free, jacobian, tolerance: [in_curve, in_cost] }
    }

    /// A solve ended here, too. Collective.
    fn holds(&self, ranks: &Communicator, free: &[T], report: &Report<T>) -> Result<bool, CommunicatorError> {
        let [in_curve, in_cost] = self.tolerance;
        if !(T::from_f64(2.0) * (report.cost - self.minimum.cost).abs() <= in_cost) {
            return Ok(false);
        }
        let difference: Vec<T> = free.iter().zip(&self.free).map(|(&a, &b)| a - b).collect();
        let rows = self.jacobian.chunks_exact(free.len());
        let change: T = rows.map(|row| dot(row, &difference)).map(|change| change * change).sum();
        let mut change = [change];
        ranks.all_sum(&mut change)?;
        Ok(change[0] <= in_curve)
    }
}

/// Largest sum of squared residuals of a perfect fit. Collective.
fn rounding<T: Real>(checked: &CheckedFit<'_, T>) -> Result<T, CurveError> {
    let mut squares = [checked.data.squared_responses()];
    checked.data.ranks().all_sum(&mut squares)?;
    let unit = T::from_f64(64.0) * T::EPSILON;
    Ok(unit * unit * T::from_f64(squares[0]))
}

/// The minima that differ, of ends in the order of their costs. Collective.
fn distinct<T: Real>(checked: &CheckedFit<'_, T>, ends: &[Report<T>]) -> Result<Vec<Minimum<T>>, CurveError> {
    let rounding = rounding(checked)?;
    let mut basins: Vec<Basin<T>> = Vec::new();
    for report in ends {
        let free = checked.map.gather(&report.x);
        let mut place = 0;
        while place < basins.len() && !basins[place].holds(checked.data.ranks(), &free, report)? {
            place += 1;
        }
        if place == basins.len() {
            basins.push(Basin::new(checked, report, rounding));
        }
        basins[place].minimum.starts += 1;
    }
    Ok(basins.into_iter().map(|basin| basin.minimum).collect())
}
