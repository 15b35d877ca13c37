//! Curves that are solutions of differential equations.

mod closures;
mod curve;
mod equations;
mod formulas;
mod integration;
#[cfg(test)]
mod tests;

pub use closures::EquationClosures;
pub use curve::FromDifferentialEquations;
pub use formulas::{EquationFormulas, EquationsError};
pub use integration::Integrator;
