//! Reasons to end the iteration.

mod attempts;
mod convergence;
mod decline;

pub(super) use attempts::BatchAttempts;
pub(super) use convergence::{Convergence, UNDAMPED, stopped_by_a_rank};
