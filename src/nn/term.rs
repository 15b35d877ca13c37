//! One term of a network's loss.

use super::arithmetic::put;
use super::losses::{Loss, Targets};
use super::sweep::{Tile, Workspace};
use super::tape::Node;
use super::weighted_loss::{LossBuffers, Outputs, WeightedLoss};
use crate::real::Real;

/// A loss of one output, and its weight in the sum.
#[derive(Debug)]
pub(crate) struct Term<T> {
    pub(crate) output: Node,
    pub(crate) loss: Box<dyn Loss<T>>,
    pub(crate) weight: T,
    /// Index of the set of its samples.
    pub(crate) set: usize,
    /// Index of the batch's target that the loss takes.
    pub(crate) target: Option<usize>,
    /// Its first residual among those of a sample.
    pub(crate) first_row: usize,
}

impl<T: Real> Term<T> {
    fn weighted(&self) -> WeightedLoss<'_, T> {
        WeightedLoss { loss: &*self.loss, weight: self.weight }
    }

    /// The tile's outputs, after a forward sweep.
    fn outputs<'a>(&self, tile: &'a Tile<'_, T>, workspace: &'a Workspace<T>) -> Outputs<'a, T> {
        Outputs {
            values: workspace.value(tile, self.output),
            width: self.output.width(),
            targets: self.targets(tile),
            weights: tile.batch.weights(&tile.rows),
            root_weights: tile.batch.root_weights(&tile.rows),
            mean_over: tile.batch.mean_over,
        }
    }

    /// The tile's targets.
    pub(crate) fn targets<'a>(&self, tile: &Tile<'a, T>) -> &'a [T] {
        let width = match self.loss.targets() {
            Targets::None => 0,
            Targets::Values | Targets::Probabilities | Targets::NonNegative => self.output.width(),
            Targets::Labels => 1,
        };
        self.target.map_or(&[], |index| tile.batch.target(index, &tile.rows, width))
    }

    /// Loss of the tile.
    pub(crate) fn loss(&self, tile: &Tile<'_, T>, workspace: &Workspace<T>, buffers: &mut LossBuffers<T>) -> T {
        self.weighted().value(&self.outputs(tile, workspace), buffers)
    }

    /// Starts a reverse sweep with the gradient of the loss with respect to the output.
    pub(crate) fn seed_gradient(&self, tile: &Tile<'_, T>, workspace: &mut Workspace<T>, buffers: &mut LossBuffers<T>) {
        self.weighted().find_gradients(&self.outputs(tile, workspace), buffers);
        self.put_seed(tile, workspace, buffers);
    }

    /// Loss of the tile. Starts a reverse sweep with its gradient, as [`seed_gradient`](Self::seed_gradient) does.
    pub(crate) fn loss_and_seed(
        &self,
        tile: &Tile<'_, T>,
        workspace: &mut Workspace<T>,
        buffers: &mut LossBuffers<T>,
    ) -> T {
        let loss = self.weighted().value_and_gradients(&self.outputs(tile, workspace), buffers);
        self.put_seed(tile, workspace, buffers);
        loss
    }

    fn put_seed(&self, tile: &Tile<'_, T>, workspace: &mut Workspace<T>, buffers: &LossBuffers<T>) {
        let (adjoint, add) = workspace.seed(tile, self.output);
        let numbers = adjoint.len();
        put(adjoint, add, buffers.gradients(numbers).iter().copied());
    }

    /// Residuals, and the roots that the output's Jacobian is multiplied by, which are left in the buffers.
    ///
    /// `r` has a row of `group` residuals for each sample.
    pub(crate) fn residuals(
        &self,
        tile: &Tile<'_, T>,
        workspace: &Workspace<T>,
        buffers: &mut LossBuffers<T>,
        r: &mut [T],
        group: usize,
    ) {
        let loss = self.weighted();
        let (_, root_width) = loss.root(self.output.width());
        buffers.reserve_roots(workspace.tile_rows() * root_width);
        loss.residuals(&self.outputs(tile, workspace), buffers, (self.first_row, group), r);
    }

    /// Starts a reverse sweep for one row of each sample's Jacobian, after [`residuals`](Self::residuals).
    pub(crate) fn seed_row(
        &self,
        tile: &Tile<'_, T>,
        workspace: &mut Workspace<T>,
        buffers: &LossBuffers<T>,
        row: usize,
    ) {
        let (adjoint, _) = workspace.seed(tile, self.output);
        self.weighted().seed_row(buffers, self.output.width(), row, adjoint);
    }

    /// Starts a reverse sweep with a factor for each residual, after [`residuals`](Self::residuals).
    pub(crate) fn seed_residuals(
        &self,
        tile: &Tile<'_, T>,
        workspace: &mut Workspace<T>,
        buffers: &LossBuffers<T>,
        factors: &[T],
        group: usize,
    ) {
        let place = (self.first_row, group);
        let seed = workspace.seed(tile, self.output);
        self.weighted().seed_residuals(buffers, self.output.width(), factors, place, seed);
    }

    /// Writes the derivative of the residuals for the derivative `change` of the output, after [`residuals`](Self::residuals).
    pub(crate) fn residual_derivatives(
        &self,
        change: Option<&[T]>,
        buffers: &LossBuffers<T>,
        derivatives: &mut [T],
        group: usize,
    ) {
        let place = (self.first_row, group);
        self.weighted().residual_derivatives(buffers, self.output.width(), change, place, derivatives);
    }
}
