//! A parameter of a curve, and its options.

use std::ops::{Bound, RangeBounds};

use super::{CurveError, Tie};
use crate::real::Real;

/// Role of a parameter in the fit.
#[derive(Debug, Clone)]
pub(super) enum Role<T> {
    /// The parameter is fitted.
    Free,
    /// The parameter stays at its start.
    Fixed,
    /// The parameter is computed from others.
    Tied(Tie<T>),
}

/// A parameter of a curve before the fit.
#[derive(Debug, Clone)]
pub(super) struct Parameter<T> {
    pub(super) name: String,
    pub(super) start: T,
    pub(super) lower: T,
    pub(super) upper: T,
    pub(super) role: Role<T>,
    /// Mean and standard deviation of its Gaussian prior.
    pub(super) prior: Option<(T, T)>,
    /// Its typical size.
    pub(super) scale: T,
}

impl<T: Real> Parameter<T> {
    /// The least and the largest value at which the curve is evaluated. A fixed parameter leaves no room, so that differences take no
    /// evaluations for it.
    pub(super) fn range(&self) -> (T, T) {
        match self.role {
            Role::Fixed => (self.start, self.start),
            Role::Free | Role::Tied(_) => (self.lower, self.upper),
        }
    }
}

/// The parameters of these names and starts, to which all these options are applied.
pub(super) fn parameters<T: Real>(
    known: Vec<String>,
    start: &[T],
    options: &[(String, ParameterOption<T>)],
) -> Result<Vec<Parameter<T>>, CurveError> {
    check(options)?;
    let (lower, upper, scale) = (-T::INFINITY, T::INFINITY, T::ONE);
    let named = known.iter().cloned().zip(start);
    let mut parameters: Vec<Parameter<T>> = named
        .map(|(name, &start)| Parameter { name, start, lower, upper, role: Role::Free, prior: None, scale })
        .collect();
    for (name, option) in options {
        match parameters.iter_mut().find(|parameter| parameter.name == *name) {
            Some(parameter) => parameter.apply(option),
            None => return Err(CurveError::NoSuchParameter { name: name.clone(), known }),
        }
    }
    Ok(parameters)
}

/// Wishes for one parameter do not contradict each other.
fn check<T>(options: &[(String, ParameterOption<T>)]) -> Result<(), CurveError> {
    let said = |of: &str, kind: fn(&ParameterOption<T>) -> bool| {
        options.iter().any(|(name, option)| name == of && kind(option))
    };
    for (name, option) in options {
        let contradiction = |first, second| Err(CurveError::Contradiction { name: name.clone(), first, second });
        match option {
            ParameterOption::Tie(_) if said(name, |option| matches!(option, ParameterOption::Fix(_))) => {
                return contradiction("is fixed", "is tied to other parameters");
            }
            ParameterOption::Tie(_) if said(name, |option| matches!(option, ParameterOption::Start(_))) => {
                return contradiction("has a start", "is tied to other parameters");
            }
            ParameterOption::Prior(..) if said(name, |option| matches!(option, ParameterOption::Fix(_))) => {
                return contradiction("is fixed", "has a prior");
            }
            _ => {}
        }
    }
    Ok(())
}

/// Option of a parameter, by its name.
#[derive(Debug, Clone)]
pub(super) enum ParameterOption<T> {
    Start(T),
    Bounds(T, T),
    Fix(Option<T>),
    Tie(Tie<T>),
    Prior(T, T),
    Scale(T),
}

impl<T: Real> ParameterOption<T> {
    /// Bounds, to which the ends belong.
    pub(super) fn within(bounds: impl RangeBounds<T>) -> Self {
        let end = |bound, none| match bound {
            Bound::Included(&end) | Bound::Excluded(&end) => end,
            Bound::Unbounded => none,
        };
        ParameterOption::Bounds(end(bounds.start_bound(), -T::INFINITY), end(bounds.end_bound(), T::INFINITY))
    }
}

impl<T: Copy> Parameter<T> {
    /// Applies an option.
    pub(super) fn apply(&mut self, option: &ParameterOption<T>) {
        match option {
            ParameterOption::Start(start) => self.start = *start,
            ParameterOption::Bounds(lower, upper) => (self.lower, self.upper) = (*lower, *upper),
            ParameterOption::Fix(value) => {
                self.start = value.unwrap_or(self.start);
                self.role = Role::Fixed;
            }
            ParameterOption::Tie(tie) => self.role = Role::Tied(tie.clone()),
            ParameterOption::Prior(mean, deviation) => self.prior = Some((*mean, *deviation)),
            ParameterOption::Scale(scale) => self.scale = *scale,
        }
    }
}

impl<T: Real> Parameter<T> {
    /// Renames the parameter, and those that it is tied to.
    pub(super) fn renamed(&self, name: String, rename: impl Fn(&str) -> String) -> Self {
        let role = match &self.role {
            Role::Tied(tie) => Role::Tied(tie.renamed(rename)),
            role => role.clone(),
        };
        Parameter { name, role, ..self.clone() }
    }

    /// Returns the options of the parameter, except its start.
    pub(super) fn options(&self) -> Vec<ParameterOption<T>> {
        let role = match &self.role {
            Role::Free => None,
            Role::Fixed => Some(ParameterOption::Fix(None)),
            Role::Tied(tie) => Some(ParameterOption::Tie(tie.clone())),
        };
        let prior = self.prior.map(|(mean, deviation)| ParameterOption::Prior(mean, deviation));
        let always = [ParameterOption::Bounds(self.lower, self.upper), ParameterOption::Scale(self.scale)];
        always.into_iter().chain(role).chain(prior).collect()
    }
}
