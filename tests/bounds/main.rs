//! Minima within bounds: the conditions of Karush, Kuhn and Tucker, SciPy's minima, and no point outside.

#[path = "../common/mod.rs"]
mod common;
#[path = "../nist/mod.rs"]
#[allow(dead_code, reason = "the certified values are of other minima")]
mod data;
#[path = "../reference/mod.rs"]
mod reference;

mod bad_input;
mod cases;
mod problems;
mod properties;
mod scipy;
