//! The rounds of robust fits, of a block that one thread does in lockstep.

use std::iter::repeat;

use super::block::BlockLanes;
use super::robust_fits::{RobustFits, Solved};
use crate::curve::robust::least_scale;
use crate::curve::robust_sums::RobustSums;
use crate::kernels::array::array_of;
use crate::kernels::lanes::{Lanes, Register};
use crate::number::Number;
use crate::problem::{mad_scale, mad_scale_of_sizes};
use crate::real::Real;
use crate::solver::FitStatus;
use crate::solver::lockstep::{LaneLikelihood, LaneLoss, LaneResult, LaneSource, StoppingCriteria};

impl<T: Real, R: Register<T>, const N: usize> BlockLanes<'_, '_, '_, T, R, N> {
    /// Criteria of the round.
    pub(super) fn stopping(&self) -> StoppingCriteria<T> {
        let StoppingCriteria { ftol, max_iterations } = self.data.stopping;
        let least = self.robust.as_ref().map_or(T::ZERO, RobustFits::least_ftol);
        StoppingCriteria { ftol: ftol.max(least), max_iterations }
    }

    /// Applies the loss of the round, if there is one.
    pub(super) fn apply_loss(&mut self) {
        if let Some(robust) = &self.robust {
            let loss = LaneLoss { loss: robust.loss(), scales: Lanes::from_f64(1.0), residuals: Vec::new() };
            self.work.points.likelihood = LaneLikelihood::Robust(loss);
        }
    }

    /// Goes on to the next round of robust fits. Returns false if there is none.
    pub(super) fn next_round(&mut self) -> bool {
        let goes_on = !self.data.is_cancelled() && self.robust.as_mut().is_some_and(RobustFits::next_round);
        if goes_on {
            self.fits = self.outcomes.fits();
            self.apply_loss();
        }
        goes_on
    }

    /// Begins a round of a robust fit in a lane, which has its data; `start` may move. Returns false where the fit has no part in it.
    pub(super) fn begin_round(&mut self, lane: usize, fit: usize, all: &[T], start: &mut [T; N]) -> bool {
        let Some(robust) = &mut self.robust else { return true };
        let energy = self.energies.as_slice()[lane];
        let least = least_scale((energy + energy).sqrt());
        let deviation = || mad_scale(&self.data.residuals(self.model, fit, all));
        // Where all responses are zero, residuals have no scale.
        energy > T::ZERO && robust.begin(lane, fit, least, start, deviation)
    }

    /// Sets the scale of the loss in a lane.
    pub(super) fn set_scale(&mut self, lane: usize) {
        if let (Some(robust), LaneLikelihood::Robust(loss)) = (&self.robust, &mut self.work.points.likelihood) {
            loss.scales.as_mut_slice()[lane] = robust.scale(lane);
        }
    }

    /// Takes the result of a round of a robust fit.
    pub(super) fn end_round(&mut self, fit: usize, lane: usize, arrival: &LaneResult<T, N>) {
        let free = &arrival.x[..self.data.free_count()];
        let all = match &mut self.free {
            None => free.to_vec(),
            Some(map) => map.at(lane, free).0.to_vec(),
        };
        let (Some(robust), LaneLikelihood::Robust(loss)) = (&mut self.robust, &self.work.points.likelihood) else {
            return;
        };
        let is_here = free.iter().zip(&self.evaluated).all(|(x, evaluated)| *x == evaluated.as_slice()[lane]);
        let deviation = if is_here {
            let weights = self.work.points.weights.iter().map(|weight| weight.as_slice()[lane] != T::ZERO);
            let takes_part = weights.chain(repeat(true));
            let points = loss.residuals.iter().zip(takes_part).filter(|(_, takes_part)| *takes_part);
            self.sizes.clear();
            self.sizes.extend(points.map(|(residual, _)| residual.as_slice()[lane].abs()));
            mad_scale_of_sizes(&mut self.sizes)
        } else {
            mad_scale(&self.data.residuals(self.model, fit, &all))
        };
        let is_converged = arrival.status == FitStatus::Converged;
        let solved = Solved { is_converged, free, iterations: arrival.iterations, deviation };
        if robust.advance(lane, &solved) {
            robust.keep(lane, &all, &arrival.held[..free.len()], arrival.cost);
        } else if arrival.status == FitStatus::Cancelled {
            self.outcomes.refuse(fit, FitStatus::Cancelled, &all);
        }
    }

    /// Stores the results of robust fits: covariances are those of the residuals before any loss weighs them.
    pub(super) fn store_robust(&mut self) {
        let Some(robust) = self.robust.take() else { return };
        self.work.points.likelihood = LaneLikelihood::Gaussian;
        let found: Vec<_> = robust.found().collect();
        for found in found.chunks(R::LANES) {
            let mut x = [Lanes::splat(T::ZERO); N];
            for (lane, (fit, found)) in found.iter().enumerate() {
                // It had data before.
                _ = self.load_fit(lane, *fit);
                let free = match &mut self.free {
                    None => array_of(|j| found.parameters.get(j).copied().unwrap_or(T::ZERO)),
                    Some(free) => free.start(lane, &found.parameters),
                };
                (0..N).for_each(|j| x[j].as_mut_slice()[lane] = free[j]);
            }
            let grams: Vec<_> = {
                let sums = self.sums(&x);
                (0..found.len()).map(|lane| sums.gram_of_lane(lane)).collect()
            };
            for (lane, ((fit, found), gram)) in found.iter().zip(grams).enumerate() {
                let residuals = self.data.residuals(self.model, *fit, &found.parameters);
                let sums = RobustSums::over(robust.final_loss(), found.scale, &residuals);
                let held: [bool; N] = array_of(|j| found.held.get(j).copied().unwrap_or(false));
                let rank = found.held.iter().filter(|&&held| !held).count();
                // Where it makes no sense, a fit by itself says so.
                if let Some(variance) = sums.variance(rank) {
                    let x = x.map(|x| x.as_slice()[lane]);
                    let (cost, status, iterations) = (found.cost, FitStatus::Converged, found.iterations);
                    self.finish(*fit, lane, &LaneResult { x, cost, gram, held, status, iterations }, Some(variance));
                }
            }
        }
    }
}
