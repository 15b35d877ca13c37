//! The losses of a network on its bound batch.

use std::ops::Range;

use super::loss_tile::LossTile;
use crate::nn::batch::Batch;
use crate::nn::factors::TapedLosses;
use crate::nn::sweep::{BatchTile, Masks, Workspace};
use crate::nn::tape::Tape;
use crate::nn::term::LossTerm;
use crate::nn::weighted_loss::LossBuffers;
use crate::real::Real;
use crate::variables::Variables;

/// A tape, the losses of its outputs, the bound batch, and the workspace of sweeps.
#[derive(Debug)]
pub(super) struct LossSweeps<T> {
    pub(super) tape: Tape<T>,
    pub(super) terms: Vec<LossTerm<T>>,
    /// Nodes that the loss of each set of samples is computed from.
    pub(super) loss_nodes: Vec<Vec<bool>>,
    pub(super) batch: Batch<T>,
    pub(super) masks: Masks,
    pub(super) workspace: Workspace<T>,
    pub(super) buffers: LossBuffers<T>,
    /// Residuals of a tile.
    pub(super) residuals: Vec<T>,
}

impl<T: Real> LossSweeps<T> {
    /// Residuals of each sample of a set.
    pub(super) fn rows_of_set(&self, set: usize) -> usize {
        self.terms.iter().filter(|term| term.set == set).map(|term| term.output.width()).sum()
    }

    /// Residuals of each sample, of all terms together.
    pub(super) fn rows_per_sample(&self) -> usize {
        (0..self.loss_nodes.len()).map(|set| self.rows_of_set(set)).max().unwrap_or(0)
    }

    /// The losses, to plan factors for.
    pub(super) fn taped<'a>(&'a self, variables: &'a Variables<T>) -> TapedLosses<'a, T> {
        TapedLosses { tape: &self.tape, variables, terms: &self.terms, group: self.rows_per_sample() }
    }

    /// Visits some rows of the bound batch in training mode, in tiles none of which has samples of two sets.
    pub(super) fn tiles(&mut self, x: &[T], rows: Range<usize>, mut visit: impl FnMut(&mut LossTile<'_, T>)) {
        let (group, size) = (self.rows_per_sample(), self.workspace.tile_size());
        let LossSweeps { tape, terms, loss_nodes, batch, masks, workspace, buffers, residuals } = self;
        for (set, own) in batch.sets().enumerate() {
            let start = own.start.max(rows.start);
            for rows in size.tiles(start..own.end.min(rows.end).max(start)).filter(|rows| !rows.is_empty()) {
                let tile = BatchTile { tape, x, batch, rows, masks: Some(*masks) };
                let (nodes, scratch) = (&loss_nodes[set], &mut residuals[..]);
                visit(&mut LossTile { tile, workspace, terms, set, nodes, group, buffers, scratch });
            }
        }
    }
}
