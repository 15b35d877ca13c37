//! Agreement of ranks: all go on if none has failed, and all return one error otherwise.

use std::fmt;

use super::communicator::gather;
use super::{Communicator, RankError};
use crate::kernels::vector::all_finite;
use crate::real::Real;

impl Communicator {
    /// Returns the result of this rank if all ranks were successful; otherwise, on all ranks, the error of the lowest rank with an error.
    /// Collective.
    ///
    /// ```
    /// use marquardt::distributed::Communicator;
    ///
    /// let ranks = Communicator::world()?;
    /// let read = "3.5".parse::<f64>();
    /// let number = ranks.agree(read)?;
    /// assert_eq!(number, 3.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RankError`], also for a rank that has gone.
    pub fn agree<R, E: fmt::Display>(&self, outcome: Result<R, E>) -> Result<R, RankError> {
        let outcome = outcome.map_err(|error| RankError { rank: self.rank(), message: error.to_string() });
        let Some(transport) = self.transport() else { return outcome };
        let mut said = Vec::new();
        if let Err(error) = &outcome {
            said.push(1);
            said.extend_from_slice(error.message.as_bytes());
        }
        let all = gather(transport, &said)?;
        match all.iter().position(|said| !said.is_empty()) {
            Some(rank) => Err(RankError { rank, message: String::from_utf8_lossy(&all[rank][1..]).into_owned() }),
            None => outcome,
        }
    }

    /// Sums as [`all_sum`](Self::all_sum) does, if ranks may fail to compute their numbers. A failed rank sends NaN; the ranks exchange
    /// errors only if a sum is not finite. Without an error, this is one message. Collective.
    ///
    /// # Errors
    ///
    /// The [`RankError`] of the lowest rank that has failed, the same on all ranks, also for a rank that has gone.
    pub fn try_all_sum<T: Real, E: fmt::Display>(
        &self,
        numbers: &mut [T],
        own: Result<(), E>,
    ) -> Result<(), RankError> {
        if own.is_err() {
            numbers.fill(T::from_f64(f64::NAN));
        }
        self.all_sum(numbers)?;
        if all_finite(numbers) && !numbers.is_empty() { Ok(()) } else { self.agree(own) }
    }

    /// The numbers of every rank, by rank, if all ranks have some to give; else the error of the lowest rank that has one,
    /// the same on all ranks. One exchange where all is well. Collective.
    pub(crate) fn try_all_gather<T: Real, E: fmt::Display>(
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
