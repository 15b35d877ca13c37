//! Levenberg–Marquardt in lockstep: one small problem in each lane of the registers.
//!
//! The crate's second iteration, for thousands of problems of a few parameters. All lanes solve their damped systems, try their
//! steps and are linearised there in the same instructions; only what becomes of a trial is judged lane by lane. A lane whose
//! problem has ended takes the next one at once. No lane sees what is in another, so that a problem ends with the same bits
//! whatever its neighbours are.
//!
//! Damping and scaling are those of a full solve at its defaults ([`GainRatio`](super::damping::GainRatio), a fading maximum),
//! without acceleration. A problem ends where the undamped step promises too little to be worth taking: its length is then a tiny
//! part of the standard errors (Bates & Watts 1981).

mod fleet;
mod lane;
mod status;
mod sums;
mod system;

pub(crate) use fleet::{Arrival, Fleet};
use lane::Lane;
pub use status::FitStatus;
pub(crate) use sums::Sums;
pub(crate) use system::Walls;
use system::{Steps, is_held, solve, solve_within};

use crate::kernels::lanes::{Lanes, Register};
use crate::{Number, Real, Scalar};

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
    lanes: Vec<Lane<T>>,
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
#[inline(always)]
pub(crate) fn solve_fleet<T: Real, R: Register<T>, F: Fleet<T, R, N>, const N: usize>(
    fleet: &mut F,
    walls: Option<&Walls<T, N>>,
    patience: &Patience<T>,
) {
    let mut lockstep = Lockstep::<T, R, N>::new();
    lockstep.board(fleet);
    while lockstep.is_busy() && !fleet.is_cancelled() {
        let sums = fleet.sums(&lockstep.trial);
        let accepted = lockstep.judge(&sums, fleet, patience);
        lockstep.arrive(accepted, &sums);
        lockstep.choose_steps(walls, patience);
        lockstep.leave(fleet, walls);
        lockstep.board(fleet);
    }
    lockstep.abandon(fleet, walls);
}

impl<T: Real, R: Register<T>, const N: usize> Lockstep<T, R, N> {
    #[inline(always)]
    fn new() -> Self {
        let zero = Lanes::splat(T::ZERO);
        let steps = Steps { step: [zero; N], length: zero, slope: zero, predicted: zero, soundness: zero };
        Lockstep {
            lanes: vec![Lane::default(); R::LANES],
            x: [zero; N],
            sums: Sums::zero(),
            squared_scale: [zero; N],
            largest: [zero; N],
            steps,
            trial: [zero; N],
        }
    }

    #[inline(always)]
    fn is_busy(&self) -> bool {
        self.lanes.iter().any(|lane| lane.problem.is_some())
    }

    /// Fills lanes that are free: the start is the next trial point, which is taken whatever its cost.
    #[inline(always)]
    fn board<F: Fleet<T, R, N>>(&mut self, fleet: &mut F) {
        for l in 0..R::LANES {
            if self.lanes[l].problem.is_some() {
                continue;
            }
            let Some((problem, start)) = fleet.board(l) else { break };
            self.lanes[l] = Lane::at_start(problem);
            for j in 0..N {
                self.trial[j].as_mut_slice()[l] = start[j];
                self.x[j].as_mut_slice()[l] = start[j];
                self.squared_scale[j].as_mut_slice()[l] = T::ZERO;
                self.largest[j].as_mut_slice()[l] = T::ZERO;
            }
        }
    }

    /// Judges the trials: negative where the trial point is taken.
    #[inline(always)]
    fn judge<F: Fleet<T, R, N>>(&mut self, trial: &Sums<T, R, N>, fleet: &F, patience: &Patience<T>) -> Lanes<T, R> {
        let mut accepted = Lanes::splat(T::ONE);
        let (resolution, sizes) = (self.resolution(), trial.sizes());
        for l in 0..R::LANES {
            let lane = &mut self.lanes[l];
            if lane.problem.is_none() {
                continue;
            }
            let is_finite = sizes.as_slice()[l].is_finite();
            let cost = if is_finite { trial.cost.as_slice()[l] } else { T::INFINITY };
            let is_taken = if lane.is_at_start {
                lane.judge_start(cost, fleet.energy(l))
            } else {
                let step = lane.trial(&self.steps, self.sums.cost.as_slice()[l], cost, l);
                lane.judge(&step, cost, resolution.as_slice()[l], patience)
            };
            accepted.as_mut_slice()[l] = if is_taken { -T::ONE } else { T::ONE };
        }
        accepted
    }

    /// `‖Dx‖`.
    #[inline(always)]
    fn resolution(&self) -> Lanes<T, R> {
        let mut sum = Lanes::splat(T::ZERO);
        for j in 0..N {
            sum = (self.squared_scale[j] * self.x[j]).mul_add(self.x[j], sum);
        }
        sum.sqrt()
    }

    /// Moves to the trial points that are taken, and brings the scaling up to date there.
    #[inline(always)]
    fn arrive(&mut self, accepted: Lanes<T, R>, sums: &Sums<T, R, N>) {
        let (zero, one) = (Lanes::splat(T::ZERO), Lanes::splat(T::ONE));
        self.sums.replace_where(accepted, zero, sums);
        for j in 0..N {
            self.x[j] = accepted.select_less(zero, self.trial[j], self.x[j]);
            let norm = self.sums.gram[j][j];
            let scale = (self.squared_scale[j] * T::from_f64(FADE)).max(norm);
            // A parameter without influence is still damped, by something rather than nothing.
            let scale = zero.select_less(scale, scale, one);
            self.squared_scale[j] = accepted.select_less(zero, scale, self.squared_scale[j]);
            self.largest[j] = self.largest[j].max(norm);
        }
        let resolution = self.resolution();
        for l in 0..R::LANES {
            self.lanes[l].settle_at_start(resolution.as_slice()[l]);
        }
    }

    /// Solves the damped systems, with more damping where they are too close to singular, and moves the trial points. Problems
    /// whose steps promise nothing end here.
    #[inline(always)]
    fn choose_steps(&mut self, walls: Option<&Walls<T, N>>, patience: &Patience<T>) {
        loop {
            let mut lambda = Lanes::splat(T::ZERO);
            for l in 0..R::LANES {
                lambda.as_mut_slice()[l] = self.lanes[l].damping.lambda();
            }
            self.steps = match walls {
                None => solve(&self.sums, lambda, &self.squared_scale),
                Some(walls) => solve_within(&self.sums, lambda, &self.squared_scale, walls, &self.x),
            };
            let mut are_settled = true;
            for l in 0..R::LANES {
                are_settled &= self.lanes[l].settle_damping(&self.steps, l);
            }
            if are_settled {
                break;
            }
        }
        for l in 0..R::LANES {
            self.lanes[l].expect(&self.steps, self.sums.cost.as_slice()[l], l, patience);
        }
        for j in 0..N {
            self.trial[j] = self.x[j] + self.steps.step[j];
            if let Some(walls) = walls {
                self.trial[j] = self.trial[j].max(Lanes::splat(walls[j][0])).min(Lanes::splat(walls[j][1]));
            }
        }
    }

    /// Hands over the problems that have ended.
    #[inline(always)]
    fn leave<F: Fleet<T, R, N>>(&mut self, fleet: &mut F, walls: Option<&Walls<T, N>>) {
        for l in 0..R::LANES {
            if let (Some(problem), Some(status)) = (self.lanes[l].problem, self.lanes[l].status) {
                self.lanes[l].problem = None;
                fleet.leave(problem, l, self.arrival(l, status, walls));
            }
        }
    }

    /// Hands over the problems that have not ended.
    #[inline(always)]
    fn abandon<F: Fleet<T, R, N>>(&mut self, fleet: &mut F, walls: Option<&Walls<T, N>>) {
        for lane in &mut self.lanes {
            lane.status = Some(FitStatus::Cancelled);
        }
        self.leave(fleet, walls);
    }

    /// What became of the problem in a lane.
    #[inline(always)]
    fn arrival(&self, l: usize, status: FitStatus, walls: Option<&Walls<T, N>>) -> Arrival<T, N> {
        let mut arrival = Arrival {
            x: [T::ZERO; N],
            cost: self.sums.cost.as_slice()[l],
            gram: [[T::ZERO; N]; N],
            held: [false; N],
            lost: [false; N],
            status,
            iterations: self.lanes[l].iterations,
        };
        let rounding = T::from_f64(lane::ROUNDING) * T::EPSILON;
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
