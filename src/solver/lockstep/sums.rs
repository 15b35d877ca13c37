//! What the normal equations need of the residuals.

use crate::autodiff::jet::Jet;
use crate::kernels::lanes::{Lanes, Register};
use crate::{Number, Real, Scalar};

/// Sums over the residuals of the problem in each lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sums<T, R, const N: usize> {
    /// `½‖r‖²`.
    pub(super) cost: Lanes<T, R>,
    /// `Jᵀr`.
    pub(super) gradient: [Lanes<T, R>; N],
    /// `JᵀJ`, lower triangle.
    pub(super) gram: [[Lanes<T, R>; N]; N],
}

impl<T: Real, R: Register<T>, const N: usize> Sums<T, R, N> {
    /// No residuals.
    #[inline(always)]
    pub(crate) fn zero() -> Self {
        let zero = Lanes::splat(T::ZERO);
        Sums { cost: zero, gradient: [zero; N], gram: [[zero; N]; N] }
    }

    /// Adds one residual of each lane. What does not depend on a parameter adds nothing to its sums.
    #[inline(always)]
    pub(crate) fn add(&mut self, residual: &Jet<T, R, N>) {
        let half = residual.value * T::from_f64(0.5);
        self.cost = residual.value.mul_add(half, self.cost);
        for i in 0..N {
            if residual.varies(i) {
                let derivative = residual.gradient[i];
                self.gradient[i] = derivative.mul_add(residual.value, self.gradient[i]);
                for k in 0..=i {
                    if residual.varies(k) {
                        self.gram[i][k] = derivative.mul_add(residual.gradient[k], self.gram[i][k]);
                    }
                }
            }
        }
    }

    /// The sums of `other` where `less < than`.
    #[inline(always)]
    pub(super) fn replace_where(&mut self, less: Lanes<T, R>, than: Lanes<T, R>, other: &Self) {
        self.cost = less.select_less(than, other.cost, self.cost);
        for i in 0..N {
            self.gradient[i] = less.select_less(than, other.gradient[i], self.gradient[i]);
            for k in 0..=i {
                self.gram[i][k] = less.select_less(than, other.gram[i][k], self.gram[i][k]);
            }
        }
    }

    /// What is finite where all sums are, but for those off the diagonal, which are then, too.
    #[inline(always)]
    pub(super) fn sizes(&self) -> Lanes<T, R> {
        let mut size = self.cost;
        for i in 0..N {
            size += self.gradient[i].abs() + self.gram[i][i];
        }
        size
    }
}
