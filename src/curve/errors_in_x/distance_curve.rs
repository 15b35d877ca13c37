//! The distances of observations from a curve, as a curve.

use super::foot_points::FootPoints;
use super::{ErrorsInX, ObservedRow, effective_variance};
use crate::curve::any_curve::pass_on_description;
use crate::curve::model_sums::{ModelRows, ModelSums, Summand};
use crate::curve::{AnyCurve, Curve};
use crate::problem::Evaluated;
use crate::real::Real;

/// Rows whose foot points are sought at a time, so that they stay in the cache.
const BLOCK: usize = 256;

/// A curve with errors in its predictors. To rows that [carry their observation](ObservedRow), it responds with the observed responses,
/// moved by the distance of the observation from the curve; to rows of predictors alone with the responses of the curve.
pub(in crate::curve) struct DistanceCurve<'a, T> {
    pub(super) curve: AnyCurve<'a, T>,
    /// Ranges of the predictors of a row.
    pub(super) ranges: Vec<T>,
    pub(super) method: ErrorsInX,
    /// The curve is a condition, and distances are in units of the predictors' deviations alone.
    pub(super) is_implicit: bool,
}

/// Calls a method of the curve inside.
macro_rules! inside {
    ($self:ident, $method:ident($($argument:ident),*)) => {
        $self.curve.$method($($argument),*)
    };
}

impl<T: Real> DistanceCurve<'_, T> {
    /// Calls `work` with some rows, their numbers, at a time.
    fn for_blocks(
        &self,
        x: &[T],
        width: usize,
        mut work: impl FnMut(&[ObservedRow<'_, T>], usize) -> Evaluated,
    ) -> Evaluated {
        let block = if self.curve.takes_all_rows() { (x.len() / width).max(1) } else { BLOCK };
        x.chunks(block * width).enumerate().try_for_each(|(number, x)| {
            let rows: Vec<_> = x.chunks_exact(width).map(|row| ObservedRow::of(row, self.ranges.len())).collect();
            work(&rows, number * block)
        })
    }

    /// Standard deviation in units of which a distance is added to a response.
    fn unit(&self, row: &ObservedRow<'_, T>, output: usize) -> T {
        if self.is_implicit { T::ONE } else { row.sigma_y[output] }
    }

    /// Fills in responses and, where there is room, derivatives.
    fn evaluate(&self, x: &[T], width: usize, b: &[T], y: &mut [T], jacobian: &mut [T]) -> Evaluated {
        let (k, n) = (self.curve.response_count(), b.len());
        self.for_blocks(x, width, |rows, first| {
            let y = &mut y[first * k..(first + rows.len()) * k];
            let jacobian = match jacobian {
                [] => &mut [],
                _ => &mut jacobian[first * k * n..(first + rows.len()) * k * n],
            };
            match self.method {
                ErrorsInX::OrthogonalDistance => self.distances(rows, b, y, jacobian)?,
                ErrorsInX::EffectiveVariance => {
                    effective_variance::residuals(&*self.curve, &self.ranges, rows, b, y, jacobian)?
                }
            }
            let mut derivatives = jacobian.chunks_exact_mut(n);
            for (row, y) in rows.iter().zip(y.chunks_exact_mut(k)) {
                for (output, y) in y.iter_mut().enumerate() {
                    let unit = self.unit(row, output);
                    *y = row.y[output] + unit * *y;
                    derivatives.next().into_iter().flatten().for_each(|derivative| *derivative *= unit);
                }
            }
            Ok(())
        })
    }

    /// Writes distances and, where there is room, their derivatives.
    fn distances(&self, rows: &[ObservedRow<'_, T>], b: &[T], distances: &mut [T], jacobian: &mut [T]) -> Evaluated {
        let (k, n) = (self.curve.response_count(), b.len());
        let found = FootPoints::find(&*self.curve, &self.ranges, rows, b)?;
        if !jacobian.is_empty() {
            self.curve.linearize(&found.points, self.ranges.len(), b, distances, jacobian)?;
            jacobian.chunks_exact_mut(k * n).enumerate().for_each(|(row, own)| found.differentiate(row, own));
        }
        for (row, distances) in distances.chunks_exact_mut(k).enumerate() {
            distances.iter_mut().enumerate().for_each(|(output, own)| *own = found.distance(row, output));
        }
        Ok(())
    }
}

impl<T: Real> Curve<T> for DistanceCurve<'_, T> {
    pass_on_description!(inside);

    fn responses(&self, x: &[T], width: usize, b: &[T], y: &mut [T]) -> Evaluated {
        if width == self.ranges.len() {
            return self.curve.responses(x, width, b, y);
        }
        self.evaluate(x, width, b, y, &mut [])
    }

    fn linearize(&self, x: &[T], width: usize, b: &[T], y: &mut [T], jacobian: &mut [T]) -> Evaluated {
        if width == self.ranges.len() {
            return self.curve.linearize(x, width, b, y, jacobian);
        }
        self.evaluate(x, width, b, y, jacobian)
    }

    fn fitted_predictors(&self, x: &[T], width: usize, b: &[T], fitted: &mut [T]) -> Evaluated<bool> {
        let own = self.ranges.len();
        self.for_blocks(x, width, |rows, first| {
            let fitted = fitted[first * own..].iter_mut();
            match self.method {
                ErrorsInX::OrthogonalDistance => {
                    let found = FootPoints::find(&*self.curve, &self.ranges, rows, b)?;
                    fitted.zip(found.points).for_each(|(fitted, point)| *fitted = point);
                }
                ErrorsInX::EffectiveVariance => {
                    fitted.zip(rows.iter().flat_map(|row| row.x)).for_each(|(fitted, &x)| *fitted = x);
                }
            }
            Ok(())
        })?;
        Ok(true)
    }

    fn add_sums(&self, rows: ModelRows<'_, T>, summand: Summand<'_, T>, sums: &mut ModelSums<'_, T>) -> bool {
        rows.width == self.ranges.len() && self.curve.add_sums(rows, summand, sums)
    }

    fn keep_within(&mut self, lower: &[T], upper: &[T]) {
        self.curve.keep_within(lower, upper);
    }
}
