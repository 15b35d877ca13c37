//! Laplace approximation: uncertain weights, and predictions with error bars.

mod linearization;
mod posterior;
mod prediction;

pub(super) use linearization::{DecayingWeights, Estimate, FEWEST_PARAMETERS, Linearization};
pub use posterior::LaplacePosterior;
pub use prediction::PredictionWithStd;

use linearization::refusal;

use super::{Evidence, OptimizerResult};
use crate::kernels::{Factor, Kernels};
use crate::linear::MEMORY_BUDGET;
use crate::nn::Network;
use crate::real::Real;
use crate::variables::Variables;

/// Laplace approximation of the weights of a trained network, for predictions with error bars (MacKay 1992).
///
/// Weights are taken to be normally distributed about the trained ones, with the covariance `s² (JᵀJ + decay)⁻¹`: `J` is the Jacobian of the
/// residuals of the bound batch, which holds all training data, `s` the noise of the residuals, and `decay` the weight decay of the training. Outputs are linear
/// in the weights near these (the linearised predictive of Immer, Korzepa & Bauer 2021).
///
/// Of squared errors, `s² = ‖r‖² / (m − γ)` with the effective number of parameters `γ`; all outputs have the same noise in the unit of the loss. Losses whose targets are
/// labels, probabilities or counts are taken for negative log-likelihoods, which have no noise to estimate.
///
/// The matrix is dense: of `n` parameters, or, of fewer residuals `m`, as `JJᵀ`. It takes `2mn² + n³` flops and `n²` numbers of memory, or `2nm² + m³` and `mn`.
/// For large networks, [name](Self::with_variables) the variables of the last layer.
///
/// ```
/// use marquardt::nn::{MeanSquaredError, Sequential};
/// use marquardt::optim::Laplace;
/// use marquardt::{LevenbergMarquardt, Variables};
/// use ndarray::{Array2, array};
///
/// let x = Array2::from_shape_fn((60, 1), |(i, _)| i as f64 / 30.0 - 1.0);
/// let noise = |i: usize| 0.1 * (12.9898 * (i * i) as f64).sin();
/// let y = Array2::from_shape_fn((60, 1), |(i, _)| (3.0 * x[[i, 0]]).sin() + noise(i));
/// let mut variables = Variables::new();
/// let layers = Sequential::new(1).dense(10).tanh().dense(1);
/// let mut network = layers.compile(&mut variables, 0, MeanSquaredError)?;
/// network.batch(&[x.view()], &[y.view()])?;
/// let found = LevenbergMarquardt::new().minimize_variables_by_evidence(&mut network, &mut variables)?;
///
/// let posterior = Laplace::of_evidence(&found).fit(&mut network, &variables)?;
/// let predicted = posterior.predict_with_std(&mut network, &[array![[0.0], [4.0]].view()])?;
/// // The noise, and far from the data much more.
/// assert!((predicted.std[[0, 0]] - 0.07).abs() < 0.02 && predicted.std[[1, 0]] > 0.3, "{predicted:?}");
/// let [lower, upper] = predicted.interval(0.95);
/// assert!(lower[[0, 0]] < 0.0 && upper[[0, 0]] > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Laplace<T> {
    weight_decay: Option<T>,
    bias_decay: T,
    noise: Option<T>,
    variables: Vec<String>,
    exclusions: Vec<String>,
}

impl<T: Real> Default for Laplace<T> {
    fn default() -> Self {
        Laplace {
            weight_decay: None,
            bias_decay: T::ONE,
            noise: None,
            variables: vec!["*".to_owned()],
            exclusions: Vec::new(),
        }
    }
}

impl<T: Real> Laplace<T> {
    /// All trainable variables, and the weight decay that the evidence asks for at the weights.
    pub fn new() -> Self {
        Self::default()
    }

    /// All trainable variables, with the weight decay that a training by the evidence has found.
    pub fn of_evidence(found: &Evidence<T>) -> Self {
        Self::new().with_weight_decay(found.weight_decay).with_bias_decay(found.bias_decay)
    }

    /// Weight decay that the network was trained with, in the unit of
    /// [`LevenbergMarquardt::with_weight_decay`](crate::LevenbergMarquardt::with_weight_decay); zero for none. By default, the one that the evidence asks for at
    /// the weights as they are.
    pub fn with_weight_decay(mut self, weight_decay: T) -> Self {
        self.weight_decay = Some(weight_decay);
        self
    }

    /// Weight decay of biases, relative to that of other variables: [`Evidence::bias_decay`](super::Evidence::bias_decay) for networks that were trained by the evidence; 1 by
    /// default.
    pub fn with_bias_decay(mut self, bias_decay: T) -> Self {
        self.bias_decay = bias_decay;
        self
    }

    /// Standard deviation of the noise of the targets, in their unit, for squared errors; estimated by default.
    pub fn with_noise(mut self, noise: T) -> Self {
        self.noise = Some(noise);
        self
    }

    /// Patterns of the names of the variables that are uncertain, such as `2.*`; `*` stands for any characters. All trainable ones by default.
    pub fn with_variables<P: Into<String>>(mut self, patterns: impl IntoIterator<Item = P>) -> Self {
        self.variables = patterns.into_iter().map(Into::into).collect();
        self
    }

    /// Patterns of the names of variables that do not decay.
    pub fn exclude_from_weight_decay<P: Into<String>>(mut self, patterns: impl IntoIterator<Item = P>) -> Self {
        self.exclusions = patterns.into_iter().map(Into::into).collect();
        self
    }

    /// Approximates the posterior of the weights at these variables, from the bound batch.
    ///
    /// # Errors
    ///
    /// [`OptimizerError::NoEvidence`](super::OptimizerError::NoEvidence) for losses that are neither sums of squares nor log-likelihoods, where residuals and weight decay do not
    /// determine the parameters, for matrices beyond the memory, and for a weight decay or noise that is negative or not finite; or what evaluates the network.
    pub fn fit(&self, network: &mut Network<T>, variables: &Variables<T>) -> OptimizerResult<LaplacePosterior<T>> {
        for (name, value) in [("weight decay", self.weight_decay), ("noise", self.noise)] {
            if let Some(value) = value.filter(|value| !(*value >= T::ZERO && value.is_finite())) {
                return Err(refusal(format!("the {name} is {value}, which is no number from 0 on")));
            }
        }
        let bias_decay = self.bias_decay.to_f64();
        if !(bias_decay > 0.0 && bias_decay.is_finite()) {
            return Err(refusal(format!("the weight decay of biases is {bias_decay}, which is no positive number")));
        }
        let weights = DecayingWeights::of(variables, &self.variables, &self.exclusions, false, bias_decay)?;
        let (n, m) = (weights.count(), network.rows() * network.term_targets().map(|(_, width)| width).sum::<usize>());
        let has_decay = self.weight_decay != Some(T::ZERO) && weights.undecaying() == 0;
        let is_dual = m < n && has_decay;
        let numbers = n.saturating_mul(if is_dual { 4 * m } else { 3 * n });
        if numbers.saturating_mul(size_of::<f64>()) > MEMORY_BUDGET {
            let reason = format!(
                "{n} parameters and {m} residuals take {numbers} numbers of memory: name the variables of the last layer"
            );
            return Err(refusal(reason));
        }
        if is_dual {
            let (measured, jacobian) = weights.measure_rows(network, variables)?;
            let decay = self.decay(&measured)?;
            let (inverse, _) = measured.inverse_root(&[decay])?;
            let mut root = vec![0.0; n * m];
            f64::multiply(&mut root, false, Factor::Transposed(&jacobian), &inverse, m, m);
            return self.posterior(network, variables, weights, (&measured, decay), root);
        }
        let measured = weights.measure(network, variables)?;
        let decay = self.decay(&measured)?;
        let (root, _) = measured.inverse_root(&[decay])?;
        self.posterior(network, variables, weights, (&measured, decay), root)
    }

    fn decay(&self, measured: &Linearization) -> OptimizerResult<f64> {
        self.weight_decay.map_or_else(|| measured.settled_decay(), |decay| Ok(decay.to_f64()))
    }
}
