//! Minima within bounds: the conditions of Karush, Kuhn and Tucker, SciPy's minima, and no point outside.

mod bad_input;
mod cases;
mod problems;
mod properties;
mod scipy;
