//! A model at many rows of predictors, one in each lane of the widest registers.

use super::reverse_tile::{InTiles, ReverseTile, TILE, TileModel};
use crate::autodiff::jet::Jet;
use crate::curve::Model;
use crate::kernels::array::array_of;
use crate::kernels::lanes::{LaneKernel, Lanes, Register};
use crate::kernels::registers::Registers;
use crate::number::Number;
use crate::problem::scratch_for;
use crate::real::Real;
use crate::scalar::Scalar;

/// Fills `y` with the responses to rows of `width` predictors.
pub(in crate::curve) fn responses<T: Real, M: Model<T>>(model: &M, x: &[T], width: usize, b: &[T], y: &mut [T]) {
    T::run_in_lanes(ResponsesInLanes { model, x: PredictorRows { x, width }, b, y });
}

/// Fills `y` as [`responses`] does, and `jacobian` with their derivatives.
///
/// Few of them are carried along with each intermediate result; many are worked out backwards.
pub(super) fn linearize<T: Real, M: Model<T>>(
    model: &M,
    x: &[T],
    width: usize,
    b: &[T],
    y: &mut [T],
    jacobian: &mut [T],
) {
    match b.len() {
        0..=4 => forwards::<T, M, 4>(model, x, width, b, y, jacobian),
        5..=8 => forwards::<T, M, 8>(model, x, width, b, y, jacobian),
        _ => backwards(&InTiles(model), x, width, b, y, jacobian),
    }
}

/// [`linearize`] by dual numbers, for up to `N` parameters.
pub(in crate::curve) fn forwards<T: Real, M: Model<T>, const N: usize>(
    model: &M,
    x: &[T],
    width: usize,
    b: &[T],
    y: &mut [T],
    jacobian: &mut [T],
) {
    T::run_in_lanes(Forwards::<T, M, N> { model, x: PredictorRows { x, width }, b, y, jacobian });
}

/// [`linearize`] in reverse; [`responses`] where there is no room for derivatives.
pub(in crate::curve) fn backwards<T: Real>(
    model: &dyn TileModel<T>,
    x: &[T],
    width: usize,
    b: &[T],
    y: &mut [T],
    jacobian: &mut [T],
) {
    let registers = Registers::of_lanes();
    T::run_in(registers, Backwards { model, registers, x: PredictorRows { x, width }, b, y, jacobian });
}

/// Rows of predictors.
pub(super) struct PredictorRows<'a, T> {
    pub(super) x: &'a [T],
    pub(super) width: usize,
}

impl<T: Real> PredictorRows<'_, T> {
    /// Fills `lanes` with the predictors of the `count` rows from `first` on; the last of them fills up the lanes left over.
    #[inline(always)]
    fn gather<R: Register<T>>(&self, first: usize, count: usize, lanes: &mut [Lanes<T, R>]) {
        let rows = &self.x[first * self.width..(first + count) * self.width];
        for (k, lanes) in lanes.iter_mut().enumerate() {
            let lanes = lanes.as_mut_slice();
            if self.width == 1 && count == R::LANES {
                lanes.copy_from_slice(rows);
                continue;
            }
            let (filled, left) = lanes.split_at_mut(count);
            for (lane, row) in filled.iter_mut().zip(rows.chunks_exact(self.width)) {
                *lane = row[k];
            }
            left.fill(filled[count - 1]);
        }
    }

    /// Fills a tile, whose number of rows is set, with the predictors of the `count` rows from `first` on.
    #[inline(always)]
    pub(super) fn fill<R: Register<T>>(&self, first: usize, count: usize, tile: &mut ReverseTile<T, R>) {
        tile.x.resize(TILE * self.width, Lanes::splat(T::ZERO));
        for (row, lanes) in tile.x.chunks_exact_mut(self.width.max(1)).take(tile.rows).enumerate() {
            self.gather(first + row * R::LANES, R::LANES.min(count - row * R::LANES), lanes);
        }
    }
}

/// Predictors, and parameters without derivatives, on the stack.
const FEW: usize = 8;

struct ResponsesInLanes<'a, T, M> {
    model: &'a M,
    x: PredictorRows<'a, T>,
    b: &'a [T],
    y: &'a mut [T],
}

impl<T: Real, M: Model<T>> LaneKernel<T> for ResponsesInLanes<'_, T, M> {
    type Output = ();

    #[inline(always)]
    fn run<R: Register<T>>(self) {
        let (mut few_b, mut many_b) = ([Lanes::<T, R>::splat(T::ZERO); FEW], Vec::new());
        let b = scratch_for(self.b.len(), &mut few_b, &mut many_b);
        for (lanes, &b) in b.iter_mut().zip(self.b) {
            *lanes = Lanes::splat(b);
        }
        let (mut few_x, mut many_x) = ([Lanes::<T, R>::splat(T::ZERO); FEW], Vec::new());
        let x = scratch_for(self.x.width, &mut few_x, &mut many_x);
        for (block, y) in self.y.chunks_mut(R::LANES).enumerate() {
            self.x.gather(block * R::LANES, y.len(), x);
            let response = self.model.response(x, b);
            y.copy_from_slice(&response.as_slice()[..y.len()]);
        }
    }
}

struct Forwards<'a, T, M, const N: usize> {
    model: &'a M,
    x: PredictorRows<'a, T>,
    b: &'a [T],
    y: &'a mut [T],
    jacobian: &'a mut [T],
}

impl<T: Real, M: Model<T>, const N: usize> LaneKernel<T> for Forwards<'_, T, M, N> {
    type Output = ();

    #[inline(always)]
    fn run<R: Register<T>>(self) {
        let n = self.b.len();
        let mut b = [Jet::<T, R, N>::constant(Lanes::splat(T::ZERO)); N];
        for (j, b) in b.iter_mut().enumerate() {
            *b = Jet::variable(Lanes::splat(self.b.get(j).copied().unwrap_or(T::ZERO)), j);
        }
        let (mut few_x, mut many_x) = ([Lanes::<T, R>::splat(T::ZERO); FEW], Vec::new());
        let x = scratch_for(self.x.width, &mut few_x, &mut many_x);
        for (block, y) in self.y.chunks_mut(R::LANES).enumerate() {
            let first = block * R::LANES;
            self.x.gather(first, y.len(), x);
            let response = self.model.response(x, &b[..n]);
            y.copy_from_slice(&response.value.as_slice()[..y.len()]);
            scatter(&response.gradient, 1, &mut self.jacobian[first * n..(first + y.len()) * n], n);
        }
    }
}

struct Backwards<'a, T: Real> {
    model: &'a dyn TileModel<T>,
    registers: Registers,
    x: PredictorRows<'a, T>,
    b: &'a [T],
    y: &'a mut [T],
    jacobian: &'a mut [T],
}

impl<T: Real> LaneKernel<T> for Backwards<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<R: Register<T>>(self) {
        let (n, width) = (self.b.len(), self.x.width);
        let varies = !self.jacobian.is_empty();
        let mut tile = ReverseTile::<T, R>::take(width, n, if varies { n } else { 0 });
        for (lanes, &b) in tile.b.iter_mut().zip(self.b) {
            *lanes = Lanes::splat(b);
        }
        for (number, y) in self.y.chunks_mut(TILE * R::LANES).enumerate() {
            let first = number * TILE * R::LANES;
            tile.rows = y.len().div_ceil(R::LANES);
            self.x.fill(first, y.len(), &mut tile);
            self.model.evaluate(self.registers, &mut *tile);
            for (row, y) in y.chunks_mut(R::LANES).enumerate() {
                y.copy_from_slice(&tile.responses[row].as_slice()[..y.len()]);
                if varies {
                    let rows = first + row * R::LANES..first + row * R::LANES + y.len();
                    let gradient = &tile.derivatives.as_flattened()[row..];
                    scatter(gradient, TILE, &mut self.jacobian[rows.start * n..rows.end * n], n);
                }
            }
        }
        tile.leave();
    }
}

/// Columns whose derivatives are read together: those of all lanes stay in the nearest cache.
const COLUMNS: usize = 8;

/// Copies the first `n` derivatives of lane `l`, each in one of `stride` numbers, to row `l` of `rows`.
#[inline(always)]
fn scatter<T: Real, R: Register<T>>(gradient: &[Lanes<T, R>], stride: usize, rows: &mut [T], n: usize) {
    let whole = n - n % COLUMNS;
    for first in (0..whole).step_by(COLUMNS) {
        let columns: [&[T]; COLUMNS] = array_of(|k| gradient[(first + k) * stride].as_slice());
        for (l, row) in rows.chunks_exact_mut(n).take(R::LANES).enumerate() {
            if let Some(derivatives) = row[first..].first_chunk_mut::<COLUMNS>() {
                *derivatives = array_of(|k| columns[k][l]);
            }
        }
    }
    for (l, row) in rows.chunks_exact_mut(n.max(1)).take(R::LANES).enumerate() {
        let left = gradient.iter().step_by(stride).skip(whole);
        for (derivative, gradient) in row[whole..].iter_mut().zip(left) {
            *derivative = gradient.as_slice()[l];
        }
    }
}
