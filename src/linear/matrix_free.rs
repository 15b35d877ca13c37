//! Linear models of a Jacobian that is only multiplied by.

use super::model::{IllConditioned, LinearModel};
use crate::problem::{EvaluationError, JacobianProducts};
use crate::real::Real;

/// A model that takes no rows, but products with the Jacobian, which may fail.
///
/// A policy of damping is told of a system without a solution only that; the error of the product waits in the model until the
/// iteration [asks](Self::take_failure) for it.
pub trait MatrixFree<T: Real>: LinearModel<T> {
    /// Linearises at `x`, and returns the cost there; `None` where something is not finite.
    fn linearize(&mut self, products: &mut dyn JacobianProducts<T>, x: &[T]) -> Result<Option<T>, EvaluationError>;

    /// Sets the weight `ω` of the ridge `½ω‖x‖²`: the damped systems become `(JᵀJ + (λ + ω)I)δ = −Jᵀr`. Its own gradient
    /// `ωx` is left to a [`shift`](LinearModel::shift), so that a policy sees the length of the step without it.
    fn set_ridge(&mut self, weight: T);

    /// Computes the gradient `Jᵀr` at a point of a full solve, and the norms of its first-order test.
    fn form_gradient(&mut self, products: &mut dyn JacobianProducts<T>) -> Result<(), EvaluationError>;

    /// The residuals.
    fn residuals(&self) -> &[T];

    /// `Jδ`.
    fn image(&self) -> &[T];

    /// The rows of another right-hand side so far.
    fn forcing(&self) -> &[T];

    /// The error of the product that failed last, once.
    fn take_failure(&mut self) -> Option<EvaluationError>;
}

/// A system has not been solved.
pub(super) enum Unsolved {
    IllConditioned,
    /// A product could not be computed.
    Failed(EvaluationError),
}

impl From<EvaluationError> for Unsolved {
    fn from(error: EvaluationError) -> Self {
        Unsolved::Failed(error)
    }
}

impl From<IllConditioned> for Unsolved {
    fn from(_: IllConditioned) -> Self {
        Unsolved::IllConditioned
    }
}

/// Keeps the error of a product for the iteration.
pub(super) fn keep_failure<V>(
    failure: &mut Option<EvaluationError>,
    outcome: Result<V, impl Into<Unsolved>>,
) -> Result<V, IllConditioned> {
    outcome.map_err(|unsolved| {
        if let Unsolved::Failed(error) = unsolved.into() {
            *failure = Some(error);
        }
        IllConditioned
    })
}

/// The mean over the columns of a Jacobian, weighted by their squared lengths, of the squared cosine between the column and
/// residuals of which `½‖r‖² = cost`; `trace` is `‖J‖²`.
pub(super) fn squared_mean_cosine<T: Real>(squared_gradient: T, trace: T, cost: T) -> T {
    if squared_gradient > T::ZERO { squared_gradient / (trace * (cost + cost).abs()) } else { T::ZERO }
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
