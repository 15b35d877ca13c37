//! Sums over a tile of points, whose products are added up in registers.

use super::likelihood::LaneLikelihood;
use super::sums::LaneSums;
use crate::kernels::lanes::{Lanes, Register, Routine};
use crate::number::Number;
use crate::real::Real;

/// A model evaluated at up to `P` consecutive points of each lane.
pub(crate) struct PointTile<'t, T, R, const P: usize> {
    /// Responses of the model; overwritten with the weighted residuals.
    pub(crate) residuals: &'t mut [Lanes<T, R>],
    /// Derivatives by each parameter; zeros are appended where the number of parameters is odd.
    pub(crate) derivatives: &'t mut [[Lanes<T, R>; P]],
    /// Responses observed.
    pub(crate) y: &'t [Lanes<T, R>],
    /// Reciprocals of standard deviations; empty where all are one.
    pub(crate) weights: &'t [Lanes<T, R>],
    /// Likelihood of the responses.
    pub(crate) likelihood: &'t mut LaneLikelihood<T, R>,
}

impl<T: Real, R: Register<T>, const N: usize> LaneSums<T, R, N> {
    /// Adds a tile of points, by one function for all models.
    pub(crate) fn add_tile<const P: usize>(&mut self, tile: PointTile<'_, T, R, P>) {
        R::call(TileSums { sums: self, tile });
    }
}

/// The sums that a tile is added to.
struct TileSums<'t, T, R, const N: usize, const P: usize> {
    sums: &'t mut LaneSums<T, R, N>,
    tile: PointTile<'t, T, R, P>,
}

impl<T: Real, R: Register<T>, const N: usize, const P: usize> Routine for TileSums<'_, T, R, N, P> {
    type Output = ();

    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn run(self) {
        let TileSums { sums, tile: PointTile { residuals, derivatives, y, weights, likelihood } } = self;
        let points = residuals.len().min(P);
        if weights.is_empty() && matches!(likelihood, LaneLikelihood::Gaussian) {
            for p in 0..points {
                residuals[p] -= y[p];
                sums.cost = residuals[p].mul_add(residuals[p] * T::from_f64(0.5), sums.cost);
            }
        } else {
            for p in 0..points {
                let weight = weights.get(p).copied().unwrap_or(Lanes::splat(T::ONE));
                let row = likelihood.row(residuals[p], y[p], weight);
                sums.cost += row.cost;
                residuals[p] = row.residual;
                for derivatives in &mut *derivatives {
                    derivatives[p] *= row.root;
                }
            }
        }
        // Two parameters by two: the sums and their factors fill the registers of the narrowest sets.
        let pairs = derivatives.as_chunks::<2>().0;
        for i in 0..pairs.len().min(N / 2) {
            let [first, second] = &pairs[i];
            let [mut a, mut b] = [sums.gradient[2 * i], sums.gradient[2 * i + 1]];
            for p in 0..points {
                a = first[p].mul_add(residuals[p], a);
                b = second[p].mul_add(residuals[p], b);
            }
            [sums.gradient[2 * i], sums.gradient[2 * i + 1]] = [a, b];
            for k in 0..=i {
                let [third, fourth] = &pairs[k];
                let [mut a, mut b] = [sums.gram[2 * i][2 * k], sums.gram[2 * i][2 * k + 1]];
                let [mut c, mut d] = [sums.gram[2 * i + 1][2 * k], sums.gram[2 * i + 1][2 * k + 1]];
                for p in 0..points {
                    a = first[p].mul_add(third[p], a);
                    b = first[p].mul_add(fourth[p], b);
                    c = second[p].mul_add(third[p], c);
                    d = second[p].mul_add(fourth[p], d);
                }
                // Above the diagonal, where k is i, nothing reads the sum.
                [sums.gram[2 * i][2 * k], sums.gram[2 * i][2 * k + 1]] = [a, b];
                [sums.gram[2 * i + 1][2 * k], sums.gram[2 * i + 1][2 * k + 1]] = [c, d];
            }
        }
    }
}
