//! Status and iteration count of the problem in each lane.

use super::FitStatus;
use super::mask::{and, choose, is_less, not};
use crate::kernels::lanes::{Lanes, Register};
use crate::number::Number;
use crate::real::Real;

/// Statuses, in the order of the numbers that stand for them in the lanes.
const STATUSES: [FitStatus; 4] =
    [FitStatus::Converged, FitStatus::MaxIterations, FitStatus::NoProgress, FitStatus::NonFiniteStart];

/// Numbers of the statuses in the lanes; zero for a problem that goes on.
pub(super) const CONVERGED: f64 = 1.0;
pub(super) const MAX_ITERATIONS: f64 = 2.0;
pub(super) const NO_PROGRESS: f64 = 3.0;
pub(super) const NON_FINITE_START: f64 = 4.0;

/// Status and trial steps of each lane's problem.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaneStates<T, R> {
    status: Lanes<T, R>,
    iterations: Lanes<T, R>,
}

impl<T: Real, R: Register<T>> LaneStates<T, R> {
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn new() -> Self {
        let zero = Lanes::splat(T::ZERO);
        LaneStates { status: zero, iterations: zero }
    }

    /// Resets a lane for its next problem.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn restart(&mut self, lane: usize) {
        for number in [&mut self.status, &mut self.iterations] {
            number.as_mut_slice()[lane] = T::ZERO;
        }
    }

    /// True where the problem goes on.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn goes_on(&self) -> Lanes<T, R> {
        not(is_less(Lanes::splat(T::ZERO), self.status))
    }

    /// Status of the problem in a lane if it has ended; otherwise `None`.
    pub(super) fn status(&self, lane: usize) -> Option<FitStatus> {
        let number = self.status.as_slice()[lane].to_f64() as usize;
        number.checked_sub(1).map(|place| STATUSES[place])
    }

    /// Trial steps of the problem in a lane.
    pub(super) fn iterations(&self, lane: usize) -> usize {
        self.iterations.as_slice()[lane].to_f64() as usize
    }

    /// Ends problems that have not ended.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn end(&mut self, lanes: Lanes<T, R>, status: f64) {
        let lanes = and(lanes, self.goes_on());
        self.status = choose(lanes, Lanes::from_f64(status), self.status);
    }

    /// Counts trial steps, up to their largest number.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn count(&mut self, trials: Lanes<T, R>, max_iterations: usize) {
        self.iterations += trials;
        let largest = Lanes::from_f64(max_iterations as f64);
        self.end(and(trials, not(is_less(self.iterations, largest))), MAX_ITERATIONS);
    }
}
