//! Curves that are solutions of differential equations.

mod curve;
mod integration;

pub use curve::FromDifferentialEquations;
pub use integration::Integrator;
