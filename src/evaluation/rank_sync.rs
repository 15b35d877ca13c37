//! Synchronisation of ranks that hold shards of one problem's rows.

use std::fmt;

use super::Partial;
use crate::distributed::{Communicator, RankError};
use crate::kernels::vector::all_finite;
use crate::problem::{Evaluated, EvaluationError, LeastSquares, LeastSquaresExt};
use crate::real::Real;

/// The ranks that the rows of a problem are spread over, where there are several.
pub(super) struct RankSync<T> {
    ranks: Communicator,
    /// Residuals of all ranks.
    pub(super) residuals: usize,
    /// Residuals of the ranks before this one.
    pub(super) before: usize,
    /// The most rows that have to be computed together on any rank.
    pub(super) largest_group: usize,
    /// The derivatives are cheap on all ranks.
    pub(super) derivatives_are_cheap: bool,
    /// The derivatives are rough on any rank.
    pub(super) derivatives_are_rough: bool,
    /// Reason why this rank alone would stop.
    request: Option<usize>,
    /// Reason why all ranks stop: the request of the first rank that has one.
    pub(super) stopped: Option<usize>,
    message: Vec<T>,
}

impl<T: Real> RankSync<T> {
    /// Returns the ranks of a problem, after each has checked its rows; `None` where there is but one.
    ///
    /// # Errors
    ///
    /// The error of any of them, the same on all.
    pub(super) fn open<P: LeastSquares<T> + ?Sized, E: fmt::Display + From<RankError>>(
        problem: &mut P,
        checked: Result<(), E>,
    ) -> Result<Option<Self>, E> {
        let Some(ranks) = problem.capabilities().communicator().filter(|ranks| ranks.size() > 1).cloned() else {
            return checked.map(|()| None);
        };
        let counts = [
            problem.residual_count(),
            problem.row_group(),
            usize::from(problem.derivatives_are_cheap()),
            usize::from(problem.capabilities().derivatives_are_rough()),
        ];
        let counts = counts.map(|count| count as f64);
        let all = ranks.try_all_gather(checked.map(|()| &counts[..]))?;
        let counts = |place: usize| all.iter().map(move |counts| counts[place] as usize);
        Ok(Some(RankSync {
            residuals: counts(0).sum(),
            before: counts(0).take(ranks.rank()).sum(),
            largest_group: counts(1).max().unwrap_or(1),
            derivatives_are_cheap: counts(2).all(|is_cheap| is_cheap != 0),
            derivatives_are_rough: counts(3).any(|is_rough| is_rough != 0),
            request: None,
            stopped: None,
            message: Vec::new(),
            ranks,
        }))
    }

    /// Number of ranks.
    pub(super) fn ranks(&self) -> usize {
        self.ranks.size()
    }

    /// The first thing that is not the same on all ranks, of the bounds and the start, and the rank where it differs.
    pub(super) fn first_to_differ<P: LeastSquares<T> + ?Sized>(
        &self,
        problem: &P,
        start: &[T],
    ) -> Result<Option<(&'static str, usize)>, RankError> {
        let bounds = problem.domain().bounds().map_or(Vec::new(), |bounds| [bounds.lower(), bounds.upper()].concat());
        for (what, entries) in [("a bound", &bounds[..]), ("the start", start)] {
            if let Some(rank) = self.ranks.first_to_differ(entries)? {
                return Ok(Some((what, rank)));
            }
        }
        Ok(None)
    }

    /// Stops with the next message.
    pub(super) fn stop(&mut self, reason: usize) {
        self.request.get_or_insert(reason);
    }

    /// Combines a result and the costs of all ranks, in one message.
    ///
    /// # Errors
    ///
    /// The first rank's that has one, the same on all ranks.
    #[cold]
    #[inline(never)]
    pub(super) fn combine<const N: usize>(
        &mut self,
        partial: &mut (impl Partial<T> + ?Sized),
        costs: Evaluated<[T; N]>,
    ) -> Evaluated<[T; N]> {
        let (costs, own) = match costs {
            Ok(costs) if self.request.is_none() => (costs, Ok(())),
            Ok(_) => ([T::from_f64(f64::NAN); N], Ok(())),
            Err(error) => ([T::from_f64(f64::NAN); N], Err(error)),
        };
        let mut message = std::mem::take(&mut self.message);
        message.clear();
        message.extend(costs);
        partial.write(&mut message);
        let mut sums = [T::ZERO; N];
        let outcome = if partial.adds_up() {
            self.ranks.try_all_sum(&mut message, own).map(|()| {
                sums.copy_from_slice(&message[..N]);
                partial.read(&message[N..]);
            })
        } else {
            self.ranks.try_all_gather(own.map(|()| &message[..])).map(|all| {
                partial.begin();
                for message in &all {
                    let (costs, entries) = message.split_at(N);
                    sums.iter_mut().zip(costs).for_each(|(sum, &cost)| *sum += cost);
                    partial.read(entries);
                }
            })
        };
        self.message = message;
        outcome.map_err(EvaluationError::new)?;
        if !all_finite(&sums) {
            self.exchange_requests()?;
        }
        Ok(sums)
    }

    /// A sum that is not finite may mean that a rank requests to stop.
    fn exchange_requests(&mut self) -> Evaluated {
        let own: Vec<f64> = self.request.into_iter().map(|reason| reason as f64).collect();
        let requests = self.ranks.all_gather(&own).map_err(EvaluationError::new)?;
        self.stopped = requests.iter().flatten().next().map(|&reason| reason as usize);
        Ok(())
    }
}

/// Nothing but the costs is combined.
impl<T: Real> Partial<T> for () {
    fn begin(&mut self) {}

    fn adds_up(&self) -> bool {
        true
    }

    fn write(&self, _: &mut Vec<T>) {}

    fn read(&mut self, _: &[T]) {}
}
