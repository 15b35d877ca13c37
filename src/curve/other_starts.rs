//! Starts of other sizes than the one that was given.

use super::checked_fit::CheckedFit;
use super::problem::CurveProblem;
use crate::clock::Stopwatch;
use crate::kernels::vector::dot;
use crate::problem::{Evaluated, LeastSquares, Separable, linear_parameters};
use crate::real::Real;
use crate::solver::{Evaluations, LevenbergMarquardt};
use crate::statistics::{latin_hypercube, sample_quantile};

/// Largest number of parameters to look for other starts with.
const MOST_PARAMETERS: usize = 64;

/// Points looked at for each parameter that does not enter linearly, and for all of them at most.
const POINTS: usize = 128;
const MOST_POINTS: usize = 512;

/// Starts that are found at most.
const STARTS: usize = 8;

/// Seed of the points.
const SEED: u64 = 1;

/// Starts between which no parameter changes by more than this factor are alike.
const ALIKE: f64 = 2.0;

/// Share of the points that have the other sign.
const NEGATIVE: f64 = 0.2;

/// The starts of a fit, and the parameters that need one.
pub(super) struct OtherStarts {
    /// Places among the free parameters of those that enter linearly.
    linear: Vec<usize>,
    /// Places of the others among all parameters.
    others: Vec<usize>,
}

impl OtherStarts {
    /// Of rows that ranks share, of large problems and with relations, no parameter is known to enter linearly.
    pub(super) fn of<T: Real>(checked: &CheckedFit<'_, T>, start: &[T]) -> Self {
        let (map, free) = (&checked.map, checked.map.free());
        if !are_affordable(checked) || map.has_relations() {
            return OtherStarts { linear: Vec::new(), others: free.to_vec() };
        }
        let linear = linear_parameters(&mut checked.least_squares(map), &map.gather(start)).unwrap_or_default();
        let is_other = |&(place, _): &(usize, &usize)| linear.binary_search(&place).is_err();
        let others = free.iter().enumerate().filter(is_other).map(|(_, &index)| index).collect();
        OtherStarts { linear, others }
    }

    /// Some parameters enter linearly.
    pub(super) fn can_eliminate(&self) -> bool {
        !self.linear.is_empty()
    }

    /// All parameters enter linearly.
    pub(super) fn are_needless(&self) -> bool {
        self.others.is_empty()
    }

    /// The most promising of some points, at which the parameters have sizes that the predictors, or the given start, suggest. Returns
    /// the work, too. Of rows that ranks share, and of large problems, there are none.
    pub(super) fn find<T: Real>(
        &self,
        checked: &CheckedFit<'_, T>,
        solver: &LevenbergMarquardt<T>,
    ) -> (Vec<Vec<T>>, Evaluations) {
        let mut evaluations = Evaluations::default();
        if self.others.is_empty() || !are_affordable(checked) {
            return (Vec::new(), evaluations);
        }
        let begun = Stopwatch::start();
        let mut look = StartSearch::new(checked, &self.linear);
        let count = (POINTS * self.others.len()).min(MOST_POINTS).min(solver.settings.evaluations_left() / 2);
        let mut found: Vec<(f64, Vec<T>)> = Vec::new();
        for point in self.points(checked, count) {
            if solver.settings.is_over_after(begun.elapsed()) {
                break;
            }
            evaluations.residuals += 1;
            evaluations.jacobians += usize::from(self.can_eliminate());
            let cost = look.cost(&checked.map.gather(&point)).unwrap_or(f64::INFINITY);
            if cost.is_finite() {
                found.push((cost, point));
            }
        }
        found.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut starts: Vec<Vec<T>> = Vec::new();
        for (_, point) in found {
            if starts.len() < STARTS && !starts.iter().any(|start| self.are_alike(start, &point)) {
                starts.push(point);
            }
        }
        (starts, evaluations)
    }

    fn are_alike<T: Real>(&self, one: &[T], other: &[T]) -> bool {
        self.others.iter().all(|&index| {
            let ratio = (one[index] / other[index]).to_f64();
            ratio > ALIKE.recip() && ratio < ALIKE
        })
    }

    /// Points that fill the likely sizes evenly, within bounds.
    fn points<T: Real>(&self, checked: &CheckedFit<'_, T>, count: usize) -> Vec<Vec<T>> {
        let (data, parameters) = (&checked.data, &checked.map.parameters);
        let columns = |values: &[T], width: usize, count: usize| -> Vec<Extent> {
            (0..count).filter_map(|column| Extent::of(values.iter().skip(column).step_by(width))).collect()
        };
        let mut extents = columns(data.x(), data.width(), data.predictors_in_row());
        if !self.can_eliminate() {
            extents.extend(columns(data.y(), data.outputs(), data.outputs()));
        }
        let given: Vec<T> = parameters.iter().map(|parameter| parameter.start).collect();
        let place = |shares: &[f64]| {
            let mut point = given.clone();
            for (&index, shares) in self.others.iter().zip(shares.chunks_exact(4)) {
                let value = T::from_f64(suggestion(&extents, given[index].to_f64(), shares));
                if value.is_finite() {
                    point[index] = value.max(parameters[index].lower).min(parameters[index].upper);
                }
            }
            point
        };
        latin_hypercube(count, 4 * self.others.len(), SEED).iter().map(|shares| place(shares)).collect()
    }
}

/// One rank has all rows, and four Jacobians fit into the memory budget.
fn are_affordable<T: Real>(checked: &CheckedFit<'_, T>) -> bool {
    let parameters = checked.map.free().len();
    let jacobian = checked.informative_count().saturating_mul(parameters).saturating_mul(size_of::<T>());
    let fits = jacobian <= checked.method.solver.settings.memory_budget / 4;
    !checked.data.is_shared() && parameters <= MOST_PARAMETERS && fits
}

/// A value of the size of a predictor or its inverse, within its range, around the start, or around one.
fn suggestion(extents: &[Extent], start: f64, shares: &[f64]) -> f64 {
    let [kind, which, size, sign] = [shares[0], shares[1], shares[2], shares[3]];
    let decades = |range: f64| 10.0_f64.powf(range * (2.0 * size - 1.0));
    let sign = if sign < NEGATIVE { -1.0 } else { 1.0 };
    let extent = extents.get((which * extents.len() as f64) as usize);
    match extent {
        Some(extent) if kind < 0.25 => sign * extent.size * decades(1.0),
        Some(extent) if kind < 0.5 => sign / extent.size * decades(1.0),
        Some(extent) if kind < 0.7 => extent.low + size * (extent.high - extent.low),
        _ if kind < 0.85 && start != 0.0 => sign * start * decades(2.0),
        _ => sign * decades(1.0),
    }
}

/// Range and size of a column.
struct Extent {
    low: f64,
    high: f64,
    /// Median of the absolute values that are not zero.
    size: f64,
}

impl Extent {
    fn of<'v, T: Real>(values: impl Iterator<Item = &'v T>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.map(|value| value.to_f64()).collect();
        sorted.sort_by(f64::total_cmp);
        let (&low, &high) = (sorted.first()?, sorted.last()?);
        sorted.iter_mut().for_each(|value| *value = value.abs());
        sorted.retain(|&size| size > 0.0);
        sorted.sort_by(f64::total_cmp);
        Some(Extent { low, high, size: sample_quantile(&sorted, 0.5) }).filter(|extent| extent.size.is_finite())
    }
}

/// Evaluation of points, with the parameters that enter linearly at their best.
struct StartSearch<'p, T: Real> {
    problem: Separable<T, CurveProblem<'p, T>>,
    has_linear: bool,
    residuals: Vec<T>,
}

impl<'p, T: Real> StartSearch<'p, T> {
    fn new(checked: &'p CheckedFit<'_, T>, linear: &[usize]) -> Self {
        let problem = checked.least_squares(&checked.map);
        let residuals = vec![T::ZERO; problem.residual_count()];
        StartSearch { problem: Separable::without(problem, linear.to_vec()), has_linear: !linear.is_empty(), residuals }
    }

    /// The sum of the squared residuals.
    fn cost(&mut self, free: &[T]) -> Evaluated<f64> {
        if self.has_linear {
            let others = self.problem.reduced(free);
            self.problem.residuals(&others, 0, &mut self.residuals)?;
        } else {
            self.problem.problem_mut().residuals(free, 0, &mut self.residuals)?;
        }
        Ok(dot(&self.residuals, &self.residuals).to_f64())
    }
}
