//! When the problems in the lanes end.

use super::system::Steps;
use super::truth::{and, choose, is_less, not, or};
use super::{FitStatus, Patience};
use crate::kernels::lanes::{Lanes, Register};
use crate::solver::termination::UNDAMPED;
use crate::{Number, Real, Scalar};

/// So many units of the last digit are rounding.
pub(super) const ROUNDING: f64 = 64.0;

/// Where costs drown in rounding, a promise of so many units of the last digit has been kept.
const KEPT: f64 = 1e4;

/// The statuses by the numbers that stand for them in the lanes.
const STATUSES: [FitStatus; 4] =
    [FitStatus::Converged, FitStatus::MaxIterations, FitStatus::NoProgress, FitStatus::NonFiniteStart];

/// Zero where a problem goes on; otherwise one more than the place of its status.
const CONVERGED: f64 = 1.0;
const MAX_ITERATIONS: f64 = 2.0;
const NO_PROGRESS: f64 = 3.0;
const NON_FINITE_START: f64 = 4.0;

/// What is known of the ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ending<T, R> {
    /// Which status, if any.
    status: Lanes<T, R>,
    /// Trial steps.
    iterations: Lanes<T, R>,
    /// Costs that are zero but for rounding.
    least_cost: Lanes<T, R>,
    /// An undamped step has promised so little that what is left may be rounding.
    has_kept: Lanes<T, R>,
}

impl<T: Real, R: Register<T>> Ending<T, R> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn new() -> Self {
        let zero = Lanes::splat(T::ZERO);
        Ending { status: zero, iterations: zero, least_cost: zero, has_kept: zero }
    }

    /// Forgets the problem in a lane.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn restart(&mut self, lane: usize) {
        for number in [&mut self.status, &mut self.iterations, &mut self.has_kept] {
            number.as_mut_slice()[lane] = T::ZERO;
        }
    }

    /// True where nothing has ended the problem.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn goes_on(&self) -> Lanes<T, R> {
        not(is_less(Lanes::splat(T::ZERO), self.status))
    }

    /// Why the problem in a lane has ended, if it has.
    pub(super) fn status(&self, lane: usize) -> Option<FitStatus> {
        let number = self.status.as_slice()[lane].to_f64() as usize;
        number.checked_sub(1).map(|place| STATUSES[place])
    }

    /// Trial steps of the problem in a lane.
    pub(super) fn iterations(&self, lane: usize) -> usize {
        self.iterations.as_slice()[lane].to_f64() as usize
    }

    /// Ends problems that have not ended.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn end(&mut self, lanes: Lanes<T, R>, status: f64) {
        let lanes = and(lanes, self.goes_on());
        self.status = choose(lanes, Lanes::from_f64(status), self.status);
    }

    /// Judges starts of these costs, next to which a cost of `ε²` the larger of it and the energy is rounding.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn judge_starts(
        &mut self,
        starts: Lanes<T, R>,
        cost: Lanes<T, R>,
        energy: Lanes<T, R>,
        accepted: Lanes<T, R>,
    ) {
        let unit = T::from_f64(ROUNDING) * T::EPSILON;
        self.least_cost = choose(starts, cost.max(energy) * (unit * unit), self.least_cost);
        self.end(and(starts, not(accepted)), NON_FINITE_START);
    }

    /// Judges trials from points of these costs and resolutions `‖Dx‖`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn judge_trials<const N: usize>(
        &mut self,
        trials: Lanes<T, R>,
        accepted: Lanes<T, R>,
        steps: &Steps<T, R, N>,
        before: Lanes<T, R>,
        resolution: Lanes<T, R>,
        patience: &Patience<T>,
    ) {
        self.iterations += trials;
        let too_short = not(is_less(resolution * T::EPSILON, steps.length));
        let too_little = not(is_less(before * T::EPSILON, steps.predicted));
        let drowned = and(and(trials, not(accepted)), or(too_short, too_little));
        self.end(and(drowned, self.has_kept), CONVERGED);
        self.end(drowned, NO_PROGRESS);
        let largest = Lanes::from_f64(patience.max_iterations as f64);
        self.end(and(trials, not(is_less(self.iterations, largest))), MAX_ITERATIONS);
    }

    /// Ends problems that no damping helps.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn give_up(&mut self, lanes: Lanes<T, R>) {
        self.end(lanes, NO_PROGRESS);
    }

    /// Ends problems where the step, not held back by damping, promises too little of the cost, or where there is none left.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn expect<const N: usize>(
        &mut self,
        lanes: Lanes<T, R>,
        steps: &Steps<T, R, N>,
        lambda: Lanes<T, R>,
        cost: Lanes<T, R>,
        patience: &Patience<T>,
    ) {
        let resistance = lambda * steps.length * steps.length;
        let is_free = not(is_less(steps.slope * T::from_f64(-UNDAMPED), resistance));
        let keeps = not(is_less(cost * (T::from_f64(KEPT) * T::EPSILON), steps.predicted));
        self.has_kept = or(self.has_kept, and(is_free, keeps));
        let promises_nothing = and(is_free, not(is_less(cost * patience.ftol, steps.predicted)));
        let is_rounding = not(is_less(self.least_cost, cost));
        self.end(and(lanes, or(promises_nothing, is_rounding)), CONVERGED);
    }
}
