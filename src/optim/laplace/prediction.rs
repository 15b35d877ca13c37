//! Predictions with error bars.

use std::f64::consts::PI;

use ndarray::{Array2, Zip};

use crate::real::Real;
use crate::statistics::distributions::two_sided_quantile;

/// Outputs of a network with standard deviations, a row for each sample.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictionWithStd<T> {
    /// Outputs of the network.
    pub mean: Array2<T>,
    /// Standard deviation of the outputs by the uncertainty of the weights.
    pub std_of_mean: Array2<T>,
    /// Standard deviation of a new target: that of the output and the noise. As [`std_of_mean`](Self::std_of_mean) for likelihoods without noise.
    pub std: Array2<T>,
    /// Degrees of freedom of the estimated noise.
    pub(super) freedom: f64,
    pub(super) link: Link,
}

/// Probabilities of a likelihood, given outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    Identity,
    Sigmoid,
    Softmax,
}

impl<T: Real> PredictionWithStd<T> {
    /// Lower and upper ends of the interval that contains a new target with this probability, such as 0.95. Quantiles are those of Student's t distribution
    /// with the residuals less the effective parameters as degrees of freedom, and the normal ones for known noise.
    pub fn interval(&self, level: f64) -> [Array2<T>; 2] {
        let quantile = T::from_f64(two_sided_quantile(level, self.freedom));
        let end =
            |sign: T| Zip::from(&self.mean).and(&self.std).map_collect(|&mean, &std| mean + sign * quantile * std);
        [end(-T::ONE), end(T::ONE)]
    }

    /// Probabilities of classes, with the uncertainty of logits by MacKay's approximation: `softmax(κ f)` or `sigmoid(κ f)` with
    /// `κ = 1 / √(1 + π/8 · std²)`. `None` for losses of other targets than probabilities and labels.
    pub fn probabilities(&self) -> Option<Array2<T>> {
        let eighth = T::from_f64(PI / 8.0);
        let logits = || {
            Zip::from(&self.mean)
                .and(&self.std_of_mean)
                .map_collect(|&mean, &std| mean / (T::ONE + eighth * std * std).sqrt())
        };
        match self.link {
            Link::Identity => None,
            Link::Sigmoid => Some(logits().mapv(|logit| T::ONE / (T::ONE + (-logit).exp()))),
            Link::Softmax => {
                let mut probabilities = logits();
                for mut row in probabilities.rows_mut() {
                    let largest = row.iter().copied().fold(row[0], T::max);
                    row.mapv_inplace(|logit| (logit - largest).exp());
                    let sum: T = row.iter().copied().sum();
                    row.mapv_inplace(|entry| entry / sum);
                }
                Some(probabilities)
            }
        }
    }
}
