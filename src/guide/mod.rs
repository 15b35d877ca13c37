//! Pages that explain, with code that is compiled and run.

#[doc = include_str!("writing_the_model.md")]
pub mod writing_the_model {}

#[doc = include_str!("from_python.md")]
pub mod from_python {}
