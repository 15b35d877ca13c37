//! Derivatives of a curve by its predictors, by differences.

use crate::curve::Curve;
use crate::problem::Evaluated;
use crate::real::Real;

/// Powers of `ε`: the share of a standard deviation that a difference is, and of the range that counts as the size of a predictor near zero;
/// the largest share of that size, and the smallest.
const SHARE_POWER: f64 = 0.25;
const MOST_POWER: f64 = 0.2;
const LEAST_POWER: f64 = 2.0 / 3.0;

/// Rows at which a curve is evaluated for values and derivatives by predictors: the points, then for each predictor the points
/// moved forwards and backwards.
#[derive(Debug)]
pub(super) struct PredictorSlopes<T> {
    predictors: usize,
    outputs: usize,
    points: usize,
    x: Vec<T>,
    y: Vec<T>,
    lengths: Lengths<T>,
    /// Ranges of the predictors.
    ranges: Vec<T>,
}

/// Shares of a standard deviation and of a predictor that differences have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lengths<T> {
    share: T,
    most: T,
    least: T,
}

impl<T: Real> PredictorSlopes<T> {
    pub(super) fn new(ranges: &[T], outputs: usize) -> Self {
        let (predictors, lengths, ranges) = (ranges.len(), Lengths::new(), ranges.to_vec());
        PredictorSlopes { predictors, outputs, points: 0, x: Vec::new(), y: Vec::new(), lengths, ranges }
    }

    /// Lays out the rows about these points, with the standard deviations of the predictors of each; returns their number. A predictor
    /// that is exact is not moved.
    pub(super) fn lay_out<'r>(&mut self, points: impl Iterator<Item = (&'r [T], &'r [T])> + Clone) -> usize {
        self.x.clear();
        points.clone().for_each(|(point, _)| self.x.extend_from_slice(point));
        self.points = self.x.len() / self.predictors;
        for predictor in 0..self.predictors {
            for side in [T::ONE, -T::ONE] {
                for (point, sigma) in points.clone() {
                    let place = self.x.len() + predictor;
                    self.x.extend_from_slice(point);
                    self.x[place] += side * self.lengths.of(point[predictor], sigma[predictor], self.ranges[predictor]);
                }
            }
        }
        let rows = self.x.len() / self.predictors;
        self.y.resize(rows * self.outputs, T::ZERO);
        rows
    }

    /// Evaluates the curve at all rows.
    pub(super) fn evaluate(&mut self, curve: &dyn Curve<T>, b: &[T]) -> Evaluated {
        curve.responses(&self.x, self.predictors, b, &mut self.y)
    }

    /// Evaluates the curve and its derivatives by the parameters at all rows.
    pub(super) fn linearize(&mut self, curve: &dyn Curve<T>, b: &[T], jacobian: &mut [T]) -> Evaluated {
        curve.linearize(&self.x, self.predictors, b, &mut self.y, jacobian)
    }

    /// The responses at a point.
    pub(super) fn responses(&self, point: usize) -> &[T] {
        &self.y[point * self.outputs..(point + 1) * self.outputs]
    }

    /// Rows of a point moved forwards and backwards along a predictor, and the distance between them.
    pub(super) fn sides(&self, point: usize, predictor: usize) -> ([usize; 2], T) {
        let rows = [1, 2].map(|side| (2 * predictor + side) * self.points + point);
        let [forwards, backwards] = rows.map(|row| self.x[row * self.predictors + predictor]);
        (rows, forwards - backwards)
    }

    /// Writes the derivatives at a point, response after response.
    pub(super) fn derivatives_at(&self, point: usize, slopes: &mut [T]) {
        for (index, slope) in slopes.iter_mut().enumerate() {
            *slope = self.derivative(point, index / self.predictors, index % self.predictors);
        }
    }

    /// Derivative of a response at a point by a predictor; from one side where the curve ends on the other.
    pub(super) fn derivative(&self, point: usize, output: usize, predictor: usize) -> T {
        let ([forwards, backwards], distance) = self.sides(point, predictor);
        if distance == T::ZERO {
            return T::ZERO;
        }
        let [here, ahead, behind] = [point, forwards, backwards].map(|row| self.y[row * self.outputs + output]);
        let twice = T::from_f64(2.0);
        match (ahead.is_finite(), behind.is_finite()) {
            (true, false) => twice * (ahead - here) / distance,
            (false, true) => twice * (here - behind) / distance,
            _ => (ahead - behind) / distance,
        }
    }
}

impl<T: Real> Lengths<T> {
    pub(super) fn new() -> Self {
        let [share, most, least] =
            [SHARE_POWER, MOST_POWER, LEAST_POWER].map(|power| T::from_f64(T::EPSILON.to_f64().powf(power)));
        Lengths { share, most, least }
    }

    /// Length of a difference: a share of the standard deviation, as the curve is mostly smooth on that scale. It is shorter where the
    /// deviation is far larger than the predictor and its range, and longer where rounding would swallow it. Zero for an exact predictor.
    #[inline(always)]
    pub(super) fn of(self, x: T, sigma: T, range: T) -> T {
        let most = self.most * x.abs().max(self.share * range);
        let least = (self.least * x.abs()).max(self.share * self.share * range);
        if sigma == T::ZERO { T::ZERO } else { (self.share * sigma).min(most).max(least) }
    }
}
