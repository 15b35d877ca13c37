//! The damped quadratic model of a minibatch, and the steps to its minimum.

use super::memory::KroneckerMemory;
use super::scalars::Scalars;
use super::settings::KroneckerHyperparameters;
use crate::optim::{OptimizerError, OptimizerResult};
use crate::problem::KroneckerFactored;
use crate::real::Real;

/// Part of the moving average of the length that is kept.
const LENGTH_KEPT: f64 = 0.7;
/// Largest ratio of the length to that of the minibatch, where this is known.
const LONGEST: f64 = 1.5;

/// Model with the exact Gauss–Newton matrix of a minibatch at the weights `values`.
pub(super) struct QuadraticModel<'a, T> {
    pub(super) problem: &'a mut dyn KroneckerFactored<T>,
    pub(super) values: &'a [T],
    pub(super) damping: f64,
    pub(super) now: &'a KroneckerHyperparameters,
}

/// Factors of direction and last step in the step, and the change that the quadratic model predicts.
pub(super) struct Combination {
    pub(super) direction: f64,
    pub(super) last: f64,
    pub(super) predicted: f64,
}

impl<T: Real> KroneckerMemory<T> {
    /// Fills `products` with `uᵢᵀ(F + λ + decay)uⱼ` for all pairs of directions.
    fn products(
        &self,
        model: &mut QuadraticModel<'_, T>,
        directions: &[&[T]],
        products: &mut [f64],
    ) -> OptimizerResult<()> {
        let (count, mut curvature) = (directions.len(), [T::ZERO; 4]);
        let curvature = &mut curvature[..count * count];
        model.problem.curvature(model.values, directions, curvature)?;
        for (place, (product, curvature)) in products.iter_mut().zip(curvature).enumerate() {
            let [all, decaying] = self.product(directions[place / count], directions[place % count]);
            *product = curvature.to_f64() + model.damping * all + model.now.weight_decay * decaying;
        }
        Ok(())
    }

    /// The length of a step along the direction: a moving average of the minimum of the quadratic model, which is computed where
    /// `is_due`, and for this step alone where the minibatch is a surprise.
    pub(super) fn averaged_length(
        &self,
        mut model: QuadraticModel<'_, T>,
        loss: f64,
        slope: f64,
        is_due: bool,
        scalars: &mut Scalars,
    ) -> OptimizerResult<f64> {
        let is_surprise = self.is_surprise(loss) || self.scalars.is_steep(slope);
        if !((is_due || is_surprise) && slope > 0.0) {
            return Ok(scalars.length);
        }
        let mut product = [0.0];
        self.products(&mut model, &[&self.direction], &mut product)?;
        if !(product[0].is_finite() && product[0] > 0.0) {
            return Err(OptimizerError::NonFiniteCurvature { value: product[0] });
        }
        let own = slope / product[0];
        let kept = if self.scalars.is_underway { LENGTH_KEPT } else { 0.0 };
        let length = (kept * self.scalars.length + (1.0 - kept) * own).min(LONGEST * own);
        // Surprises are short on average, so that they would bias the average.
        if is_due {
            (scalars.length, scalars.slope) = (length, slope);
        }
        Ok(length)
    }

    /// A part of the last step and a step of this length, unless that would go uphill.
    pub(super) fn with_momentum(&self, now: &KroneckerHyperparameters, length: f64, slope: f64) -> Combination {
        let along = -(1.0 - now.momentum) * length * now.learning_rate;
        let last = self.gradient_times(&self.velocity).to_f64();
        let is_downhill = now.momentum * last + along * slope < 0.0;
        Combination { direction: along, last: if is_downhill { now.momentum } else { 0.0 }, predicted: 0.0 }
    }

    /// The minimum of the quadratic model in the plane of the direction and the last step.
    pub(super) fn minimum(&mut self, mut model: QuadraticModel<'_, T>, slope: f64) -> OptimizerResult<Combination> {
        // Entries of the last step that do not move now count as zero.
        self.next.fill(T::ZERO);
        for range in &self.moving {
            self.next[range.clone()].copy_from_slice(&self.velocity[range.clone()]);
        }
        let mut products = [0.0; 4];
        self.products(&mut model, &[&self.direction, &self.next], &mut products)?;
        let [uu, uv, _, vv] = products;
        if !products.iter().all(|product| product.is_finite()) {
            return Err(OptimizerError::NonFiniteCurvature { value: uu + uv + vv });
        }
        let last_slope = self.gradient_times(&self.next).to_f64();
        let determinant = uu * vv - uv * uv;
        // A last step along the direction adds nothing to it.
        let (direction, last) = if determinant > 1e-6 * uu * vv {
            ((uv * last_slope - vv * slope) / determinant, (uv * slope - uu * last_slope) / determinant)
        } else if uu > 0.0 {
            (-slope / uu, 0.0)
        } else {
            (0.0, 0.0)
        };
        // At the minimum the quadratic part is half the linear one, with the other sign.
        let predicted = 0.5 * (direction * slope + last * last_slope);
        let rate = model.now.learning_rate;
        // Along a ray through it, the model is a parabola.
        Ok(Combination { direction: rate * direction, last: rate * last, predicted: predicted * rate * (2.0 - rate) })
    }
}
