//! Agreement of the ranks that share the rows of a fit.

use std::fmt::Display;

use super::CurveError;
use crate::distributed::{Communicator, RankError};
use crate::problem::{Evaluated, EvaluationError};
use crate::real::Real;

/// The outcome where it is good on every rank; else the error of the lowest rank that has one, the same on all ranks. A rank
/// alone keeps its own. Collective.
pub(super) fn agreed<R, E: Display + From<RankError>>(ranks: &Communicator, outcome: Result<R, E>) -> Result<R, E> {
    if ranks.size() == 1 { outcome } else { Ok(ranks.agree(outcome)?) }
}

/// Sums each rank's values over all ranks. Collective.
pub(super) fn summed<T: Real, const N: usize>(ranks: &Communicator, own: Evaluated<[T; N]>) -> Evaluated<[T; N]> {
    if ranks.size() == 1 {
        return own;
    }
    let (mut sums, own) = own.map_or_else(|error| ([T::ZERO; N], Err(error)), |sums| (sums, Ok(())));
    ranks.try_all_sum(&mut sums, own).map_err(EvaluationError::new)?;
    Ok(sums)
}

/// Checks that numbers are the same on all ranks. Collective.
pub(super) fn check_equal<T: Real>(ranks: &Communicator, what: &str, numbers: &[T]) -> Result<(), CurveError> {
    match ranks.first_to_differ(numbers)? {
        Some(rank) => Err(RankError { rank, message: format!("{what} are not those of rank 0") }.into()),
        None => Ok(()),
    }
}
