//! A few hundred fits of more than a few parameters, which one thread does in lockstep.
//!
//! Points are evaluated tile by tile, and differentiated in reverse; the products of their derivatives are summed afterwards.

use std::mem;

use super::any_model::AnyModel;
use super::block::Crew;
use super::outcomes::Outcomes;
use super::point_sums::Points;
use super::study::Study;
use crate::curve::reverse_tile::{ReverseTile, TILE};
use crate::kernels::lanes::{LaneKernel, Lanes, Register};
use crate::kernels::registers::Registers;
use crate::solver::lockstep::{Arrival, Fleet, Sums, Tile, solve_fleet};
use crate::Real;

/// The most parameters of fits in lockstep.
pub(super) const MOST: usize = 16;

/// The same solver is for fewer parameters, in less time.
const FEWER: usize = 12;

/// Does a block of fits of at most [`MOST`] parameters.
pub(super) struct TiledBlock<'s, 'a, 'o, T: Real> {
    pub(super) study: &'s Study<'a, T>,
    pub(super) model: &'s dyn AnyModel<T>,
    pub(super) registers: Registers,
    pub(super) outcomes: &'s mut Outcomes<'o, T>,
}

impl<T: Real> LaneKernel<T> for TiledBlock<'_, '_, '_, T> {
    type Output = ();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run<R: Register<T>>(self) {
        let TiledBlock { study, model, registers, outcomes } = self;
        let mut crew = TiledCrew::<T, R>::new(Crew::new(study, model, registers, outcomes));
        if study.parameters <= FEWER {
            solve_fleet::<T, R, _, FEWER>(&mut crew, study.box_bounds().as_ref(), &study.patience);
        } else {
            solve_fleet::<T, R, _, MOST>(&mut crew, study.box_bounds().as_ref(), &study.patience);
        }
    }
}

/// The fits that are in the lanes, and a tile of their points.
struct TiledCrew<'s, 'a, 'o, T: Real, R> {
    crew: Crew<'s, 'a, 'o, T, R>,
    tile: ReverseTile<T, R>,
}

impl<'s, 'a, 'o, T: Real, R: Register<T>> TiledCrew<'s, 'a, 'o, T, R> {
    fn new(crew: Crew<'s, 'a, 'o, T, R>) -> Self {
        let tile = ReverseTile::new(crew.points.width, crew.study.parameters, MOST);
        TiledCrew { crew, tile }
    }
}

impl<T: Real, R: Register<T>, const N: usize> Fleet<T, R, N> for TiledCrew<'_, '_, '_, T, R> {
    fn board(&mut self, lane: usize) -> Option<(usize, [T; N])> {
        self.crew.board(lane)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn sums(&mut self, b: &[Lanes<T, R>; N]) -> Sums<T, R, N> {
        let TiledCrew { crew, tile } = self;
        let parameters = tile.b.len();
        tile.b.copy_from_slice(&b[..parameters]);
        tile.x = mem::take(&mut crew.points.x);
        let Points { y, weights, .. } = &crew.points;
        let mut sums = Sums::zero();
        let mut weights = weights.chunks(TILE);
        for (number, y) in y.chunks(TILE).enumerate() {
            (tile.first, tile.rows) = (number * TILE, y.len());
            crew.model.evaluate(crew.registers, tile);
            sums.add_tile(Tile {
                residuals: &mut tile.responses[..y.len()],
                derivatives: &mut tile.derivatives[..parameters.next_multiple_of(2)],
                y,
                weights: weights.next().unwrap_or_default(),
            });
        }
        crew.points.x = mem::take(&mut tile.x);
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
