//! A few hundred fits of more than a few parameters, which one thread does in lockstep.
//!
//! Points are evaluated tile by tile, and differentiated in reverse; the products of their derivatives are summed afterwards.

use std::mem;

use super::any_model::AnyModel;
use super::block::Crew;
use super::outcomes::Outcomes;
use super::point_sums::{PointSums, Points};
use super::study::Study;
use crate::Real;
use crate::curve::reverse_tile::{ReverseTile, TILE};
use crate::kernels::lanes::{LaneKernel, Lanes, Register};
use crate::kernels::registers::Registers;
use crate::solver::lockstep::{Arrival, Fleet, Sums, Tile, solve_fleet};

/// The most parameters of fits in lockstep.
pub(super) const MOST: usize = 16;

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
        let mut crew = TiledCrew::<T, R, MOST>::new(Crew::new(study, model, registers, outcomes));
        solve_fleet(&mut crew, study.box_bounds().as_ref(), &study.patience);
    }
}

/// The fits that are in the lanes, and a tile of their points.
struct TiledCrew<'s, 'a, 'o, T: Real, R, const N: usize> {
    crew: Crew<'s, 'a, 'o, T, R, N>,
    tile: ReverseTile<T, R>,
}

impl<'s, 'a, 'o, T: Real, R: Register<T>, const N: usize> TiledCrew<'s, 'a, 'o, T, R, N> {
    fn new(crew: Crew<'s, 'a, 'o, T, R, N>) -> Self {
        let tile = ReverseTile::new(crew.work.points.width, crew.study.parameters, N);
        TiledCrew { crew, tile }
    }
}

impl<T: Real, R: Register<T>, const N: usize> Fleet<T, R, N> for TiledCrew<'_, '_, '_, T, R, N> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn parameter_count(&self) -> usize {
        self.crew.study.parameters
    }

    fn board(&mut self, lane: usize) -> Option<(usize, [T; N])> {
        self.crew.board(lane)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn sums(&mut self, b: &[Lanes<T, R>; N]) -> &Sums<T, R, N> {
        let TiledCrew { crew, tile } = self;
        let parameters = tile.b.len();
        tile.b.copy_from_slice(&b[..parameters]);
        let PointSums { points: Points { x, y, weights, .. }, sums, .. } = &mut crew.work;
        mem::swap(x, &mut tile.x);
        *sums = Sums::zero(parameters);
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
        mem::swap(x, &mut tile.x);
        sums
    }

    fn energies(&self) -> Lanes<T, R> {
        self.crew.energies()
    }

    fn leave(&mut self, problem: usize, lane: usize, arrival: Arrival<T, N>) {
        self.crew.leave(problem, lane, arrival);
    }

    fn is_cancelled(&self) -> bool {
        self.crew.study.is_cancelled()
    }
}
