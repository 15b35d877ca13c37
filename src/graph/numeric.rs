//! Residual blocks that are differentiated numerically.

use super::analytic::evaluate_with_jacobians;
use super::cost_function::{Blocks, CostFunction};
use crate::autodiff::Difference;
use crate::problem::Evaluated;
use crate::real::Real;
use crate::scalar::Scalar;

/// Residuals of a few parameter blocks over plain floats, for functions whose derivatives are not at hand. [`NumericDiff`] makes a
/// [`CostFunction`] of them.
///
/// ```
/// use marquardt::{EvaluationError, LevenbergMarquardt};
/// use marquardt::graph::{NumericCostFunction, NumericDiff, Problem};
/// use marquardt::manifold::Euclidean;
///
/// /// `exp(x) y = 8`, and `x = ln 2`.
/// struct Product;
///
/// impl NumericCostFunction<f64> for Product {
///     type Blocks = (Euclidean<1>, Euclidean<1>);
///
///     fn residual_count(&self) -> usize { 2 }
///
///     fn evaluate(&self, blocks: &[&[f64]], r: &mut [f64]) -> Result<(), EvaluationError> {
///         r[0] = blocks[0][0].exp() * blocks[1][0] - 8.0;
///         r[1] = blocks[0][0] - 2.0_f64.ln();
///         Ok(())
///     }
/// }
///
/// let mut problem = Problem::new();
/// let x = problem.add_parameter_block(Euclidean::<1>, &[0.1])?;
/// let y = problem.add_parameter_block(Euclidean::<1>, &[1.0])?;
/// problem.add_residual_block(NumericDiff(Product), (x, y))?;
/// problem.solve(&LevenbergMarquardt::new())?;
/// assert!((problem.point(y)?[0] - 4.0).abs() < 1e-9);
/// # Ok::<(), marquardt::graph::GraphError>(())
/// ```
pub trait NumericCostFunction<T: Real>: Send + Sync + 'static {
    /// Manifolds of the parameter blocks that the residuals depend on: a tuple of one to ten, or [`AnyBlocks`](super::AnyBlocks).
    type Blocks: Blocks<T>;

    /// Number of residuals.
    fn residual_count(&self) -> usize;

    /// Fills `r` with the residuals at these points of the parameter blocks. Points near a manifold must do as well: differences are taken
    /// along each coordinate.
    ///
    /// # Errors
    ///
    /// As [`CostFunction::evaluate`].
    fn evaluate(&self, blocks: &[&[T]], r: &mut [T]) -> Evaluated;
}

/// A [`NumericCostFunction`] as a [`CostFunction`], by central differences: two evaluations for each coordinate.
#[derive(Debug, Clone, Copy)]
pub struct NumericDiff<F>(pub F);

impl<T: Real, F: NumericCostFunction<T>> CostFunction<T> for NumericDiff<F> {
    type Blocks = F::Blocks;

    fn residual_count(&self) -> usize {
        self.0.residual_count()
    }

    fn evaluate<S: Scalar<Real = T>>(&self, blocks: &[&[S]], r: &mut [S]) -> Evaluated {
        evaluate_with_jacobians(blocks, r, |points, r, jacobians| {
            self.0.evaluate(points, r)?;
            let Some(jacobians) = jacobians else { return Ok(()) };
            let mut moved: Vec<Vec<T>> = points.iter().map(|point| point.to_vec()).collect();
            let [mut above, mut below] = [(); 2].map(|()| vec![T::ZERO; r.len()]);
            for (block, (&point, jacobian)) in points.iter().zip(jacobians).enumerate() {
                for (j, &x) in point.iter().enumerate() {
                    let step = Difference::Central.step(x);
                    let mut at = |x: T, r: &mut [T]| {
                        moved[block][j] = x;
                        self.0.evaluate(&moved.iter().map(|point| &**point).collect::<Vec<_>>(), r)
                    };
                    let (high, low) = (x + step, x - step);
                    at(high, &mut above)?;
                    at(low, &mut below)?;
                    moved[block][j] = x;
                    let slopes = above.iter().zip(&below).map(|(&above, &below)| (above - below) / (high - low));
                    jacobian
                        .iter_mut()
                        .skip(j)
                        .step_by(point.len())
                        .zip(slopes)
                        .for_each(|(entry, slope)| *entry = slope);
                }
            }
            Ok(())
        })
    }
}
