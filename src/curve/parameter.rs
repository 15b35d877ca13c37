//! One parameter of a curve, and what is said of it before the fit.

use std::ops::{Bound, RangeBounds};

use super::{CurveError, Tie};
use crate::real::Real;

/// Role of a parameter in the fit.
#[derive(Debug, Clone)]
pub(super) enum Role<T> {
    /// It is fitted.
    Free,
    /// It stays at its start.
    Fixed,
    /// It follows from others.
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
    /// Mean and standard deviation of what is known of it from elsewhere.
    pub(super) prior: Option<(T, T)>,
    /// Its typical size.
    pub(super) scale: T,
}

/// The parameters of these names and starts, of which all these wishes are granted.
pub(super) fn parameters<T: Real>(
    known: Vec<String>,
    start: &[T],
    wishes: &[(String, Wish<T>)],
) -> Result<Vec<Parameter<T>>, CurveError> {
    check(wishes)?;
    let (lower, upper, scale) = (-T::INFINITY, T::INFINITY, T::ONE);
    let named = known.iter().cloned().zip(start);
    let mut parameters: Vec<Parameter<T>> = named
        .map(|(name, &start)| Parameter { name, start, lower, upper, role: Role::Free, prior: None, scale })
        .collect();
    for (name, wish) in wishes {
        match parameters.iter_mut().find(|parameter| parameter.name == *name) {
            Some(parameter) => parameter.grant(wish),
            None => return Err(CurveError::NoSuchParameter { name: name.clone(), known }),
        }
    }
    Ok(parameters)
}

/// Wishes for one parameter do not contradict each other.
fn check<T>(wishes: &[(String, Wish<T>)]) -> Result<(), CurveError> {
    let said = |of: &str, kind: fn(&Wish<T>) -> bool| wishes.iter().any(|(name, wish)| name == of && kind(wish));
    for (name, wish) in wishes {
        let contradiction = |first, second| Err(CurveError::Contradiction { name: name.clone(), first, second });
        match wish {
            Wish::Tie(_) if said(name, |wish| matches!(wish, Wish::Fix(_))) => {
                return contradiction("is fixed", "is tied to other parameters");
            }
            Wish::Tie(_) if said(name, |wish| matches!(wish, Wish::Start(_))) => {
                return contradiction("has a start", "is tied to other parameters");
            }
            Wish::Prior(..) if said(name, |wish| matches!(wish, Wish::Fix(_))) => {
                return contradiction("is fixed", "has a prior");
            }
            _ => {}
        }
    }
    Ok(())
}

/// Option of a parameter, by its name.
#[derive(Debug, Clone)]
pub(super) enum Wish<T> {
    Start(T),
    Bounds(T, T),
    Fix(Option<T>),
    Tie(Tie<T>),
    Prior(T, T),
    Scale(T),
}

impl<T: Real> Wish<T> {
    /// Bounds, to which the ends belong.
    pub(super) fn within(bounds: impl RangeBounds<T>) -> Self {
        let end = |bound, none| match bound {
            Bound::Included(&end) | Bound::Excluded(&end) => end,
            Bound::Unbounded => none,
        };
        Wish::Bounds(end(bounds.start_bound(), -T::INFINITY), end(bounds.end_bound(), T::INFINITY))
    }
}

impl<T: Copy> Parameter<T> {
    /// Grants a wish.
    pub(super) fn grant(&mut self, wish: &Wish<T>) {
        match wish {
            Wish::Start(start) => self.start = *start,
            Wish::Bounds(lower, upper) => (self.lower, self.upper) = (*lower, *upper),
            Wish::Fix(value) => {
                self.start = value.unwrap_or(self.start);
                self.role = Role::Fixed;
            }
            Wish::Tie(tie) => self.role = Role::Tied(tie.clone()),
            Wish::Prior(mean, deviation) => self.prior = Some((*mean, *deviation)),
            Wish::Scale(scale) => self.scale = *scale,
        }
    }
}

impl<T: Real> Parameter<T> {
    /// The same by another name, where those that it is tied to have other names, too.
    pub(super) fn renamed(&self, name: String, rename: impl Fn(&str) -> String) -> Self {
        let role = match &self.role {
            Role::Tied(tie) => Role::Tied(tie.renamed(rename)),
            role => role.clone(),
        };
        Parameter { name, role, ..self.clone() }
    }

    /// All that is said of it but for its start, as wishes.
    pub(super) fn wishes(&self) -> Vec<Wish<T>> {
        let role = match &self.role {
            Role::Free => None,
            Role::Fixed => Some(Wish::Fix(None)),
            Role::Tied(tie) => Some(Wish::Tie(tie.clone())),
        };
        let prior = self.prior.map(|(mean, deviation)| Wish::Prior(mean, deviation));
        let always = [Wish::Bounds(self.lower, self.upper), Wish::Scale(self.scale)];
        always.into_iter().chain(role).chain(prior).collect()
    }
}
