//! Robust fits in lockstep: rounds of fits, in each of which a fit repeats until its scale is settled.

use std::sync::Arc;

use crate::curve::robust::{APPROACHES, MAX_FITS, Robustness, SHARP, ScaleIteration};
use crate::problem::{Loss, RobustLoss};
use crate::real::Real;

/// Share of the cost that a step must predict as its reduction, where a fit is no more than an approach.
const ROUGH: f64 = 1e-5;

/// The fits of a block, as [`CurveFit`](crate::CurveFit) makes them one by one.
pub(super) struct RobustFits<T> {
    robustness: Robustness<T>,
    round: Round,
    /// Number of the first fit.
    first: usize,
    fits: Vec<RobustFit<T>>,
    /// Search of the fit in each lane.
    searches: Vec<Search<T>>,
}

/// Round of fits, which all of a block finish before any begins the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// A fit with the scale that was given.
    Given,
    /// Least absolute deviations from the start.
    Approach,
    /// The loss, from where the approach ended.
    FromApproach,
    /// The loss, from the start.
    FromStart,
}

/// A fit over the rounds.
#[derive(Debug, Clone)]
struct RobustFit<T> {
    /// Standard deviation of the residuals at the start, but for outliers.
    at_start: Option<T>,
    /// Free parameters where the approach ended, and the standard deviation there.
    approach: Option<(Vec<T>, T)>,
    /// The fit with the smallest scale.
    found: Option<RobustFound<T>>,
    /// Trial steps of all rounds.
    iterations: usize,
}

/// Minimum under a robust loss.
#[derive(Debug, Clone)]
pub(super) struct RobustFound<T> {
    /// All parameters.
    pub(super) parameters: Vec<T>,
    /// For each free parameter, true if a bound holds it.
    pub(super) held: Vec<bool>,
    pub(super) cost: T,
    pub(super) scale: T,
    /// Trial steps until here.
    pub(super) iterations: usize,
}

/// Search for the scale of a fit in a lane.
#[derive(Debug, Clone)]
struct Search<T> {
    fit: usize,
    iteration: ScaleIteration<T>,
    least: T,
    fits: usize,
    /// Free parameters where the next fit begins.
    next: Option<Vec<T>>,
}

/// Result of a fit with one scale.
pub(super) struct Solved<'s, T> {
    pub(super) is_converged: bool,
    pub(super) free: &'s [T],
    pub(super) iterations: usize,
    /// Standard deviation of the residuals, but for outliers.
    pub(super) deviation: T,
}

impl<T: Real> RobustFits<T> {
    /// Begins the first round of this many fits.
    pub(super) fn new(robustness: Robustness<T>, first: usize, count: usize, lanes: usize) -> Self {
        let round = if robustness.scale.is_some() { Round::Given } else { Round::Approach };
        let fit = RobustFit { at_start: None, approach: None, found: None, iterations: 0 };
        let iteration = ScaleIteration::begin(T::ONE);
        let search = Search { fit: first, iteration, least: T::ZERO, fits: 0, next: None };
        RobustFits { robustness, round, first, fits: vec![fit; count], searches: vec![search; lanes] }
    }

    /// Goes on to the next round. Returns false after the last.
    pub(super) fn next_round(&mut self) -> bool {
        self.round = match self.round {
            Round::Approach => Round::FromApproach,
            Round::FromApproach => Round::FromStart,
            Round::Given | Round::FromStart => return false,
        };
        true
    }

    /// The smallest tolerance of the costs in this round.
    pub(super) fn least_ftol(&self) -> T {
        if self.round == Round::Approach { T::from_f64(ROUGH) } else { T::ZERO }
    }

    /// The loss of this round.
    pub(super) fn loss(&self) -> Arc<dyn RobustLoss<T>> {
        if self.round == Round::Approach { Arc::new(Loss::SoftL1) } else { self.robustness.loss.clone() }
    }

    /// The loss that was asked for.
    pub(super) fn final_loss(&self) -> &dyn RobustLoss<T> {
        &*self.robustness.loss
    }

    /// The minima that were found, with the numbers of their fits.
    pub(super) fn found(&self) -> impl Iterator<Item = (usize, &RobustFound<T>)> {
        self.fits.iter().enumerate().filter_map(|(index, fit)| Some((self.first + index, fit.found.as_ref()?)))
    }

    /// The scale of the fit in a lane.
    pub(super) fn scale(&self, lane: usize) -> T {
        self.searches[lane].iteration.scale
    }

    /// Takes the next start of the fit in a lane, if that goes on in this round.
    pub(super) fn take_next(&mut self, lane: usize) -> Option<(usize, Vec<T>)> {
        let search = &mut self.searches[lane];
        Some((search.fit, search.next.take()?))
    }

    /// Begins the search of a fit in a lane, given the smallest scale and a function for the standard deviation at the start; `start` may
    /// move. Returns false where the fit has no part in this round.
    pub(super) fn begin(
        &mut self,
        lane: usize,
        fit: usize,
        least: T,
        start: &mut [T],
        deviation: impl FnOnce() -> T,
    ) -> bool {
        let tuning = self.tuning();
        let state = &mut self.fits[fit - self.first];
        let scale = match (self.robustness.scale, self.round) {
            (Some(scale), _) => scale,
            (None, Round::FromApproach) => {
                let Some((at, deviation)) = &state.approach else { return false };
                start[..at.len()].copy_from_slice(at);
                (tuning * *deviation).max(least)
            }
            (None, _) => (tuning * *state.at_start.get_or_insert_with(deviation)).max(least),
        };
        let is_scale = scale > T::ZERO && scale.is_finite();
        if is_scale {
            let iteration = ScaleIteration::begin(scale);
            self.searches[lane] = Search { fit, iteration, least, fits: 0, next: None };
        }
        is_scale
    }

    /// Scale for residuals whose standard deviation is one.
    fn tuning(&self) -> T {
        if self.round == Round::Approach { T::from_f64(SHARP) } else { self.robustness.loss.tuning() }
    }

    /// Takes the result of the fit in a lane, which goes on from there unless its scale is settled. Returns true where the result is a
    /// candidate for the [minimum](Self::keep).
    pub(super) fn advance(&mut self, lane: usize, solved: &Solved<'_, T>) -> bool {
        let tuning = self.tuning();
        let search = &mut self.searches[lane];
        let state = &mut self.fits[search.fit - self.first];
        state.iterations += solved.iterations;
        search.fits += 1;
        if self.round == Round::Given {
            return solved.is_converged;
        }
        let scale = search.iteration.scale;
        let goes_on = solved.is_converged && search.iteration.advance((tuning * solved.deviation).max(search.least));
        let most = if self.round == Round::Approach { APPROACHES } else { MAX_FITS };
        if goes_on && search.fits < most {
            search.next = Some(solved.free.to_vec());
            return false;
        }
        search.iteration.scale = scale;
        if self.round == Round::Approach {
            state.approach = Some((solved.free.to_vec(), solved.deviation));
            return false;
        }
        solved.is_converged && !goes_on && state.found.as_ref().is_none_or(|found| scale < found.scale)
    }

    /// Keeps the result of the fit in a lane as the minimum: that of the smallest scale so far.
    pub(super) fn keep(&mut self, lane: usize, parameters: &[T], held: &[bool], cost: T) {
        let Search { fit, iteration: ScaleIteration { scale, .. }, .. } = self.searches[lane];
        let state = &mut self.fits[fit - self.first];
        let (parameters, held) = (parameters.to_vec(), held.to_vec());
        state.found = Some(RobustFound { parameters, held, cost, scale, iterations: state.iterations });
    }
}
