//! One term of a network's loss.

use super::losses::{Loss, Reduction, Targets};
use super::sweep::{BatchTile, Workspace};
use super::tape::Node;
use super::weighted_loss::{Outputs, WeightedLoss};
use crate::real::Real;

/// A loss of one output, and its weight in the sum.
#[derive(Debug)]
pub(crate) struct LossTerm<T> {
    pub(crate) output: Node,
    pub(crate) loss: Box<dyn Loss<T>>,
    /// The loss's own, or the mean where the output depends on no input: each sample has the same one then, which counts once for a batch.
    pub(crate) reduction: Reduction,
    pub(crate) weight: T,
    /// Index of the set of its samples.
    pub(crate) set: usize,
    /// Index of the batch's target that the loss takes.
    pub(crate) target: Option<usize>,
    /// Index of its first residual among those of a sample.
    pub(crate) first_row: usize,
}

impl<T: Real> LossTerm<T> {
    /// The loss with its weight.
    pub(crate) fn weighted(&self) -> WeightedLoss<'_, T> {
        WeightedLoss { loss: &*self.loss, reduction: self.reduction, weight: self.weight }
    }

    /// The tile's outputs, after a forward sweep.
    pub(crate) fn outputs<'a>(&self, tile: &'a BatchTile<'_, T>, workspace: &'a Workspace<T>) -> Outputs<'a, T> {
        Outputs::new(tile.batch, &tile.rows, workspace.value(tile, self.output), self.targets(tile))
    }

    /// The tile's targets.
    pub(crate) fn targets<'a>(&self, tile: &BatchTile<'a, T>) -> &'a [T] {
        let width = match self.loss.targets() {
            Targets::None => 0,
            Targets::Values | Targets::Probabilities | Targets::NonNegative => self.output.width(),
            Targets::Labels => 1,
        };
        self.target.map_or(&[], |index| tile.batch.target(index, &tile.rows, width))
    }
}
