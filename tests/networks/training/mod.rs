//! Levenberg–Marquardt as an optimizer: each test fails on a fault that trainers are known for.

mod attempts;
mod batches;
mod damping;
mod directions;
mod errors;
mod evidence;
mod freezing;
mod full_solve;
mod laplace;
mod noise;
mod problems;
mod properties;
mod rule;
mod samples;
mod state;
mod swap;
mod wrappers;
