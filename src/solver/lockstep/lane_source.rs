//! Problems in lockstep, and their results.

use super::sums::LaneSums;
use crate::kernels::lanes::{Lanes, Register};
use crate::real::Real;
use crate::solver::FitStatus;

/// Numbered problems of at most `N` parameters each. A lane holds one at a time.
pub(crate) trait LaneSource<T: Real, R: Register<T>, const N: usize> {
    /// Parameters of each problem.
    fn parameter_count(&self) -> usize;

    /// Takes the next problem into a lane, and returns its number and start; `None` when there is none left for this lane.
    fn load(&mut self, lane: usize) -> Option<(usize, [T; N])>;

    /// Sums over the residuals of all lanes, at their points. Must be `#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]`, or
    /// consist of [routines](crate::kernels::lanes::Routine).
    fn sums(&mut self, x: &[Lanes<T, R>; N]) -> &LaneSums<T, R, N>;

    /// `½‖y‖²` of each lane, in the units of the cost: the size of the responses, by which rounding is judged. Zero only where all
    /// responses are.
    fn energies(&self) -> Lanes<T, R>;

    /// Stores the result of a problem.
    fn store(&mut self, problem: usize, lane: usize, arrival: LaneResult<T, N>);

    /// Returns true if all problems are to end.
    fn is_cancelled(&self) -> bool;
}

/// Result of a problem.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaneResult<T, const N: usize> {
    /// The best point.
    pub(crate) x: [T; N],
    /// `½‖r‖²` there; NaN where it was not evaluated, or is not finite.
    pub(crate) cost: T,
    /// `JᵀJ` there, lower triangle.
    pub(crate) gram: [[T; N]; N],
    /// For each parameter, true if a bound holds it.
    pub(crate) held: [bool; N],
    /// Reason why it ended.
    pub(crate) status: FitStatus,
    /// Trial steps.
    pub(crate) iterations: usize,
}
