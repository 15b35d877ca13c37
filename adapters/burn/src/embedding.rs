//! Tables whose rows are looked up.

use burn::config::Config;
use burn::module::Initializer;
use burn::tensor::module::embedding;
use burn::tensor::{DType, Device, Int, Tensor};
use marquardt::nn::RecordedLayer;

use crate::layer::recorded_layer;
use crate::recorder::{self, Input, Layout};

/// Places of rows are recorded as numbers like others, and more than 2²⁴ rows have no `f32`.
const LARGEST_RECORDED: usize = 1 << 24;

/// Configuration of an [`Embedding`] that is recorded; the fields are those of burn's
/// [`EmbeddingConfig`](burn::nn::EmbeddingConfig).
#[derive(Config, Debug)]
pub struct EmbeddingConfig {
    /// Rows of the table.
    pub n_embedding: usize,
    /// Numbers in a row.
    pub d_model: usize,
    /// Distribution of the first numbers; default as burn's, the standard normal.
    #[config(default = "Initializer::Normal { mean: 0.0, std: 1.0 }")]
    pub initializer: Initializer,
}

impl EmbeddingConfig {
    /// A table of random numbers.
    pub fn init(&self, device: &Device) -> Embedding {
        let plain = burn::nn::EmbeddingConfig::new(self.n_embedding, self.d_model);
        plain.with_initializer(self.initializer.clone()).init(device).into()
    }
}

recorded_layer! {
    /// burn's [`Embedding`](burn::nn::Embedding), recorded.
    Embedding(burn::nn::Embedding)
}

impl Embedding {
    /// Computes the same as burn's [`Embedding::forward`](burn::nn::Embedding::forward): the rows of a table for each
    /// sample.
    pub fn forward(&self, input: Tensor<2, Int>) -> Tensor<3> {
        let [rows, columns] = self.weight.dims();
        if rows > LARGEST_RECORDED && self.weight.dtype() == DType::F32 {
            return self.0.forward(input);
        }
        let shape = input.dims();
        let looked_up = shape.iter().product();
        let Some(found) = recorder::find((&self.weight, Layout::AsStored), None, looked_up, &shape) else {
            return self.0.forward(input);
        };
        let layer = RecordedLayer::Embedding { table: found.weight, rows, columns, positions: found.positions };
        let record = Input::Rows(Box::new(input.clone()));
        recorder::tap(layer, record, embedding(recorder::constant(&self.weight), input))
    }
}
