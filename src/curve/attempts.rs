//! Attempts of a fit.

use std::fmt;

/// Number of attempts of a fit, and the one that was kept; see [`CurveFit::retry`](crate::CurveFit::retry).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempts {
    /// Number of attempts, the first included.
    pub count: usize,
    /// The attempt whose result was kept.
    pub kept: Attempt,
}

/// Kind of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Attempt {
    /// The fit with its own options and start.
    First,
    /// Variable projection from the same start.
    VariableProjection,
    /// Another damping policy from the same start.
    Damping,
    /// Another start.
    Start,
}

impl Default for Attempts {
    fn default() -> Self {
        Attempts { count: 1, kept: Attempt::First }
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Attempt::First => "the first",
            Attempt::VariableProjection => "variable projection",
            Attempt::Damping => "another damping",
            Attempt::Start => "another start",
        })
    }
}
