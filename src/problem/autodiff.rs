//! A residual function written once for every scalar, differentiated exactly.

use super::forward::forward;
use super::{Capabilities, EvaluationError, LeastSquares};
use crate::autodiff::{Dual, Taylor};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// Tangents carried at once; wider problems are differentiated in several passes of this width.
const WIDTH: usize = 16;

/// A residual function written once, generic over its scalar.
///
/// ```
/// use marquardt::{AutoDiff, EvaluationError, LevenbergMarquardt, Residuals, Scalar};
///
/// /// y = b₀ (1 − e^(−b₁ x))
/// struct Saturation<'a> {
///     x: &'a [f64],
///     y: &'a [f64],
/// }
///
/// impl Residuals<f64> for Saturation<'_> {
///     fn parameter_count(&self) -> usize {
///         2
///     }
///     fn residual_count(&self) -> usize {
///         self.x.len()
///     }
///     fn evaluate<S: Scalar<Real = f64>>(
///         &self,
///         b: &[S],
///         first: usize,
///         r: &mut [S],
///     ) -> Result<(), EvaluationError> {
///         for (r, (&x, &y)) in r.iter_mut().zip(self.x[first..].iter().zip(&self.y[first..])) {
///             *r = b[0] * (-(-b[1] * x).exp() + 1.0) - y;
///         }
///         Ok(())
///     }
/// }
///
/// let x = [1.0, 2.0, 3.0, 5.0, 8.0];
/// let y = [3.9, 6.3, 7.7, 9.2, 9.8];
/// let mut problem = AutoDiff(Saturation { x: &x, y: &y });
/// let report = LevenbergMarquardt::new().minimize(&mut problem, &[5.0, 1.0])?;
/// assert!((report.x[0] - 10.0).abs() < 0.1 && (report.x[1] - 0.5).abs() < 0.02);
/// # Ok::<(), marquardt::SolveError>(())
/// ```
pub trait Residuals<T: Real> {
    /// Number of parameters, `n`.
    fn parameter_count(&self) -> usize;

    /// Number of residuals, `m`.
    fn residual_count(&self) -> usize;

    /// Number of rows that have to be computed together; see [`LeastSquares::row_group`].
    fn row_group(&self) -> usize {
        1
    }

    /// Fills `r` with the residuals `first..first + r.len()` at the parameters `x`.
    fn evaluate<S: Scalar<Real = T>>(&self, x: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError>;

    /// Name of parameter `index` in reports.
    fn parameter_name(&self, index: usize) -> String {
        format!("x[{index}]")
    }
}

/// The least-squares problem of a [`Residuals`] function, with exact derivatives by [`Dual`] numbers.
///
/// One pass computes the derivatives with respect to up to 16 parameters, at little more than the cost of hand-written derivatives; `n`
/// parameters take `⌈n / 16⌉` passes. If the number of parameters is known at compile time, [`FixedAutoDiff`] is faster.
#[derive(Debug, Clone, Copy)]
pub struct AutoDiff<F>(pub F);

impl<T: Real, F: Residuals<T>> LeastSquares<T> for AutoDiff<F> {
    forward!(self => self.0; parameter_count residual_count row_group parameter_name);

    fn residuals(&mut self, x: &[T], first: usize, r: &mut [T]) -> Result<(), EvaluationError> {
        self.0.evaluate(x, first, r)
    }

    fn linearize(&mut self, x: &[T], first: usize, r: &mut [T], jacobian: &mut [T]) -> Result<(), EvaluationError> {
        match x.len() {
            0..=2 => linearize_in_strips::<T, F, 2>(&self.0, x, first, r, jacobian),
            3..=4 => linearize_in_strips::<T, F, 4>(&self.0, x, first, r, jacobian),
            5..=8 => linearize_in_strips::<T, F, 8>(&self.0, x, first, r, jacobian),
            _ => linearize_in_strips::<T, F, WIDTH>(&self.0, x, first, r, jacobian),
        }
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<T> {
        self
    }
}

impl<T: Real, F: Residuals<T>> Capabilities<T> for AutoDiff<F> {
    fn second_directional_derivative(
        &mut self,
        x: &[T],
        v: &[T],
        first: usize,
        second: &mut [T],
    ) -> Result<bool, EvaluationError> {
        second_along::<T, F, WIDTH>(&self.0, x, v, first, second)
    }
}

/// [`AutoDiff`] for exactly `N` parameters: no heap allocation, and loops of a length the compiler knows.
///
/// The counterpart of [`LevenbergMarquardt::minimize_fixed`](crate::LevenbergMarquardt::minimize_fixed). A start of
/// another length than `N` is an [`EvaluationError`].
#[derive(Debug, Clone, Copy)]
pub struct FixedAutoDiff<F, const N: usize>(pub F);

impl<T: Real, F: Residuals<T>, const N: usize> LeastSquares<T> for FixedAutoDiff<F, N> {
    forward!(self => self.0; parameter_count residual_count row_group parameter_name);

    #[inline]
    fn residuals(&mut self, x: &[T], first: usize, r: &mut [T]) -> Result<(), EvaluationError> {
        self.0.evaluate(x, first, r)
    }

    #[inline]
    fn linearize(&mut self, x: &[T], first: usize, r: &mut [T], jacobian: &mut [T]) -> Result<(), EvaluationError> {
        let x: &[T; N] = x.try_into().map_err(|_| format!("made for {N} parameters, called with {}", x.len()))?;
        linearize_in_strips::<T, F, N>(&self.0, x, first, r, jacobian)
    }

    #[inline]
    fn capabilities(&mut self) -> &mut dyn Capabilities<T> {
        self
    }
}

impl<T: Real, F: Residuals<T>, const N: usize> Capabilities<T> for FixedAutoDiff<F, N> {
    #[inline]
    fn second_directional_derivative(
        &mut self,
        x: &[T],
        v: &[T],
        first: usize,
        second: &mut [T],
    ) -> Result<bool, EvaluationError> {
        second_along::<T, F, N>(&self.0, x, v, first, second)
    }
}

/// Rows differentiated at once on the stack.
const STRIP: usize = 16;

/// Residuals and Jacobian rows, a strip of rows and `W` columns at a time.
#[inline]
fn linearize_in_strips<T: Real, F: Residuals<T>, const W: usize>(
    function: &F,
    x: &[T],
    first: usize,
    r: &mut [T],
    jacobian: &mut [T],
) -> Result<(), EvaluationError> {
    let n = x.len();
    let strip = strip_of(function.row_group());
    let (mut few_x, mut many_x) = ([Dual::<T, W>::constant(T::ZERO); W], Vec::new());
    let (mut few_rows, mut many_rows) = ([Dual::<T, W>::constant(T::ZERO); STRIP], Vec::new());
    let dual_x = scratch_for(n, &mut few_x, &mut many_x);
    let dual_r = scratch_for(strip, &mut few_rows, &mut many_rows);
    for column in (0..n).step_by(W) {
        for (j, (dual, &value)) in dual_x.iter_mut().zip(x).enumerate() {
            *dual = Dual::variable(value, j.wrapping_sub(column));
        }
        for (block, (r, jacobian)) in r.chunks_mut(strip).zip(jacobian.chunks_mut(strip * n)).enumerate() {
            let duals = &mut dual_r[..r.len()];
            function.evaluate(dual_x, first + block * strip, duals)?;
            for ((dual, r), row) in duals.iter().zip(r).zip(jacobian.chunks_exact_mut(n)) {
                *r = dual.value;
                // Whole strips are copied in registers; the length of the last one is known at run time alone.
                match row[column..].first_chunk_mut::<W>() {
                    Some(whole) => *whole = dual.gradient,
                    None => row[column..].copy_from_slice(&dual.gradient[..n - column]),
                }
            }
        }
    }
    Ok(())
}

/// Scratch of `count` entries, on the stack if they fit there.
#[inline(always)]
pub(crate) fn scratch_for<'a, S: Scalar>(count: usize, stack: &'a mut [S], heap: &'a mut Vec<S>) -> &'a mut [S] {
    if count <= stack.len() {
        &mut stack[..count]
    } else {
        heap.resize(count, S::constant(S::Real::from_f64(0.0)));
        heap
    }
}

/// `d²r(x + tv)/dt²` by Taylor numbers; up to `W` parameters are on the stack.
#[inline]
fn second_along<T: Real, F: Residuals<T>, const W: usize>(
    function: &F,
    x: &[T],
    v: &[T],
    first: usize,
    second: &mut [T],
) -> Result<bool, EvaluationError> {
    let zero = Taylor::constant(T::ZERO);
    let (mut few_x, mut many_x) = ([zero; W], Vec::new());
    let (mut few_rows, mut many_rows) = ([zero; STRIP], Vec::new());
    let strip = strip_of(function.row_group());
    let moving = scratch_for(x.len(), &mut few_x, &mut many_x);
    let rows = scratch_for(strip, &mut few_rows, &mut many_rows);
    for ((moving, &x), &v) in moving.iter_mut().zip(x).zip(v) {
        *moving = Taylor::along(x, v);
    }
    for (block, second) in second.chunks_mut(strip).enumerate() {
        let rows = &mut rows[..second.len()];
        function.evaluate(moving, first + block * strip, rows)?;
        for (second, row) in second.iter_mut().zip(rows) {
            *second = row.second;
        }
    }
    Ok(true)
}

/// Rows evaluated at once: the largest number of whole groups that fits the stack, at least one group.
#[inline]
fn strip_of(group: usize) -> usize {
    let group = group.max(1);
    if group > STRIP { group } else { STRIP - STRIP % group }
}
