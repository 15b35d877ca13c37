//! Normalisation by statistics of the data.

use candle_core::{ModuleT, Result, Tensor};
use candle_nn::{BatchNormConfig, VarBuilder};
use marquardt::nn::RecordedLayer;

use crate::{TrainerError, recorder};

/// candle's [`BatchNorm`](candle_nn::BatchNorm), recorded where it normalises by its running statistics.
///
/// In training mode it makes the outputs of each sample depend on all others, and a step refuses it
/// ([`TrainerError::BatchNormalization`]). The running statistics are not trained. Take [`LayerNorm`](crate::LayerNorm), or a model
/// whose statistics are found already.
#[derive(Clone, Debug)]
pub struct BatchNorm {
    plain: candle_nn::BatchNorm,
    name: String,
}

impl BatchNorm {
    /// The weight and the bias, unless there are none.
    pub fn weight_and_bias(&self) -> Option<(&Tensor, &Tensor)> {
        self.plain.weight_and_bias()
    }

    /// The running mean of each channel.
    pub fn running_mean(&self) -> &Tensor {
        self.plain.running_mean()
    }

    /// The running variance of each channel.
    pub fn running_var(&self) -> &Tensor {
        self.plain.running_var()
    }

    /// `x` of `samples × channels × …`, less the running mean, over the running standard deviation; channels last.
    fn normalize(&self, x: &Tensor) -> Result<Tensor> {
        let x = if x.rank() > 2 { x.flatten_from(2)?.transpose(1, 2)? } else { x.clone() };
        let deviation = (self.running_var().detach() + self.plain.eps())?.sqrt()?;
        x.broadcast_sub(&self.running_mean().detach())?.broadcast_div(&deviation)
    }
}

impl ModuleT for BatchNorm {
    fn forward_t(&self, x: &Tensor, train: bool) -> Result<Tensor> {
        if train {
            let refusal = recorder::refuse(|| TrainerError::BatchNormalization { name: self.name.clone() });
            return refusal.map_or_else(|| self.plain.forward_t(x, true), Err);
        }
        let of_channels = self.weight_and_bias().filter(|(weight, _)| x.dims().get(1) == Some(&weight.elem_count()));
        let Some((weight, bias)) = of_channels else { return self.plain.forward_t(x, false) };
        let width = weight.elem_count();
        let Some(found) = recorder::places(weight, Some(bias), x.elem_count() / width.max(1), x.dims()) else {
            return self.plain.forward_t(x, false);
        };
        let normal = self.normalize(x)?;
        let y = normal.broadcast_mul(&weight.detach())?.broadcast_add(&bias.detach())?;
        let positions = found.positions;
        let layer = RecordedLayer::Scale { weight: Some(found.weight), bias: found.bias, width, positions };
        let y = found.tap(layer, &normal, y)?;
        if x.rank() > 2 { y.transpose(1, 2)?.contiguous()?.reshape(x.shape()) } else { Ok(y) }
    }
}

/// Creates candle's [`batch_norm`](candle_nn::batch_norm()), recorded.
///
/// # Errors
///
/// As candle's.
pub fn batch_norm<C: Into<BatchNormConfig>>(features: usize, config: C, vb: VarBuilder) -> Result<BatchNorm> {
    let name = vb.prefix();
    Ok(BatchNorm { plain: candle_nn::batch_norm(features, config, vb)?, name })
}

/// Returns true if a variable of this name is a running statistic, which no step changes.
pub(crate) fn is_statistic(name: &str) -> bool {
    matches!(name.rsplit('.').next(), Some("running_mean" | "running_var"))
}
