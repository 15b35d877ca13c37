//! Search for parameters that ran away.

use super::FittedCurve;
use crate::curve::ParameterState;
use crate::real::Real;
use crate::solver::{ActiveBound, Covariance};

/// A parameter may have run away if its standard error is more than this many times its value.
const SUSPICIOUS: f64 = 100.0;

/// A suspicious parameter follows one that ran away if their correlation is at least this, and it is this many times as large as at the
/// start.
const CORRELATED: f64 = 0.999;
const LARGER: f64 = 2.0;

/// A parameter that the data do not determine may have run away if it is this many times as large as at the start.
const GROWN: f64 = 100.0;

/// Factor by which such parameters are moved farther.
const FARTHER: f64 = 10.0;

/// Factor by which a suspicious parameter is moved a little. It has lost influence if its standard error grows by as much.
const NEARBY: f64 = 2.0;

/// Trials in which the other parameters follow one that is moved.
const TRIALS: usize = 30;

/// A move by one standard error raises `χ²` by one. Up to this rise, nothing has changed.
const FLAT: f64 = 2e-3;

/// Costs that differ by no more than `ε` to this power, relative to the cost, are the same: 4e-10 in double precision, 7e-5 in single.
const SAME_COST: f64 = 0.6;

/// Residuals of up to this many units in the last place of the responses are rounding errors.
const ROUNDING: f64 = 64.0;

/// Active bounds and relations.
type Held<T> = (Vec<ActiveBound<T>>, Vec<usize>);

impl<T: Real> FittedCurve<'_, T> {
    /// Indices of the parameters that ran away: they are far from zero, given their standard errors, or from the start, and the fit is as
    /// good if they go farther. Collective.
    pub(super) fn runaways(&self) -> Vec<usize> {
        let free = self.checked.map.free();
        let suspicious: Vec<usize> = free.iter().copied().filter(|&index| self.is_suspicious(index)).collect();
        let mut found: Vec<usize> = suspicious.iter().copied().filter(|&index| self.has_no_end(index)).collect();
        if !found.is_empty() {
            let correlation = self.covariance().correlation();
            let leaders = found.clone();
            let follows = |&index: &usize| {
                let is_larger = self.report.x[index].abs() >= T::from_f64(LARGER) * self.size_at_start(index);
                let follows = |&leader: &usize| correlation[(index, leader)].abs() >= T::from_f64(CORRELATED);
                is_larger && !leaders.contains(&index) && leaders.iter().any(follows)
            };
            found.extend(suspicious.into_iter().filter(follows));
        }
        let grown: Vec<usize> = free.iter().copied().filter(|&index| self.has_grown(index)).collect();
        let is_common = !grown.is_empty() && self.is_as_good_farther(&grown);
        found.extend(grown.into_iter().filter(|&index| is_common || self.is_as_good_farther(&[index])));
        found.sort_unstable();
        found
    }

    /// The standard error is far larger than the value.
    fn is_suspicious(&self, index: usize) -> bool {
        let parameter = &self.parameters()[index];
        let error = parameter.standard_error;
        parameter.state == ParameterState::Free
            && error.is_finite()
            && error > T::from_f64(SUSPICIOUS) * parameter.value.abs()
    }

    /// Returns true if a suspicious parameter can move away from zero, or as far as bounds allow, and the others follow, without a rise of the
    /// cost: by its standard error, or a little where it then loses influence. Near a minimum at zero the cost would rise, and the
    /// influence remain. Collective.
    fn has_no_end(&self, index: usize) -> bool {
        let (x, error) = (self.report.x[index], self.parameters()[index].standard_error);
        let far = if x < T::ZERO { x - error } else { x + error };
        self.as_good_at(index, far).is_some()
            || self.as_good_at(index, T::from_f64(NEARBY) * x).is_some_and(|(at, (active, relations))| {
                let covariance = self.checked.covariance(&at, (&active, &relations), self.robust.as_ref());
                let variance = |covariance: &Covariance<T>| covariance.unscaled()[[index, index]];
                let least = T::from_f64(NEARBY * NEARBY) * variance(self.covariance());
                covariance.is_ok_and(|covariance| variance(&covariance) >= least)
            })
    }

    /// All parameters, and the bounds and relations that hold them, where one is moved and the fit is as good. Collective.
    fn as_good_at(&self, index: usize, moved: T) -> Option<(Vec<T>, Held<T>)> {
        let (checked, x) = (&self.checked, &self.report.x);
        let moved = self.within_bounds(index, moved);
        if !moved.is_finite() || moved == x[index] {
            return None;
        }
        let (map, highest) = (checked.map.fixing(index, moved), self.highest_cost());
        if let Ok((at, cost)) = checked.evaluate(&map, x)
            && cost <= highest
        {
            return Some((at, Held::default()));
        }
        if map.free().is_empty() {
            return None;
        }
        let solver = checked.method.solver.clone().with_max_iterations(TRIALS).with_polish(false).with_log(false);
        [self.following(index, moved), x.clone()].iter().find_map(|start| {
            let solved = checked.solve_by(&solver, &checked.data, &map, start).ok()?;
            (solved.cost <= highest).then_some((solved.x, (solved.active, solved.relations)))
        })
    }

    /// All parameters where one of them has moved, and each follows as a power of it, with the exponent that the covariance suggests.
    fn following(&self, index: usize, moved: T) -> Vec<T> {
        let (x, unscaled) = (&self.report.x, self.covariance().unscaled());
        let growth = (moved / x[index]).to_f64();
        let follow = |(k, &value): (usize, &T)| {
            let slope = (unscaled[[k, index]] / unscaled[[index, index]]).to_f64();
            let exponent = slope * x[index].to_f64() / value.to_f64();
            let followed = T::from_f64(value.to_f64() * growth.powf(exponent));
            let is_sound = followed.is_finite() && followed != T::ZERO;
            if is_sound { self.within_bounds(k, followed) } else { value }
        };
        x.iter().enumerate().map(follow).collect()
    }

    /// The data do not determine the parameter, and it is orders of magnitude larger than at the start.
    fn has_grown(&self, index: usize) -> bool {
        let parameter = &self.parameters()[index];
        parameter.state == ParameterState::Undetermined
            && parameter.value.abs() > T::from_f64(GROWN) * self.size_at_start(index)
    }

    /// The size of a parameter at the start, or of the largest one if it starts at zero.
    fn size_at_start(&self, index: usize) -> T {
        let parameters = &self.checked.map.parameters;
        let sizes = parameters.iter().map(|parameter| parameter.start.abs());
        match parameters[index].start.abs() {
            size if size > T::ZERO => size,
            _ => sizes.fold(parameters[index].scale, T::max),
        }
    }

    /// Returns true if these parameters can grow in proportion, without a rise of the cost: not those whose sum alone is determined.
    /// Collective.
    fn is_as_good_farther(&self, indices: &[usize]) -> bool {
        let mut x = self.report.x.clone();
        for &index in indices {
            x[index] = self.within_bounds(index, T::from_f64(FARTHER) * x[index]);
        }
        let cost = self.checked.evaluate(&self.checked.map, &x).map(|(_, cost)| cost);
        x != self.report.x && cost.is_ok_and(|cost| cost <= self.highest_cost())
    }

    /// The largest cost at which the fit is as good as here.
    fn highest_cost(&self) -> T {
        let cost = self.report.cost;
        let same = T::EPSILON.powf(T::from_f64(SAME_COST)) * cost.abs();
        let flat = self.unit_of_chi_square().map_or(T::ZERO, |unit| T::from_f64(0.5 * FLAT) * unit);
        let rounding = 0.5 * (ROUNDING * T::EPSILON.to_f64()).powi(2) * self.squares.responses;
        cost + same.max(flat) + T::from_f64(rounding)
    }

    fn within_bounds(&self, index: usize, value: T) -> T {
        let parameter = &self.checked.map.parameters[index];
        value.max(parameter.lower).min(parameter.upper)
    }
}
