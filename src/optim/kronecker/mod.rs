//! Levenberg–Marquardt with Kronecker factors of the Gauss–Newton matrix.

mod curvature;
mod factor_inverse;
mod layer_inverses;
mod memory;
mod optimizer;
mod quadratic_model;
mod saving;
mod scalars;
mod settings;
mod step;
mod trust;

pub use settings::KroneckerStep;

use memory::KroneckerMemory;
use settings::KroneckerSettings;

use crate::real::Real;

const NAME: &str = "kronecker_levenberg_marquardt";
const SLOT: &str = "momentum";

/// Kronecker-factored Levenberg–Marquardt, of the family of K-FAC: second-order steps at about the price of Adam's.
///
/// The Gauss–Newton matrix of the loss is approximated layer by layer by `A ⊗ G`: second moments of the layer's inputs, and of
/// the sensitivities of its outputs (Martens & Grosse, *Optimizing Neural Networks with Kronecker-factored Approximate
/// Curvature*, 2015). Each is a small matrix, and inverted on its own, so that a step solves no system of the size of the
/// parameters or of the residuals. [`LevenbergMarquardt`](crate::LevenbergMarquardt) takes exact steps instead, which are ahead in
/// regressions with few outputs, and turns to those of this optimizer in classification by minibatches.
///
/// In a step, on a minibatch of loss `L` and gradient `g`:
///
/// 1. `e ← 0.9 e + 0.1 L`, and `λ = max(c · e, minimum_damping · tr F / n)` with the factors' `F`, where `c` begins as `loss_damping`,
/// 2. every [`factor_interval`](Self::with_factor_interval) steps: moving averages of `A` and `G`, from a
///    [part](Self::with_factor_share) of the rows,
/// 3. every [`inverse_interval`](Self::with_inverse_interval) steps: the inverses of `A + π √λ` and `G + √λ / π`, where `π`
///    balances the traces; and `c ← c (p / q)^1.5`, where `p = tr F(F + λ)⁻¹` is the effective number of parameters of the
///    factors, and `q` is [`effective_parameters`](Self::with_effective_parameters) for each row of the minibatch; where this
///    changes the `λ` of the first step by more than a factor of two, that step inverts once more with the new one,
/// 4. the direction `U = A⁻¹ g G⁻¹`,
/// 5. every [`model_interval`](Self::with_model_interval) steps: the length `α = gᵀU / (Uᵀ F U + λ ‖U‖²)` with the exact
///    Gauss–Newton matrix `F` of the whole minibatch, and `κ ← min(0.7 κ + 0.3 α, 1.5 α)`; for the step alone, too, if `L` is
///    more than twice the average before, or `gᵀU` more than twice that of the last `α`: directions of more curvature have
///    come to the fore, for which `κ` may be far too long,
/// 6. `v ← μ v − (1 − μ) κ U`, or `v ← −(1 − μ) κ U` where the former would go uphill; `x ← x + v`.
///
/// The quadratic model is trusted as in Levenberg and Marquardt's method, where a ratio of the actual reduction to the predicted one
/// decides on damping (Martens & Grosse 2015, section 6.5), but a step is judged by the minibatch that follows it: the one that it was
/// computed from does not see that its noise was fitted. If `L` is more than twice `e`, or not finite, and at least half of the excess is
/// due to the last step, that step is taken back: the variables are what they were before it, `v` is zero, `λ` is eight times as large,
/// and the next step renews factors, inverses and `κ`. [`StepReport::loss_after`](super::StepReport::loss_after) is then the loss without
/// the step. If `e` comes to twice its lowest value, little by little, `λ` increases as well. The factor decays by a tenth with every step;
/// where another one comes while it is above two, that one is 512, and all together are at most 10,000.
///
/// [`KroneckerStep::Quadratic`] replaces 1, 5 and 6 by Martens and Grosse's own rules.
///
/// | layer | factors |
/// |---|---|
/// | dense | matrices; a [sketch](Self::with_factor_rank) where that is much cheaper |
/// | convolution | the same, for positions that are uncorrelated (Grosse & Martens 2016) |
/// | embedding | `A` diagonal; rows that are not looked up stay as they are |
/// | normalisation, other variables | the diagonal of the Gauss–Newton matrix |
///
/// Weight decay is part of gradient and damping. A step is made as a whole or not at all: where an error is returned,
/// variables, slots and factors are what they were. [`MovingAverage`](super::MovingAverage) averages weights.
///
/// ```
/// use marquardt::Variables;
/// use marquardt::nn::{Sequential, SparseCategoricalCrossentropy};
/// use marquardt::optim::{KroneckerLevenbergMarquardt, Optimizer};
/// use ndarray::Array2;
///
/// // In which quarter of the plane is a point?
/// let x =
///     Array2::from_shape_fn((64, 2), |(i, j)| ((7 * i + 13 * j * i) % 64) as f64 / 32.0 - 1.0);
/// let labels = Array2::from_shape_fn((64, 1), |(i, _)| {
///     f64::from(u8::from(x[[i, 0]] > 0.0)) + 2.0 * f64::from(u8::from(x[[i, 1]] > 0.0))
/// });
/// let mut variables = Variables::new();
/// let layers = Sequential::new(2).dense(16).tanh().dense(4);
/// let mut network = layers.compile(&mut variables, 0, SparseCategoricalCrossentropy)?;
/// let mut optimizer = KroneckerLevenbergMarquardt::new();
/// for _ in 0..60 {
///     let minibatch = network.batch(&[x.view()], &[labels.view()])?;
///     optimizer.step(minibatch, &mut variables)?;
/// }
/// assert!(network.evaluate(&variables, &[x.view()], &[labels.view()])? < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct KroneckerLevenbergMarquardt<T> {
    settings: KroneckerSettings,
    iterations: u64,
    memory: Option<KroneckerMemory<T>>,
}

impl<T: Real> KroneckerLevenbergMarquardt<T> {
    /// Defaults for minibatches of 64 to 256. They were chosen on classes of a random network, of Friedman's function and of Gaussian
    /// clusters, and on 30 splits of handwritten digits.
    pub fn new() -> Self {
        Self::default()
    }

    /// The damping `λ` of the last step; `None` before the first.
    pub fn damping(&self) -> Option<f64> {
        self.memory.as_ref().map(|memory| memory.scalars.damping).filter(|_| self.iterations > 0)
    }
}
