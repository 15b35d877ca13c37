//! One problem among those in lockstep: its damping, and when it ends.

use super::system::Steps;
use super::{FitStatus, Patience};
use crate::Real;
use crate::kernels::lanes::Register;
use crate::solver::damping::{DampingPolicy, GainRatio, Trial};

/// A step is taken when it brings at least this share of the reduction that the linear model promised.
const SUFFICIENT_GAIN: f64 = 1e-4;

/// Of the slope along a step, the share that damping may take for the step to count as undamped.
const UNDAMPED: f64 = 0.5;

/// So many units of the last digit are rounding.
pub(super) const ROUNDING: f64 = 64.0;

/// Where costs drown in rounding, a promise of so many units of the last digit has been kept.
const KEPT: f64 = 1e4;

/// The problem in a lane.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lane<T> {
    /// Its number; none where the lane is free.
    pub(super) problem: Option<usize>,
    /// Its first point has not been evaluated yet.
    pub(super) is_at_start: bool,
    /// The start has just been taken.
    has_started: bool,
    pub(super) damping: GainRatio<T>,
    /// Trial steps.
    pub(super) iterations: usize,
    /// A cost that is zero but for rounding.
    least_cost: T,
    /// An undamped step has promised so little that what is left may be rounding.
    has_kept: bool,
    /// Why it has ended.
    pub(super) status: Option<FitStatus>,
}

impl<T: Real> Default for Lane<T> {
    fn default() -> Self {
        Lane {
            problem: None,
            is_at_start: false,
            has_started: false,
            damping: GainRatio::default(),
            iterations: 0,
            least_cost: T::ZERO,
            has_kept: false,
            status: None,
        }
    }
}

impl<T: Real> Lane<T> {
    /// A problem whose start is yet to be evaluated.
    pub(super) fn at_start(problem: usize) -> Self {
        Lane { problem: Some(problem), is_at_start: true, ..Lane::default() }
    }

    /// Whether there is a cost to start from, next to which one of `ε²` the larger of it and the energy is rounding.
    #[inline(always)]
    pub(super) fn judge_start(&mut self, cost: T, energy: T) -> bool {
        (self.is_at_start, self.has_started) = (false, true);
        let unit = T::from_f64(ROUNDING) * T::EPSILON;
        let size = if cost > energy { cost } else { energy };
        self.least_cost = unit * unit * size;
        if !cost.is_finite() {
            self.status = Some(FitStatus::NonFiniteStart);
        }
        cost.is_finite()
    }

    /// Starts the damping at a start that has been taken, of this length.
    #[inline(always)]
    pub(super) fn settle_at_start(&mut self, scaled_start: T) {
        if self.has_started {
            self.has_started = false;
            self.damping.start(scaled_start);
        }
    }

    /// What the step of lane `l` has brought.
    #[inline(always)]
    pub(super) fn trial<R: Register<T>, const N: usize>(
        &self,
        steps: &Steps<T, R, N>,
        before: T,
        after: T,
        l: usize,
    ) -> Trial<T> {
        let mut trial = Trial {
            lambda: self.damping.lambda(),
            length: steps.length.as_slice()[l],
            slope: steps.slope.as_slice()[l],
            predicted: steps.predicted.as_slice()[l],
            actual: if after.is_finite() { before - after } else { -T::INFINITY },
            accepted: false,
        };
        // What a step promises may drown in the rounding of the costs.
        let rounding = T::from_f64(16.0) * T::EPSILON * before;
        let is_drowned = trial.predicted <= rounding && trial.actual.abs() <= rounding;
        trial.accepted = is_drowned || trial.actual > T::ZERO && trial.gains(SUFFICIENT_GAIN);
        trial
    }

    /// Learns from a trial, after which the cost is this if it is taken; whether it is taken.
    #[inline(always)]
    pub(super) fn judge(&mut self, trial: &Trial<T>, cost: T, resolution: T, patience: &Patience<T>) -> bool {
        self.damping.update(trial);
        self.iterations += 1;
        let before = cost + trial.actual;
        let is_drowned = trial.length <= T::EPSILON * resolution || trial.predicted <= T::EPSILON * before;
        if !trial.accepted && is_drowned {
            self.status = Some(if self.has_kept { FitStatus::Converged } else { FitStatus::NoProgress });
        } else if self.iterations >= patience.max_iterations {
            self.status = Some(FitStatus::MaxIterations);
        }
        trial.accepted
    }

    /// Whether the step of lane `l` may be tried; otherwise it is to be damped more.
    #[inline(always)]
    pub(super) fn settle_damping<R: Register<T>, const N: usize>(&mut self, steps: &Steps<T, R, N>, l: usize) -> bool {
        if self.problem.is_none() || self.status.is_some() {
            return true;
        }
        let length = steps.length.as_slice()[l];
        let is_sound = steps.soundness.as_slice()[l] > T::ZERO && length.is_finite();
        if self.damping.lambda() > T::ZERO {
            if !is_sound {
                self.damping.damp_more();
            }
            if !self.damping.lambda().is_finite() {
                self.status = Some(FitStatus::NoProgress);
            }
            return is_sound;
        }
        let reaches = is_sound && self.damping.reaches(length);
        if !reaches {
            self.damping.insist();
        }
        reaches
    }

    /// Ends where the step of lane `l`, not held back by damping, promises too little of the cost, or where there is none left.
    #[inline(always)]
    pub(super) fn expect<R: Register<T>, const N: usize>(
        &mut self,
        steps: &Steps<T, R, N>,
        cost: T,
        l: usize,
        patience: &Patience<T>,
    ) {
        let (lambda, length) = (self.damping.lambda(), steps.length.as_slice()[l]);
        let (slope, predicted) = (steps.slope.as_slice()[l], steps.predicted.as_slice()[l]);
        let is_held_back = lambda * length * length > T::from_f64(-UNDAMPED) * slope;
        if !is_held_back {
            self.has_kept |= predicted <= T::from_f64(KEPT) * T::EPSILON * cost;
        }
        let promises_nothing = !is_held_back && predicted <= patience.ftol * cost;
        if self.problem.is_some() && self.status.is_none() && (promises_nothing || cost <= self.least_cost) {
            self.status = Some(FitStatus::Converged);
        }
    }
}
