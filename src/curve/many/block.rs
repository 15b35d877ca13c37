//! A few hundred of many fits, which one thread does in lockstep.

use std::ops::Range;

use super::PerFit;
use super::data_sets::DataSets;
use super::erased_model::{ErasedModel, EvaluationMode, FORWARDS};
use super::free::FreeParameters;
use super::normal_factors::NormalFactors;
use super::outcomes::Outcomes;
use super::point_sums::{LanePoints, PointSums};
use super::robust_fits::RobustFits;
use crate::curve::models::GuessCache;
use crate::curve::reverse_tile::ReverseTile;
use crate::kernels::array::array_of;
use crate::kernels::lanes::{LaneKernel, Lanes, Register};
use crate::kernels::registers::Registers;
use crate::number::Number;
use crate::real::Real;
use crate::solver::FitStatus;
use crate::solver::lockstep::{LaneLikelihood, LaneResult, LaneSource, LaneSums, solve_all};

/// Fits a block of data sets with at most `N` parameters.
pub(super) struct Block<'s, 'a, 'o, T: Real, const N: usize> {
    pub(super) data: &'s DataSets<'a, T>,
    pub(super) model: &'s dyn ErasedModel<T>,
    pub(super) registers: Registers,
    pub(super) outcomes: &'s mut Outcomes<'o, T>,
}

impl<T: Real, const N: usize> LaneKernel<T> for Block<'_, '_, '_, T, N> {
    type Output = ();

    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn run<R: Register<T>>(self) {
        let bounds = self.data.box_bounds();
        let mut block = BlockLanes::<T, R, N>::new(self.data, self.model, self.registers, self.outcomes);
        loop {
            let stopping = block.stopping();
            solve_all::<T, R, _, N>(&mut block, bounds.as_ref(), &stopping);
            if !block.next_round() {
                break;
            }
        }
        block.store_robust();
    }
}

/// Data of the fits in the lanes, and results of those that have left.
pub(super) struct BlockLanes<'s, 'a, 'o, T: Real, R, const N: usize> {
    pub(super) data: &'s DataSets<'a, T>,
    pub(super) model: &'s dyn ErasedModel<T>,
    registers: Registers,
    /// Range of the fits that are not begun.
    pub(super) fits: Range<usize>,
    /// Sums of many parameters are too large for the stack.
    pub(super) work: Box<PointSums<T, R, N>>,
    /// Map of the free parameters; `None` if none is fixed or tied.
    pub(super) free: Option<FreeParameters<'s, T, R, N>>,
    /// Room for evaluation by tiles of points; `None` if points are evaluated one by one.
    tile: Option<ReverseTile<T, R>>,
    /// The predictors are those of all fits, and finite: they are in all lanes from the beginning.
    shares_all: bool,
    /// `½‖y‖²` of each lane, in units of the standard deviations.
    pub(super) energies: Lanes<T, R>,
    /// Points that take part, of each lane.
    counts: Vec<usize>,
    pub(super) outcomes: &'s mut Outcomes<'o, T>,
    cache: GuessCache,
    pub(super) robust: Option<RobustFits<T>>,
    /// Room for the sizes of the residuals of a robust fit.
    pub(super) sizes: Vec<T>,
    /// The points that robust sums were last worked out at.
    pub(super) evaluated: [Lanes<T, R>; N],
}

impl<'s, 'a, 'o, T: Real, R: Register<T>, const N: usize> BlockLanes<'s, 'a, 'o, T, R, N> {
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn new(
        data: &'s DataSets<'a, T>,
        model: &'s dyn ErasedModel<T>,
        registers: Registers,
        outcomes: &'s mut Outcomes<'o, T>,
    ) -> Self {
        let (points, width) = (data.y.ncols(), data.x.width());
        let lanes = |count| vec![Lanes::from_f64(0.0); count];
        let weights = lanes(if data.has_weights() { points } else { 0 });
        let likelihood = if data.options.counts { LaneLikelihood::Poisson } else { LaneLikelihood::Gaussian };
        let points = LanePoints { x: lanes(points * width), width, y: lanes(points), weights, likelihood };
        let is_in_tiles = N > FORWARDS[1] || model.evaluation() == EvaluationMode::InTiles;
        let fits = outcomes.fits();
        let robust = data.options.robust.clone();
        let mut block = BlockLanes {
            data,
            model,
            registers,
            work: Box::new(PointSums { points, b: [Lanes::from_f64(0.0); N], sums: LaneSums::zero(data.parameters) }),
            free: data.free_map().map(FreeParameters::new),
            tile: is_in_tiles.then(|| ReverseTile::new(width, data.parameters, N)),
            shares_all: data.shares_finite_predictors(),
            energies: Lanes::from_f64(0.0),
            counts: vec![0; R::LANES],
            robust: robust.map(|robust| RobustFits::new(robust, fits.start, fits.len(), R::LANES)),
            sizes: Vec::new(),
            evaluated: [Lanes::from_f64(0.0); N],
            fits,
            outcomes,
            cache: GuessCache::new(),
        };
        if let PerFit::Same(x) = &data.x {
            for (lanes, &x) in block.work.points.x.iter_mut().zip(x) {
                *lanes = Lanes::splat(x);
            }
        }
        block.apply_loss();
        block
    }

    /// Stores the result of a fit, given the variance of its residuals if it is known.
    pub(super) fn finish(&mut self, fit: usize, lane: usize, arrival: &LaneResult<T, N>, variance: Option<T>) {
        let normal = NormalFactors::at(arrival, self.data.free_count(), self.counts[lane], variance);
        match &mut self.free {
            None => self.outcomes.take(fit, arrival, &normal, &arrival.x[..self.data.parameters], None),
            Some(free) => {
                let (all, derivatives) = free.at(lane, &arrival.x);
                self.outcomes.take(fit, arrival, &normal, all, Some(derivatives));
            }
        }
    }

    /// Takes the data of a fit into a lane.
    pub(super) fn load_fit(&mut self, lane: usize, fit: usize) -> Result<(), FitStatus> {
        match self.data.energy_of_whole(fit, self.shares_all) {
            Some(energy) => {
                self.energies.as_mut_slice()[lane] = energy;
                self.load_whole(lane, fit);
            }
            None => {
                self.energies.as_mut_slice()[lane] = T::ZERO;
                self.load_points(lane, fit)?;
            }
        }
        let energy = &mut self.energies.as_mut_slice()[lane];
        if *energy == T::ZERO && self.work.points.y.iter().any(|y| y.as_slice()[lane] != T::ZERO) {
            // Squares that underflow are not those of zeros.
            *energy = T::MIN_POSITIVE;
        }
        if self.counts[lane] < self.data.free_count() { Err(FitStatus::TooFewPoints) } else { Ok(()) }
    }

    /// Takes a fit of which every point takes part into a lane.
    fn load_whole(&mut self, lane: usize, fit: usize) {
        for (lanes, &y) in self.work.points.y.iter_mut().zip(self.data.y.row(fit)) {
            lanes.as_mut_slice()[lane] = y;
        }
        if let PerFit::Own(_) = self.data.x {
            for (lanes, &x) in self.work.points.x.iter_mut().zip(self.data.x.of(fit)) {
                lanes.as_mut_slice()[lane] = x;
            }
        }
        match &self.data.sigma {
            Some(sigma) => {
                let mut energy = T::ZERO;
                for (lanes, (sigma, &y)) in
                    self.work.points.weights.iter_mut().zip(sigma.of(fit).iter().zip(self.data.y.row(fit)))
                {
                    let weight = sigma.recip();
                    lanes.as_mut_slice()[lane] = weight;
                    energy += self.data.energy_of(y * weight);
                }
                self.energies.as_mut_slice()[lane] = energy;
            }
            None => self.work.points.weights.iter_mut().for_each(|lanes| lanes.as_mut_slice()[lane] = T::ONE),
        }
        self.counts[lane] = self.work.points.y.len();
    }

    /// Takes the points of a fit that take part into a lane.
    fn load_points(&mut self, lane: usize, fit: usize) -> Result<(), FitStatus> {
        self.work.points.weights.iter_mut().for_each(|lanes| lanes.as_mut_slice()[lane] = T::ZERO);
        let (mut points, mut next) = (0, 0);
        self.data.read(fit, |point| {
            // Points left out have the numbers of one that is not, so that the model is finite there.
            for index in next..=point.index {
                self.work.points.y[index].as_mut_slice()[lane] = point.y;
                let x = self.work.points.x[index * self.work.points.width..].iter_mut().filter(|_| !self.shares_all);
                for (lanes, &x) in x.zip(&point.x) {
                    lanes.as_mut_slice()[lane] = x;
                }
            }
            if let Some(weight) = self.work.points.weights.get_mut(point.index) {
                weight.as_mut_slice()[lane] = point.weight;
            }
            self.energies.as_mut_slice()[lane] += self.data.energy_of(point.y * point.weight);
            (points, next) = (points + 1, point.index + 1);
        })?;
        for index in next..self.work.points.y.len() {
            self.work.points.y[index].as_mut_slice()[lane] = self.work.points.y[index - 1].as_slice()[lane];
            let entries = if self.shares_all {
                0..0
            } else {
                index * self.work.points.width..(index + 1) * self.work.points.width
            };
            for entry in entries {
                self.work.points.x[entry].as_mut_slice()[lane] =
                    self.work.points.x[entry - self.work.points.width].as_slice()[lane];
            }
        }
        self.counts[lane] = points;
        Ok(())
    }
}

impl<T: Real, R: Register<T>, const N: usize> LaneSource<T, R, N> for BlockLanes<'_, '_, '_, T, R, N> {
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn parameter_count(&self) -> usize {
        self.data.free_count()
    }

    fn load(&mut self, lane: usize) -> Option<(usize, [T; N])> {
        if let Some((fit, next)) = self.robust.as_mut().and_then(|robust| robust.take_next(lane)) {
            self.set_scale(lane);
            return Some((fit, array_of(|j| next.get(j).copied().unwrap_or(T::ZERO))));
        }
        loop {
            let fit = self.fits.next()?;
            let mut start = [T::ZERO; N];
            let parameters = &mut start[..self.data.parameters];
            let outcome = self.data.start(self.model, fit, parameters, &self.cache);
            match outcome.and_then(|()| self.load_fit(lane, fit)) {
                Ok(()) => {
                    let all = &start[..self.data.parameters];
                    let free = self.free.as_mut().map(|free| free.start(lane, all));
                    let mut free = free.unwrap_or(start);
                    if self.begin_round(lane, fit, all, &mut free) {
                        self.set_scale(lane);
                        return Some((fit, free));
                    }
                }
                Err(status) => self.outcomes.refuse(fit, status, &start[..self.data.parameters]),
            }
        }
    }

    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn sums(&mut self, b: &[Lanes<T, R>; N]) -> &LaneSums<T, R, N> {
        if let LaneLikelihood::Robust(loss) = &mut self.work.points.likelihood {
            loss.residuals.clear();
            self.evaluated = *b;
        }
        self.work.b = match &mut self.free {
            None => *b,
            Some(free) => free.expand(b),
        };
        match &mut self.tile {
            Some(tile) => self.work.fill_in_tiles(self.model, self.registers, tile),
            None => self.model.add_points(self.registers, &mut *self.work),
        }
        match &mut self.free {
            None => &self.work.sums,
            Some(free) => free.narrow(&self.work.sums),
        }
    }

    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn energies(&self) -> Lanes<T, R> {
        self.energies
    }

    fn store(&mut self, problem: usize, lane: usize, arrival: LaneResult<T, N>) {
        if self.robust.is_some() {
            return self.end_round(problem, lane, &arrival);
        }
        let variance = (self.data.options.absolute_sigma || self.data.options.counts).then_some(T::ONE);
        self.finish(problem, lane, &arrival, variance);
    }

    fn is_cancelled(&self) -> bool {
        self.data.is_cancelled()
    }
}
