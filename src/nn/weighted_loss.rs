//! A loss with a weight, on rows of outputs: its value, its gradient, and how Levenberg–Marquardt sees it.

use std::ops::Range;

use super::arithmetic::put;
use super::batch::Batch;
use super::losses::{CentredRoots, CurvatureRoot, Loss, Reduction, RowSpan};
use crate::kernels::vector::{add_rows_times, dot};
use crate::real::Real;

/// A loss and its weight in the sum of all losses.
#[derive(Clone, Copy)]
pub(crate) struct WeightedLoss<'a, T> {
    pub(crate) loss: &'a dyn Loss<T>,
    pub(crate) reduction: Reduction,
    pub(crate) weight: T,
}

/// Outputs for some samples, of `width` entries each, and their targets.
#[derive(Clone, Copy)]
pub(crate) struct Outputs<'a, T> {
    pub(crate) values: &'a [T],
    pub(crate) width: usize,
    pub(crate) targets: &'a [T],
    /// A weight for each sample, and its square root.
    pub(crate) weights: &'a [T],
    pub(crate) root_weights: &'a [T],
    /// Number of samples that a mean is over.
    pub(crate) mean_over: usize,
}

impl<'a, T: Real> Outputs<'a, T> {
    /// Outputs of some samples of a batch.
    pub(crate) fn new(batch: &'a Batch<T>, samples: &Range<usize>, values: &'a [T], targets: &'a [T]) -> Self {
        let (weights, root_weights) = (batch.weights(samples), batch.root_weights(samples));
        let width = values.len() / samples.len().max(1);
        Outputs { values, width, targets, weights, root_weights, mean_over: batch.mean_over }
    }
}

/// Workspace for the results of losses for some samples.
#[derive(Debug, Clone, Default)]
pub(crate) struct LossBuffers<T> {
    losses: Vec<T>,
    residuals: Vec<T>,
    gradients: Vec<T>,
    /// Roots of second derivatives. Full ones may be large, and only Levenberg–Marquardt has a use for them.
    roots: Vec<T>,
}

impl<T: Real> LossBuffers<T> {
    /// Reserves memory for the samples, and outputs of this width.
    pub(crate) fn reserve(&mut self, samples: usize, width: usize) {
        self.losses.resize(samples.max(self.losses.len()), T::ZERO);
        self.residuals.resize((samples * width).max(self.residuals.len()), T::ZERO);
        self.gradients.resize((samples * width).max(self.gradients.len()), T::ZERO);
    }

    /// Reserves memory for the roots of the samples.
    pub(crate) fn reserve_roots(&mut self, numbers: usize) {
        if self.roots.len() < numbers {
            self.roots.resize(numbers, T::ZERO);
        }
    }

    /// The gradients found last.
    pub(crate) fn gradients(&self, numbers: usize) -> &[T] {
        &self.gradients[..numbers]
    }
}

impl<T: Real> WeightedLoss<'_, T> {
    /// The factor of the sum over samples.
    fn share(&self, mean_over: usize) -> T {
        match self.reduction {
            Reduction::Mean => self.weight / T::from_f64(mean_over as f64),
            Reduction::Sum => self.weight,
        }
    }

    /// Loss of the samples.
    pub(crate) fn value(&self, outputs: &Outputs<'_, T>, buffers: &mut LossBuffers<T>) -> T {
        let losses = &mut buffers.losses[..outputs.weights.len()];
        self.loss.values(outputs.values, outputs.width, outputs.targets, losses);
        self.share(outputs.mean_over) * dot(losses, outputs.weights)
    }

    /// Loss of the samples. Leaves its gradients with respect to the outputs in the buffers.
    pub(crate) fn value_and_gradients(&self, outputs: &Outputs<'_, T>, buffers: &mut LossBuffers<T>) -> T {
        let Outputs { values, width, targets, .. } = *outputs;
        let losses = &mut buffers.losses[..outputs.weights.len()];
        let gradients = &mut buffers.gradients[..values.len()];
        self.loss.values_and_gradients(values, width, targets, losses, gradients);
        let share = self.share(outputs.mean_over);
        scale_rows(gradients, width, outputs.weights, share);
        share * dot(losses, outputs.weights)
    }

    /// The form of the roots that Levenberg–Marquardt multiplies by, and how many numbers they have for each sample.
    pub(crate) fn root(&self, width: usize) -> (CurvatureRoot, usize) {
        let form = self.loss.least_squares().map_or(CurvatureRoot::Diagonal, |seen| seen.root());
        // A matrix of a single entry is a diagonal.
        let form = if width == 1 && form == CurvatureRoot::Full { CurvatureRoot::Diagonal } else { form };
        (form, form.numbers(width))
    }

    /// Residuals, and the roots that the outputs' Jacobian is multiplied by, which are left in the buffers.
    ///
    /// `r` has a row of `group` residuals for each sample, of which those of this loss start at `first_row`.
    pub(crate) fn residuals(
        &self,
        outputs: &Outputs<'_, T>,
        buffers: &mut LossBuffers<T>,
        (first_row, group): (usize, usize),
        r: &mut [T],
    ) {
        let Some(seen) = self.loss.least_squares() else { return };
        let (width, root_share) = (outputs.width, self.share(outputs.mean_over).sqrt());
        let (form, root_width) = self.root(width);
        let residuals = &mut buffers.residuals[..outputs.values.len()];
        let roots = &mut buffers.roots[..outputs.weights.len() * root_width];
        seen.residuals(outputs.values, width, outputs.targets, residuals, roots);
        scale_rows(residuals, width, outputs.root_weights, root_share);
        match form {
            CurvatureRoot::Diagonal | CurvatureRoot::Full => {
                scale_rows(roots, root_width, outputs.root_weights, root_share);
            }
            CurvatureRoot::Centred => {
                for (root, &weight) in roots.chunks_exact_mut(root_width).zip(outputs.root_weights) {
                    let factor = weight * root_share;
                    root[..width].iter_mut().for_each(|s| *s *= factor);
                }
            }
        }
        if width == group {
            return r.copy_from_slice(residuals);
        }
        for (r, residuals) in r.chunks_exact_mut(group).zip(residuals.chunks_exact(width)) {
            r[first_row..first_row + width].copy_from_slice(residuals);
        }
    }

    /// Fills `adjoint`, the derivatives with respect to the outputs, for residual `row` of each sample, after
    /// [`residuals`](Self::residuals).
    pub(crate) fn seed_row(&self, buffers: &LossBuffers<T>, width: usize, row: usize, adjoint: &mut [T]) {
        let (form, root_width) = self.root(width);
        let roots = &buffers.roots[..adjoint.len() / width * root_width];
        if width == 1 && form == CurvatureRoot::Diagonal {
            adjoint.copy_from_slice(roots);
            return;
        }
        let samples = roots.chunks_exact(root_width);
        match form {
            CurvatureRoot::Diagonal => {
                for (adjoint, root) in adjoint.chunks_exact_mut(width).zip(samples) {
                    adjoint.fill(T::ZERO);
                    adjoint[row] = root[row];
                }
            }
            CurvatureRoot::Full => {
                for (adjoint, root) in adjoint.chunks_exact_mut(width).zip(samples) {
                    adjoint.copy_from_slice(&root[row * width..(row + 1) * width]);
                }
            }
            CurvatureRoot::Centred => CentredRoots::new(roots, width).row(row, adjoint),
        }
    }

    /// Fills `adjoint`, or adds to it, with a factor for each residual, after [`residuals`](Self::residuals).
    pub(crate) fn seed_residuals(
        &self,
        buffers: &LossBuffers<T>,
        width: usize,
        factors: &[T],
        (first_row, group): (usize, usize),
        (adjoint, add): (&mut [T], bool),
    ) {
        let (form, root_width) = self.root(width);
        if width == group && form == CurvatureRoot::Diagonal {
            return put(adjoint, add, buffers.roots.iter().zip(factors).map(|(&s, &u)| s * u));
        }
        let of_loss = RowSpan { stride: group, first: first_row };
        let roots = &buffers.roots[..adjoint.len() / width * root_width];
        let rows = adjoint.chunks_exact_mut(width).zip(of_loss.of(factors, width)).zip(roots.chunks_exact(root_width));
        match form {
            CurvatureRoot::Diagonal => {
                for ((adjoint, factors), root) in rows {
                    put(adjoint, add, root.iter().zip(factors).map(|(&s, &u)| s * u));
                }
            }
            CurvatureRoot::Full => {
                for ((adjoint, factors), root) in rows {
                    if !add {
                        adjoint.fill(T::ZERO);
                    }
                    add_rows_times(adjoint, root, factors);
                }
            }
            CurvatureRoot::Centred => {
                let to = (adjoint, RowSpan::whole(width));
                CentredRoots::new(roots, width).transposed_times((factors, of_loss), to, add);
            }
        }
    }

    /// Derivatives of the residuals when the outputs have the derivatives `change`, after [`residuals`](Self::residuals).
    pub(crate) fn residual_derivatives(
        &self,
        buffers: &LossBuffers<T>,
        width: usize,
        change: Option<&[T]>,
        (first_row, group): (usize, usize),
        derivatives: &mut [T],
    ) {
        let (form, root_width) = self.root(width);
        if let Some(change) = change.filter(|_| width == group && form == CurvatureRoot::Diagonal) {
            return put(derivatives, false, buffers.roots.iter().zip(change).map(|(&s, &d)| s * d));
        }
        let of_loss = RowSpan { stride: group, first: first_row };
        let Some(change) = change else {
            return of_loss.of_mut(derivatives, width).for_each(|derivatives| derivatives.fill(T::ZERO));
        };
        let roots = &buffers.roots[..change.len() / width * root_width];
        if form == CurvatureRoot::Centred {
            let change = (change, RowSpan::whole(width));
            return CentredRoots::new(roots, width).times(change, (derivatives, of_loss));
        }
        let samples = roots.chunks_exact(root_width).zip(change.chunks_exact(width));
        for (derivatives, (root, change)) in of_loss.of_mut(derivatives, width).zip(samples) {
            if form == CurvatureRoot::Full {
                put(derivatives, false, root.chunks_exact(width).map(|row| dot(row, change)));
            } else {
                put(derivatives, false, root.iter().zip(change).map(|(&s, &d)| s * d));
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
