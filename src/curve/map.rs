//! Map from the parameters that are fitted to all parameters of the curve.

use std::iter::zip;

use super::parameter::{Parameter, Role};
use super::{CurveError, ParameterState, Tie};
use crate::kernels::vector::add_scaled;
use crate::problem::{BoundSide, Bounds, scratch_for};
use crate::real::Real;
use crate::solver::{ActiveBound, Covariance, Report, SolveError};

/// Parameters that a tie may be of without memory for it on the heap.
const FEW: usize = 4;

/// The map from the free parameters, in units of their scales, to all parameters of the curve, with its derivative.
#[derive(Debug, Clone)]
pub(super) struct ParameterMap<T> {
    pub(super) parameters: Vec<Parameter<T>>,
    /// Indices of the free parameters among all.
    free: Vec<usize>,
    /// Powers of two, so that no digit is lost.
    scales: Vec<T>,
    /// Bounds of the free parameters, in units of their scales.
    bounds: Option<Bounds<T>>,
    /// Tied parameters, in an order in which each depends on earlier ones alone.
    tied: Vec<TiedParameter<T>>,
}

/// A parameter that follows from others.
#[derive(Debug, Clone)]
struct TiedParameter<T> {
    index: usize,
    of: Vec<usize>,
    tie: Tie<T>,
}

impl<T: Real> ParameterMap<T> {
    /// Checks the parameters, and sorts the free from the others.
    pub(super) fn new(parameters: Vec<Parameter<T>>) -> Result<Self, CurveError> {
        check_names(&parameters)?;
        parameters.iter().try_for_each(check)?;
        let tied = in_order(&parameters)?;
        let is_free = |&index: &usize| matches!(parameters[index].role, Role::Free);
        let free: Vec<usize> = (0..parameters.len()).filter(is_free).collect();
        let power = |&index: &usize| T::from_f64(parameters[index].scale.to_f64().log2().round().exp2());
        let scales = free.iter().map(power).collect();
        Ok(ParameterMap { parameters, free, scales, bounds: None, tied }.within_bounds())
    }

    /// Brings the bounds up to date with which parameters are free.
    fn within_bounds(mut self) -> Self {
        let bound = |of: fn(&Parameter<T>) -> T| -> Vec<T> {
            let free = zip(&self.free, &self.scales);
            free.map(|(&index, &scale)| of(&self.parameters[index]) / scale).collect()
        };
        let bounds = Bounds::new(bound(|parameter| parameter.lower), bound(|parameter| parameter.upper));
        self.bounds = bounds.ok().filter(|bounds| !bounds.is_unbounded());
        self
    }

    /// The map in the parameters' own units.
    pub(super) fn unscaled(mut self) -> Self {
        self.scales.fill(T::ONE);
        self.within_bounds()
    }

    /// Bounds of all parameters, if some have any.
    pub(super) fn all_bounds(&self) -> Option<Bounds<T>> {
        let (lower, upper): (Vec<T>, Vec<T>) =
            self.parameters.iter().map(|parameter| (parameter.lower, parameter.upper)).unzip();
        Bounds::new(lower, upper).ok().filter(|bounds| !bounds.is_unbounded())
    }

    /// Fixes one more parameter.
    pub(super) fn fixing(&self, index: usize, value: T) -> Self {
        let mut map = self.clone();
        map.parameters[index].role = Role::Fixed;
        map.parameters[index].start = value;
        if let Some(at) = map.free.iter().position(|&free| free == index) {
            map.free.remove(at);
            map.scales.remove(at);
        }
        map.within_bounds()
    }

    /// Fixes these parameters at their bounds.
    pub(super) fn holding(&self, active: &[ActiveBound<T>], at: &[T]) -> Self {
        let mut map = self.clone();
        for &ActiveBound { parameter, .. } in active {
            (map.parameters[parameter].lower, map.parameters[parameter].upper) = (at[parameter], at[parameter]);
        }
        map.within_bounds()
    }

    /// Number of all parameters.
    pub(super) fn count(&self) -> usize {
        self.parameters.len()
    }

    /// Indices of the free parameters among all.
    pub(super) fn free(&self) -> &[usize] {
        &self.free
    }

    /// The name of a parameter.
    pub(super) fn name(&self, index: usize) -> &str {
        &self.parameters[index].name
    }

    /// The parameters of those names.
    pub(super) fn index(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|parameter| parameter.name == name)
    }

    /// State of a parameter after a solve.
    pub(super) fn state(&self, index: usize, report: &Report<T>, covariance: &Covariance<T>) -> ParameterState {
        let active = report.active.iter().find(|active| active.parameter == index);
        match (&self.parameters[index].role, active.map(|active| active.side)) {
            (Role::Fixed, _) => ParameterState::Fixed,
            (Role::Tied(_), _) => ParameterState::Tied,
            (Role::Free, Some(BoundSide::Lower)) => ParameterState::AtLowerBound,
            (Role::Free, Some(BoundSide::Upper)) => ParameterState::AtUpperBound,
            (Role::Free, None) if covariance.undetermined().iter().any(|name| name == self.name(index)) => {
                ParameterState::Undetermined
            }
            (Role::Free, None) => ParameterState::Free,
        }
    }

    /// All parameters are free, in their own units.
    pub(super) fn is_identity(&self) -> bool {
        self.free.len() == self.parameters.len() && self.scales.iter().all(|&scale| scale == T::ONE)
    }

    /// The free ones of all parameters, in units of their scales.
    pub(super) fn gather(&self, all: &[T]) -> Vec<T> {
        zip(&self.free, &self.scales).map(|(&index, &scale)| all[index] / scale).collect()
    }

    /// The bounds of the free parameters, in units of their scales.
    pub(super) fn bounds(&self) -> Option<&Bounds<T>> {
        self.bounds.as_ref()
    }

    /// Writes a report on the free parameters, but for `x`, as one on all.
    pub(super) fn rename(&self, report: &mut Report<T>) {
        for active in &mut report.active {
            active.gradient /= self.scales[active.parameter];
            active.parameter = self.free[active.parameter];
        }
    }

    /// All parameters at the start, and the part of the derivative that never changes; rows are those of all parameters.
    pub(super) fn begin(&self) -> (Vec<T>, Vec<T>) {
        let all = self.parameters.iter().map(|parameter| parameter.start).collect();
        let mut derivative = vec![T::ZERO; self.count() * self.free.len()];
        for (k, (&index, &scale)) in zip(&self.free, &self.scales).enumerate() {
            derivative[index * self.free.len() + k] = scale;
        }
        (all, derivative)
    }

    /// Fills in all parameters and the derivative, both made by [`begin`](Self::begin), at the free ones.
    #[inline]
    pub(super) fn expand(&self, free: &[T], all: &mut [T], derivative: &mut [T]) {
        for ((&index, &scale), &value) in zip(&self.free, &self.scales).zip(free) {
            all[index] = value * scale;
        }
        let n = self.free.len();
        let (mut few, mut many) = ([T::ZERO; 2 * FEW], Vec::new());
        for TiedParameter { index, of, tie } in &self.tied {
            let (at, gradient) = scratch_for(2 * of.len(), &mut few, &mut many).split_at_mut(of.len());
            zip(&mut *at, of).for_each(|(at, &other)| *at = all[other]);
            all[*index] = tie.value(at, Some(gradient));
            for k in 0..n {
                let slopes = zip(of, &*gradient).map(|(other, &slope)| slope * derivative[other * n + k]);
                derivative[index * n + k] = slopes.sum();
            }
        }
    }

    /// Indices of the tied parameters, in the order in which they follow from others.
    pub(super) fn tied(&self) -> impl Iterator<Item = usize> {
        self.tied.iter().map(|tied| tied.index)
    }

    /// The chain rule: rows of derivatives by all parameters become rows of derivatives by the free ones.
    pub(super) fn narrow(&self, derivative: &[T], wide: &[T], narrow: &mut [T]) {
        let n = self.free.len();
        let rows = zip(wide.chunks_exact(self.count()), narrow.chunks_exact_mut(n));
        if self.tied.is_empty() {
            for (wide, narrow) in rows {
                for (narrow, (&index, &scale)) in zip(narrow, zip(&self.free, &self.scales)) {
                    *narrow = wide[index] * scale;
                }
            }
        } else {
            for (wide, narrow) in rows {
                narrow.fill(T::ZERO);
                for (&slope, row) in zip(wide, derivative.chunks_exact(n)) {
                    add_scaled(narrow, slope, row);
                }
            }
        }
    }

    /// Indices, means and standard deviations of the priors.
    pub(super) fn priors(&self) -> impl Iterator<Item = (usize, T, T)> {
        let parameters = self.parameters.iter().enumerate();
        parameters.filter_map(|(index, parameter)| parameter.prior.map(|(mean, deviation)| (index, mean, deviation)))
    }
}

fn check_names<T>(parameters: &[Parameter<T>]) -> Result<(), CurveError> {
    for (index, parameter) in parameters.iter().enumerate() {
        if parameters[..index].iter().any(|other| other.name == parameter.name) {
            return Err(CurveError::DuplicateName { name: parameter.name.clone() });
        }
    }
    Ok(())
}

/// Checks the options of one parameter.
fn check<T: Real>(parameter: &Parameter<T>) -> Result<(), CurveError> {
    let Parameter { name, start, lower, upper, role, prior, scale } = parameter;
    let name = || name.clone();
    if !(lower <= upper) {
        return Err(CurveError::CrossedBounds { name: name(), lower: lower.to_f64(), upper: upper.to_f64() });
    }
    if !(*scale > T::ZERO && scale.is_finite()) {
        return Err(CurveError::Scale { name: name(), value: scale.to_f64() });
    }
    if let Some((mean, deviation)) = prior
        && !(mean.is_finite() && *deviation > T::ZERO && deviation.is_finite())
    {
        return Err(CurveError::Prior { name: name(), mean: mean.to_f64(), deviation: deviation.to_f64() });
    }
    if let Role::Tied(_) = role {
        let bounded = *lower > -T::INFINITY || *upper < T::INFINITY;
        return if bounded { Err(CurveError::TiedAndBounded { name: name() }) } else { Ok(()) };
    }
    if !start.is_finite() {
        return Err(SolveError::NonFiniteStart { name: name(), value: start.to_f64() }.into());
    }
    if !(lower <= start && start <= upper) {
        let [value, lower, upper] = [start, lower, upper].map(|number| number.to_f64());
        return Err(SolveError::StartOutOfBounds { name: name(), value, lower, upper }.into());
    }
    Ok(())
}

/// The tied parameters, each after those that it depends on.
fn in_order<T: Real>(parameters: &[Parameter<T>]) -> Result<Vec<TiedParameter<T>>, CurveError> {
    let mut waiting = Vec::new();
    for (index, parameter) in parameters.iter().enumerate() {
        let Role::Tied(tie) = &parameter.role else { continue };
        let find = |other: &String| {
            let found = parameters.iter().position(|parameter| parameter.name == *other);
            found.ok_or_else(|| CurveError::UnknownInTie { name: parameter.name.clone(), of: other.clone() })
        };
        let of = tie.of().iter().map(find).collect::<Result<Vec<_>, _>>()?;
        waiting.push(TiedParameter { index, of, tie: tie.clone() });
    }
    let mut tied: Vec<TiedParameter<T>> = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let waits_for = |other: &usize| waiting.iter().any(|tied| tied.index == *other);
        match waiting.iter().position(|tied| !tied.of.iter().any(waits_for)) {
            Some(next) => tied.push(waiting.remove(next)),
            None => return Err(circle(parameters, &waiting)),
        }
    }
    Ok(tied)
}

/// Follows ties that wait for each other until one comes round.
fn circle<T>(parameters: &[Parameter<T>], waiting: &[TiedParameter<T>]) -> CurveError {
    let mut path = vec![waiting[0].index];
    loop {
        let last = path[path.len() - 1];
        let next = waiting
            .iter()
            .find(|tied| tied.index == last)
            .and_then(|tied| tied.of.iter().copied().find(|other| waiting.iter().any(|tied| tied.index == *other)));
        let Some(next) = next else { break };
        if let Some(begin) = path.iter().position(|&index| index == next) {
            path.drain(..begin);
            break;
        }
        path.push(next);
    }
    CurveError::TieToItself { names: path.into_iter().map(|index| parameters[index].name.clone()).collect() }
}
