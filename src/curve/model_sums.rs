//! Sums over many rows of a model, one in each lane of the widest registers, without rows of its Jacobian.

use std::any::Any;

use super::model_rows::PredictorRows;
use super::reverse_tile::{InTiles, ReverseTile, TILE, TileModel};
use crate::autodiff::jet::Jet;
use crate::curve::Model;
use crate::kernels::lanes::{LaneKernel, Lanes, Register, Routine};
use crate::kernels::registers::Registers;
use crate::kernels::vector::all_finite;
use crate::kernels::{underflow_guard, without_guard};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;
use crate::solver::lockstep::{LaneSums, PointTile};

/// Largest number of parameters: the sums of more leave the registers, and rows are as fast.
const MOST: usize = 8;

/// Rows of predictors, and the parameters of a model there.
#[derive(Clone, Copy)]
pub struct ModelRows<'a, T> {
    pub(super) x: &'a [T],
    pub(super) width: usize,
    pub(super) b: &'a [T],
    /// Standard deviations of the responses; none where all are one.
    pub(super) sigma: &'a [T],
}

/// What is summed.
#[derive(Clone, Copy)]
pub enum Summand<'a, T> {
    /// `JᵀJ` and `Jᵀr` of the residuals from these responses.
    Products { y: &'a [T] },
    /// `Jᵀw` of the second derivatives `w` along `v`, by differences to the responses a share `probe` of the way.
    Forcing { ahead: &'a [T], v: &'a [T], probe: T },
}

/// Sums over rows; only `vector` is filled by [`Summand::Forcing`].
pub struct ModelSums<'a, T> {
    /// Lower triangle of a matrix.
    pub(super) gram: &'a mut [T],
    pub(super) vector: &'a mut [T],
    pub(super) squares: T,
}

/// Adds the sums over the rows of a model; `false`, with nothing added, where they are not finite, or the model has too many parameters.
pub(super) fn add<T: Real, M: Model<T>>(
    model: &M,
    rows: ModelRows<'_, T>,
    summand: Summand<'_, T>,
    sums: &mut ModelSums<'_, T>,
) -> bool {
    let (n, registers) = (rows.b.len(), Registers::of_lanes());
    let by = |model: &dyn TileModel<T>, sums: &mut ModelSums<'_, T>| {
        T::run_in(registers, Summation { model, registers, rows, summand, sums })
    };
    match (model.as_program(), n) {
        (_, n) if n > MOST => false,
        (Some(program), _) => by(program, sums),
        _ if !M::IN_LANES => false,
        (None, 0..=4) => by(&Jets::<M, 4>(model), sums),
        (None, _) => by(&InTiles(model), sums),
    }
}

/// A model whose derivatives are carried along with each intermediate result, for up to `N` parameters.
struct Jets<'m, M, const N: usize>(&'m M);

impl<T: Real, M: Model<T>, const N: usize> TileModel<T> for Jets<'_, M, N> {
    fn evaluate(&self, registers: Registers, tile: &mut dyn Any) {
        T::run_in(registers, JetKernel::<M, N> { model: self.0, tile });
    }
}

struct JetKernel<'e, M, const N: usize> {
    model: &'e M,
    tile: &'e mut dyn Any,
}

impl<T: Real, M: Model<T>, const N: usize> LaneKernel<T> for JetKernel<'_, M, N> {
    type Output = ();

    fn run<R: Register<T>>(self) {
        if let Some(tile) = self.tile.downcast_mut::<ReverseTile<T, R>>() {
            R::call(JetTile::<T, R, M, N> { model: self.model, tile });
        }
    }
}

struct JetTile<'e, T, R, M, const N: usize> {
    model: &'e M,
    tile: &'e mut ReverseTile<T, R>,
}

impl<T: Real, R: Register<T>, M: Model<T>, const N: usize> Routine for JetTile<'_, T, R, M, N> {
    type Output = ();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run(self) {
        let ReverseTile { ref x, width, rows, ref b, ref mut responses, ref mut derivatives, .. } = *self.tile;
        let mut variables = [Jet::<T, R, N>::constant(Lanes::splat(T::ZERO)); N];
        for (j, variable) in variables.iter_mut().enumerate() {
            *variable = Jet::variable(b.get(j).copied().unwrap_or(Lanes::splat(T::ZERO)), j);
        }
        for (row, response) in responses[..rows].iter_mut().enumerate() {
            let found = self.model.response(&x[row * width..(row + 1) * width], &variables[..b.len()]);
            *response = found.value;
            for (derivatives, &derivative) in derivatives[..b.len()].iter_mut().zip(&found.gradient) {
                derivatives[row] = derivative;
            }
        }
    }
}

/// Sums over the tiles of a model, by one function for all models.
struct Summation<'a, 's, T: Real> {
    model: &'a dyn TileModel<T>,
    registers: Registers,
    rows: ModelRows<'a, T>,
    summand: Summand<'a, T>,
    sums: &'a mut ModelSums<'s, T>,
}

impl<T: Real> LaneKernel<T> for Summation<'_, '_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<R: Register<T>>(self) -> bool {
        let Summation { model, registers, rows: ModelRows { x, width, b, sigma }, summand, sums } = self;
        let n = b.len();
        let given = match summand {
            Summand::Products { y } => y,
            Summand::Forcing { ahead, .. } => ahead,
        };
        let mut tile = ReverseTile::<T, R>::take(width, n, n.next_multiple_of(2));
        tile.first = 0;
        for (lanes, &b) in tile.b.iter_mut().zip(b) {
            *lanes = Lanes::splat(b);
        }
        let mut of_lanes = LaneSums::<T, R, MOST>::begun(n);
        let mut forcing = [underflow_guard(); MOST];
        let [mut values, mut weights] = [[Lanes::splat(T::ZERO); TILE]; 2];
        let predictors = PredictorRows { x, width };
        for (number, given) in given.chunks(TILE * R::LANES).enumerate() {
            let first = number * TILE * R::LANES;
            tile.rows = given.len().div_ceil(R::LANES);
            predictors.fill(first, given.len(), &mut tile);
            model.evaluate(registers, &mut *tile);
            let rows = tile.rows;
            load(given, T::ZERO, &mut values[..rows]);
            let sigma = sigma.get(first..first + given.len()).unwrap_or(&[]);
            let weights = &mut weights[..if sigma.is_empty() { 0 } else { rows }];
            load(sigma, T::ONE, weights);
            weights.iter_mut().for_each(|sigma| *sigma = sigma.recip());
            let filled = given.len() - (rows - 1) * R::LANES;
            tile.responses[rows - 1].as_mut_slice()[filled..].fill(T::ZERO);
            tile.derivatives.iter_mut().for_each(|column| column[rows - 1].as_mut_slice()[filled..].fill(T::ZERO));
            match summand {
                Summand::Products { .. } => of_lanes.add_tile(PointTile {
                    residuals: &mut tile.responses[..rows],
                    derivatives: &mut tile.derivatives,
                    y: &values[..rows],
                    weights,
                    of_counts: false,
                }),
                Summand::Forcing { v, probe, .. } => {
                    R::call(ForcingTile {
                        tile: &mut tile,
                        ahead: &values[..rows],
                        v,
                        probe,
                        weights,
                        sums: &mut forcing,
                    });
                }
            }
        }
        tile.leave();
        let is_forcing = matches!(summand, Summand::Forcing { .. });
        let total = |lanes: &Lanes<T, R>| lanes.as_slice().iter().copied().sum::<T>();
        let (mut gram, mut vector, mut squares) = ([T::ZERO; MOST * MOST], [T::ZERO; MOST], T::ZERO);
        if is_forcing {
            vector.iter_mut().zip(&forcing).for_each(|(sum, &lanes)| *sum = total(&without_guard(lanes)));
        } else {
            of_lanes.finish();
            squares = of_lanes.total(&mut gram, &mut vector);
        }
        let is_finite = squares.is_finite() && all_finite(&gram) && all_finite(&vector);
        if is_finite {
            sums.squares += squares;
            sums.vector.iter_mut().zip(vector).for_each(|(sum, own)| *sum += own);
            for (sums, own) in sums.gram.chunks_exact_mut(n.max(1)).zip(gram.chunks_exact(MOST)) {
                sums.iter_mut().zip(own).for_each(|(sum, &own)| *sum += own);
            }
        }
        is_finite
    }
}

/// Loads entries side by side; others follow where there are none left.
#[inline(always)]
fn load<T: Real, R: Register<T>>(entries: &[T], others: T, lanes: &mut [Lanes<T, R>]) {
    for (lanes, entries) in lanes.iter_mut().zip(entries.chunks(R::LANES)) {
        let (filled, left) = lanes.as_mut_slice().split_at_mut(entries.len());
        filled.copy_from_slice(entries);
        left.fill(others);
    }
}

/// `Jᵀw` of a tile.
struct ForcingTile<'t, T, R> {
    tile: &'t mut ReverseTile<T, R>,
    ahead: &'t [Lanes<T, R>],
    v: &'t [T],
    probe: T,
    weights: &'t [Lanes<T, R>],
    sums: &'t mut [Lanes<T, R>; MOST],
}

impl<T: Real, R: Register<T>> Routine for ForcingTile<'_, T, R> {
    type Output = ();

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run(self) {
        let ForcingTile { tile, ahead, v, probe, weights, sums } = self;
        let (reciprocal, rows) = (Lanes::<T, R>::splat(T::ONE / probe), tile.rows);
        let second = &mut tile.responses;
        for (second, &ahead) in second.iter_mut().zip(ahead) {
            *second = (ahead - *second) * reciprocal;
        }
        for (column, &v) in tile.derivatives.iter().zip(v) {
            let v = Lanes::splat(-v);
            for row in 0..rows {
                second[row] = column[row].mul_add(v, second[row]);
            }
        }
        for second in &mut second[..rows] {
            *second *= reciprocal * T::from_f64(2.0);
        }
        for (second, &weight) in second.iter_mut().zip(weights) {
            *second *= weight * weight;
        }
        for (sum, column) in sums.iter_mut().zip(&tile.derivatives) {
            for row in 0..rows {
                *sum = column[row].mul_add(second[row], *sum);
            }
        }
    }
}
