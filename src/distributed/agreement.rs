//! Numbers that are exchanged if all is well everywhere.

use std::fmt;

use super::{Communicator, RankError};
use crate::Real;

impl Communicator {
    /// The numbers of every rank, by rank, if all ranks have some to give; else the error of the lowest rank that has one,
    /// the same on all ranks. One exchange where all is well. Collective.
    pub(crate) fn all_gather_agreed<T: Real, E: fmt::Display>(
        &self,
        numbers: Result<&[T], E>,
    ) -> Result<Vec<Vec<T>>, RankError> {
        let own = numbers.as_ref().map_or(&[][..], |numbers| numbers);
        let said = self.all_gather(own)?;
        if said.iter().any(Vec::is_empty) {
            self.agree(numbers)?;
        }
        Ok(said)
    }
}
