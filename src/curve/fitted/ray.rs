//! Away from the optimum along a line, with the parameters on it held and the others fitted again.

use super::FittedCurve;
use super::held::Held;
use super::profile::{IntervalEnd, ProfileError};
use crate::curve::StatisticsError;
use crate::curve::map::ParameterMap;
use crate::real::Real;
use crate::solver::{Report, SolveError, Status};
use crate::statistics::root;

/// The level is out of reach where it is not met at this multiple of the distance at which a linear curve would meet it.
const FARTHEST: f64 = 1e9;

/// Looks that go hardly farther than to where the level is expected; later ones go twice as far as the last.
const CLOSE_LOOKS: usize = 16;

/// Points at which the fit may fail before the line is given up.
const MAX_FAILURES: usize = 12;

/// Share of the way to a point at which the fit fails that is not looked at before it.
const GAP: f64 = 1e-3;

/// Relative accuracy to which a level is met; larger in single precision.
const TOLERANCE: f64 = 1e-12;

/// A line through the optimum in the space of what is held.
pub(super) struct Ray<'f, 'a, T: Real> {
    fit: &'f FittedCurve<'a, T>,
    held: Vec<Held<T>>,
    /// Change of all parameters with a unit of the way, if the curve were linear.
    tangent: Vec<f64>,
    /// Unit of the way in which a linear curve would have a signed root of one.
    unit: f64,
    /// One unit of the squared signed root, in `χ²`.
    variance: f64,
    /// Margin below zero that rounding may give the squared signed root.
    slack: f64,
    /// Points visited, in the order of their distance, the optimum first.
    visited: Vec<RayPoint<T>>,
    /// The shortest way known at which the curve has no finite value; infinite if none is.
    edge: f64,
}

/// A point on a line.
#[derive(Debug, Clone)]
pub(super) struct RayPoint<T> {
    /// Distance from the optimum along the line, in units of its direction.
    pub(super) way: f64,
    /// `√(χ² − χ²_min)`, in units of the noise.
    pub(super) root: f64,
    /// All parameters of the curve.
    pub(super) parameters: Vec<T>,
}

impl<T: Real> FittedCurve<'_, T> {
    /// Increase of twice the cost by a squared standard error of one parameter: one where the noise is known, otherwise its
    /// variance. For a robust loss the variance is that of M-estimates, times the mean curvature of the loss, with which
    /// the cost rises (Hampel et al. 1986, *Robust statistics*, 7.2).
    pub(super) fn unit_of_chi_square(&self) -> Option<T> {
        let Some(sums) = &self.robust else { return self.inference.noise_variance() };
        let rank = self.number_of_responses().saturating_sub(self.degrees_of_freedom());
        sums.variance(rank).map(|variance| variance * sums.mean_curvature())
    }
}

impl<'f, 'a, T: Real> Ray<'f, 'a, T> {
    /// Creates the line on which these change by their steps with a unit of the distance.
    pub(super) fn new(fit: &'f FittedCurve<'a, T>, held: Vec<Held<T>>) -> Result<Self, ProfileError> {
        let variance = fit.unit_of_chi_square().ok_or(StatisticsError::NoDegreesOfFreedom)?.to_f64();
        let (tangent, unit) = linear(fit, &held);
        let (size, epsilon) = (fit.squares.responses, T::EPSILON.to_f64());
        // Sums are rounded at the size of their terms, and residuals at that of the data.
        let rounding = 128.0 * epsilon * fit.report.cost.to_f64() + (64.0 * epsilon).powi(2) * size;
        let slack = 64.0 * epsilon.sqrt() + rounding / variance;
        let optimum = RayPoint { way: 0.0, root: 0.0, parameters: fit.report.x.clone() };
        Ok(Ray { fit, held, tangent, unit, variance, slack, visited: vec![optimum], edge: f64::INFINITY })
    }

    /// All points that were visited, the optimum first.
    pub(super) fn into_visited(self) -> Vec<RayPoint<T>> {
        self.visited
    }

    /// The values of what is held at a point.
    pub(super) fn held_at(&self, way: f64) -> impl Iterator<Item = T> {
        self.held.iter().map(move |held| held.value_at(way))
    }

    /// The way to the nearest bound of a held parameter.
    fn limit(&self) -> f64 {
        self.held.iter().map(Held::limit).fold(f64::INFINITY, f64::min).max(0.0)
    }

    /// Distance to the point where the signed root is `level`, or to a bound or an edge before it; infinite if there is none.
    pub(super) fn extent(&mut self, level: f64) -> Result<(f64, IntervalEnd), ProfileError> {
        let found = self.search(level);
        found.map_err(|error| match error {
            ProfileError::NotConverged { .. } | ProfileError::Solve { .. } => {
                let last = self.visited.iter().rfind(|point| point.root < level).unwrap_or(&self.visited[0]);
                let (reached, tau, source) = (self.describe(last.way), last.root, Box::new(error));
                ProfileError::Unfinished { reached, tau, level, source }
            }
            error => error,
        })
    }

    fn search(&mut self, level: f64) -> Result<(f64, IntervalEnd), ProfileError> {
        let limit = self.limit();
        if limit == 0.0 {
            return Ok((0.0, IntervalEnd::Bound));
        }
        if self.variance == 0.0 {
            // Without noise, everything else is out of the question.
            return Ok((0.0, IntervalEnd::Level));
        }
        let (mut low, mut low_root, mut failures) = (0.0, 0.0, 0);
        let mut wall: Option<(f64, ProfileError)> = None;
        let mut way = level * self.unit;
        let farthest = FARTHEST * way;
        // The way soon doubles, up to the farthest; where a fit has failed, its distance to that place halves, down to the gap.
        for look in 1.. {
            way = way.min(limit);
            if low >= farthest || self.held_at(way).any(|value| !value.is_finite()) {
                break;
            }
            match self.root_at(way) {
                Ok(root) if root >= level => return self.between((low, low_root), (way, root), level),
                Ok(_) if way == limit => return Ok((limit, IntervalEnd::Bound)),
                Ok(root) => (low, low_root) = (way, root),
                Err(error) if error.is_local() => (wall, failures) = (Some((way, error)), failures + 1),
                Err(error) => return Err(error),
            }
            way = match wall.take() {
                Some((at, error)) if failures == MAX_FAILURES || low >= (1.0 - GAP) * at => return Err(error),
                Some((at, error)) => {
                    wall = Some((at, error));
                    0.5 * (low + at)
                }
                // A little beyond where the level is expected.
                None => {
                    let least = if look < CLOSE_LOOKS { 1.1 } else { 2.0 };
                    (1.05 * low * level / low_root).clamp(least * low, 2.0 * low)
                }
            };
        }
        Ok((f64::INFINITY, IntervalEnd::Open))
    }

    /// The way to the level, which is between these two.
    fn between(&mut self, low: (f64, f64), high: (f64, f64), level: f64) -> Result<(f64, IntervalEnd), ProfileError> {
        let epsilon = T::EPSILON.to_f64();
        let tolerance = level * TOLERANCE.max(64.0 * epsilon);
        let resolved: Vec<f64> = self
            .held
            .iter()
            .filter(|held| held.step != 0.0)
            .map(|held| 2.0 * epsilon * (held.value.to_f64() / held.step).abs())
            .collect();
        let resolution = resolved.into_iter().fold(f64::INFINITY, f64::min);
        let arrived = |best: (f64, f64), other: f64| {
            best.1.abs() <= tolerance || (best.0 - other).abs() <= resolution.max(2.0 * epsilon * best.0)
        };
        let (below, above) = ((low.0, low.1 - level), (high.0, high.1 - level));
        let way = root(below, above, |way| self.root_at(way).map(|root| root - level), arrived)?;
        if (self.root_at(way)? - level).abs() <= 64.0 * epsilon.sqrt() * level {
            return Ok((way, IntervalEnd::Level));
        }
        let across = self.visited.iter().find(|point| point.root >= level);
        match across {
            Some(point) if point.way < self.edge => Err(ProfileError::Jump { held: self.describe(way) }),
            _ => Ok((way, IntervalEnd::Edge)),
        }
    }

    /// The signed root at a point; infinite where the curve has no value, and so does not describe the data.
    pub(super) fn root_at(&mut self, way: f64) -> Result<f64, ProfileError> {
        if way >= self.edge {
            return Ok(f64::INFINITY);
        }
        let place = self.visited.partition_point(|point| point.way < way);
        if let Some(point) = self.visited.get(place).filter(|point| point.way == way) {
            return Ok(point.root);
        }
        let Some((parameters, cost)) = self.fit_at(way, place)?.filter(|(_, cost)| cost.is_finite()) else {
            self.edge = way;
            return Ok(f64::INFINITY);
        };
        let excess = 2.0 * (cost - self.fit.report.cost).to_f64() / self.variance;
        if excess < -self.slack {
            return Err(self.better_minimum(parameters, cost));
        }
        let root = excess.max(0.0).sqrt();
        self.visited.insert(place, RayPoint { way, root, parameters });
        Ok(root)
    }

    /// Fits the other parameters again, from where the neighbours make them out to be, or else from the nearest one, or else from
    /// the optimum. `None` where the curve, or its derivative, is not finite at any of these.
    fn fit_at(&self, way: f64, place: usize) -> Result<Option<(Vec<T>, T)>, ProfileError> {
        let checked = &self.fit.checked;
        let failed = |source| ProfileError::Solve { held: self.describe(way), source };
        let stopped = |status| ProfileError::NotConverged { held: self.describe(way), status };
        let mut failure = None;
        let starts = [self.predicted(way, place), self.nearest(way, place).to_vec(), self.fit.report.x.clone()];
        for (start, map) in
            starts.iter().flat_map(|start| self.maps(way, start).into_iter().map(move |map| (start, map)))
        {
            if map.free().is_empty() {
                if checked.is_cancelled() {
                    return Err(stopped(Status::Cancelled));
                }
                let (x, cost) = checked.evaluate(&map, start).map_err(|error| failed(SolveError::Evaluation(error)))?;
                if checked.map.contains(&x) {
                    return Ok(Some((x, cost)));
                }
                continue;
            }
            match checked.solve_with(&checked.data, &map, start) {
                Ok(report) if !checked.map.contains(&report.x) => {}
                Ok(report) if is_stationary(&report) => return Ok(Some((report.x, report.cost))),
                Ok(report) => {
                    let error = stopped(report.status);
                    if !error.is_local() {
                        return Err(error);
                    }
                    failure = Some(error);
                }
                Err(error) if checked.is_without_value(&error, &map, start) => {}
                Err(error) => failure = failure.or(Some(failed(error))),
            }
        }
        failure.map_or(Ok(None), Err)
    }

    /// Maps that hold at a point what is held, those to be tried first at the front.
    fn maps(&self, way: f64, start: &[T]) -> Vec<ParameterMap<T>> {
        let errors: Vec<T> = self.fit.parameters().iter().map(|parameter| parameter.standard_error).collect();
        let hold = |maps: Vec<ParameterMap<T>>, held: &Held<T>| {
            maps.iter().flat_map(|map| held.maps(map, way, start, &errors)).collect()
        };
        self.held.iter().fold(vec![self.fit.checked.map.clone()], hold)
    }

    /// The parameters at the visited point closest to a place that would be inserted at `place`.
    fn nearest(&self, way: f64, place: usize) -> &[T] {
        let before = &self.visited[place - 1];
        match self.visited.get(place) {
            Some(after) if after.way - way < way - before.way => &after.parameters,
            _ => &before.parameters,
        }
    }

    /// All parameters, by the straight line through two neighbours, or along the tangent; within their bounds.
    fn predicted(&self, way: f64, place: usize) -> Vec<T> {
        let last = self.visited.len();
        let (first, slope): (&RayPoint<T>, Vec<f64>) = if last == 1 {
            (&self.visited[0], self.tangent.clone())
        } else {
            let end = place.min(last - 1);
            let (a, b) = (&self.visited[end - 1], &self.visited[end]);
            let pairs = a.parameters.iter().zip(&b.parameters);
            (b, pairs.map(|(&a_value, &b_value)| (b_value - a_value).to_f64() / (b.way - a.way)).collect())
        };
        let values = first.parameters.iter().zip(slope).zip(&self.fit.checked.map.parameters);
        values
            .map(|((&value, slope), parameter)| {
                let moved = value + T::from_f64((way - first.way) * slope);
                let moved = if moved.is_finite() { moved } else { value };
                moved.max(parameter.lower).min(parameter.upper)
            })
            .collect()
    }

    /// Goes on from a point that is better than the optimum, with everything free.
    fn better_minimum(&self, at: Vec<T>, cost: T) -> ProfileError {
        let (parameters, found) = match self.fit.checked.solve(&at) {
            Ok(report) if report.cost <= cost => (report.x, report.cost),
            _ => (at, cost),
        };
        let twice = |cost: T| 2.0 * cost.to_f64();
        let parameters = parameters.into_iter().map(T::to_f64).collect();
        ProfileError::BetterMinimum { parameters, chi_square: twice(found), before: twice(self.fit.report.cost) }
    }

    /// Lists what is held and the values, for error messages.
    fn describe(&self, way: f64) -> String {
        let equations = self.held.iter().map(|held| format!("{} = {}", held.name, held.value_at(way)));
        equations.collect::<Vec<_>>().join(", ")
    }
}

/// The solve has converged, or rounding lets it go no further where the cost is its minimum to all digits of interest.
fn is_stationary<T: Real>(report: &Report<T>) -> bool {
    let is_level = report.gradient_cosine <= T::from_f64(64.0) * T::EPSILON.sqrt();
    report.is_converged() || matches!(report.status, Status::NoProgress | Status::FlatValley | Status::Kink) && is_level
}

/// Returns the change of all parameters with what is held for a linear curve, `C_·h C_hh⁻¹ d`, and the unit of the distance,
/// `1/√(dᵀ C_hh⁻¹ d)`, from the covariance `C` of the parameters. An undefined change counts as zero, an undefined unit as one.
fn linear<T: Real>(fit: &FittedCurve<'_, T>, held: &[Held<T>]) -> (Vec<f64>, f64) {
    let matrix = fit.covariance().matrix();
    let along = |k: usize, held: &Held<T>| -> f64 {
        held.gradient.iter().map(|&(index, slope)| slope * matrix[[k, index]].to_f64()).sum()
    };
    let of = |one: &Held<T>, other: &Held<T>| -> f64 {
        one.gradient.iter().map(|&(index, slope)| slope * along(index, other)).sum()
    };
    let weights = match held {
        [i] => vec![i.step / of(i, i)],
        [i, j] => {
            let (d, e, determinant) = (i.step, j.step, of(i, i) * of(j, j) - of(i, j) * of(j, i));
            vec![(of(j, j) * d - of(i, j) * e) / determinant, (of(i, i) * e - of(j, i) * d) / determinant]
        }
        _ => Vec::new(),
    };
    let finite = |value: f64, instead: f64| if value.is_finite() { value } else { instead };
    let follow = |k: usize| held.iter().zip(&weights).map(|(held, weight)| along(k, held) * weight).sum::<f64>();
    let tangent = (0..matrix.nrows()).map(|k| finite(follow(k), 0.0)).collect();
    let squared: f64 = held.iter().zip(&weights).map(|(held, weight)| held.step * weight).sum();
    (tangent, if squared > 0.0 && squared.is_finite() { squared.sqrt().recip() } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::FiniteDifference;
    use crate::solver::LevenbergMarquardt;

    /// A fit that rounding stops counts where its gradient is lost beside the residuals.
    #[test]
    fn no_progress_is_stationary_without_a_gradient() {
        let at = |gradient_cosine, status| {
            let mut problem = FiniteDifference::new(1, 1, |x: &[f64], r: &mut [f64]| {
                r[0] = x[0];
                Ok(())
            });
            let report = LevenbergMarquardt::new().minimize(&mut problem, &[1.0]).unwrap();
            Report { gradient_cosine, status, ..report }
        };
        assert!(is_stationary(&at(1.0, Status::CostTolerance)));
        assert!(is_stationary(&at(5e-7, Status::NoProgress)));
        assert!(!is_stationary(&at(5e-6, Status::NoProgress)));
        assert!(!is_stationary(&at(5e-7, Status::MaxIterations)));
    }
}
