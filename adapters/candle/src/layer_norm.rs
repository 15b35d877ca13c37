//! Normalisation of a sample's numbers.

use candle_core::{D, Module, Result, Tensor};
use candle_nn::{LayerNormConfig, VarBuilder};
use marquardt::nn::RecordedLayer;

use crate::recorder;

/// candle's [`LayerNorm`](candle_nn::LayerNorm), recorded.
#[derive(Clone, Debug)]
pub struct LayerNorm {
    plain: candle_nn::LayerNorm,
    eps: f64,
}

impl LayerNorm {
    /// The weight.
    pub fn weight(&self) -> &Tensor {
        self.plain.weight()
    }

    /// The bias.
    pub fn bias(&self) -> Option<&Tensor> {
        self.plain.bias()
    }

    /// The numbers of the last dimension, less their mean if it is removed, over their standard deviation.
    fn normalize(&self, x: &Tensor) -> Result<Tensor> {
        let x = if self.plain.remove_mean() { x.broadcast_sub(&x.mean_keepdim(D::Minus1)?)? } else { x.clone() };
        let variance = x.sqr()?.mean_keepdim(D::Minus1)?;
        x.broadcast_div(&(variance + self.eps)?.sqrt()?)
    }
}

impl Module for LayerNorm {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let width = x.dim(D::Minus1)?;
        let rows = x.elem_count() / width.max(1);
        let found = recorder::places(self.weight(), self.bias(), rows, x.dims());
        // candle's own layer has no backward pass where it is fused.
        let normal = self.normalize(x)?;
        let scale = |weight: &Tensor, bias: Option<&Tensor>| {
            let scaled = normal.broadcast_mul(weight)?;
            bias.map_or(Ok(scaled.clone()), |bias| scaled.broadcast_add(bias))
        };
        let Some(found) = found else { return scale(self.weight(), self.bias()) };
        let y = scale(&self.weight().detach(), self.bias().map(Tensor::detach).as_ref())?;
        let positions = found.positions;
        let layer = RecordedLayer::Scale { weight: Some(found.weight), bias: found.bias, width, positions };
        found.tap(layer, &normal, y)
    }
}

/// Creates candle's [`layer_norm`](candle_nn::layer_norm()), recorded.
///
/// # Errors
///
/// As candle's.
pub fn layer_norm<C: Into<LayerNormConfig>>(size: usize, config: C, vb: VarBuilder) -> Result<LayerNorm> {
    let config = config.into();
    Ok(LayerNorm { plain: candle_nn::layer_norm(size, config, vb)?, eps: config.eps })
}
