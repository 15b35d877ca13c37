//! First-order conditions at the points of all lanes, free of scaling, damping and units.

use super::mask::{and, choose, is_less, not, or};
use super::sums::LaneSums;
use crate::kernels::lanes::{Lanes, Register};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;
use crate::solver::first_order::STATIONARY;

/// Assumed rounding error of a gradient or a residual, in units in the last place.
const ROUNDING: f64 = 8.0;

/// Rounding error of the responses that a gradient may be attributed to without further checks, in units in the last place, and the
/// largest residuals, in the same units, for which that holds.
const EVIDENT: f64 = 2.0;
const INVISIBLE: f64 = 64.0;

/// Error of the responses and parameters, in units in the last place, whose effect on the cost is the smallest reduction worth a step.
const LAST_DIGITS: f64 = 4.0;

/// Sums at a point, and the sizes that their rounding errors are relative to.
pub(super) struct FirstOrderTest<'p, T, R, const N: usize> {
    pub(super) sums: &'p LaneSums<T, R, N>,
    pub(super) x: &'p [Lanes<T, R>; N],
    /// `½‖y‖²`.
    pub(super) energy: Lanes<T, R>,
    pub(super) ftol: T,
}

/// Limits below which a reduction is rounding error.
pub(super) struct RoundingLimits<T, R> {
    /// Rounding error of the predicted reduction.
    pub(super) reduction: Lanes<T, R>,
    /// Rounding error of the cost, from that of the residuals.
    pub(super) cost: Lanes<T, R>,
}

impl<T: Real, R: Register<T>, const N: usize> FirstOrderTest<'_, T, R, N> {
    /// Limits of a predicted reduction and of the cost: a change of all responses and parameters in their last digits changes the cost by
    /// as much.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn limits(&self) -> RoundingLimits<T, R> {
        let mut size = self.energy;
        for j in 0..self.sums.count() {
            size = (self.sums.gram[j][j] * self.x[j] * T::from_f64(0.5)).mul_add(self.x[j], size);
        }
        let size = choose(is_less(size, Lanes::splat(T::INFINITY)), size, Lanes::splat(T::ZERO));
        let of = |digits: f64| size * (T::from_f64(digits) * T::EPSILON) * (T::from_f64(digits) * T::EPSILON);
        RoundingLimits { reduction: of(LAST_DIGITS).max(self.sums.cost * self.ftol), cost: of(ROUNDING) }
    }

    /// True where each parameter that no bound holds (`held` is zero) passes the first-order test by itself: the cosine between the residuals
    /// and its column is at most `√ftol` or `ε^0.41`, or rounding of the responses alone evidently hides the rest of the gradient.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn passes(&self, held: &[Lanes<T, R>; N]) -> Lanes<T, R> {
        let invisible = T::from_f64(INVISIBLE) * T::EPSILON;
        let is_visible = is_less(self.energy * (invisible * invisible), self.sums.cost);
        let residuals = self.stationary();
        let evident = (self.responses() * T::EPSILON).mul_add(Lanes::from_f64(EVIDENT), residuals);
        let limit = choose(is_visible, residuals, evident);
        let mut passes = Lanes::splat(T::ONE);
        for j in 0..self.sums.count() {
            passes = and(passes, self.is_within(j, self.sums.gram[j][j].sqrt() * limit, held));
        }
        passes
    }

    /// True where rounding of the responses and parameters may hide the gradients.
    #[cold]
    pub(super) fn may_pass(&self, held: &[Lanes<T, R>; N]) -> Lanes<T, R> {
        let (sums, unit) = (self.sums, T::from_f64(ROUNDING) * T::EPSILON);
        let (residuals, responses) = (self.stationary(), self.responses());
        let mut passes = Lanes::splat(T::ONE);
        for j in 0..sums.count() {
            let norm = sums.gram[j][j].sqrt();
            let mut rounding = norm * responses;
            for k in 0..sums.count() {
                rounding = sums.gram[j.max(k)][j.min(k)].abs().mul_add(self.x[k].abs(), rounding);
            }
            passes = and(passes, self.is_within(j, norm.mul_add(residuals, rounding * unit), held));
        }
        passes
    }

    /// The gradient by parameter `j` is no larger than this limit, which is finite, or a bound holds the parameter.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn is_within(&self, j: usize, limit: Lanes<T, R>, held: &[Lanes<T, R>; N]) -> Lanes<T, R> {
        let is_small = not(is_less(limit, self.sums.gradient[j].abs()));
        let is_held = is_less(Lanes::splat(T::ZERO), held[j]);
        or(and(is_small, is_less(limit, Lanes::splat(T::INFINITY))), is_held)
    }

    /// The largest derivative that counts as zero, for a column of unit norm.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn stationary(&self) -> Lanes<T, R> {
        let cosine = self.ftol.sqrt().max(T::EPSILON.powf(T::from_f64(STATIONARY)));
        (self.sums.cost + self.sums.cost).sqrt() * cosine
    }

    /// `‖y‖`.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn responses(&self) -> Lanes<T, R> {
        (self.energy + self.energy).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::lanes::Portable;

    type One = Lanes<f64, Portable<f64, 1>>;

    /// Returns true if a point passes the first-order test with these cosines, columns of these lengths and residuals of length
    /// one.
    fn passes(cosines: [f64; 2], lengths: [f64; 2], held: [f64; 2]) -> bool {
        let mut sums = LaneSums::<f64, Portable<f64, 1>, 2>::zero(2);
        sums.cost = One::splat(0.5);
        for j in 0..2 {
            sums.gradient[j] = One::splat(cosines[j] * lengths[j]);
            sums.gram[j][j] = One::splat(lengths[j] * lengths[j]);
        }
        let x = [One::splat(0.0); 2];
        let point = FirstOrderTest { sums: &sums, x: &x, energy: One::splat(50.0), ftol: 1e-12 };
        point.passes(&held.map(One::splat)).as_slice()[0] > 0.0
    }

    #[test]
    fn each_parameter_is_judged_by_itself_whatever_its_unit() {
        for lengths in [[1.0, 1.0], [1e100, 1e-100], [1e-140, 1e140]] {
            assert!(passes([9e-7, -9e-7], lengths, [0.0, 0.0]));
            assert!(!passes([2e-6, 0.0], lengths, [0.0, 0.0]));
            assert!(!passes([0.0, -2e-6], lengths, [0.0, 0.0]));
            assert!(passes([0.5, 0.0], lengths, [1.0, 0.0]), "a bound holds it");
        }
        assert!(passes([0.0, 0.0], [1.0, 0.0], [0.0, 0.0]), "without influence there is no gradient");
    }

    #[test]
    fn rounding_of_one_parameter_does_not_excuse_another() {
        let mut sums = LaneSums::<f64, Portable<f64, 1>, 2>::zero(2);
        sums.cost = One::splat(0.5);
        (sums.gram[0][0], sums.gram[1][1]) = (One::splat(1.0), One::splat(1.0));
        let x = [One::splat(1e15), One::splat(1.0)];
        let mut judge = |gradient: [f64; 2]| {
            sums.gradient = gradient.map(One::splat);
            let point = FirstOrderTest { sums: &sums, x: &x, energy: One::splat(0.5), ftol: 1e-12 };
            let held = [One::splat(0.0); 2];
            [point.passes(&held), point.may_pass(&held)].map(|lanes| lanes.as_slice()[0] > 0.0)
        };
        assert_eq!(judge([1e-7, 1e-7]), [true, true]);
        assert_eq!(judge([0.1, 0.0]), [false, true]);
        assert_eq!(judge([0.0, 0.1]), [false, false]);
    }
}
