//! Training: the loop, its metrics, its callbacks, and what is left after an interruption.

mod allocations;
#[path = "../common/allocator.rs"]
mod allocator;
mod bad_input;
mod callbacks;
mod fit;
mod metrics;
mod problems;
#[cfg(feature = "checkpoint")]
mod resume;
