//! Levenberg–Marquardt in lockstep: one small problem in each lane of the registers.
//!
//! The crate's second iteration, for thousands of problems of a few parameters. All lanes solve their damped systems, try their
//! steps, are linearised there and judged in the same instructions; only taking up a problem and handing it over is done lane by
//! lane. A lane whose problem has ended takes the next one at once. No lane sees what is in another, so that a problem ends with the same bits
//! whatever its neighbours are.
//!
//! Damping and scaling are those of a full solve at its defaults ([`GainRatio`](super::damping::GainRatio), a fading maximum),
//! without acceleration. A problem ends where the undamped step promises too little to be worth taking: its length is then a tiny
//! part of the standard errors (Bates & Watts 1981).

mod damping;
mod ending;
mod fleet;
mod status;
mod sums;
mod system;
mod truth;

use damping::Damping;
use ending::{Ending, ROUNDING};
pub(crate) use fleet::{Arrival, Fleet};
pub use status::FitStatus;
pub(crate) use sums::Sums;
pub(crate) use system::Walls;
use system::{Steps, is_held, solve, solve_within};
use truth::{and, choose, is_less, not, or};

use super::iteration::SUFFICIENT_GAIN;
use crate::kernels::lanes::{Lanes, Register};
use crate::{Number, Real, Scalar};

/// A step whose promise drowns in the rounding of the costs, so many units of the last digit, is taken unless the cost rises by more.
const DROWNED: f64 = 16.0;

/// What the fading maximum of squared column norms keeps from one step to the next; see [`Scaling`](super::Scaling).
const FADE: f64 = 0.49;

/// When problems end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience<T> {
    /// The share of the cost that a step must promise.
    pub(crate) ftol: T,
    /// Trial steps.
    pub(crate) max_iterations: usize,
}

/// The state of all lanes.
struct Lockstep<T, R, const N: usize> {
    /// The numbers of the problems; none where a lane is free.
    problems: Vec<Option<usize>>,
    /// True where there is a problem.
    busy: Lanes<T, R>,
    /// True where the trial point is a start.
    starts: Lanes<T, R>,
    damping: Damping<T, R>,
    ending: Ending<T, R>,
    /// The current points, the best so far.
    x: [Lanes<T, R>; N],
    /// The sums there.
    sums: Sums<T, R, N>,
    /// `D²`.
    squared_scale: [Lanes<T, R>; N],
    /// The largest `‖J_j‖²` so far.
    largest: [Lanes<T, R>; N],
    /// The steps to be tried.
    steps: Steps<T, R, N>,
    /// The points to be tried.
    trial: [Lanes<T, R>; N],
}

/// Solves all problems of a fleet, within these bounds if there are any.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn solve_fleet<T: Real, R: Register<T>, F: Fleet<T, R, N>, const N: usize>(
    fleet: &mut F,
    walls: Option<&Walls<T, N>>,
    patience: &Patience<T>,
) {
    let mut lockstep = Lockstep::<T, R, N>::new();
    lockstep.board(fleet);
    while lockstep.is_busy() && !fleet.is_cancelled() {
        let sums = fleet.sums(&lockstep.trial);
        let accepted = lockstep.judge(&sums, fleet.energies(), patience);
        lockstep.arrive(accepted, &sums);
        lockstep.choose_steps(walls, patience);
        lockstep.leave(fleet, walls, false);
        lockstep.board(fleet);
    }
    lockstep.leave(fleet, walls, true);
}

impl<T: Real, R: Register<T>, const N: usize> Lockstep<T, R, N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn new() -> Self {
        let zero = Lanes::splat(T::ZERO);
        Lockstep {
            problems: vec![None; R::LANES],
            busy: zero,
            starts: zero,
            damping: Damping::new(),
            ending: Ending::new(),
            x: [zero; N],
            sums: Sums::zero(),
            squared_scale: [zero; N],
            largest: [zero; N],
            steps: Steps { step: [zero; N], length: zero, slope: zero, predicted: zero, soundness: zero },
            trial: [zero; N],
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn is_busy(&self) -> bool {
        truth::any(self.busy)
    }

    /// Fills lanes that are free: the start is the next trial point, which is taken whatever its cost.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn board<F: Fleet<T, R, N>>(&mut self, fleet: &mut F) {
        for l in 0..R::LANES {
            if self.problems[l].is_some() {
                continue;
            }
            let Some((problem, start)) = fleet.board(l) else { break };
            self.problems[l] = Some(problem);
            self.busy.as_mut_slice()[l] = T::ONE;
            self.starts.as_mut_slice()[l] = T::ONE;
            self.ending.restart(l);
            for j in 0..N {
                self.trial[j].as_mut_slice()[l] = start[j];
                self.x[j].as_mut_slice()[l] = start[j];
                self.squared_scale[j].as_mut_slice()[l] = T::ZERO;
                self.largest[j].as_mut_slice()[l] = T::ZERO;
            }
        }
    }

    /// Judges the trials, and learns from them: true where the trial point is taken.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn judge(&mut self, trial: &Sums<T, R, N>, energy: Lanes<T, R>, patience: &Patience<T>) -> Lanes<T, R> {
        let zero = Lanes::splat(T::ZERO);
        let (before, predicted) = (self.sums.cost, self.steps.predicted);
        let cost = choose(trial.are_finite(), trial.cost, Lanes::splat(T::INFINITY));
        let actual = before - cost;
        let gains = and(is_less(zero, actual), is_less(predicted * T::from_f64(SUFFICIENT_GAIN), actual));
        let rounding = before * (T::from_f64(DROWNED) * T::EPSILON);
        let drowns = and(not(is_less(rounding, predicted)), not(is_less(rounding, actual.abs())));
        let is_usable = is_less(cost, Lanes::splat(T::INFINITY));
        let accepted = and(is_usable, choose(self.starts, is_usable, or(gains, drowns)));

        let trials = and(self.busy, not(self.starts));
        self.damping.update(trials, accepted, actual / predicted, self.steps.length);
        self.ending.judge_trials(trials, accepted, &self.steps, before, self.resolution(), patience);
        self.ending.judge_starts(self.starts, cost, energy, accepted);
        accepted
    }

    /// `‖Dx‖`.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn resolution(&self) -> Lanes<T, R> {
        let mut sum = Lanes::splat(T::ZERO);
        for j in 0..N {
            sum = (self.squared_scale[j] * self.x[j]).mul_add(self.x[j], sum);
        }
        sum.sqrt()
    }

    /// Moves to the trial points that are taken, and brings the scaling up to date there.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn arrive(&mut self, accepted: Lanes<T, R>, sums: &Sums<T, R, N>) {
        self.sums.take(accepted, sums);
        for j in 0..N {
            self.x[j] = choose(accepted, self.trial[j], self.x[j]);
            let norm = self.sums.gram[j][j];
            let scale = (self.squared_scale[j] * T::from_f64(FADE)).max(norm);
            // A parameter without influence is still damped, by something rather than nothing.
            let scale = choose(scale, scale, Lanes::splat(T::ONE));
            self.squared_scale[j] = choose(accepted, scale, self.squared_scale[j]);
            self.largest[j] = self.largest[j].max(norm);
        }
        self.damping.start(self.starts, self.resolution());
        self.starts = Lanes::splat(T::ZERO);
    }

    /// Solves the damped systems, with more damping where they are too close to singular, and moves the trial points. Problems
    /// whose steps promise nothing end here.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn choose_steps(&mut self, walls: Option<&Walls<T, N>>, patience: &Patience<T>) {
        loop {
            let (lambda, active) = (self.damping.lambda(), and(self.busy, self.ending.goes_on()));
            self.steps = match walls {
                None => solve(&self.sums, lambda, &self.squared_scale),
                Some(walls) => solve_within(&self.sums, lambda, &self.squared_scale, walls, &self.x),
            };
            let Steps { soundness, length, .. } = self.steps;
            let is_sound = and(is_less(Lanes::splat(T::ZERO), soundness), is_less(length, Lanes::splat(T::INFINITY)));
            if self.damping.settle(active, is_sound, length) {
                self.ending.expect(active, &self.steps, lambda, self.sums.cost, patience);
                break;
            }
            self.ending.give_up(and(active, self.damping.is_exhausted()));
        }
        for j in 0..N {
            self.trial[j] = self.x[j] + self.steps.step[j];
            if let Some(walls) = walls {
                self.trial[j] = self.trial[j].max(Lanes::splat(walls[j][0])).min(Lanes::splat(walls[j][1]));
            }
        }
    }

    /// Hands over the problems that have ended, or all of them where there is no more time.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn leave<F: Fleet<T, R, N>>(&mut self, fleet: &mut F, walls: Option<&Walls<T, N>>, all: bool) {
        if !all && !truth::any(and(self.busy, not(self.ending.goes_on()))) {
            return;
        }
        for l in 0..R::LANES {
            let status = self.ending.status(l).or(all.then_some(FitStatus::Cancelled));
            if let (Some(problem), Some(status)) = (self.problems[l], status) {
                self.problems[l] = None;
                self.busy.as_mut_slice()[l] = T::ZERO;
                fleet.leave(problem, l, self.arrival(l, status, walls));
            }
        }
    }

    /// What became of the problem in a lane.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn arrival(&self, l: usize, status: FitStatus, walls: Option<&Walls<T, N>>) -> Arrival<T, N> {
        let mut arrival = Arrival {
            x: [T::ZERO; N],
            cost: self.sums.cost.as_slice()[l],
            gram: [[T::ZERO; N]; N],
            held: [false; N],
            lost: [false; N],
            status,
            iterations: self.ending.iterations(l),
        };
        if self.starts.as_slice()[l] > T::ZERO || status == FitStatus::NonFiniteStart {
            // The sums are those of the problem before.
            arrival.cost = T::from_f64(f64::NAN);
        }
        let rounding = T::from_f64(ROUNDING) * T::EPSILON;
        for j in 0..N {
            arrival.x[j] = self.x[j].as_slice()[l];
            for k in 0..=j {
                arrival.gram[j][k] = self.sums.gram[j][k].as_slice()[l];
            }
            arrival.lost[j] = !(arrival.gram[j][j] > rounding * rounding * self.largest[j].as_slice()[l]);
            if let Some(walls) = walls {
                arrival.held[j] = is_held(walls[j], self.x[j], self.sums.gradient[j]).as_slice()[l] > T::ZERO;
            }
        }
        arrival
    }
}
