//! AdamW.

use super::AdamRule;
use super::adam::PYTORCH_EPSILON;
use crate::optim::{Convention, FirstOrder, Hyperparameter};
use crate::real::Real;

/// [`Adam`](super::Adam) with weight decay from the start: `w ← w − w · weight_decay · η` before every update.
///
/// Every first-order optimizer can have [weight decay](Self::with_weight_decay) of this kind; here it is on by default.
///
/// Loshchilov and Hutter, *Decoupled Weight Decay Regularization*, 2019.
pub type AdamW<T> = FirstOrder<T, AdamRule<true>>;

impl<T: Real> AdamW<T> {
    /// Keras' formulas and defaults: a weight decay of 0.004.
    pub fn new(learning_rate: impl Into<Hyperparameter>) -> Self {
        FirstOrder::from_rule(AdamRule::default(), learning_rate).with_weight_decay(0.004)
    }

    /// PyTorch's formulas and defaults: a weight decay of 0.01.
    pub fn pytorch(learning_rate: impl Into<Hyperparameter>) -> Self {
        let adam_w = Self::new(learning_rate).with_convention(Convention::PyTorch);
        adam_w.with_epsilon(PYTORCH_EPSILON).with_weight_decay(0.01)
    }
}
