//! Parameters that follow from others, in an order in which they can be computed.

use super::parameter::{Parameter, Role};
use super::{CurveError, Tie};
use crate::real::Real;

/// A parameter that follows from others.
#[derive(Debug, Clone)]
pub(super) struct TiedParameter<T> {
    pub(super) index: usize,
    pub(super) of: Vec<usize>,
    pub(super) tie: Tie<T>,
}

/// The tied parameters, each after those that it depends on.
pub(super) fn in_order<T: Real>(parameters: &[Parameter<T>]) -> Result<Vec<TiedParameter<T>>, CurveError> {
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
