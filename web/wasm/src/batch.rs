//! Several files, which a page fits one after the other.

use crate::arguments::FitArguments;
use crate::failure::{Ending, Failure};

pub fn run(_: &FitArguments) -> Result<Ending, Failure> {
    Err(Failure::new("one file is fitted at a time"))
}
