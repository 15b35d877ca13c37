//! Levenberg–Marquardt in lockstep: one small problem in each lane of the registers.
//!
//! The crate's second iteration, for thousands of problems of a few parameters. All lanes solve their damped systems, try their
//! steps, are linearised there and judged in the same instructions; only taking up a problem and handing it over is done lane by
//! lane. A lane whose problem has ended takes the next one at once. Lanes are independent, so that a problem ends with the same bits
//! whatever its neighbours are.
//!
//! Damping and scaling are those of a full solve at its defaults ([`GainRatio`](super::damping::GainRatio), a fading maximum), without
//! acceleration. A problem converges where the undamped step predicts too little a reduction to be worth taking (its length is then a tiny
//! part of the standard errors; Bates & Watts 1981), and where each parameter by itself passes the first-order test. Where a damped step
//! predicts as little, the undamped step is tried next, with renewed scaling. Problems that the normal equations cannot decide are repeated
//! by the full solver.

mod box_constrained;
mod damping;
mod ending;
mod first_order;
mod lane_source;
mod likelihood;
mod mask;
mod status;
mod sums;
mod system;
mod tile;

pub(crate) use box_constrained::BoxBounds;
use box_constrained::{BoxMinimization, arrive, side_that_holds};
use damping::LaneDamping;
use ending::{CONVERGED, LaneStates, NO_PROGRESS, NON_FINITE_START};
use first_order::FirstOrderTest;
pub(crate) use lane_source::{LaneResult, LaneSource};
pub(crate) use likelihood::{LaneLikelihood, LaneLoss};
use mask::{and, any, choose, is_less, not, or};
pub use status::FitStatus;
pub(crate) use sums::{LaneSums, UNROLLED};
use system::{DampedModel, LaneFactor, Steps};
pub(crate) use tile::PointTile;

use super::descent::SUFFICIENT_GAIN;
use super::ends::UNDAMPED;
use crate::kernels::lanes::{Lanes, Register};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// Rounding of a cost that comes from its sum, in units of its last digit.
const SUMMATION: f64 = 16.0;

/// Share of the fading maximum of squared column norms that is kept from one step to the next; see [`Scaling`](super::Scaling).
const FADE: f64 = 0.49;

/// Stopping criteria of problems that are solved in lanes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoppingCriteria<T> {
    /// The share of the cost that a step must predict as its reduction.
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
    damping: LaneDamping<T, R>,
    ending: LaneStates<T, R>,
    /// The current points, the best so far.
    x: [Lanes<T, R>; N],
    /// The sums there.
    sums: LaneSums<T, R, N>,
    /// Costs at the starts.
    start_costs: Lanes<T, R>,
    /// `D²`.
    squared_scale: [Lanes<T, R>; N],
    /// True where the undamped step from the current point was asked for.
    asked: Lanes<T, R>,
    /// The steps to be tried.
    steps: Steps<T, R, N>,
    /// The points to be tried.
    trial: [Lanes<T, R>; N],
    /// Workspace of the damped systems.
    factor: LaneFactor<T, R, N>,
}

/// Solves all problems of a source, within these bounds if there are any.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
pub(crate) fn solve_all<T: Real, R: Register<T>, F: LaneSource<T, R, N>, const N: usize>(
    source: &mut F,
    bounds: Option<&BoxBounds<T, N>>,
    stopping: &StoppingCriteria<T>,
) {
    let mut lockstep = Lockstep::<T, R, N>::new(source.parameter_count());
    loop {
        let is_over = source.is_cancelled();
        lockstep.store(source, bounds, is_over);
        if is_over {
            return;
        }
        lockstep.load(source);
        if !lockstep.is_busy() {
            return;
        }
        let energies = source.energies();
        let sums = source.sums(&lockstep.trial);
        let accepted = lockstep.judge(sums, energies, stopping);
        lockstep.arrive(accepted, sums);
        lockstep.choose_steps(bounds, lockstep.sizes(energies), stopping);
    }
}

impl<T: Real, R: Register<T>, const N: usize> Lockstep<T, R, N> {
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn new(parameters: usize) -> Self {
        let zero = Lanes::splat(T::ZERO);
        Lockstep {
            problems: vec![None; R::LANES],
            busy: zero,
            starts: zero,
            damping: LaneDamping::new(),
            ending: LaneStates::new(),
            x: [zero; N],
            sums: LaneSums::zero(parameters),
            start_costs: zero,
            squared_scale: [zero; N],
            asked: zero,
            steps: Steps { step: [zero; N], length: zero, slope: zero, predicted: zero, soundness: zero },
            trial: [zero; N],
            factor: [[zero; N]; N],
        }
    }

    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn is_busy(&self) -> bool {
        any(self.busy)
    }

    /// Fills lanes that are free: the start is the next trial point, which is taken whatever its cost.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn load<F: LaneSource<T, R, N>>(&mut self, source: &mut F) {
        for l in 0..R::LANES {
            if self.problems[l].is_some() {
                continue;
            }
            let Some((problem, start)) = source.load(l) else { continue };
            self.problems[l] = Some(problem);
            self.busy.as_mut_slice()[l] = T::ONE;
            self.starts.as_mut_slice()[l] = T::ONE;
            self.ending.restart(l);
            for j in 0..self.sums.count() {
                self.trial[j].as_mut_slice()[l] = start[j];
                self.x[j].as_mut_slice()[l] = start[j];
                self.squared_scale[j].as_mut_slice()[l] = T::ZERO;
            }
        }
    }

    /// Judges the trials and updates the damping. Returns true where the trial point is accepted.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn judge(&mut self, trial: &LaneSums<T, R, N>, energy: Lanes<T, R>, stopping: &StoppingCriteria<T>) -> Lanes<T, R> {
        let (zero, infinity) = (Lanes::splat(T::ZERO), Lanes::splat(T::INFINITY));
        let (before, predicted) = (self.sums.cost, self.steps.predicted);
        let mut is_usable = trial.are_finite();
        for j in 0..trial.count() {
            is_usable = and(is_usable, is_less(self.trial[j].abs(), infinity));
        }
        let cost = choose(is_usable, trial.cost, infinity);
        let actual = before - cost;
        let gains = and(is_less(zero, actual), is_less(predicted * T::from_f64(SUFFICIENT_GAIN), actual));
        // Where both reductions are below the rounding error of the costs (half a unit of the last digit of each response, and the
        // summation), the mean of the slopes along the step says what it gains, exactly for a quadratic (Hager & Zhang 2005).
        let responses = before.sqrt() * energy.sqrt();
        let responses = choose(is_less(responses, infinity), responses, zero);
        let rounding = before.mul_add(Lanes::from_f64(SUMMATION), responses) * T::EPSILON;
        let drowns = and(not(is_less(rounding, predicted)), not(is_less(rounding, actual.abs())));
        let mut slopes = self.steps.slope;
        for j in 0..trial.count() {
            slopes = trial.gradient[j].mul_add(self.steps.step[j], slopes);
        }
        let falls = or(self.asked, not(is_less(zero, slopes)));
        let accepted = and(is_usable, or(self.starts, or(gains, and(drowns, falls))));

        let trials = and(self.busy, not(self.starts));
        let ratio = choose(drowns, slopes * T::from_f64(-0.5), actual) / predicted;
        self.damping.update(trials, accepted, ratio, self.steps.length);
        self.ending.end(and(self.starts, not(accepted)), NON_FINITE_START);
        self.ending.count(trials, stopping.max_iterations);
        self.asked = and(self.asked, not(accepted));

        let is_short = not(is_less(self.resolution() * T::EPSILON, self.steps.length));
        let is_little = not(is_less(before * T::EPSILON, predicted));
        let stuck = and(and(trials, not(accepted)), or(is_short, is_little));
        self.ending.end(and(stuck, self.asked), NO_PROGRESS);
        self.ask(and(stuck, not(self.asked)));
        accepted
    }

    /// `‖Dx‖`.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn resolution(&self) -> Lanes<T, R> {
        let mut sum = Lanes::splat(T::ZERO);
        for j in 0..self.sums.count() {
            sum = (self.squared_scale[j] * self.x[j]).mul_add(self.x[j], sum);
        }
        sum.sqrt()
    }

    /// Moves to the accepted trial points, and updates the scaling there.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn arrive(&mut self, accepted: Lanes<T, R>, sums: &LaneSums<T, R, N>) {
        self.sums.take(accepted, sums);
        for j in 0..self.sums.count() {
            self.x[j] = choose(accepted, self.trial[j], self.x[j]);
            let norm = self.sums.gram[j][j];
            let scale = (self.squared_scale[j] * T::from_f64(FADE)).max(norm);
            // A parameter without influence is damped with the scale one.
            let scale = choose(scale, scale, Lanes::splat(T::ONE));
            self.squared_scale[j] = choose(accepted, scale, self.squared_scale[j]);
        }
        self.damping.start(self.starts, self.resolution());
        self.start_costs = choose(self.starts, self.sums.cost, self.start_costs);
        self.starts = Lanes::splat(T::ZERO);
    }

    /// Scale of the rounding errors of the costs: the energies of the data, or the costs at the starts where all data are zero.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn sizes(&self, energies: Lanes<T, R>) -> Lanes<T, R> {
        choose(is_less(Lanes::splat(T::ZERO), energies), energies, self.start_costs)
    }

    /// Resets the scaling in some lanes and requests an undamped next step of any length.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn ask(&mut self, lanes: Lanes<T, R>) {
        self.asked = or(self.asked, lanes);
        self.damping.release(lanes);
        for j in 0..self.sums.count() {
            let norm = self.sums.gram[j][j];
            let scale = choose(is_less(Lanes::splat(T::ZERO), norm), norm, self.squared_scale[j]);
            self.squared_scale[j] = choose(lanes, scale, self.squared_scale[j]);
        }
    }

    /// Solves the damped systems, with more damping where they are too close to singular, and moves the trial points. Problems
    /// whose steps predict no reduction end here.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn choose_steps(&mut self, bounds: Option<&BoxBounds<T, N>>, energy: Lanes<T, R>, stopping: &StoppingCriteria<T>) {
        loop {
            let (lambda, active) = (self.damping.lambda(), and(self.busy, self.ending.goes_on()));
            let Lockstep { sums, squared_scale, x, factor, .. } = &mut *self;
            let model = DampedModel { sums, lambda, squared_scale };
            self.steps = match bounds {
                None => model.solve(factor),
                Some(bounds) => R::call(BoxMinimization { model, bounds, x, active, factor }),
            };
            let Steps { soundness, length, .. } = self.steps;
            let is_sound = and(is_less(Lanes::splat(T::ZERO), soundness), is_less(length, Lanes::splat(T::INFINITY)));
            // The undamped normal equations are singular: the predicted reduction is unknown.
            let is_unanswered = and(and(active, self.asked), and(is_undamped(lambda), not(is_sound)));
            self.ending.end(is_unanswered, NO_PROGRESS);
            let active = and(active, self.ending.goes_on());
            if !self.damping.settle(active, is_sound, length) {
                self.ending.end(and(active, self.damping.is_exhausted()), NO_PROGRESS);
            } else if !self.converge(active, lambda, bounds, energy, stopping) {
                break;
            }
        }
        for j in 0..self.sums.count() {
            self.trial[j] = match bounds {
                None => self.x[j] + self.steps.step[j],
                Some(bounds) => arrive(bounds[j], self.x[j], self.steps.step[j]),
            };
        }
    }

    /// Ends problems that have converged, and requests the undamped step where a damped one predicts no reduction. Returns true if a lane
    /// has to be solved again.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn converge(
        &mut self,
        active: Lanes<T, R>,
        lambda: Lanes<T, R>,
        bounds: Option<&BoxBounds<T, N>>,
        energy: Lanes<T, R>,
        stopping: &StoppingCriteria<T>,
    ) -> bool {
        let Steps { slope, predicted, length, .. } = self.steps;
        let point = FirstOrderTest { sums: &self.sums, x: &self.x, energy, ftol: stopping.ftol };
        let limits = point.limits();
        let resistance = lambda * length * length;
        let is_free = not(is_less(slope * T::from_f64(-UNDAMPED), resistance));
        let predicts_nothing = and(is_free, not(is_less(limits.reduction, predicted)));
        let is_rounding = not(is_less(limits.cost, self.sums.cost));
        let claims = and(active, or(predicts_nothing, is_rounding));
        if !any(claims) {
            return false;
        }
        let mut held = [Lanes::splat(T::ZERO); N];
        if let Some(bounds) = bounds {
            for j in 0..self.sums.count() {
                held[j] = side_that_holds(bounds[j], self.x[j], self.sums.gradient[j]).abs();
            }
        }
        let is_answered = or(is_rounding, is_undamped(lambda));
        let answered = and(claims, is_answered);
        let passes = point.passes(&held);
        self.ending.end(and(answered, passes), CONVERGED);
        let doubtful = and(answered, not(passes));
        if any(doubtful) {
            // The full engine decides whether a step can still be resolved.
            self.ending.end(and(doubtful, point.may_pass(&held)), NO_PROGRESS);
        }
        let asks = and(and(claims, not(is_answered)), not(self.asked));
        self.ask(asks);
        any(asks)
    }

    /// Stores the results of the problems that have ended, or of all of them on cancellation.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn store<F: LaneSource<T, R, N>>(&mut self, source: &mut F, bounds: Option<&BoxBounds<T, N>>, all: bool) {
        if !all && !any(and(self.busy, not(self.ending.goes_on()))) {
            return;
        }
        for l in 0..R::LANES {
            let status = self.ending.status(l).or(all.then_some(FitStatus::Cancelled));
            if let (Some(problem), Some(status)) = (self.problems[l], status) {
                self.problems[l] = None;
                self.busy.as_mut_slice()[l] = T::ZERO;
                source.store(problem, l, self.arrival(l, status, bounds));
            }
        }
    }

    /// Result of the problem in a lane.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn arrival(&self, l: usize, status: FitStatus, bounds: Option<&BoxBounds<T, N>>) -> LaneResult<T, N> {
        let mut arrival = LaneResult {
            x: [T::ZERO; N],
            cost: self.sums.cost.as_slice()[l],
            gram: self.sums.gram_of_lane(l),
            held: [false; N],
            status,
            iterations: self.ending.iterations(l),
        };
        if self.starts.as_slice()[l] > T::ZERO || status == FitStatus::NonFiniteStart {
            // The sums belong to the previous problem of the lane.
            arrival.cost = T::from_f64(f64::NAN);
        }
        for j in 0..self.sums.count() {
            arrival.x[j] = self.x[j].as_slice()[l];
            if let Some(bounds) = bounds {
                let side = side_that_holds(bounds[j], self.x[j], self.sums.gradient[j]);
                arrival.held[j] = side.as_slice()[l] != T::ZERO;
            }
        }
        arrival
    }
}

/// True where there is no damping.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn is_undamped<T: Real, R: Register<T>>(lambda: Lanes<T, R>) -> Lanes<T, R> {
    not(is_less(Lanes::splat(T::ZERO), lambda))
}
