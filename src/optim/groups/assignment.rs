//! Assignment of variables to groups.

use super::OptimizerGroup;
use crate::optim::{OptimizerError, OptimizerResult};
use crate::real::Real;
use crate::variables::{Variable, Variables, pattern};

/// Group of each variable; a frozen one may have none.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Assignment(Vec<Option<usize>>);

impl Assignment {
    pub(super) fn new<T: Real>(groups: &[OptimizerGroup<T>], variables: &Variables<T>) -> OptimizerResult<Self> {
        let of = |patterns: &Option<Vec<String>>, name: &str| {
            patterns.iter().flatten().any(|pattern| pattern::matches(pattern, name))
        };
        for pattern in groups.iter().filter_map(|group| group.patterns.as_ref()).flatten() {
            if !variables.iter().any(|variable| pattern::matches(pattern, variables.name(variable))) {
                return Err(OptimizerError::Groups(format!("the pattern {pattern} matches no variable")));
            }
        }
        let group_of = |variable| {
            let name = variables.name(variable);
            let named: Vec<usize> = (0..groups.len()).filter(|&group| of(&groups[group].patterns, name)).collect();
            let rest = (0..groups.len()).filter(|&group| groups[group].patterns.is_none());
            let matching = if named.is_empty() { rest.collect() } else { named };
            match matching[..] {
                [group] => Ok(Some(group)),
                _ if !variables.is_trainable(variable) => Ok(None),
                [] => Err(OptimizerError::Groups(format!("{name} matches no group"))),
                [first, second, ..] => {
                    Err(OptimizerError::Groups(format!("{name} matches the groups {first} and {second}")))
                }
            }
        };
        Ok(Assignment(variables.iter().map(group_of).collect::<Result<_, _>>()?))
    }

    pub(super) fn of(&self, variable: Variable) -> Option<usize> {
        self.0[variable.index()]
    }

    pub(super) fn is_in(&self, variable: Variable, group: usize) -> bool {
        self.of(variable) == Some(group)
    }

    /// Refuses variables that were frozen, and so had no group, but are trainable now.
    pub(super) fn check<T: Real>(&self, variables: &Variables<T>) -> OptimizerResult<()> {
        let is_lost = |&variable: &Variable| variables.is_trainable(variable) && self.of(variable).is_none();
        match variables.iter().find(is_lost) {
            None => Ok(()),
            Some(lost) => Err(OptimizerError::Groups(format!("{} belongs to no group", variables.name(lost)))),
        }
    }

    /// Groups as numbers, −1 for none.
    pub(super) fn numbers(&self) -> impl Iterator<Item = f64> {
        self.0.iter().map(|group| group.map_or(-1.0, |group| group as f64))
    }
}
