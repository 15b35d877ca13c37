//! Residual blocks that bring their Jacobians.

use super::cost_function::{Blocks, CostFunction};
use super::group::{FEW_BLOCKS, Slices};
use crate::problem::{Evaluated, scratch_for};
use crate::real::Real;
use crate::scalar::Scalar;

/// Largest number of coordinates, residuals and derivatives of a residual block that are kept on the stack.
const FEW: usize = 128;

/// Residuals of a few parameter blocks, with derivatives written by hand: for functions that cannot be written over a [`Scalar`],
/// such as a table or a call into another library.
///
/// Derivatives are with respect to the coordinates of the points, as in Ceres: those of the formula as it is written, whatever the
/// manifold. The manifold applies steps to the points. For
/// [`Euclidean`](crate::manifold::Euclidean) blocks the two are the same. A unit quaternion is differentiated as four independent
/// coordinates; the values of the formula off the unit sphere do not matter.
///
/// [`Problem::check_derivatives`](super::Problem::check_derivatives) finds those that are wrong.
///
/// ```
/// use marquardt::{EvaluationError, LevenbergMarquardt};
/// use marquardt::graph::{AnalyticCostFunction, Problem, WithJacobians};
/// use marquardt::manifold::Euclidean;
///
/// /// A place is so far from a beacon.
/// struct Range {
///     beacon: [f64; 2],
///     distance: f64,
/// }
///
/// impl AnalyticCostFunction<f64> for Range {
///     type Blocks = (Euclidean<2>,);
///
///     fn residual_count(&self) -> usize { 1 }
///
///     fn evaluate(
///         &self,
///         blocks: &[&[f64]],
///         r: &mut [f64],
///         jacobians: Option<&mut [&mut [f64]]>,
///     ) -> Result<(), EvaluationError> {
///         let (x, y) = (blocks[0][0] - self.beacon[0], blocks[0][1] - self.beacon[1]);
///         let distance = x.hypot(y);
///         r[0] = distance - self.distance;
///         if let Some(jacobians) = jacobians {
///             jacobians[0].copy_from_slice(&[x / distance, y / distance]);
///         }
///         Ok(())
///     }
/// }
///
/// let mut problem = Problem::new();
/// let place = problem.add_parameter_block(Euclidean::<2>, &[1.0, 1.0])?;
/// for (beacon, distance) in [([0.0, 0.0], 5.0), ([6.0, 0.0], 5.0), ([3.0, 8.0], 4.0)] {
///     problem.add_residual_block(WithJacobians(Range { beacon, distance }), (place,))?;
/// }
/// problem.check_derivatives()?;
/// problem.solve(&LevenbergMarquardt::new())?;
/// assert!(
///     (problem.point(place)?[0] - 3.0).abs() < 1e-9
///         && (problem.point(place)?[1] - 4.0).abs() < 1e-9
/// );
/// # Ok::<(), marquardt::graph::GraphError>(())
/// ```
pub trait AnalyticCostFunction<T: Real>: Send + Sync + 'static {
    /// Manifolds of the parameter blocks that the residuals depend on: a tuple of one to ten, or [`AnyBlocks`](super::AnyBlocks).
    type Blocks: Blocks<T>;

    /// Number of residuals.
    fn residual_count(&self) -> usize;

    /// Fills `r` with the residuals at these points of the parameter blocks. If they are wanted, fills `jacobians[b]` with
    /// `∂r/∂x_b`: a row for each residual, one after the other, of a column for each coordinate of block `b`.
    ///
    /// # Errors
    ///
    /// As [`CostFunction::evaluate`].
    fn evaluate(&self, blocks: &[&[T]], r: &mut [T], jacobians: Option<&mut [&mut [T]]>) -> Evaluated;
}

/// An [`AnalyticCostFunction`] as a [`CostFunction`]: over numbers that carry derivatives, its residuals are continued by their
/// Jacobians.
#[derive(Debug, Clone, Copy)]
pub struct WithJacobians<F>(pub F);

impl<T: Real, F: AnalyticCostFunction<T>> CostFunction<T> for WithJacobians<F> {
    type Blocks = F::Blocks;

    fn residual_count(&self) -> usize {
        self.0.residual_count()
    }

    fn evaluate<S: Scalar<Real = T>>(&self, blocks: &[&[S]], r: &mut [S]) -> Evaluated {
        evaluate_with_jacobians(blocks, r, |points, r, jacobians| self.0.evaluate(points, r, jacobians))
    }
}

/// Evaluates residuals over any numbers by a function of plain floats that brings its Jacobians.
pub(super) fn evaluate_with_jacobians<T: Real, S: Scalar<Real = T>>(
    blocks: &[&[S]],
    r: &mut [S],
    evaluate: impl FnOnce(&[&[T]], &mut [T], Option<&mut [&mut [T]]>) -> Evaluated,
) -> Evaluated {
    let (m, n) = (r.len(), blocks.iter().map(|block| block.len()).sum::<usize>());
    let (mut few, mut many) = ([T::ZERO; FEW], Vec::new());
    let scratch = scratch_for(n + m + m * n, &mut few, &mut many);
    let (values, rest) = scratch.split_at_mut(n);
    let (residuals, mut derivatives) = rest.split_at_mut(m);
    values.iter_mut().zip(blocks.iter().flat_map(|block| *block)).for_each(|(value, x)| *value = x.value());
    let mut values = &*values;
    let points = blocks.iter().map(|block| {
        let (point, others) = values.split_at(block.len());
        values = others;
        point
    });
    let (mut few_jacobians, mut many_jacobians): ([&mut [T]; FEW_BLOCKS], _) = (Default::default(), Vec::new());
    let jacobians = if blocks.len() <= FEW_BLOCKS {
        &mut few_jacobians[..blocks.len()]
    } else {
        many_jacobians.resize_with(blocks.len(), Default::default);
        &mut many_jacobians[..]
    };
    for (block, jacobian) in blocks.iter().zip(&mut *jacobians) {
        (*jacobian, derivatives) = derivatives.split_at_mut(m * block.len());
    }
    // A plain float carries no derivatives.
    let differentiates = size_of::<S>() > size_of::<T>();
    evaluate(Slices::new(points).list(), residuals, differentiates.then_some(&mut *jacobians))?;
    for (i, (r, &residual)) in r.iter_mut().zip(&*residuals).enumerate() {
        *r = S::constant(residual);
        if differentiates {
            for (block, jacobian) in blocks.iter().zip(&*jacobians) {
                let row = &jacobian[i * block.len()..(i + 1) * block.len()];
                block.iter().zip(row).for_each(|(&x, &derivative)| *r += (x - x.value()) * derivative);
            }
        }
    }
    Ok(())
}
