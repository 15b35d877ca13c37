//! Dropout whose masks are held during a step.

use candle_core::{ModuleT, Result, Tensor};

use crate::recorder;

/// candle's [`Dropout`](candle_nn::Dropout), whose masks are the same in all forward passes of a step: the residuals at a trial point
/// are those of the function that was linearised.
///
/// The masks follow from the [seed of the trainer](crate::LeastSquaresTrainer::with_seed) and the number of the step. Outside of steps
/// it is candle's, whose masks have no seed.
///
/// Srivastava et al., Dropout: A Simple Way to Prevent Neural Networks from Overfitting, JMLR 15 (2014), 1929–1958.
#[derive(Clone, Debug)]
pub struct Dropout {
    plain: candle_nn::Dropout,
    p: f32,
}

impl Dropout {
    /// Drops numbers with probability `p`, from 0 to below 1.
    pub fn new(p: f32) -> Self {
        Dropout { plain: candle_nn::Dropout::new(p), p }
    }

    /// Drops numbers in training: dropped ones are zero, the others are divided by `1 − p`. Otherwise returns `x`.
    ///
    /// # Errors
    ///
    /// For a probability that is none, as candle's; in a step, for another shape than when it was called before in the same step.
    pub fn forward(&self, x: &Tensor, train: bool) -> Result<Tensor> {
        if !(train && (0.0..1.0).contains(&self.p)) {
            return self.plain.forward(x, train);
        }
        match recorder::mask(x.dims(), f64::from(self.p), x.device()) {
            None => self.plain.forward(x, train),
            Some(mask) => x * mask?.to_dtype(x.dtype())?,
        }
    }
}

impl ModuleT for Dropout {
    fn forward_t(&self, x: &Tensor, train: bool) -> Result<Tensor> {
        self.forward(x, train)
    }
}
