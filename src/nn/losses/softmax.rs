//! The softmax of rows of logits, and the cross-entropy between targets and it.

mod one_by_one;
mod side_by_side;

use super::columns::{NARROW, select_class};
use crate::number::Number;
use crate::real::Real;

/// Rows of logits, and their targets.
#[derive(Clone, Copy)]
pub(super) struct LogitRows<'a, T> {
    pub(super) logits: &'a [T],
    pub(super) width: usize,
    pub(super) targets: RowTargets<'a, T>,
}

/// Probabilities that rows should have.
#[derive(Clone, Copy)]
pub(super) enum RowTargets<'a, T> {
    /// Class numbers: a target of one for the class, and zeros for all others.
    Labels(&'a [T]),
    /// An entry for each class.
    Probabilities(&'a [T]),
}

impl<T: Real> LogitRows<'_, T> {
    /// Fills the losses `−Σ t ln p`.
    pub(super) fn losses(self, losses: &mut [T]) {
        if self.width > NARROW { one_by_one::losses(self, losses) } else { side_by_side::losses(self, losses) }
    }

    /// Fills the derivatives by the logits, and losses where they are wanted.
    pub(super) fn gradients(self, gradients: &mut [T], losses: Option<&mut [T]>) {
        if self.width > NARROW {
            one_by_one::gradients(self, gradients, losses);
        } else {
            side_by_side::gradients(self, gradients, losses);
        }
    }

    /// Fills residuals and [centred](super::CurvatureRoot::Centred) roots: the second derivative for targets of this total is
    /// `total (diag(p) − ppᵀ) = RᵀR` with `R = diag(s) (I − 𝟙pᵀ)` and `s² = total · p`, and the residuals are `g / s` for the
    /// gradient `g = total · p − target`. Its entries sum to zero, so that `Rᵀ` times the residuals is `g` for any `s`.
    pub(super) fn residuals(self, residuals: &mut [T], roots: &mut [T]) {
        // Three numbers for each logit cost more side by side than they save.
        one_by_one::residuals(self, residuals, roots);
    }
}

/// The softmax of a row, or of rows side by side. Probabilities are made of numerators `exp(z − peak)`, shifted by the largest
/// logit so that nothing overflows.
#[derive(Debug, Clone, Copy)]
struct Softmax<N> {
    /// The largest logit.
    peak: N,
    /// Its class.
    at: N,
    /// Sum of all numerators but the largest, which is 1: kept apart, as it may be much smaller.
    rest: N,
}

impl<N: Number> Softmax<N> {
    /// The factor that makes probabilities of numerators.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn share(&self) -> N {
        (N::from_f64(1.0) + self.rest).recip()
    }

    /// The derivative by a class's logit.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn derivative(&self, class: usize, numerator: N, share: N, total: N, target: N) -> N {
        let others = select_class(self.at, class, self.rest, self.without(numerator));
        derivative(numerator, others, share, total, target)
    }

    /// The numerators of all classes together but for this one, which is not the peak's.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    fn without(&self, numerator: N) -> N {
        N::from_f64(1.0) + self.rest - numerator
    }
}

/// The derivative `p · total − target` by a logit, given the numerators of the class and of all others together, without the
/// cancellation where both are nearly one.
#[inline(always)]
fn derivative<N: Number>(numerator: N, others: N, share: N, total: N, target: N) -> N {
    numerator * share * (total - target) - others * share * target
}

/// The loss and its root, for a type whose targets are of this kind.
macro_rules! crossentropy {
    ($loss:ident, $name:literal, $targets:ident) => {
        impl<T: Real> Loss<T> for $loss {
            fn name(&self) -> &'static str {
                $name
            }

            fn targets(&self) -> Targets {
                Targets::$targets
            }

            fn values(&self, logits: &[T], width: usize, targets: &[T], losses: &mut [T]) {
                LogitRows { logits, width, targets: RowTargets::$targets(targets) }.losses(losses);
            }

            fn gradients(&self, logits: &[T], width: usize, targets: &[T], to: &mut [T]) {
                LogitRows { logits, width, targets: RowTargets::$targets(targets) }.gradients(to, None);
            }

            fn values_and_gradients(&self, logits: &[T], width: usize, targets: &[T], losses: &mut [T], to: &mut [T]) {
                LogitRows { logits, width, targets: RowTargets::$targets(targets) }.gradients(to, Some(losses));
            }

            fn least_squares(&self) -> Option<&dyn GaussNewton<T>> {
                Some(self)
            }
        }

        impl<T: Real> GaussNewton<T> for $loss {
            fn root(&self) -> CurvatureRoot {
                CurvatureRoot::Centred
            }

            fn residuals(&self, logits: &[T], width: usize, targets: &[T], residuals: &mut [T], roots: &mut [T]) {
                LogitRows { logits, width, targets: RowTargets::$targets(targets) }.residuals(residuals, roots);
            }
        }
    };
}

pub(super) use crossentropy;
