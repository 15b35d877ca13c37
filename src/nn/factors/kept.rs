//! Parts of a linearisation that are kept: the layers' inputs and sensitivities.

use std::ops::Range;

use crate::nn::batch::Share;
use crate::nn::sweep::BatchTile;
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

    /// Keeps what has come to an array of this width for one residual of some samples; nothing is zeros.
    pub(super) fn put_sensitivities(
        &mut self,
        (before, width): (usize, usize),
        samples: &Range<usize>,
        residual: usize,
        sensitivities: Option<&[T]>,
    ) {
        let stride = self.group * width;
        let rows = self.sensitivities_mut(before, width, samples)[residual * width..].chunks_mut(stride);
        let rows = rows.map(|row| &mut row[..width]);
        match sensitivities {
            Some(sensitivities) => {
                rows.zip(sensitivities.chunks_exact(width)).for_each(|(to, from)| to.copy_from_slice(from));
            }
            None => rows.for_each(|row| row.fill(T::ZERO)),
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
