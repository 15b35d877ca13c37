//! Allocations of solves, curve fits and trainings, counted for each thread by the allocator of this binary.

mod allocator;
mod curves;
mod epochs;
#[path = "../networks/train/problems.rs"]
mod problems;
mod solves;
mod steps;
