//! Memory of steps on an external model.

use crate::nn::RecordedLayer;
use crate::nn::factors::{FactorPlace, Factors};
use crate::nn::layer_blocks::LayerBlocks;
use crate::nn::weighted_loss::{LossBuffers, WeightedLoss};
use crate::real::Real;

/// Memory of a model, for the batch at hand and for its layers.
#[derive(Debug, Default)]
pub(super) struct ModelMemory<T> {
    pub(super) samples: usize,
    pub(super) width: usize,
    pub(super) buffers: LossBuffers<T>,
    /// Outputs at the two points that were evaluated last: geodesic corrections alternate between two.
    pub(super) points: [EvaluatedPoint<T>; 2],
    /// Index of the older one.
    pub(super) older: usize,
    /// The point at which the model is linearised.
    pub(super) linearized: Option<Vec<T>>,
    /// The outputs there.
    pub(super) outputs: Vec<T>,
    pub(super) factors: Factors<T>,
    /// The layers that the factors were planned for, the outputs of a sample, and the parameters.
    pub(super) layers: Vec<RecordedLayer>,
    pub(super) planned: Option<(usize, usize)>,
    pub(super) places: Vec<FactorPlace>,
    /// True if the model consists of the recorded layers alone.
    pub(super) is_recorded: bool,
    /// Blocks of Kronecker factors, of these layers; none where nobody has asked for them.
    pub(super) blocks: LayerBlocks,
    /// Random signs, or derivatives of residuals along directions.
    pub(super) along: Vec<T>,
    /// Second derivatives of the outputs along a direction, and that point and direction.
    pub(super) curvature: Vec<T>,
    pub(super) curvature_of: Option<[Vec<T>; 2]>,
    /// The cost of the rows that were evaluated last.
    pub(super) cost: T,
    /// Inputs of each layer.
    pub(super) inputs: Vec<Vec<T>>,
    /// Scratch vectors of all outputs and of all parameters.
    pub(super) seeds: Vec<T>,
    pub(super) ahead: Vec<T>,
    pub(super) moved: Vec<T>,
    pub(super) scratch: Vec<T>,
}

/// Outputs at a point; an empty point is none.
#[derive(Debug, Default)]
pub(super) struct EvaluatedPoint<T> {
    pub(super) x: Vec<T>,
    pub(super) outputs: Vec<T>,
}

impl<T: Real> ModelMemory<T> {
    /// Forgets the last batch and reserves memory for another.
    pub(super) fn bind(&mut self, loss: &WeightedLoss<'_, T>, samples: usize, width: usize) {
        (self.samples, self.width) = (samples, width);
        self.buffers.reserve(samples, width);
        let (_, root_width) = loss.root(width);
        self.buffers.reserve_roots(samples * root_width);
        for point in &mut self.points {
            point.x.clear();
            point.outputs.resize(samples * width, T::ZERO);
        }
        for numbers in [&mut self.outputs, &mut self.curvature, &mut self.seeds, &mut self.ahead] {
            numbers.resize(samples * width, T::ZERO);
        }
        (self.linearized, self.curvature_of) = (None, None);
    }
}
