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
use crate::solver::lockstep::{LaneLikelihood, LaneSums, PointTile};

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

/// The sums that are added, and what they take.
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

    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
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
                    likelihood: &mut LaneLikelihood::Gaussian,
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

    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Curve;
    use crate::curve::model::FromModel;
    use crate::kernels::registers::tests::in_all;
    use crate::number::ScalarOf;

    /// `Σ_k b_k cos(k x₁) + b_0 e^(−x₂ b_0)`, of any number of parameters.
    struct Waves(usize);

    impl<T: Real> Model<T> for Waves {
        fn parameter_count(&self) -> usize {
            self.0
        }

        fn response<S: ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> S {
            let mut sum = b[0] * (-b[0] * x[1]).exp();
            for (k, &b) in b.iter().enumerate() {
                sum += b * b * (x[0] * T::from_f64(k as f64)).cos();
            }
            sum
        }
    }

    fn numbers<T: Real>(count: usize, frequency: f64) -> Vec<T> {
        (0..count).map(|i| T::from_f64(1.0 + (frequency * i as f64).sin())).collect()
    }

    /// Rows that fill tiles and lanes, and those that do not.
    fn sums_are_those_of_rows<T: Real>(n: usize, m: usize, has_sigma: bool) {
        let tolerance = T::EPSILON.to_f64() * 1e3 * m as f64;
        let (x, y, b): (Vec<T>, Vec<T>, Vec<T>) = (numbers(2 * m, 0.7), numbers(m, 0.3), numbers(n, 1.1));
        let sigma: Vec<T> = numbers(if has_sigma { m } else { 0 }, 0.01);
        let curve = FromModel(Waves(n));
        let (mut r, mut jacobian, mut ahead) = (vec![T::ZERO; m], vec![T::ZERO; m * n], vec![T::ZERO; m]);
        curve.linearize(&x, 2, &b, &mut r, &mut jacobian).unwrap();
        let (v, probe) = (numbers::<T>(n, 2.3), T::from_f64(0.25));
        let there: Vec<T> = b.iter().zip(&v).map(|(&b, &v)| b + probe * v).collect();
        curve.responses(&x, 2, &there, &mut ahead).unwrap();
        let mut expected = (vec![0.0; n * n], vec![0.0; n], 0.0, vec![0.0; n]);
        for (i, row) in jacobian.chunks_exact(n).enumerate() {
            let weight = sigma.get(i).map_or(1.0, |sigma| sigma.to_f64().recip());
            let row: Vec<f64> = row.iter().map(|entry| entry.to_f64()).collect();
            let residual = weight * (r[i] - y[i]).to_f64();
            let slope: f64 = row.iter().zip(&v).map(|(entry, v)| entry * v.to_f64()).sum();
            let second = ((ahead[i] - r[i]).to_f64() / probe.to_f64() - slope) * 2.0 / probe.to_f64();
            expected.2 += residual * residual;
            for j in 0..n {
                expected.1[j] += weight * row[j] * residual;
                expected.3[j] += weight * weight * row[j] * second;
                for k in 0..=j {
                    expected.0[j * n + k] += weight * weight * row[j] * row[k];
                }
            }
        }
        let at = ModelRows { x: &x, width: 2, b: &b, sigma: &sigma };
        let (mut gram, mut gradient, mut forcing) = (vec![T::ONE; n * n], vec![T::ONE; n], vec![T::ONE; n]);
        let mut sums = ModelSums { gram: &mut gram, vector: &mut gradient, squares: T::ZERO };
        assert!(curve.add_sums(at, Summand::Products { y: &y }, &mut sums));
        let squares = sums.squares.to_f64();
        let mut sums = ModelSums { gram: &mut [], vector: &mut forcing, squares: T::ZERO };
        assert!(curve.add_sums(at, Summand::Forcing { ahead: &ahead, v: &v, probe }, &mut sums));
        let is_close = |found: f64, expected: f64| (found - expected).abs() <= tolerance * (1.0 + expected.abs());
        assert!(is_close(squares, expected.2), "n = {n}, m = {m}: {squares} is not {}", expected.2);
        for j in 0..n {
            for (found, expected) in [(gradient[j], expected.1[j]), (forcing[j], expected.3[j])] {
                assert!(is_close(found.to_f64() - 1.0, expected), "n = {n}, m = {m}: {found} is not {expected}");
            }
            for k in 0..=j {
                let (found, expected) = (gram[j * n + k].to_f64() - 1.0, expected.0[j * n + k]);
                assert!(is_close(found, expected), "n = {n}, m = {m}, ({j}, {k}): {found} is not {expected}");
            }
        }
    }

    #[test]
    fn sums_are_those_of_the_rows() {
        in_all(|| {
            for n in 1..=MOST {
                for m in [1, 5, 16, 100, 300] {
                    sums_are_those_of_rows::<f64>(n, m, m % 2 == 0);
                    sums_are_those_of_rows::<f32>(n, m, m % 2 == 1);
                }
            }
        });
    }

    /// The rows tell what is not finite, and may have differences in its place.
    #[test]
    fn sums_that_are_not_finite_are_left_to_rows() {
        let curve = FromModel(Waves(3));
        let (mut gram, mut vector) = ([0.0; 9], [0.0; 3]);
        let mut sums = ModelSums { gram: &mut gram, vector: &mut vector, squares: 0.0 };
        let (x, b) = ([1.0, -800.0, 1.0, 1.0], [1.0; 3]);
        let at = ModelRows { x: &x, width: 2, b: &b, sigma: &[] };
        assert!(!curve.add_sums(at, Summand::Products { y: &[1.0, 2.0] }, &mut sums));
        assert_eq!((gram, vector), ([0.0; 9], [0.0; 3]));
        let many = FromModel(Waves(MOST + 1));
        let (mut gram, mut vector, b) = ([0.0; 81], [0.0; 9], [1.0; 9]);
        let mut sums = ModelSums { gram: &mut gram, vector: &mut vector, squares: 0.0 };
        let at = ModelRows { x: &x[2..], width: 2, b: &b, sigma: &[] };
        assert!(!many.add_sums(at, Summand::Products { y: &[1.0] }, &mut sums));
    }
}
