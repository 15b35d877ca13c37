//! The approximate distribution of trained weights.

use ndarray::{Array2, ArrayView2};

use super::Laplace;
use super::linearization::{DecayingWeights, Linearization, refusal};
use super::prediction::{Link, PredictionWithStd};
use crate::kernels::vector::dot;
use crate::kernels::{Factor, Kernels};
use crate::nn::{BatchError, Network, Targets};
use crate::optim::OptimizerResult;
use crate::real::Real;
use crate::variables::Variables;

/// Approximate distribution of the weights of a trained network, made by [`Laplace::fit`].
#[derive(Debug, Clone)]
pub struct LaplacePosterior<T> {
    /// Weight decay.
    pub weight_decay: T,
    /// Effective number of parameters `γ`.
    pub effective_parameters: T,
    /// Standard deviation of the noise of each entry of the targets; none for likelihoods without noise.
    pub noise: Option<Vec<T>>,
    /// Logarithm of the evidence, as of [`Evidence`](crate::optim::Evidence::log_evidence).
    pub log_evidence: T,
    variables: Variables<T>,
    weights: DecayingWeights,
    /// Matrix of `columns` columns: its rows are those of the parameters. The covariance over the square of the noise is `rootᵀroot`, or, of the dual form, what is left
    /// of `1 / decay`.
    root: Vec<f64>,
    /// `1 / decay` in the dual form.
    prior: Option<f64>,
    square_of_noise: f64,
    /// Degrees of freedom of the noise; infinite if it is known.
    freedom: f64,
    link: Link,
}

impl<T: Real> Laplace<T> {
    /// The posterior of weights with this root of the covariance.
    pub(super) fn posterior(
        &self,
        network: &Network<T>,
        variables: &Variables<T>,
        weights: DecayingWeights,
        (measured, decay): (&Linearization, f64),
        root: Vec<f64>,
    ) -> OptimizerResult<LaplacePosterior<T>> {
        let estimate = measured.estimate(&[decay])?;
        let per_target = network.residuals_per_target(0);
        let (square_of_noise, freedom) = match (self.noise, &per_target) {
            (None, _) if measured.dispersion().is_some() => (estimate.noise.powi(2), f64::INFINITY),
            (None, _) => (estimate.noise.powi(2), measured.rows() as f64 - estimate.effective),
            (Some(noise), Some(units)) => ((noise * units[0]).to_f64().powi(2), f64::INFINITY),
            (Some(_), None) => return Err(refusal("a loss that is no sum of squared errors has no noise of targets")),
        };
        if !square_of_noise.is_finite() {
            return Err(refusal(format!(
                "{} residuals leave no noise beside {:.1} effective parameters: give a weight decay or the noise",
                measured.rows(),
                estimate.effective
            )));
        }
        let noise = per_target
            .map(|units| units.into_iter().map(|unit| T::from_f64(square_of_noise.sqrt()) / unit).collect::<Vec<T>>());
        let link = match network.term_targets().next() {
            Some((Targets::Labels, _)) => Link::Softmax,
            Some((Targets::Probabilities, _)) if network.has_shared_probabilities() => Link::Softmax,
            Some((Targets::Probabilities, _)) => Link::Sigmoid,
            _ => Link::Identity,
        };
        let is_dual = root.len() != weights.count().pow(2);
        Ok(LaplacePosterior {
            weight_decay: T::from_f64(decay),
            effective_parameters: T::from_f64(estimate.effective),
            noise,
            log_evidence: T::from_f64(estimate.log_evidence),
            variables: variables.clone(),
            weights,
            root,
            prior: is_dual.then(|| decay.recip()),
            square_of_noise,
            freedom,
            link,
        })
    }
}

impl<T: Real> LaplacePosterior<T> {
    /// The first output for other inputs, in evaluation mode, with its standard deviations.
    ///
    /// # Errors
    ///
    /// [`BatchError`] for inputs that do not fit, or another network than that of [`Laplace::fit`].
    pub fn predict_with_std(
        &self,
        network: &mut Network<T>,
        inputs: &[ArrayView2<'_, T>],
    ) -> Result<PredictionWithStd<T>, BatchError> {
        let output = *network.outputs().first().ok_or(BatchError::NoLoss)?;
        let (n, width) = (self.weights.count(), output.width());
        let columns = self.root.len() / n;
        let (mut mean, mut std_of_mean) = (Vec::new(), Vec::new());
        network.output_jacobian(&self.variables, inputs, (output, &self.weights.columns), |values, jacobian| {
            mean.extend_from_slice(values);
            let jacobian = self.weights.scaled(jacobian);
            let mut products = vec![0.0; values.len() * columns];
            f64::multiply(&mut products, false, Factor::Plain(&jacobian), &self.root, n, columns);
            let rows = jacobian.chunks_exact(n).zip(products.chunks_exact(columns));
            std_of_mean.extend(rows.map(|(row, product)| {
                let square = dot(product, product);
                let variance = self.prior.map_or(square, |prior| prior * (dot(row, row) - square).max(0.0));
                T::from_f64((self.square_of_noise * variance).sqrt())
            }));
        })?;
        let noise = |place: usize| self.noise.as_ref().map_or(T::ZERO, |noise| noise[place % width]);
        let std = std_of_mean.iter().enumerate().map(|(place, &std)| std.hypot(noise(place))).collect();
        let array =
            |entries: Vec<T>| Array2::from_shape_vec((entries.len() / width, width), entries).expect("rows of outputs");
        let [mean, std_of_mean, std] = [mean, std_of_mean, std].map(array);
        Ok(PredictionWithStd { mean, std_of_mean, std, freedom: self.freedom, link: self.link })
    }
}
