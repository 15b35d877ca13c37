//! Reasons to end the iteration.

mod attempts;
mod convergence;
mod decline;

pub(super) use attempts::BatchAttempts;
pub(super) use convergence::{Convergence, UNDAMPED, agreed_stop};
