//! Curves that are solutions of differential equations.

mod curve;
mod integration;
#[cfg(test)]
mod tests;

pub use curve::FromDifferentialEquations;
pub use integration::Integrator;
