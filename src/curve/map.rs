//! Map from the parameters that are fitted to all parameters of the curve.

use std::iter::zip;

use super::parameter::{Parameter, Role};
use super::relations::{Basis, Relations};
use super::tied_parameters::{TiedParameter, in_order};
use super::{CurveError, ParameterState, Tie};
use crate::kernels::vector::add_scaled;
use crate::problem::{BoundSide, Bounds, scratch_for};
use crate::real::Real;
use crate::solver::{ActiveBound, Covariance, Report, SolveError};

/// Parameters that a tie may be of without memory for it on the heap.
const FEW: usize = 4;

/// The map from the free parameters, in units of their scales, to all parameters of the curve, with its derivative. With a
/// [basis](Basis), the values of some relations stand for as many of the free parameters.
#[derive(Debug, Clone)]
pub(super) struct ParameterMap<T> {
    pub(super) parameters: Vec<Parameter<T>>,
    /// Indices of the free parameters among all.
    pub(super) free: Vec<usize>,
    /// Powers of two, so that no digit is lost.
    pub(super) scales: Vec<T>,
    /// Bounds of the free parameters, in units of their scales.
    bounds: Option<Bounds<T>>,
    /// Tied parameters, in an order in which each depends on earlier ones alone.
    pub(super) tied: Vec<TiedParameter<T>>,
    pub(super) relations: Box<Relations<T>>,
    pub(super) basis: Option<Box<Basis<T>>>,
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
        let (relations, basis) = (Box::default(), None);
        Ok(ParameterMap { parameters, free, scales, bounds: None, tied, relations, basis }.within_bounds())
    }

    /// Brings the bounds up to date with which parameters are free.
    pub(super) fn within_bounds(mut self) -> Self {
        let pairs = zip(&self.free, &self.scales).enumerate().map(|(k, (&index, &scale))| match self.row_at(k) {
            Some(row) => (T::from_f64(row.lower), T::from_f64(row.upper)),
            None => (self.parameters[index].lower / scale, self.parameters[index].upper / scale),
        });
        let (lower, upper): (Vec<T>, Vec<T>) = pairs.unzip();
        let bounds = Bounds::new(lower, upper);
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
        map.relations.rows = map.rows();
        map.within_bounds()
    }

    /// Ties one more parameter to others that are free, without its bounds.
    pub(super) fn tying(&self, index: usize, tie: Tie<T>, of: Vec<usize>) -> Self {
        let mut map = self.fixing(index, self.parameters[index].start);
        map.parameters[index].role = Role::Tied(tie.clone());
        map.tied.insert(0, TiedParameter { index, of, tie });
        map.relations.rows = map.rows();
        map
    }

    /// Returns true if all parameters are within their bounds and relations.
    pub(super) fn contains(&self, all: &[T]) -> bool {
        let is_within =
            |(parameter, value): (&Parameter<T>, &T)| parameter.lower <= *value && *value <= parameter.upper;
        zip(&self.parameters, all).all(is_within) && self.allows(all)
    }

    /// Fixes these parameters at their bounds, and these relations at their limits.
    pub(super) fn holding(&self, active: &[ActiveBound<T>], relations: &[usize], at: &[T]) -> Self {
        let mut map = self.with_relations_held(active, relations, at);
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
        let is_complete = self.free.len() == self.parameters.len() && self.basis.is_none();
        is_complete && self.scales.iter().all(|&scale| scale == T::ONE)
    }

    /// The free ones of all parameters, in units of their scales.
    pub(super) fn gather(&self, all: &[T]) -> Vec<T> {
        let plain: Vec<T> = zip(&self.free, &self.scales).map(|(&index, &scale)| all[index] / scale).collect();
        if self.basis.is_some() { self.coordinates(&plain) } else { plain }
    }

    /// The bounds of the free parameters, in units of their scales.
    pub(super) fn bounds(&self) -> Option<&Bounds<T>> {
        self.bounds.as_ref()
    }

    /// Writes a report on the free parameters, but for `x`, as one on all.
    pub(super) fn rename(&self, report: &mut Report<T>) {
        for mut active in std::mem::take(&mut report.active) {
            if let Some(row) = self.row_at(active.parameter) {
                report.relations.push(row.of[usize::from(active.side == BoundSide::Upper)]);
                continue;
            }
            active.gradient /= self.scales[active.parameter];
            active.parameter = self.free[active.parameter];
            report.active.push(active);
        }
    }

    /// All parameters at the start, and the part of the derivative that never changes; rows are those of all parameters.
    pub(super) fn begin(&self) -> (Vec<T>, Vec<T>) {
        let all = self.parameters.iter().map(|parameter| parameter.start).collect();
        let mut derivative = vec![T::ZERO; self.count() * self.free.len()];
        let n = self.free.len();
        for (k, (&index, &scale)) in zip(&self.free, &self.scales).enumerate() {
            match &self.basis {
                Some(basis) => {
                    zip(&mut derivative[index * n..], basis.row(k)).for_each(|(d, &slope)| *d = slope * scale)
                }
                None => derivative[index * n + k] = scale,
            }
        }
        (all, derivative)
    }

    /// Fills in all parameters and the derivative, both made by [`begin`](Self::begin), at the free ones.
    #[inline]
    pub(super) fn expand(&self, free: &[T], all: &mut [T], derivative: &mut [T]) {
        for ((&index, &scale), &value) in zip(&self.free, &self.scales).zip(free) {
            all[index] = value * scale;
        }
        if let Some(basis) = &self.basis {
            self.place_pivots(basis, free, all);
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
        if self.tied.is_empty() && self.basis.is_none() {
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
