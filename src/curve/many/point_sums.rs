//! Sums over the points of all fits in the lanes.

use std::mem;

use ndarray::ArrayView2;

use super::any_model::AnyModel;
use crate::autodiff::jet::Jet;
use crate::curve::Model;
use crate::curve::reverse_tile::{ReverseTile, TILE};
use crate::kernels::array::array_of;
use crate::kernels::lanes::{Lanes, Register, Routine};
use crate::kernels::registers::Registers;
use crate::number::Number;
use crate::real::Real;
use crate::solver::lockstep::{Sums, Tile, UNROLLED};

/// The points of the fits that are in the lanes.
pub(super) struct Points<T: Real, R: Register<T>> {
    /// Predictors, point after point; none where they are in parts.
    x: Vec<Lanes<T, R>>,
    /// Predictors in parts: for each point and each [part](Register::Part) of the registers, a row.
    parts: Vec<Lanes<T, R::Part>>,
    /// Predictors of a point, one at least.
    width: usize,
    /// Responses.
    pub(super) y: Vec<Lanes<T, R>>,
    /// Reciprocals of standard deviations, zero for points that do not take part; none where all are one.
    pub(super) weights: Vec<Lanes<T, R>>,
    /// Responses are counts, whose means the model gives.
    pub(super) of_counts: bool,
}

impl<T: Real, R: Register<T>> Points<T, R> {
    /// Parts of the registers.
    const PARTS: usize = R::LANES / R::Part::LANES;

    /// Creates so many points of `width` predictors, in parts or not; where there are none, NaN stands for the first.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn new(count: usize, width: usize, in_parts: bool, has_weights: bool, of_counts: bool) -> Self {
        let zero = Lanes::splat(T::ZERO);
        let x = if width == 0 { f64::NAN } else { 0.0 };
        let width = width.max(1);
        Points {
            x: vec![Lanes::from_f64(x); if in_parts { 0 } else { count * width }],
            parts: vec![Lanes::from_f64(x); if in_parts { count * width * Self::PARTS } else { 0 }],
            width,
            y: vec![zero; count],
            weights: vec![zero; if has_weights { count } else { 0 }],
            of_counts,
        }
    }

    /// Fills all lanes with the predictors of points that all fits share.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn share_predictors(&mut self, x: ArrayView2<'_, T>) {
        for (row, x) in self.x.chunks_exact_mut(self.width).zip(x.rows()) {
            row.iter_mut().zip(x).for_each(|(lanes, &x)| *lanes = Lanes::splat(x));
        }
        for (rows, x) in self.parts.chunks_exact_mut(Self::PARTS * self.width).zip(x.rows()) {
            for row in rows.chunks_exact_mut(self.width) {
                row.iter_mut().zip(x).for_each(|(lanes, &x)| *lanes = Lanes::splat(x));
            }
        }
    }

    /// A lane's predictor number `k` of a point.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn predictor_mut(&mut self, point: usize, k: usize, lane: usize) -> &mut T {
        if self.parts.is_empty() {
            return &mut self.x[point * self.width + k].as_mut_slice()[lane];
        }
        let (part, lane) = (lane / R::Part::LANES, lane % R::Part::LANES);
        &mut self.parts[(point * Self::PARTS + part) * self.width + k].as_mut_slice()[lane]
    }

    /// Gives a lane the predictors of a point that it has of the point before.
    pub(super) fn repeat_predictors(&mut self, point: usize, lane: usize) {
        for k in 0..self.width {
            *self.predictor_mut(point, k, lane) = *self.predictor_mut(point - 1, k, lane);
        }
    }
}

/// Points, parameters of up to `N`, and the sums over the points there.
pub(super) struct PointSums<T: Real, R: Register<T>, const N: usize> {
    pub(super) points: Points<T, R>,
    pub(super) b: [Lanes<T, R>; N],
    pub(super) sums: Sums<T, R, N>,
}

impl<T: Real, R: Register<T>, const N: usize> PointSums<T, R, N> {
    /// Works the sums out, by one function for each model and kind of registers.
    pub(super) fn fill<M: Model<T>>(&mut self, model: &M) {
        R::call(Summation { model, work: self });
    }

    /// Works the sums out tile by tile: points are differentiated in reverse, and the products of their derivatives summed afterwards.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn fill_in_tiles(
        &mut self,
        model: &dyn AnyModel<T>,
        registers: Registers,
        tile: &mut ReverseTile<T, R>,
    ) {
        let PointSums { points: Points { x, y, weights, of_counts, .. }, b, sums } = self;
        let parameters = tile.b.len();
        tile.b.copy_from_slice(&b[..parameters]);
        mem::swap(x, &mut tile.x);
        sums.clear();
        let mut weights = weights.chunks(TILE);
        for (number, y) in y.chunks(TILE).enumerate() {
            (tile.first, tile.rows) = (number * TILE, y.len());
            model.evaluate(registers, tile);
            sums.add_tile(Tile {
                residuals: &mut tile.responses[..y.len()],
                derivatives: &mut tile.derivatives[..parameters.next_multiple_of(2)],
                y,
                weights: weights.next().unwrap_or_default(),
                of_counts: *of_counts,
            });
        }
        mem::swap(x, &mut tile.x);
    }
}

/// Sums to be worked out.
struct Summation<'w, T: Real, R: Register<T>, M, const N: usize> {
    model: &'w M,
    work: &'w mut PointSums<T, R, N>,
}

impl<T: Real, R: Register<T>, M: Model<T>, const N: usize> Routine for Summation<'_, T, R, M, N> {
    type Output = ();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run(self) {
        let PointSums { points, b, sums } = self.work;
        if N <= UNROLLED {
            for part in 0..Points::<T, R>::PARTS {
                sums.set_part(part, &sum_part(self.model, points, b, part));
            }
        } else {
            sum_in_tiles(self.model, points, b, sums);
        }
    }
}

/// The parameters as variables.
#[cfg_attr(not(debug_assertions), inline(always))]
fn variables<T: Real, R: Register<T>, const N: usize>(b: &[Lanes<T, R>; N]) -> [Jet<T, R, N>; N] {
    let mut variables = [Jet::variable(b[0], 0); N];
    for j in 1..N {
        variables[j] = Jet::variable(b[j], j);
    }
    variables
}

/// Points whose products of derivatives are added together. They are independent of each other: their evaluations overlap.
const STRIP: usize = 4;

/// Returns sums of a few parameters in one part of the registers: strips of points are added as soon as they are differentiated.
#[cfg_attr(not(debug_assertions), inline(always))]
fn sum_part<T: Real, R: Register<T>, M: Model<T>, const N: usize>(
    model: &M,
    points: &Points<T, R>,
    b: &[Lanes<T, R>; N],
    part: usize,
) -> Sums<T, R::Part, N> {
    let variables = variables(&array_of(|j: usize| b[j].part(part)));
    let variables = &variables[..model.parameter_count().min(N)];
    let mut sums = Sums::zero(variables.len());
    let is_plain = points.weights.is_empty() && !points.of_counts;
    let strips = if is_plain { points.y.as_chunks::<STRIP>().0 } else { &[] };
    // A row that is known to be not empty is read without a branch, across which evaluations would not overlap.
    let width = points.width.max(1);
    let stride = Points::<T, R>::PARTS * width;
    for (x, y) in points.parts.chunks_exact(STRIP * stride).zip(strips) {
        let x = &x[part * width..];
        let (a, b) = (&x[..width], &x[stride..stride + width]);
        let (c, d) = (&x[2 * stride..2 * stride + width], &x[3 * stride..3 * stride + width]);
        let (a, b) = (model.response(a, variables), model.response(b, variables));
        let (c, d) = (model.response(c, variables), model.response(d, variables));
        sums.add_strip(&[a - y[0].part(part), b - y[1].part(part), c - y[2].part(part), d - y[3].part(part)]);
    }
    for point in strips.len() * STRIP..points.y.len() {
        let (response, y) = (
            model.response(&points.parts[point * stride + part * width..][..width], variables),
            points.y[point].part(part),
        );
        let weight = points.weights.get(point).map(|weight| weight.part(part));
        if points.of_counts {
            sums.add_count(&response, y, weight);
        } else {
            sums.add(&((response - y) * weight.unwrap_or(Lanes::splat(T::ONE))));
        }
    }
    sums
}

/// Fills sums that there are more of than registers: points are differentiated by tiles, and their products added by the one function
/// for all models.
#[cfg_attr(not(debug_assertions), inline(always))]
fn sum_in_tiles<T: Real, R: Register<T>, M: Model<T>, const N: usize>(
    model: &M,
    points: &Points<T, R>,
    b: &[Lanes<T, R>; N],
    sums: &mut Sums<T, R, N>,
) {
    let (variables, count) = (variables(b), model.parameter_count().min(N));
    let zero = Lanes::splat(T::ZERO);
    let (mut residuals, mut derivatives) = ([zero; TILE], [[zero; TILE]; N]);
    let mut weights = points.weights.chunks(TILE);
    sums.clear();
    for (x, y) in points.x.chunks(TILE * points.width).zip(points.y.chunks(TILE)) {
        for (row, x) in x.chunks_exact(points.width).enumerate() {
            let response = model.response(x, &variables[..count]);
            residuals[row] = response.value;
            for j in 0..N {
                derivatives[j][row] = response.gradient[j];
            }
        }
        sums.add_tile(Tile {
            residuals: &mut residuals[..y.len()],
            derivatives: &mut derivatives[..count.next_multiple_of(2)],
            y,
            weights: weights.next().unwrap_or_default(),
            of_counts: points.of_counts,
        });
    }
}
