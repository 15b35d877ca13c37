//! One term of a network's loss.

use super::losses::{CurvatureRoot, Loss, Reduction, Targets};
use super::sweep::{Tile, Workspace};
use super::tape::Node;
use crate::Real;
use crate::kernels::vector::{add_rows_times, dot};
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
    gradients: Vec<T>,
    /// Roots of second derivatives. Full ones may be large, and only Levenberg–Marquardt has a use for them.
    roots: Vec<T>,
}

impl<T: Real> LossBuffers<T> {
    /// Makes room for tiles of so many rows, and outputs of this width.
    pub(crate) fn reserve(&mut self, rows: usize, width: usize) {
        self.losses.resize(rows.max(self.losses.len()), T::ZERO);
        self.residuals.resize((rows * width).max(self.residuals.len()), T::ZERO);
        self.gradients.resize((rows * width).max(self.gradients.len()), T::ZERO);
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
            Targets::Values | Targets::Probabilities | Targets::NonNegative => self.output.width(),
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
        let gradients = &mut buffers.gradients[..tile.rows.len() * width];
        self.loss.gradients(workspace.value(tile, self.output), width, self.targets(tile), gradients);
        scale_rows(gradients, width, tile.batch.weights(&tile.rows), share);
        let (adjoint, add) = workspace.seed(tile, self.output);
        put(adjoint, add, gradients.iter().copied());
    }

    /// What the roots that Levenberg–Marquardt multiplies by look like, and how many numbers they have for each sample.
    fn root(&self) -> (CurvatureRoot, usize) {
        let form = self.loss.least_squares().map_or(CurvatureRoot::Diagonal, |seen| seen.root());
        // Of a single output, there is but one form.
        let form = if self.output.width() == 1 { CurvatureRoot::Diagonal } else { form };
        (form, form.numbers(self.output.width()))
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
        let Some(seen) = self.loss.least_squares() else { return };
        let (width, root_share) = (self.output.width(), self.share(tile).sqrt());
        let (_, root_width) = self.root();
        let room = workspace.tile_rows() * root_width;
        if buffers.roots.len() < room {
            buffers.roots.resize(room, T::ZERO);
        }
        let residuals = &mut buffers.residuals[..tile.rows.len() * width];
        let roots = &mut buffers.roots[..tile.rows.len() * root_width];
        seen.residuals(workspace.value(tile, self.output), width, self.targets(tile), residuals, roots);
        let root_weights = tile.batch.root_weights(&tile.rows);
        scale_rows(residuals, width, root_weights, root_share);
        scale_rows(roots, root_width, root_weights, root_share);
        if width == group {
            return r.copy_from_slice(residuals);
        }
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
        let (form, root_width) = self.root();
        let roots = &buffers.roots[..tile.rows.len() * root_width];
        let (adjoint, _) = workspace.seed(tile, self.output);
        if width == 1 {
            adjoint.copy_from_slice(roots);
            return;
        }
        for (adjoint, root) in adjoint.chunks_exact_mut(width).zip(roots.chunks_exact(root_width)) {
            match form {
                CurvatureRoot::Diagonal => {
                    adjoint.fill(T::ZERO);
                    adjoint[row] = root[row];
                }
                CurvatureRoot::Full => adjoint.copy_from_slice(&root[row * width..(row + 1) * width]),
            }
        }
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
        let width = self.output.width();
        let (form, root_width) = self.root();
        let (adjoint, add) = workspace.seed(tile, self.output);
        if width == group && form == CurvatureRoot::Diagonal {
            return put(adjoint, add, buffers.roots.iter().zip(factors).map(|(&s, &u)| s * u));
        }
        let rows = adjoint.chunks_exact_mut(width).zip(factors.chunks_exact(group));
        for ((adjoint, factors), root) in rows.zip(buffers.roots.chunks_exact(root_width)) {
            let factors = &factors[self.first_row..self.first_row + width];
            match form {
                CurvatureRoot::Diagonal => put(adjoint, add, root.iter().zip(factors).map(|(&s, &u)| s * u)),
                CurvatureRoot::Full => {
                    if !add {
                        adjoint.fill(T::ZERO);
                    }
                    add_rows_times(adjoint, root, factors);
                }
            }
        }
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
        let (form, root_width) = self.root();
        if let Some(change) = change.filter(|_| width == group && form == CurvatureRoot::Diagonal) {
            return put(derivatives, false, buffers.roots.iter().zip(change).map(|(&s, &d)| s * d));
        }
        let columns = self.first_row..self.first_row + width;
        let rows = derivatives.chunks_exact_mut(group);
        let Some(change) = change else {
            rows.for_each(|derivatives| derivatives[columns.clone()].fill(T::ZERO));
            return;
        };
        let products = buffers.roots.chunks_exact(root_width).zip(change.chunks_exact(width));
        for (derivatives, (root, change)) in rows.zip(products) {
            let derivatives = &mut derivatives[columns.clone()];
            match form {
                CurvatureRoot::Diagonal => put(derivatives, false, root.iter().zip(change).map(|(&s, &d)| s * d)),
                CurvatureRoot::Full => {
                    put(derivatives, false, root.chunks_exact(width).map(|row| dot(row, change)));
                }
            }
        }
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
