//! Derivatives that the chain rule leaves undefined.

use std::sync::atomic::{AtomicBool, Ordering};

use super::Curve;
use crate::autodiff::Difference;
use crate::kernels::vector::all_finite;
use crate::problem::Evaluated;
use crate::real::Real;

/// A difference of responses takes the place of derivatives that are NaN.
pub(super) struct Differences<'w, S, B> {
    /// Returns the parameters where a fit started, if there is one. Derivatives that were defined there are not to be lost on the way: a
    /// descent that comes to where intermediate results overflow has nothing to find there.
    pub(super) start: S,
    /// The parameters are the first that the curve is evaluated at.
    pub(super) is_first: bool,
    /// Returns the lowest and the highest value of a parameter.
    pub(super) range: B,
    /// All derivatives are looked at, as one was NaN; else those of the first point are, and those where a predictor is zero.
    pub(super) are_expected: &'w AtomicBool,
}

impl<S, B> Differences<'_, S, B> {
    /// Fills `y` and `jacobian` as [`Curve::linearize`] does, and derivatives that are NaN by differences of the responses, if a predictor is
    /// zero, or if they were NaN at the start.
    ///
    /// The chain rule multiplies zero by infinity where an intermediate result overflows, as in `1 / (1 + exp(−z))` for `z < −710`, and where
    /// one has an infinite slope, as `(x / c)ᵖ` for `p < 1` at `x = 0`. The response is smooth in the parameters there.
    pub(super) fn linearize<T: Real>(
        &self,
        curve: &dyn Curve<T>,
        (x, width): (&[T], usize),
        b: &[T],
        y: &mut [T],
        jacobian: &mut [T],
    ) -> Evaluated
    where
        S: Fn() -> Option<Vec<T>>,
        B: Fn(usize) -> (T, T),
    {
        curve.linearize(x, width, b, y, jacobian)?;
        let outputs = curve.response_count();
        let looks_at_all = self.is_first || self.are_expected.load(Ordering::Relaxed);
        let is_undefined_row = |(row, derivatives): (usize, &[T])| {
            (looks_at_all || is_at_zero(x, width, row / outputs)) && derivatives.iter().any(is_undefined)
        };
        let has_undefined = if looks_at_all { !all_finite(jacobian) } else { x.contains(&T::ZERO) };
        if !has_undefined || !jacobian.chunks_exact(b.len()).enumerate().any(is_undefined_row) || !all_finite(y) {
            return Ok(());
        }
        self.are_expected.store(true, Ordering::Relaxed);
        let is_excused = match (self.start)() {
            Some(start) => excused(curve, (x, width), &start, y.len())?,
            None => vec![true; y.len()],
        };
        let mut moved = b.to_vec();
        let mut sides = [vec![T::ZERO; y.len()], vec![T::ZERO; y.len()]];
        for (j, &center) in b.iter().enumerate() {
            if !jacobian.iter().skip(j).step_by(b.len()).any(is_undefined) {
                continue;
            }
            let (lower, upper) = (self.range)(j);
            let stencil = Difference::Central.stencil(center, lower, upper);
            for (side, point) in sides.iter_mut().zip(stencil.points()) {
                let Some(point) = point else { continue };
                moved[j] = point;
                curve.responses(x, width, &moved, side)?;
            }
            moved[j] = center;
            let column = jacobian.iter_mut().skip(j).step_by(b.len());
            for (row, derivative) in column.enumerate() {
                if is_undefined(derivative) && is_excused[row] {
                    *derivative = stencil.slope(center, y[row], sides[0][row], sides[1][row]);
                }
            }
        }
        Ok(())
    }
}

/// Rows that may have undefined derivatives.
fn excused<T: Real>(curve: &dyn Curve<T>, (x, width): (&[T], usize), start: &[T], rows: usize) -> Evaluated<Vec<bool>> {
    let (mut y, mut jacobian) = (vec![T::ZERO; rows], vec![T::ZERO; rows * start.len()]);
    curve.linearize(x, width, start, &mut y, &mut jacobian)?;
    let outputs = curve.response_count();
    let is_excused =
        |(row, derivatives): (usize, &[T])| is_at_zero(x, width, row / outputs) || derivatives.iter().any(is_undefined);
    Ok(jacobian.chunks_exact(start.len()).enumerate().map(is_excused).collect())
}

/// A predictor of the point is zero.
fn is_at_zero<T: Real>(x: &[T], width: usize, point: usize) -> bool {
    x[point * width..][..width].contains(&T::ZERO)
}

fn is_undefined<T: Real>(derivative: &T) -> bool {
    derivative.to_f64().is_nan()
}
