//! Sums of the residuals for the normal equations.

use super::mask::{choose, is_less};
use crate::autodiff::jet::Jet;
use crate::kernels::lanes::{Lanes, Register};
use crate::kernels::{underflow_guard, without_guard};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// Number of parameters, used or not, up to which loops are unrolled.
pub(crate) const UNROLLED: usize = 4;

/// Sums over the residuals of the problem in each lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaneSums<T, R, const N: usize> {
    /// Parameters in use.
    count: usize,
    /// `½‖r‖²`.
    pub(super) cost: Lanes<T, R>,
    /// `Jᵀr`.
    pub(super) gradient: [Lanes<T, R>; N],
    /// `JᵀJ`, lower triangle.
    pub(super) gram: [[Lanes<T, R>; N]; N],
}

impl<T: Real, R: Register<T>, const N: usize> LaneSums<T, R, N> {
    /// Returns the sums of no residuals, for a problem of `count` parameters, up to `N`.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn zero(count: usize) -> Self {
        let zero = Lanes::splat(T::ZERO);
        LaneSums { count, cost: zero, gradient: [zero; N], gram: [[zero; N]; N] }
    }

    /// Returns sums that points are added to, which end by [`finish`](Self::finish).
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn begun(count: usize) -> Self {
        let guard = underflow_guard();
        LaneSums { gradient: [guard; N], gram: [[guard; N]; N], ..Self::zero(count) }
    }

    /// Begins such sums anew. Sums beyond the parameters in use are zero already.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn begin(&mut self) {
        let guard = underflow_guard();
        self.cost = Lanes::splat(T::ZERO);
        // Tiles add to pairs of rows and of columns.
        for i in 0..self.count.next_multiple_of(2).min(N) {
            self.gradient[i] = guard;
            self.gram[i][..=i | 1].fill(guard);
        }
    }

    /// Ends sums over points.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn finish(&mut self) {
        for i in 0..self.count() {
            self.gradient[i] = without_guard(self.gradient[i]);
            for k in 0..=i {
                self.gram[i][k] = without_guard(self.gram[i][k]);
            }
        }
    }

    /// Number of parameters to loop over: `N` up to [`UNROLLED`], so that loops are unrolled, otherwise the number in use.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn count(&self) -> usize {
        if N <= UNROLLED { N } else { self.count.min(N) }
    }

    /// Adds the residuals of consecutive points of each lane, in their order; each sum is loaded and stored once. Parameters without a
    /// derivative are skipped.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn add<const P: usize>(&mut self, residuals: &[Jet<T, R, N>; P]) {
        for p in 0..P {
            let half = residuals[p].value * T::from_f64(0.5);
            self.cost = residuals[p].value.mul_add(half, self.cost);
        }
        for i in 0..N {
            if !residuals[0].varies(i) {
                continue;
            }
            for p in 0..P {
                let residual = &residuals[p];
                self.gradient[i] = residual.gradient[i].mul_add(residual.value, self.gradient[i]);
            }
            for k in 0..=i {
                if residuals[0].varies(k) {
                    for p in 0..P {
                        let derivatives = &residuals[p].gradient;
                        self.gram[i][k] = derivatives[i].mul_add(derivatives[k], self.gram[i][k]);
                    }
                }
            }
        }
    }

    /// Fills in the sums for `n` free parameters, `Φᵀg` and `ΦᵀGΦ`, given the sums `g` and `G` for all parameters and their derivatives `Φ`
    /// by the free ones, row by row, of which those not in `varied` are zero.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn narrow(&mut self, by_all: &Self, varied: &[usize], derivatives: &[Lanes<T, R>], n: usize) {
        let zero = Lanes::splat(T::ZERO);
        self.cost = by_all.cost;
        for k in 0..n {
            // `GΦ`, a column of it.
            let (mut gradient, mut product) = (zero, [zero; N]);
            for &i in varied {
                let slope = derivatives[i * n + k];
                gradient = slope.mul_add(by_all.gradient[i], gradient);
                for &j in varied {
                    product[j] = by_all.gram[i.max(j)][i.min(j)].mul_add(slope, product[j]);
                }
            }
            self.gradient[k] = gradient;
            for l in k..n {
                let mut entry = zero;
                for &j in varied {
                    entry = derivatives[j * n + l].mul_add(product[j], entry);
                }
                self.gram[l][k] = entry;
            }
        }
    }

    /// Returns `JᵀJ` of a lane, lower triangle.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn gram_of_lane(&self, lane: usize) -> [[T; N]; N] {
        let mut gram = [[T::ZERO; N]; N];
        for j in 0..self.count() {
            for k in 0..=j {
                gram[j][k] = self.gram[j][k].as_slice()[lane];
            }
        }
        gram
    }

    /// Fills `Jᵀr`, and the lower triangle of `JᵀJ` in rows of `N`, with the sums over all lanes; returns `‖r‖²`.
    pub(crate) fn total(&self, gram: &mut [T], gradient: &mut [T]) -> T {
        let total = |lanes: &Lanes<T, R>| lanes.as_slice().iter().copied().sum::<T>();
        for i in 0..self.count.min(N) {
            gradient[i] = total(&self.gradient[i]);
            for k in 0..=i {
                gram[i * N + k] = total(&self.gram[i][k]);
            }
        }
        let cost = total(&self.cost);
        cost + cost
    }

    /// Copies the sums of some lanes.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn take(&mut self, lanes: Lanes<T, R>, other: &Self) {
        self.cost = choose(lanes, other.cost, self.cost);
        for i in 0..self.count() {
            self.gradient[i] = choose(lanes, other.gradient[i], self.gradient[i]);
            for k in 0..=i {
                self.gram[i][k] = choose(lanes, other.gram[i][k], self.gram[i][k]);
            }
        }
    }

    /// True where all sums are finite: those on the diagonal bound the others.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn are_finite(&self) -> Lanes<T, R> {
        let mut size = self.cost;
        for i in 0..self.count() {
            size += self.gradient[i].abs() + self.gram[i][i];
        }
        is_less(size, Lanes::splat(T::INFINITY))
    }
}
