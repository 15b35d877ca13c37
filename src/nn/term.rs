//! One term of a network's loss.

use super::losses::{LeastSquaresForm, Loss, Reduction, Targets};
use super::sweep::{Tile, Workspace};
use super::tape::Node;
use crate::Real;
use crate::kernels::vector::dot;
use crate::nn::arithmetic::put;

/// A loss of one output, and its weight in the sum.
#[derive(Debug)]
pub(crate) struct Term<T> {
    pub(crate) output: Node,
    pub(crate) loss: Box<dyn Loss<T>>,
    pub(crate) weight: T,
    /// Which of the batch's targets the loss takes.
    pub(crate) target: Option<usize>,
    /// Its first residual among those of a sample.
    pub(crate) first_row: usize,
}

/// Room for what losses compute for a tile.
#[derive(Debug, Clone, Default)]
pub(crate) struct LossBuffers<T> {
    losses: Vec<T>,
    residuals: Vec<T>,
    /// Gradients, or roots, with respect to the outputs.
    pub(crate) seeds: Vec<T>,
}

impl<T: Real> LossBuffers<T> {
    /// Makes room for tiles of so many rows, and outputs of this width.
    pub(crate) fn reserve(&mut self, rows: usize, width: usize) {
        self.losses.resize(rows.max(self.losses.len()), T::ZERO);
        self.residuals.resize((rows * width).max(self.residuals.len()), T::ZERO);
        self.seeds.resize((rows * width).max(self.seeds.len()), T::ZERO);
    }
}

impl<T: Real> Term<T> {
    /// The factor of the sum over samples.
    fn share(&self, tile: &Tile<'_, T>) -> T {
        match self.loss.reduction() {
            Reduction::Mean => self.weight / T::from_f64(tile.batch.mean_over as f64),
            Reduction::Sum => self.weight,
        }
    }

    /// The tile's targets.
    pub(crate) fn targets<'a>(&self, tile: &Tile<'a, T>) -> &'a [T] {
        let width = match self.loss.targets() {
            Targets::None => 0,
            Targets::Values | Targets::Probabilities => self.output.width(),
            Targets::Labels => 1,
        };
        self.target.map_or(&[], |index| tile.batch.target(index, &tile.rows, width))
    }

    /// What the tile adds to the loss.
    pub(crate) fn loss(&self, tile: &Tile<'_, T>, workspace: &Workspace<T>, buffers: &mut LossBuffers<T>) -> T {
        let losses = &mut buffers.losses[..tile.rows.len()];
        self.loss.values(workspace.value(tile, self.output), self.output.width(), self.targets(tile), losses);
        self.share(tile) * dot(losses, tile.batch.weights(&tile.rows))
    }

    /// Starts a reverse sweep with the gradient of the loss with respect to the output.
    pub(crate) fn seed_gradient(&self, tile: &Tile<'_, T>, workspace: &mut Workspace<T>, buffers: &mut LossBuffers<T>) {
        let (width, share) = (self.output.width(), self.share(tile));
        let gradients = &mut buffers.seeds[..tile.rows.len() * width];
        self.loss.gradients(workspace.value(tile, self.output), width, self.targets(tile), gradients);
        scale_rows(gradients, width, tile.batch.weights(&tile.rows), share);
        self.seed(tile, workspace, gradients);
    }

    /// Starts a reverse sweep.
    fn seed(&self, tile: &Tile<'_, T>, workspace: &mut Workspace<T>, numbers: &[T]) {
        let (adjoint, add) = workspace.seed(tile, self.output);
        put(adjoint, add, numbers.iter().copied());
    }

    /// Residuals, and the roots that rows of the Jacobian are multiplied by, which are left in the buffers.
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
        let (width, root_share) = (self.output.width(), self.share(tile).sqrt());
        let numbers = tile.rows.len() * width;
        let (residuals, roots) = (&mut buffers.residuals[..numbers], &mut buffers.seeds[..numbers]);
        self.loss.residuals(workspace.value(tile, self.output), width, self.targets(tile), residuals, roots);
        let root_weights = tile.batch.root_weights(&tile.rows);
        scale_rows(residuals, width, root_weights, root_share);
        scale_rows(roots, width, root_weights, root_share);
        for (r, residuals) in r.chunks_exact_mut(group).zip(residuals.chunks_exact(width)) {
            r[self.first_row..self.first_row + width].copy_from_slice(residuals);
        }
    }

    /// Starts a reverse sweep for one row of each sample's Jacobian, after [`residuals`](Self::residuals).
    pub(crate) fn seed_row(
        &self,
        tile: &Tile<'_, T>,
        workspace: &mut Workspace<T>,
        buffers: &LossBuffers<T>,
        row: usize,
    ) {
        let width = self.output.width();
        let roots = &buffers.seeds[..tile.rows.len() * width];
        let (adjoint, _) = workspace.seed(tile, self.output);
        if width == 1 {
            adjoint.copy_from_slice(roots);
            return;
        }
        for (adjoint, roots) in adjoint.chunks_exact_mut(width).zip(roots.chunks_exact(width)) {
            adjoint.fill(T::ZERO);
            adjoint[row] = roots[row];
        }
    }

    /// Starts a reverse sweep with a factor for each residual, after [`residuals`](Self::residuals).
    pub(crate) fn seed_residuals(
        &self,
        tile: &Tile<'_, T>,
        workspace: &mut Workspace<T>,
        buffers: &mut LossBuffers<T>,
        factors: &[T],
        group: usize,
    ) {
        let width = self.output.width();
        let roots = &mut buffers.seeds[..tile.rows.len() * width];
        for (roots, factors) in roots.chunks_exact_mut(width).zip(factors.chunks_exact(group)) {
            for (root, &factor) in roots.iter_mut().zip(&factors[self.first_row..]) {
                *root *= factor;
            }
        }
        self.seed(tile, workspace, roots);
    }

    /// How the residuals change when the output has the derivative `change`, after [`residuals`](Self::residuals).
    pub(crate) fn residual_derivatives(
        &self,
        change: Option<&[T]>,
        buffers: &LossBuffers<T>,
        derivatives: &mut [T],
        group: usize,
    ) {
        let width = self.output.width();
        let columns = self.first_row..self.first_row + width;
        let rows = derivatives.chunks_exact_mut(group);
        match change {
            Some(change) => {
                let products = buffers.seeds.chunks_exact(width).zip(change.chunks_exact(width));
                for (derivatives, (roots, change)) in rows.zip(products) {
                    put(&mut derivatives[columns.clone()], false, roots.iter().zip(change).map(|(&s, &d)| s * d));
                }
            }
            None => rows.for_each(|derivatives| derivatives[columns.clone()].fill(T::ZERO)),
        }
    }

    /// How Levenberg–Marquardt sees the term.
    pub(crate) fn form(&self) -> LeastSquaresForm {
        self.loss.least_squares()
    }
}

/// Multiplies every row by a weight, and by a factor.
fn scale_rows<T: Real>(numbers: &mut [T], width: usize, weights: &[T], factor: T) {
    if width == 1 {
        for (number, &weight) in numbers.iter_mut().zip(weights) {
            *number *= weight * factor;
        }
        return;
    }
    for (row, &weight) in numbers.chunks_exact_mut(width).zip(weights) {
        let factor = weight * factor;
        row.iter_mut().for_each(|number| *number *= factor);
    }
}
