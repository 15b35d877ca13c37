//! The damping of all lanes.

use super::mask::{and, any, choose, is_less, not};
use crate::kernels::lanes::{Lanes, Register};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;
use crate::solver::damping::gain_ratio::{FAITHFUL, INITIAL, TRUSTED};

/// [`GainRatio`](crate::solver::damping::GainRatio), lane by lane: the same rule without branches.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaneDamping<T, R> {
    lambda: Lanes<T, R>,
    growth: Lanes<T, R>,
    /// Number of consecutive faithful steps.
    faithful: Lanes<T, R>,
    /// Largest length of an undamped step.
    reach: Lanes<T, R>,
}

impl<T: Real, R: Register<T>> LaneDamping<T, R> {
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn new() -> Self {
        let zero = Lanes::splat(T::ZERO);
        LaneDamping { lambda: zero, growth: zero, faithful: zero, reach: zero }
    }

    /// Resets some lanes. `lengths` are the scaled norms of their starts.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn start(&mut self, starts: Lanes<T, R>, lengths: Lanes<T, R>) {
        self.lambda = choose(starts, Lanes::from_f64(INITIAL), self.lambda);
        self.growth = choose(starts, Lanes::from_f64(2.0), self.growth);
        self.faithful = choose(starts, Lanes::from_f64(TRUSTED as f64), self.faithful);
        self.reach = choose(starts, lengths, self.reach);
    }

    /// Requests an undamped next step of any length in some lanes. If it fails, the damping is at most the initial one.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn release(&mut self, lanes: Lanes<T, R>) {
        self.lambda = choose(lanes, self.lambda.min(Lanes::from_f64(INITIAL)), self.lambda);
        self.growth = choose(lanes, Lanes::from_f64(2.0), self.growth);
        self.faithful = choose(lanes, Lanes::from_f64(TRUSTED as f64), self.faithful);
        self.reach = choose(lanes, Lanes::splat(T::INFINITY), self.reach);
    }

    /// The damping of the next trial: zero after enough faithful steps.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn lambda(&self) -> Lanes<T, R> {
        choose(self.is_trusted(), Lanes::splat(T::ZERO), self.lambda)
    }

    /// True after enough faithful steps for an undamped one.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn is_trusted(&self) -> Lanes<T, R> {
        not(is_less(self.faithful, Lanes::from_f64(TRUSTED as f64)))
    }

    /// Updates the damping of some lanes by the outcome of their trials.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn update(
        &mut self,
        lanes: Lanes<T, R>,
        accepted: Lanes<T, R>,
        ratio: Lanes<T, R>,
        length: Lanes<T, R>,
    ) {
        let (zero, one) = (Lanes::splat(T::ZERO), Lanes::splat(T::ONE));
        let was_damped = not(self.is_trusted());
        let is_faithful = is_less((ratio - one).abs(), Lanes::from_f64(FAITHFUL));
        self.faithful = choose(lanes, choose(is_faithful, self.faithful + one, zero), self.faithful);
        let shape = ratio + ratio - one;
        let change = (one - shape * shape * shape).max(Lanes::from_f64(1.0 / 3.0));
        // An undamped step never raises the damping.
        let change = choose(was_damped, change, change.min(one));
        let taken = and(lanes, accepted);
        self.lambda = choose(taken, self.lambda * change, self.lambda);
        self.growth = choose(taken, Lanes::from_f64(2.0), self.growth);
        self.reach = choose(taken, length, self.reach);
        self.damp_more(and(and(lanes, not(accepted)), was_damped));
    }

    /// Damps more in some lanes.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn damp_more(&mut self, lanes: Lanes<T, R>) {
        let lambda = (self.lambda * self.growth).max(Lanes::splat(T::EPSILON));
        self.lambda = choose(lanes, lambda, self.lambda);
        self.growth = choose(lanes, self.growth + self.growth, self.growth);
    }

    /// Returns true if the steps of these lanes may all be tried; otherwise raises the damping of those that may not: steps that are not
    /// sound, and undamped steps longer than the reach.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn settle(&mut self, lanes: Lanes<T, R>, is_sound: Lanes<T, R>, length: Lanes<T, R>) -> bool {
        let is_trusted = self.is_trusted();
        let reaches = not(is_less(self.reach, length));
        let may_be_tried = and(is_sound, choose(is_trusted, reaches, is_sound));
        let refused = and(lanes, not(may_be_tried));
        if !any(refused) {
            return true;
        }
        self.faithful = choose(refused, Lanes::splat(T::ZERO), self.faithful);
        self.damp_more(and(refused, not(is_trusted)));
        false
    }

    /// True where the damping has overflowed.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn is_exhausted(&self) -> Lanes<T, R> {
        not(is_less(self.lambda, Lanes::splat(T::INFINITY)))
    }
}
