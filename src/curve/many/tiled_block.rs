//! A few hundred fits of more than a few parameters, which one thread does in lockstep.
//!
//! Points are evaluated tile by tile, and differentiated in reverse; the products of their derivatives are summed afterwards. All
//! that is compiled for each model is the evaluation: the solver and the sums are the same functions for all models.

use super::block::Crew;
use super::outcomes::Outcomes;
use super::study::Study;
use crate::curve::reverse_rows::{Reverse, ReverseRows};
use crate::kernels::lanes::{LaneKernel, Lanes, Register};
use crate::solver::lockstep::{Arrival, Fleet, Sums, Tile, solve_any_fleet};
use crate::{Model, Number, Real};

/// The most parameters of fits in lockstep.
pub(super) const MOST: usize = 16;

/// The same solver is for fewer parameters, in less time.
const FEWER: usize = 12;

/// Points of a tile: their derivatives stay in the nearest cache.
const TILE: usize = 8;

/// Does a block of fits of at most [`MOST`] parameters.
pub(super) struct TiledBlock<'s, 'a, 'o, T: Real, M> {
    pub(super) study: &'s Study<'a, T, M>,
    pub(super) outcomes: &'s mut Outcomes<'o, T>,
}

impl<T: Real, M: Model<T>> LaneKernel<T> for TiledBlock<'_, '_, '_, T, M> {
    type Output = ();

    fn run<R: Register<T>>(self) {
        let (study, outcomes) = (self.study, self.outcomes);
        let mut crew = TiledCrew::<T, R, M>::new(Crew::new(study, outcomes));
        if study.model.parameter_count() <= FEWER {
            solve_any_fleet::<T, R, FEWER>(&mut crew, study.box_bounds().as_ref(), &study.patience);
        } else {
            solve_any_fleet::<T, R, MOST>(&mut crew, study.box_bounds().as_ref(), &study.patience);
        }
    }
}

/// The fits that are in the lanes, and room for a tile of their points.
struct TiledCrew<'s, 'a, 'o, T: Real, R, M> {
    crew: Crew<'s, 'a, 'o, T, R, M>,
    reverse: Reverse<T, R>,
    /// Responses of the model.
    responses: [Lanes<T, R>; TILE],
    /// Their derivatives by each parameter, and zeros.
    derivatives: Vec<[Lanes<T, R>; TILE]>,
}

impl<'s, 'a, 'o, T: Real, R: Register<T>, M: Model<T>> TiledCrew<'s, 'a, 'o, T, R, M> {
    fn new(crew: Crew<'s, 'a, 'o, T, R, M>) -> Self {
        let zero = Lanes::splat(T::ZERO);
        let reverse = Reverse::new(crew.parameters);
        TiledCrew { crew, reverse, responses: [zero; TILE], derivatives: vec![[zero; TILE]; MOST] }
    }
}

impl<T: Real, R: Register<T>, M: Model<T>, const N: usize> Fleet<T, R, N> for TiledCrew<'_, '_, '_, T, R, M> {
    fn board(&mut self, lane: usize) -> Option<(usize, [T; N])> {
        self.crew.board(lane)
    }

    fn sums(&mut self, b: &[Lanes<T, R>; N]) -> Sums<T, R, N> {
        let Crew { study, parameters, width, ref x, ref y, ref weights, .. } = self.crew;
        self.reverse.set_parameters(&b[..parameters]);
        let mut sums = Sums::zero();
        let mut weights = weights.chunks(TILE);
        for (x, y) in x.chunks(TILE * width).zip(y.chunks(TILE)) {
            self.reverse.evaluate(&mut ReverseRows {
                model: &study.model,
                x,
                width,
                responses: &mut self.responses[..y.len()],
                derivatives: self.derivatives[..parameters].as_flattened_mut(),
                stride: TILE,
            });
            let residuals = &mut self.responses[..y.len()];
            let weights = weights.next().unwrap_or_default();
            sums.add_tile(Tile {
                residuals,
                derivatives: &mut self.derivatives[..parameters.next_multiple_of(2)],
                y,
                weights,
            });
        }
        sums
    }

    fn energies(&self) -> Lanes<T, R> {
        Fleet::<T, R, N>::energies(&self.crew)
    }

    fn leave(&mut self, problem: usize, lane: usize, arrival: Arrival<T, N>) {
        self.crew.leave(problem, lane, arrival);
    }

    fn is_cancelled(&self) -> bool {
        self.crew.study.is_cancelled()
    }
}
