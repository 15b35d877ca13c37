//! Synchronisation of a solve whose rows are spread over ranks: the messages by which all ranks take the same branches.
//!
//! A linearisation is one message of sums, a trial is one number. Where a sum comes out finite, every rank has done its
//! part; where it does not, and only there, the ranks ask each other why. So a rank that cannot go on, or is told to stop,
//! says so by sending what is not a number.

use super::damping::DampingPolicy;
use super::iteration::Iteration;
use super::{SolveError, Status};
use crate::distributed::Communicator;
use crate::linear::SpansRanks;
use crate::linear::shape::Shape;
use crate::problem::{EvaluationError, LeastSquares};
use crate::real::Real;

/// The ranks that the rows of a problem are spread over, where there are several.
pub(crate) struct RankSync<T> {
    ranks: Communicator,
    /// Residuals of all ranks.
    pub(super) residuals: usize,
    /// Residuals of the ranks before this one.
    pub(super) before: usize,
    /// The most rows that have to be computed together on any rank.
    pub(super) largest_group: usize,
    /// The derivatives are cheap on all ranks.
    derivatives_are_cheap: bool,
    /// Reason for which this rank alone would stop.
    request: Option<Status>,
    /// Reason for which all ranks stop: the request of the first rank that has one.
    stopped: Option<Status>,
    message: Vec<T>,
}

/// Reasons for which a single rank may stop, unknown to the others.
const STOP_REQUESTS: [Status; 3] = [Status::Cancelled, Status::MaxEvaluations, Status::TimeLimit];

impl<T: Real> RankSync<T> {
    /// Returns the ranks of a problem, after each has checked its rows; `None` where there is but one.
    ///
    /// # Errors
    ///
    /// The error of any of them, the same on all.
    pub(super) fn open<P: LeastSquares<T> + ?Sized>(
        problem: &P,
        checked: Result<(), SolveError>,
    ) -> Result<Option<Self>, SolveError> {
        let Some(ranks) = problem.communicator().filter(|ranks| ranks.size() > 1) else {
            return checked.map(|()| None);
        };
        let counts = [problem.residual_count(), problem.row_group(), usize::from(problem.derivatives_are_cheap())];
        let counts = counts.map(|count| count as f64);
        let all = ranks.try_all_gather(checked.map(|()| &counts[..]))?;
        let counts = |place: usize| all.iter().map(move |counts| counts[place] as usize);
        Ok(Some(RankSync {
            ranks: ranks.clone(),
            residuals: counts(0).sum(),
            before: counts(0).take(ranks.rank()).sum(),
            largest_group: counts(1).max().unwrap_or(1),
            derivatives_are_cheap: counts(2).all(|is_cheap| is_cheap != 0),
            request: None,
            stopped: None,
            message: Vec::new(),
        }))
    }

    /// Finds out whether all ranks are at the same point, within the same bounds.
    pub(crate) fn compare<P: LeastSquares<T> + ?Sized>(&self, problem: &P, start: &[T]) -> Result<(), SolveError> {
        let bounds = problem.bounds().map_or(Vec::new(), |bounds| [bounds.lower(), bounds.upper()].concat());
        for (what, numbers) in [("a bound", &bounds[..]), ("the start", start)] {
            if let Some(rank) = self.ranks.first_to_differ(numbers)? {
                return Err(SolveError::Unequal { what, rank });
            }
        }
        Ok(())
    }

    /// Number of ranks.
    pub(super) fn ranks(&self) -> usize {
        self.ranks.size()
    }

    /// The first error of any rank, the same on all.
    pub(super) fn agree(&self, own: Result<(), SolveError>) -> Result<(), SolveError> {
        Ok(self.ranks.agree(own)?)
    }

    /// Adds up the costs of all ranks.
    ///
    /// # Errors
    ///
    /// The first rank's that has one, the same on all ranks.
    pub(super) fn add_up(&mut self, cost: Result<T, EvaluationError>) -> Result<T, EvaluationError> {
        let (mut sum, own) = self.own_part(cost);
        self.sum(std::slice::from_mut(&mut sum), own)?;
        self.apply_stop_requests(sum)
    }

    /// Adds up the candidates of all ranks, and their costs, in one message.
    ///
    /// # Errors
    ///
    /// As [`add_up`](Self::add_up).
    pub(super) fn add_up_candidates(
        &mut self,
        model: &mut dyn SpansRanks<T>,
        cost: Result<T, EvaluationError>,
    ) -> Result<T, EvaluationError> {
        let (cost, own) = self.own_part(cost);
        let mut message = std::mem::take(&mut self.message);
        message.clear();
        model.write_candidate(&mut message);
        message.push(cost);
        let n = model.gradient().len();
        debug_assert!(!model.adds_up() || message.len() == n * (n + 1) / 2 + n + 1);
        let sum = if model.adds_up() {
            self.sum(&mut message, own).map(|()| match message.split_last() {
                Some((&cost, candidate)) => {
                    model.read_candidate(candidate);
                    cost
                }
                None => T::ZERO,
            })
        } else {
            self.gather(&message, own).map(|all| {
                model.begin();
                all.iter().filter_map(|message| message.split_last()).fold(T::ZERO, |sum, (&cost, candidate)| {
                    model.read_candidate(candidate);
                    sum + cost
                })
            })
        };
        self.message = message;
        self.apply_stop_requests(sum?)
    }

    /// Sums numbers over all ranks.
    ///
    /// # Errors
    ///
    /// As [`add_up`](Self::add_up).
    pub(super) fn sum(&self, numbers: &mut [T], own: Result<(), EvaluationError>) -> Result<(), EvaluationError> {
        self.ranks.try_all_sum(numbers, own).map_err(EvaluationError::new)
    }

    /// The numbers of each rank.
    ///
    /// # Errors
    ///
    /// As [`add_up`](Self::add_up).
    pub(super) fn gather<N: Real>(
        &self,
        numbers: &[N],
        own: Result<(), EvaluationError>,
    ) -> Result<Vec<Vec<N>>, EvaluationError> {
        self.ranks.try_all_gather(own.map(|()| numbers)).map_err(EvaluationError::new)
    }

    /// Message of this rank: not a number where it has an error, or a request to stop.
    fn own_part(&self, cost: Result<T, EvaluationError>) -> (T, Result<(), EvaluationError>) {
        let nothing = T::from_f64(f64::NAN);
        match cost {
            Ok(cost) => (if self.request.is_some() { nothing } else { cost }, Ok(())),
            Err(error) => (nothing, Err(error)),
        }
    }

    /// A sum that is not finite may mean that a rank requests to stop.
    fn apply_stop_requests(&mut self, sum: T) -> Result<T, EvaluationError> {
        if !sum.is_finite() {
            let request = self.request.and_then(|request| STOP_REQUESTS.iter().position(|&status| status == request));
            let own: Vec<f64> = request.into_iter().map(|place| place as f64).collect();
            let requests = self.ranks.all_gather(&own).map_err(EvaluationError::new)?;
            self.stopped = requests.iter().flatten().next().map(|&place| STOP_REQUESTS[place as usize]);
        }
        Ok(sum)
    }
}

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Stops, at once where there is but one rank, and else with the next message.
    pub(super) fn stop(&mut self, status: Status) -> Option<Status> {
        match &mut self.rank_sync {
            None => Some(status),
            Some(rank_sync) => {
                rank_sync.request.get_or_insert(status);
                None
            }
        }
    }

    /// Reason for which the ranks have agreed to stop.
    pub(super) fn stopped_by_a_rank(&self) -> Option<Status> {
        self.rank_sync.as_ref()?.stopped
    }

    /// Returns true if a point that is expected to be taken is to be linearised at once.
    pub(super) fn derivatives_are_cheap<P: LeastSquares<T> + ?Sized>(&self, problem: &P) -> bool {
        let on_all_ranks = self.rank_sync.as_ref().map(|rank_sync| rank_sync.derivatives_are_cheap);
        on_all_ranks.unwrap_or_else(|| problem.derivatives_are_cheap())
    }
}
