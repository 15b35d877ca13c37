//! Sums over the points of all fits in the lanes.

use std::mem;

use super::erased_model::ErasedModel;
use crate::autodiff::jet::Jet;
use crate::curve::Model;
use crate::curve::reverse_tile::{ReverseTile, TILE};
use crate::kernels::lanes::{Lanes, Register, Routine};
use crate::kernels::registers::Registers;
use crate::number::Number;
use crate::real::Real;
use crate::solver::lockstep::{LaneLikelihood, LaneSums, PointTile, UNROLLED};

/// The points of the fits that are in the lanes.
pub(super) struct LanePoints<T, R> {
    /// Predictors, point after point.
    pub(super) x: Vec<Lanes<T, R>>,
    /// Predictors of a point.
    pub(super) width: usize,
    /// Responses.
    pub(super) y: Vec<Lanes<T, R>>,
    /// Reciprocals of standard deviations, zero for points that do not take part; none where all are one.
    pub(super) weights: Vec<Lanes<T, R>>,
    /// Likelihood of the responses.
    pub(super) likelihood: LaneLikelihood<T, R>,
}

/// Points, parameters of up to `N`, and the sums over the points there.
pub(super) struct PointSums<T, R, const N: usize> {
    pub(super) points: LanePoints<T, R>,
    pub(super) b: [Lanes<T, R>; N],
    pub(super) sums: LaneSums<T, R, N>,
}

impl<T: Real, R: Register<T>, const N: usize> PointSums<T, R, N> {
    /// Works the sums out, by one function for each model and kind of registers.
    pub(super) fn fill<M: Model<T>>(&mut self, model: &M) {
        R::call(Summation { model, work: self });
    }

    /// Works the sums out tile by tile: points are differentiated in reverse, and the products of their derivatives summed afterwards.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn fill_in_tiles(
        &mut self,
        model: &dyn ErasedModel<T>,
        registers: Registers,
        tile: &mut ReverseTile<T, R>,
    ) {
        let PointSums { points: LanePoints { x, y, weights, likelihood, .. }, b, sums } = self;
        let parameters = tile.b.len();
        tile.b.copy_from_slice(&b[..parameters]);
        mem::swap(x, &mut tile.x);
        sums.begin();
        let mut weights = weights.chunks(TILE);
        for (number, y) in y.chunks(TILE).enumerate() {
            (tile.first, tile.rows) = (number * TILE, y.len());
            model.evaluate(registers, tile);
            sums.add_tile(PointTile {
                residuals: &mut tile.responses[..y.len()],
                derivatives: &mut tile.derivatives[..parameters.next_multiple_of(2)],
                y,
                weights: weights.next().unwrap_or_default(),
                likelihood,
            });
        }
        sums.finish();
        mem::swap(x, &mut tile.x);
    }
}

/// Sums to be worked out.
struct Summation<'w, T, R, M, const N: usize> {
    model: &'w M,
    work: &'w mut PointSums<T, R, N>,
}

impl<T: Real, R: Register<T>, M: Model<T>, const N: usize> Routine for Summation<'_, T, R, M, N> {
    type Output = ();

    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn run(self) {
        let PointSums { points, b, sums } = self.work;
        let mut variables = [Jet::<T, R, N>::variable(b[0], 0); N];
        for j in 1..N {
            variables[j] = Jet::variable(b[j], j);
        }
        let variables = &variables[..self.model.parameter_count().min(N)];
        if N <= UNROLLED && matches!(points.likelihood, LaneLikelihood::Gaussian) {
            sum_in_registers(self.model, points, variables, sums);
        } else {
            sum_in_tiles(self.model, points, variables, sums);
        }
    }
}

/// Fills sums of squares that there are registers for: points are added as soon as they are differentiated.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn sum_in_registers<T: Real, R: Register<T>, M: Model<T>, const N: usize>(
    model: &M,
    points: &LanePoints<T, R>,
    variables: &[Jet<T, R, N>],
    total: &mut LaneSums<T, R, N>,
) {
    let mut sums = LaneSums::begun(variables.len());
    let LanePoints { x, width, y, weights, .. } = points;
    let rows = x.chunks_exact(*width).zip(y);
    if weights.is_empty() {
        // Two at a time: their evaluations overlap, and the sums that are not in registers are loaded and stored half as often. A row
        // that is known to be not empty is read without a branch in between.
        let width = (*width).max(1);
        let (pairs, _) = y.as_chunks::<2>();
        for (x, &[first, second]) in x.chunks_exact(2 * width).zip(pairs) {
            let (x, next) = x.split_at(width);
            let (response, next) = (model.response(x, variables), model.response(next, variables));
            sums.add(&[response - first, next - second]);
        }
        for (x, &y) in rows.skip(2 * pairs.len()) {
            sums.add(&[model.response(x, variables) - y]);
        }
    } else {
        for ((x, &y), &weight) in rows.zip(weights) {
            sums.add(&[(model.response(x, variables) - y) * weight]);
        }
    }
    sums.finish();
    *total = sums;
}

/// Fills sums under any likelihood, of any number: points are differentiated by tiles, and their products added by the one function for all
/// models.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn sum_in_tiles<T: Real, R: Register<T>, M: Model<T>, const N: usize>(
    model: &M,
    points: &mut LanePoints<T, R>,
    variables: &[Jet<T, R, N>],
    sums: &mut LaneSums<T, R, N>,
) {
    let zero = Lanes::splat(T::ZERO);
    let (mut residuals, mut derivatives) = ([zero; TILE], [[zero; TILE]; N]);
    let LanePoints { x, width, y, weights, likelihood } = points;
    let mut weights = weights.chunks(TILE);
    sums.begin();
    for (x, y) in x.chunks(TILE * *width).zip(y.chunks(TILE)) {
        for (row, x) in x.chunks_exact(*width).enumerate() {
            let response = model.response(x, variables);
            residuals[row] = response.value;
            for j in 0..N {
                derivatives[j][row] = response.gradient[j];
            }
        }
        sums.add_tile(PointTile {
            residuals: &mut residuals[..y.len()],
            derivatives: &mut derivatives[..variables.len().next_multiple_of(2)],
            y,
            weights: weights.next().unwrap_or_default(),
            likelihood,
        });
    }
    sums.finish();
}
