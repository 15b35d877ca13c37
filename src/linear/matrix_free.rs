//! Parts of the models of a Jacobian that is only multiplied by.

use crate::kernels::vector::dot;
use crate::problem::{EvaluationError, JacobianProducts};
use crate::real::Real;

/// The ridge `½ω‖x‖²` of weight decay, on top of the damping: the systems become `(JᵀJ + (λ + ω)I)δ = −Jᵀr − ωx`.
///
/// Its own gradient `ωx` is left to the step that the damping is [drawn towards](super::model::Drawn::towards), so that a damping policy sees
/// the length of the step without it.
#[derive(Debug, Clone, Copy)]
pub(super) struct IsotropicRidge<T> {
    /// `ω`.
    pub(super) weight: T,
    /// `ωxᵀδ` and `ω‖δ‖²` of the step that is tried.
    pub(super) slope: T,
    pub(super) curvature: T,
}

impl<T: Real> IsotropicRidge<T> {
    pub(super) const NONE: Self = IsotropicRidge { weight: T::ZERO, slope: T::ZERO, curvature: T::ZERO };

    /// A ridge of this weight, and no step.
    pub(super) fn new(weight: T) -> Self {
        IsotropicRidge { weight, ..Self::NONE }
    }

    /// The cost of the ridge at `x`.
    pub(super) fn cost(&self, x: &[T]) -> T {
        T::from_f64(0.5) * x.iter().fold(T::ZERO, |sum, &x| sum + self.weight * x * x)
    }

    /// Takes up the step from `x` that is tried.
    pub(super) fn take_up(&mut self, x: &[T], step: &[T]) {
        if self.weight > T::ZERO {
            (self.slope, self.curvature) = (self.weight * dot(x, step), self.weight * dot(step, step));
        }
    }
}

/// `‖J‖²`, estimated by the mean of `‖Jᵀz‖²` over a few `z` of random signs (Hutchinson 1990). `signs` and `product` are room
/// for as many numbers as there are rows and columns.
pub(super) fn estimate_trace<T: Real>(
    products: &mut dyn JacobianProducts<T>,
    signs: &mut [T],
    product: &mut [T],
) -> Result<T, EvaluationError> {
    let mut sum = T::ZERO;
    // Any odd number: the same signs at every point, so that solves can be repeated to the last bit.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..TRACE_PROBES {
        for sign in &mut *signs {
            // Xorshift (Marsaglia 2003).
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *sign = if state >> 63 == 0 { T::ONE } else { -T::ONE };
        }
        products.multiply_transposed(signs, product)?;
        sum += product.iter().fold(T::ZERO, |sum, &derivative| sum + derivative * derivative);
    }
    Ok(sum / T::from_f64(f64::from(TRACE_PROBES)))
}

/// Products for an estimate of the trace, whose relative standard deviation is then at most `√(2/4)`.
const TRACE_PROBES: u32 = 4;
