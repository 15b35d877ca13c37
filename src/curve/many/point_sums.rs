//! Sums over the points of all fits in the lanes.

use ndarray::ArrayView2;

use super::any_model::AnyModel;
use crate::autodiff::jet::Jet;
use crate::curve::Model;
use crate::curve::reverse_tile::{ReverseTile, TILE};
use crate::kernels::lanes::{Lanes, Register, Routine};
use crate::kernels::registers::Registers;
use crate::number::Number;
use crate::problem::room_for;
use crate::real::Real;
use crate::solver::lockstep::{Sums, Tile, UNROLLED};

/// The points of the fits that are in the lanes.
pub(super) struct Points<T: Real, R: Register<T>> {
    /// Predictors: for each point and each [part](Register::Part) of the registers, a row.
    x: Vec<Lanes<T, R::Part>>,
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

    /// Creates so many points of `width` predictors; where there are none, NaN stands for the first.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn new(count: usize, width: usize, has_weights: bool, of_counts: bool) -> Self {
        let zero = Lanes::splat(T::ZERO);
        let x = Lanes::from_f64(if width == 0 { f64::NAN } else { 0.0 });
        let width = width.max(1);
        Points {
            x: vec![x; count * width * Self::PARTS],
            width,
            y: vec![zero; count],
            weights: vec![zero; if has_weights { count } else { 0 }],
            of_counts,
        }
    }

    /// Fills all lanes with the predictors of points that all fits share.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn share_predictors(&mut self, x: ArrayView2<'_, T>) {
        for (rows, x) in self.x.chunks_exact_mut(Self::PARTS * self.width).zip(x.rows()) {
            for row in rows.chunks_exact_mut(self.width) {
                row.iter_mut().zip(x).for_each(|(lanes, &x)| *lanes = Lanes::splat(x));
            }
        }
    }

    /// A lane's predictors of a point.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn predictors_mut(&mut self, point: usize, lane: usize) -> impl Iterator<Item = &mut T> {
        let (part, lane) = (lane / R::Part::LANES, lane % R::Part::LANES);
        let first = (point * Self::PARTS + part) * self.width;
        self.x[first..first + self.width].iter_mut().map(move |lanes| &mut lanes.as_mut_slice()[lane])
    }

    /// Gives a lane the predictors of a point that it has of the point before.
    pub(super) fn repeat_predictors(&mut self, point: usize, lane: usize) {
        let (part, lane) = (lane / R::Part::LANES, lane % R::Part::LANES);
        let first = (point * Self::PARTS + part) * self.width;
        for entry in first..first + self.width {
            self.x[entry].as_mut_slice()[lane] = self.x[entry - Self::PARTS * self.width].as_slice()[lane];
        }
    }

    /// Predictors of a point in one part of the registers.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn part(&self, point: usize, part: usize) -> &[Lanes<T, R::Part>] {
        &self.x[(point * Self::PARTS + part) * self.width..][..self.width]
    }

    /// Predictors of a point.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn gather(&self, point: usize, predictors: &mut [Lanes<T, R>]) {
        for part in 0..Self::PARTS {
            for (lanes, &x) in predictors.iter_mut().zip(self.part(point, part)) {
                lanes.set_part(part, x);
            }
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
        let PointSums { points, b, sums } = self;
        let parameters = tile.b.len();
        tile.b.copy_from_slice(&b[..parameters]);
        tile.x.resize(TILE * points.width, Lanes::splat(T::ZERO));
        sums.clear();
        let mut weights = points.weights.chunks(TILE);
        for (number, y) in points.y.chunks(TILE).enumerate() {
            tile.rows = y.len();
            for (row, x) in tile.x.chunks_exact_mut(points.width).take(y.len()).enumerate() {
                points.gather(number * TILE + row, x);
            }
            model.evaluate(registers, tile);
            sums.add_tile(Tile {
                residuals: &mut tile.responses[..y.len()],
                derivatives: &mut tile.derivatives[..parameters.next_multiple_of(2)],
                y,
                weights: weights.next().unwrap_or_default(),
                of_counts: points.of_counts,
            });
        }
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
        let count = self.model.parameter_count().min(N);
        if N <= UNROLLED {
            for part in 0..Points::<T, R>::PARTS {
                let mut variables = [Jet::<T, R::Part, N>::variable(b[0].part(part), 0); N];
                for j in 1..N {
                    variables[j] = Jet::variable(b[j].part(part), j);
                }
                sums.set_part(part, &sum_part(self.model, points, &variables[..count], part));
            }
        } else {
            let mut variables = [Jet::<T, R, N>::variable(b[0], 0); N];
            for j in 1..N {
                variables[j] = Jet::variable(b[j], j);
            }
            sum_in_tiles(self.model, points, &variables[..count], sums);
        }
    }
}

/// Points whose products of derivatives are added together. They are independent of each other: their evaluations overlap.
const STRIP: usize = 4;

/// Returns sums of a few parameters in one part of the registers: strips of points are added as soon as they are differentiated.
#[cfg_attr(not(debug_assertions), inline(always))]
fn sum_part<T: Real, R: Register<T>, M: Model<T>, const N: usize>(
    model: &M,
    points: &Points<T, R>,
    variables: &[Jet<T, R::Part, N>],
    part: usize,
) -> Sums<T, R::Part, N> {
    let mut sums = Sums::zero(variables.len());
    let is_plain = points.weights.is_empty() && !points.of_counts;
    let strips = if is_plain { points.y.as_chunks::<STRIP>().0 } else { &[] };
    // A row that is known to be not empty is read without a branch, across which evaluations would not overlap.
    let width = points.width.max(1);
    let stride = Points::<T, R>::PARTS * width;
    for (x, y) in points.x.chunks_exact(STRIP * stride).zip(strips) {
        let x = &x[part * width..];
        let (a, b) = (&x[..width], &x[stride..stride + width]);
        let (c, d) = (&x[2 * stride..2 * stride + width], &x[3 * stride..3 * stride + width]);
        let (a, b) = (model.response(a, variables), model.response(b, variables));
        let (c, d) = (model.response(c, variables), model.response(d, variables));
        sums.add_strip(&[a - y[0].part(part), b - y[1].part(part), c - y[2].part(part), d - y[3].part(part)]);
    }
    for point in strips.len() * STRIP..points.y.len() {
        let (response, y) = (model.response(points.part(point, part), variables), points.y[point].part(part));
        let weight = points.weights.get(point).map(|weight| weight.part(part));
        if points.of_counts {
            sums.add_count(&response, y, weight);
        } else {
            sums.add(&((response - y) * weight.unwrap_or(Lanes::splat(T::ONE))));
        }
    }
    sums
}

/// Predictors on the stack.
const FEW: usize = 8;

/// Fills sums that there are more of than registers: points are differentiated by tiles, and their products added by the one function
/// for all models.
#[cfg_attr(not(debug_assertions), inline(always))]
fn sum_in_tiles<T: Real, R: Register<T>, M: Model<T>, const N: usize>(
    model: &M,
    points: &Points<T, R>,
    variables: &[Jet<T, R, N>],
    sums: &mut Sums<T, R, N>,
) {
    let zero = Lanes::splat(T::ZERO);
    let (mut residuals, mut derivatives) = ([zero; TILE], [[zero; TILE]; N]);
    let mut weights = points.weights.chunks(TILE);
    sums.clear();
    let (mut few_x, mut many_x) = ([zero; FEW], Vec::new());
    let x = room_for(points.width, &mut few_x, &mut many_x);
    for (number, y) in points.y.chunks(TILE).enumerate() {
        for row in 0..y.len() {
            points.gather(number * TILE + row, x);
            let response = model.response(x, variables);
            residuals[row] = response.value;
            for j in 0..N {
                derivatives[j][row] = response.gradient[j];
            }
        }
        sums.add_tile(Tile {
            residuals: &mut residuals[..y.len()],
            derivatives: &mut derivatives[..variables.len().next_multiple_of(2)],
            y,
            weights: weights.next().unwrap_or_default(),
            of_counts: points.of_counts,
        });
    }
}
