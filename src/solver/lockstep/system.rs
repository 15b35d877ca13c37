//! The damped systems of all lanes.

use super::sums::LaneSums;
use crate::kernels::lanes::{Lanes, Register};
use crate::kernels::triangular::lost_digits;
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// Damped systems in all lanes, and their factors; the lower triangle counts.
pub(super) type LaneFactor<T, R, const N: usize> = [[Lanes<T, R>; N]; N];

/// Steps, and the predictions of the linear models for them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps<T, R, const N: usize> {
    /// `δ`.
    pub(super) step: [Lanes<T, R>; N],
    /// `‖Dδ‖`.
    pub(super) length: Lanes<T, R>,
    /// `(Jᵀr)ᵀδ`.
    pub(super) slope: Lanes<T, R>,
    /// Reduction of the cost that the linear model predicts, `−(Jᵀr)ᵀδ − ½‖Jδ‖²`.
    pub(super) predicted: Lanes<T, R>,
    /// Negative where the system was too close to singular.
    pub(super) soundness: Lanes<T, R>,
}

/// The damped linear models of all lanes, `(Jᵀr)ᵀv + ½‖Jv‖² + ½λ‖Dv‖²`.
#[derive(Clone, Copy)]
pub(super) struct DampedModel<'s, T, R, const N: usize> {
    pub(super) sums: &'s LaneSums<T, R, N>,
    pub(super) lambda: Lanes<T, R>,
    /// `D²`.
    pub(super) squared_scale: &'s [Lanes<T, R>; N],
}

impl<T: Real, R: Register<T>, const N: usize> DampedModel<'_, T, R, N> {
    /// Solves `(JᵀJ + λD²)δ = −Jᵀr` in all lanes, given a workspace for the factors.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn solve(self, factor: &mut LaneFactor<T, R, N>) -> Steps<T, R, N> {
        let held = [Lanes::splat(T::ZERO); N];
        let mut steps = self.solve_free(&held, [Lanes::splat(T::ZERO); N], factor);
        self.measure(&mut steps);
        // This sum of positive terms stays positive in spite of rounding errors.
        steps.predicted = (self.lambda * steps.length * steps.length - steps.slope) * T::from_f64(0.5);
        steps
    }

    /// The steps of the free parameters, given those of the held ones and a workspace for the factors.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn solve_free(
        self,
        held: &[Lanes<T, R>; N],
        fixed: [Lanes<T, R>; N],
        factor: &mut LaneFactor<T, R, N>,
    ) -> Steps<T, R, N> {
        let DampedModel { sums, lambda, squared_scale } = self;
        let (zero, one) = (Lanes::splat(T::ZERO), Lanes::splat(T::ONE));
        let (mut step, n) = ([zero; N], sums.count());
        for i in 0..n {
            let mut right = -sums.gradient[i];
            for k in 0..n {
                right = (-sums.gram[i.max(k)][i.min(k)]).mul_add(fixed[k], right);
            }
            step[i] = zero.select_less(held[i], fixed[i], right);
        }
        for i in 0..n {
            for k in 0..i {
                let either = held[i].max(held[k]);
                factor[i][k] = zero.select_less(either, zero, sums.gram[i][k]);
            }
            // A parameter without influence does not move.
            let diagonal = lambda.mul_add(squared_scale[i], sums.gram[i][i]);
            factor[i][i] = zero.select_less(held[i], one, zero.select_less(diagonal, diagonal, one));
        }
        let soundness = cholesky(factor, n);
        substitute(factor, &mut step, n);
        Steps { step, length: zero, slope: zero, predicted: zero, soundness }
    }

    /// Fills in the lengths of the steps and the slopes along them.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(super) fn measure(self, steps: &mut Steps<T, R, N>) {
        let DampedModel { sums, squared_scale, .. } = self;
        let mut squared_length = Lanes::splat(T::ZERO);
        for j in 0..sums.count() {
            let step = steps.step[j];
            squared_length = (squared_scale[j] * step).mul_add(step, squared_length);
            steps.slope = sums.gradient[j].mul_add(step, steps.slope);
        }
        steps.length = squared_length.sqrt();
    }
}

/// `A = LDLᵀ` of `n` rows: overwrites the strict lower triangle of `a` with the unit triangle `L`, its diagonal with `D⁻¹`; negative
/// where a pivot is not sound.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn cholesky<T: Real, R: Register<T>, const N: usize>(a: &mut LaneFactor<T, R, N>, n: usize) -> Lanes<T, R> {
    let mut soundness = Lanes::splat(T::INFINITY);
    let mut eliminated = [Lanes::splat(T::ZERO); N];
    for j in 0..n {
        let diagonal = a[j][j];
        let mut pivot = diagonal;
        for k in 0..j {
            eliminated[k] = a[j][k];
            a[j][k] *= a[k][k];
            pivot = (-eliminated[k]).mul_add(a[j][k], pivot);
        }
        // NaN is not less than anything.
        let margin = pivot - diagonal * lost_digits::<T>();
        soundness = Lanes::splat(T::ZERO).select_less(margin, soundness, Lanes::splat(-T::ONE));
        a[j][j] = pivot.recip();
        for i in j + 1..n {
            let mut value = a[i][j];
            for k in 0..j {
                value = (-a[i][k]).mul_add(a[j][k], value);
            }
            a[i][j] = value;
        }
    }
    soundness
}

/// Overwrites `b` with `A⁻¹b`, given the factors of `A`.
#[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
fn substitute<T: Real, R: Register<T>, const N: usize>(
    factor: &LaneFactor<T, R, N>,
    b: &mut [Lanes<T, R>; N],
    n: usize,
) {
    for i in 0..n {
        for k in 0..i {
            b[i] = (-factor[i][k]).mul_add(b[k], b[i]);
        }
    }
    for i in 0..n {
        b[i] *= factor[i][i];
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            b[i] = (-factor[k][i]).mul_add(b[k], b[i]);
        }
    }
}
