//! Training: the loop, its metrics, its callbacks, and what is left after an interruption.

mod allocations;
#[path = "../common/allocator.rs"]
mod allocator;
mod bad_input;
mod callbacks;
#[cfg(all(feature = "checkpoint", feature = "safetensors"))]
mod files;
mod fit;
mod metrics;
mod problems;
#[cfg(feature = "checkpoint")]
mod resume;
