//! Distributions and tests that do not know of curves.

pub(crate) mod distributions;
mod latin_hypercube;
mod quantile;
pub(crate) mod random;
mod root;

pub(crate) use latin_hypercube::latin_hypercube;
pub(crate) use quantile::sample_quantile;
pub(crate) use root::root;
