//! The data as a guess looks at them.

use std::iter::zip;

use super::guess_cache::GuessCache;
use crate::real::Real;

/// Points of a look at the data. More are averaged in groups.
pub(super) const POINTS: usize = 512;

/// Residuals this many times the noise are noise.
const NOISE: f64 = 1.25;
/// A part of a model is no chance where it explains a sum of squares of this many times the variance of the noise: a search of noise
/// for peaks finds some of twelve.
const SIGNIFICANT: f64 = 40.0;
/// Median of the squares of second differences of noise, in units of its variance: 6 times the median of a χ² of one degree.
const MEDIAN_OF_SQUARES: f64 = 6.0 * 0.454_936;

/// The data in the order of `x`, averaged in groups where they are many, with `y` scaled to be at most one.
#[derive(Debug, Clone)]
pub(super) struct Look {
    pub(super) x: Vec<f64>,
    pub(super) y: Vec<f64>,
    /// Divisor of `y`.
    scale: f64,
    /// Columns that guesses for other data may have left.
    pub(super) cache: GuessCache,
}

impl Look {
    /// Selects the finite observations, with the first predictor of each; all rows have the same number of predictors.
    pub(super) fn at<T: Real>(x: &[T], y: &[T], cache: &GuessCache) -> Look {
        let width = (x.len() / y.len().max(1)).max(1);
        let finite = zip(x.iter().step_by(width), y).filter(|(x, y)| x.is_finite() && y.is_finite());
        let mut points: Vec<_> = finite.map(|(x, y)| (x.to_f64(), y.to_f64())).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let scale = points.iter().fold(0.0_f64, |scale, point| scale.max(point.1.abs()));
        let scale = if scale > 0.0 { scale } else { 1.0 };
        let (x, y) = points.into_iter().map(|(x, y)| (x, y / scale)).unzip();
        let look = Look { x, y, scale, cache: cache.clone() };
        look.averaged(POINTS).unwrap_or(look)
    }

    /// Returns at most `points` points, means of neighbours; `None` if there are no more.
    pub(super) fn averaged(&self, points: usize) -> Option<Look> {
        let group = self.x.len().div_ceil(points);
        if group <= 1 {
            return None;
        }
        let mean = |values: &[f64]| values.iter().map(|value| value / values.len() as f64).sum::<f64>();
        let means = |values: &[f64]| values.chunks(group).map(mean).collect();
        Some(Look { x: means(&self.x), y: means(&self.y), scale: self.scale, cache: self.cache.clone() })
    }

    /// Residuals of this sum of squares are noise, judged by how the data differ from the lines between their neighbours, and are
    /// none without any part of the model: `without` has the sums of squares that the others leave.
    pub(super) fn are_described(&self, sum: f64, without: [f64; 2]) -> bool {
        let mut squares: Vec<f64> = self.y.windows(3).map(|y| (y[0] - 2.0 * y[1] + y[2]).powi(2)).collect();
        if squares.is_empty() {
            return false;
        }
        let middle = squares.len() / 2;
        let variance = *squares.select_nth_unstable_by(middle, f64::total_cmp).1 / MEDIAN_OF_SQUARES;
        let is_noise = sum <= NOISE * self.y.len() as f64 * variance;
        is_noise && without.iter().all(|without| without - sum >= SIGNIFICANT * variance)
    }

    /// The points in another float.
    pub(super) fn as_floats<T: Real>(&self) -> (Vec<T>, Vec<T>) {
        let floats = |values: &[f64]| values.iter().map(|&value| T::from_f64(value)).collect();
        (floats(&self.x), floats(&self.y))
    }

    /// Returns a start for the data as given: `start` finds one for the scaled data, and `scale` converts its parameters to the scale of
    /// the responses.
    pub(super) fn unscaled(
        &self,
        scale: impl FnOnce(&mut [f64], f64),
        start: impl FnOnce(&Look) -> Vec<f64>,
    ) -> Vec<f64> {
        let mut start = start(self);
        scale(&mut start, self.scale);
        start
    }

    /// The smallest `x`; zero where there are no data.
    pub(super) fn first(&self) -> f64 {
        self.x.first().copied().unwrap_or(0.0)
    }

    /// The distance from the smallest to the largest `x`; one where that is nothing.
    pub(super) fn span(&self) -> f64 {
        let span = self.x.last().copied().unwrap_or(0.0) - self.first();
        if span > 0.0 { span.min(f64::MAX) } else { 1.0 }
    }

    /// Places along `x`: evenly spaced, and where `y` is least and greatest.
    pub(super) fn places(&self) -> Vec<f64> {
        let even = spaced(self.first(), self.first() + self.span(), 25);
        let by_height = |a: &usize, b: &usize| self.y[*a].total_cmp(&self.y[*b]);
        let extremes = (0..self.x.len()).min_by(by_height).into_iter().chain((0..self.x.len()).max_by(by_height));
        let mut places: Vec<f64> = even.into_iter().chain(extremes.map(|index| self.x[index])).collect();
        places.sort_by(f64::total_cmp);
        places
    }

    /// Places along `x`, and beyond the data by as much as they span.
    pub(super) fn wider_places(&self) -> Vec<f64> {
        let (first, span) = (self.first(), self.span());
        spaced(first - span, first + 2.0 * span, 37)
    }

    /// Widths of a feature: from a three-hundredth of the span to all of it.
    pub(super) fn widths(&self) -> Vec<f64> {
        geometric(self.span() / 300.0, self.span(), 15)
    }

    /// Lengths on which a curve changes: from a two-hundredth of the span to thirty times as long.
    pub(super) fn lengths(&self) -> Vec<f64> {
        geometric(self.span() / 200.0, 30.0 * self.span(), 24)
    }

    /// Returns the lengths with both signs.
    pub(super) fn signed_lengths(&self) -> Vec<f64> {
        both_signs(&self.lengths())
    }

    /// Positive `x`: from a tenth of the least in the data to ten times the greatest.
    pub(super) fn positive(&self) -> Vec<f64> {
        let mut positive = self.x.iter().copied().filter(|&x| x > 0.0);
        let least = positive.next().unwrap_or(1.0);
        let greatest = positive.next_back().unwrap_or(least);
        geometric(least.max(greatest * 1e-6) / 10.0, 10.0 * greatest, 30)
    }
}

/// Returns `count` evenly spaced numbers.
pub(super) fn spaced(from: f64, to: f64, count: usize) -> Vec<f64> {
    (0..count).map(|index| from + (to - from) * index as f64 / (count - 1) as f64).collect()
}

/// Returns `count` numbers in a geometric sequence.
pub(super) fn geometric(from: f64, to: f64, count: usize) -> Vec<f64> {
    (0..count).map(|index| from * (to / from).powf(index as f64 / (count - 1) as f64)).collect()
}

/// Returns these numbers and their negatives, in order.
pub(super) fn both_signs(positive: &[f64]) -> Vec<f64> {
    positive.iter().rev().map(|value| -value).chain(positive.iter().copied()).collect()
}

/// Returns the reciprocals of these numbers, in reverse order.
pub(super) fn reciprocals(values: &[f64]) -> Vec<f64> {
    values.iter().rev().map(|value| value.recip()).collect()
}

/// Returns `count` numbers around one, as far as `reach` on either side.
pub(super) fn about(middle: f64, reach: f64, count: usize) -> Vec<f64> {
    spaced(middle - reach, middle + reach, count)
}

/// Returns `count` multiples of a number, by factors from `1 / most` to `most`.
pub(super) fn multiples(of: f64, most: f64, count: usize) -> Vec<f64> {
    geometric(most.recip(), most, count).into_iter().map(|factor| of * factor).collect()
}
