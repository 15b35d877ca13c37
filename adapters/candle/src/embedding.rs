//! Tables whose rows are looked up.

use candle_core::{DType, Module, Result, Tensor};
use candle_nn::VarBuilder;
use marquardt::nn::RecordedLayer;

use crate::recorder;

/// candle's [`Embedding`](candle_nn::Embedding), recorded.
#[derive(Clone, Debug)]
pub struct Embedding(candle_nn::Embedding);

impl Embedding {
    /// A table, of rows of `hidden_size` numbers.
    pub fn new(embeddings: Tensor, hidden_size: usize) -> Self {
        Embedding(candle_nn::Embedding::new(embeddings, hidden_size))
    }

    /// The table.
    pub fn embeddings(&self) -> &Tensor {
        self.0.embeddings()
    }

    /// Numbers in a row.
    pub fn hidden_size(&self) -> usize {
        self.0.hidden_size()
    }
}

impl Module for Embedding {
    fn forward(&self, indexes: &Tensor) -> Result<Tensor> {
        let table = self.embeddings();
        let Some(found) = recorder::places(table, None, indexes.elem_count(), indexes.dims()) else {
            return self.0.forward(indexes);
        };
        let (rows, columns) = table.dims2()?;
        let y = candle_nn::Embedding::new(table.detach(), columns).forward(indexes)?;
        let layer = RecordedLayer::Embedding { table: found.weight, rows, columns, positions: found.positions };
        // The places of rows are numbers like others in what is recorded; more than 2²⁴ rows have no f32.
        let numbers = indexes.to_dtype(if table.dtype() == DType::F64 { DType::F64 } else { DType::F32 })?;
        found.tap(layer, &numbers, y)
    }
}

/// Creates candle's [`embedding`](candle_nn::embedding()), recorded.
///
/// # Errors
///
/// As candle's.
pub fn embedding(rows: usize, columns: usize, vb: VarBuilder) -> Result<Embedding> {
    candle_nn::embedding(rows, columns, vb).map(Embedding)
}
