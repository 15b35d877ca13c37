//! Parts of a linearisation that are kept: the layers' inputs and sensitivities.

use std::ops::Range;

use crate::nn::batch::Share;
use crate::nn::sweep::{BatchTile, Workspace};
use crate::nn::tape::Node;
use crate::real::Real;

/// Inputs of layers, a row for each sample, and sensitivities of nodes, a row for each residual: the derivatives of the
/// residual by the entries of the node.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept<T> {
    pub(super) samples: usize,
    /// Samples of the ranks before this one.
    pub(super) before: usize,
    /// Residuals of each sample.
    pub(super) group: usize,
    inputs: Vec<T>,
    sensitivities: Vec<T>,
}

impl<T: Real> Kept<T> {
    /// Number of residuals.
    pub(super) fn residuals(&self) -> usize {
        self.samples * self.group
    }

    /// Reserves memory for another batch, with these entries for each sample and each residual.
    pub(super) fn resize(&mut self, share: Share, group: usize, per_sample: usize, per_residual: usize) {
        let samples = share.total;
        (self.samples, self.before, self.group) = (samples, share.before, group);
        scratch(&mut self.inputs, samples * per_sample);
        scratch(&mut self.sensitivities, samples * group * per_residual);
    }

    /// Inputs of all samples, at the offset `before` among a sample's kept entries.
    pub(super) fn inputs(&self, before: usize, width: usize) -> &[T] {
        &self.inputs[before * self.samples..(before + width) * self.samples]
    }

    /// Sensitivities of all residuals, at the offset `before` among a residual's kept entries.
    pub(super) fn sensitivities(&self, before: usize, width: usize) -> &[T] {
        &self.sensitivities[before * self.residuals()..(before + width) * self.residuals()]
    }

    /// The inputs of some samples, to write.
    pub(super) fn inputs_mut(&mut self, before: usize, width: usize, samples: &Range<usize>) -> &mut [T] {
        let start = before * self.samples;
        &mut self.inputs[start + samples.start * width..start + samples.end * width]
    }

    /// The sensitivities of some samples, to write.
    pub(super) fn sensitivities_mut(&mut self, before: usize, width: usize, samples: &Range<usize>) -> &mut [T] {
        let (start, stride) = (before * self.residuals(), self.group * width);
        &mut self.sensitivities[start + samples.start * stride..start + samples.end * stride]
    }

    /// The samples of a tile among those of all ranks.
    pub(super) fn samples_of(&self, tile: &BatchTile<'_, T>) -> Range<usize> {
        self.before + tile.rows.start..self.before + tile.rows.end
    }

    /// Keeps a node's values for a tile, after a forward sweep; zeros where it was not wanted.
    pub(super) fn keep_inputs(
        &mut self,
        before: usize,
        node: Node,
        tile: &BatchTile<'_, T>,
        workspace: &Workspace<T>,
        wanted: bool,
    ) {
        let samples = self.samples_of(tile);
        let inputs = self.inputs_mut(before, node.width(), &samples);
        if wanted {
            inputs.copy_from_slice(workspace.value(tile, node));
        } else {
            inputs.fill(T::ZERO);
        }
    }

    /// Keeps a node's adjoints for a tile, after a reverse sweep from a stack of residuals of each sample.
    pub(super) fn keep_sensitivities(
        &mut self,
        before: usize,
        node: Node,
        tile: &BatchTile<'_, T>,
        workspace: &Workspace<T>,
        residuals: Range<usize>,
    ) {
        let (width, stride) = (node.width(), self.group * node.width());
        let samples = self.samples_of(tile);
        let kept = self.sensitivities_mut(before, width, &samples);
        let adjoints = workspace.derivative(tile, node);
        for (part, residual) in residuals.enumerate() {
            let rows = kept[residual * width..].chunks_mut(stride).map(|row| &mut row[..width]);
            match adjoints {
                Some(adjoints) => {
                    let adjoints = &adjoints[part * tile.rows.len() * width..];
                    rows.zip(adjoints.chunks_exact(width)).for_each(|(to, from)| to.copy_from_slice(from));
                }
                None => rows.for_each(|row| row.fill(T::ZERO)),
            }
        }
    }
}

/// The first `count` entries of scratch memory, which grows where necessary.
pub(super) fn scratch<T: Real>(memory: &mut Vec<T>, count: usize) -> &mut [T] {
    if memory.len() < count {
        memory.resize(count, T::ZERO);
    }
    &mut memory[..count]
}
