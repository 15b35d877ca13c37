//! The problems that every benchmark and accuracy test fits, with derivatives by hand.
//!
//! The module depends on nothing of this library, so that the library and its peers are measured on the very same
//! arithmetic: each peer's adapter calls the functions below and adds nothing of its own. A file takes it in with
//! `#[path = "…/workloads/mod.rs"] mod workloads;`.
//!
//! | workload | parameters | rows | what it shows |
//! |---|---|---|---|
//! | [`Misra1a`] | 2 | 14 | overhead of a tiny fit, digits against certified values |
//! | [`ExponentialAndTwoPeaks`] | 8 | any | the everyday curve fit, from short to long data |
//! | [`OverlappingGaussians`] | 3 a peak | any | a big dense fit, easy or hard by its start |
//! | [`Dense`] | any | any | linear algebra alone |
//! | [`ManyCurves`] of [`GaussianPeaks`] | 4 | any, 64 by custom | thousands of small fits, their starts off by half |
//! | [`ManyCurves`] of [`Decays`] | 4 | likewise | the same, with a curve that is harder to tell from its background |
//!
//! Residuals are model minus data, and all data come from a seed: the same on every machine.

#![allow(dead_code, unused_imports, reason = "no single user takes every workload")]

mod decays;
mod dense;
mod exponential_and_two_peaks;
mod gaussian_peaks;
mod many_curves;
mod misra1a;
mod overlapping_gaussians;
mod samples;

pub use decays::Decays;
pub use dense::Dense;
pub use exponential_and_two_peaks::ExponentialAndTwoPeaks;
pub use gaussian_peaks::GaussianPeaks;
pub use many_curves::{BadRow, Family, ManyCurves, OneCurve};
pub use misra1a::Misra1a;
pub use overlapping_gaussians::{Difficulty, OverlappingGaussians};
pub use samples::Samples;

/// A sum of squares to be minimised, open to every layout in which a solver may want its derivatives.
pub trait Workload {
    /// Number of parameters, `n`.
    fn parameter_count(&self) -> usize;

    /// Number of residuals, `m`.
    fn residual_count(&self) -> usize;

    /// Residuals of the rows `first..first + r.len()` at the parameters `p`.
    fn residuals(&self, p: &[f64], first: usize, r: &mut [f64]);

    /// Residuals of the rows `first..first + r.len()` and their derivatives, one row of `j` after the other.
    fn linearize(&self, p: &[f64], first: usize, r: &mut [f64], j: &mut [f64]);

    /// All residuals and their derivatives, each parameter's in a column of its own.
    fn linearize_columns(&self, p: &[f64], r: &mut [f64], columns: &mut [&mut [f64]]);

    /// The sum of squared residuals at `p`.
    fn sum_of_squares(&self, p: &[f64]) -> f64 {
        let mut r = vec![0.0; self.residual_count()];
        self.residuals(p, 0, &mut r);
        r.iter().map(|r| r * r).sum()
    }
}

/// The digits that every parameter of `found` shares with `certified`: −log₁₀ of the largest relative error.
///
/// Capped at the 11 digits that NIST certifies; 0 for anything that is not finite.
pub fn digits(found: &[f64], certified: &[f64]) -> f64 {
    found.iter().zip(certified).map(|(&found, &certified)| shared_digits(found, certified)).fold(11.0, f64::min)
}

fn shared_digits(found: f64, certified: f64) -> f64 {
    let digits = -((found - certified) / certified).abs().log10();
    if digits.is_nan() { 0.0 } else { digits.clamp(0.0, 11.0) }
}
