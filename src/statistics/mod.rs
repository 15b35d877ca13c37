//! Distributions and tests that do not know of curves.

pub(crate) mod distributions;
