//! Derivatives of outputs with respect to variables, for data that is not bound.

use std::ops::Range;

use ndarray::ArrayView2;

use super::Network;
use super::loss_sweeps::LossSweeps;
use crate::nn::BatchError;
use crate::nn::batch::{SampleArrays, Selection};
use crate::nn::sweep::{BatchTile, JacobianRows, leading_to};
use crate::nn::tape::Node;
use crate::real::Real;
use crate::variables::Variables;

/// Entries of the Jacobian that are computed at a time.
const ENTRIES: usize = 1 << 20;

impl<T: Real> Network<T> {
    /// Calls `see` for some samples after the other, in evaluation mode, with the values of a node and their derivatives with respect to these
    /// columns of the variables: a row for each value.
    pub(crate) fn output_jacobian(
        &mut self,
        variables: &Variables<T>,
        inputs: &[ArrayView2<'_, T>],
        (output, columns): (Node, &[Range<usize>]),
        mut see: impl FnMut(&[T], &[T]),
    ) -> Result<(), BatchError> {
        let samples = SampleArrays { inputs, targets: &[], weights: None };
        let rows = self.check_prediction(variables, inputs, output)?;
        self.want_columns(columns);
        let Network { sweeps: LossSweeps { tape, workspace, .. }, passing, marks, columns, written, .. } = self;
        let mut needed = Vec::new();
        leading_to(tape.records(), std::iter::once(output), &mut needed);
        let (width, n) = (output.width(), columns.count());
        let at_a_time = (ENTRIES / (width * n).max(1)).clamp(1, workspace.tile_rows());
        let mut jacobian = vec![T::ZERO; at_a_time.min(rows) * width * n];
        for start in (0..rows).step_by(at_a_time) {
            let count = at_a_time.min(rows - start);
            passing.fill(samples, &Selection::Range(start..start + count));
            let tile = BatchTile { tape, x: variables.values(), batch: passing, rows: 0..count, masks: None };
            workspace.forward(&tile, &needed);
            let jacobian = &mut jacobian[..count * width * n];
            for place in 0..width {
                workspace.clear_derivatives();
                let (adjoint, _) = workspace.seed(&tile, output);
                adjoint.fill(T::ZERO);
                adjoint.iter_mut().skip(place).step_by(width).for_each(|entry| *entry = T::ONE);
                let mut to = JacobianRows::new(columns, jacobian, place, width, written);
                workspace.reverse(&tile, marks, &mut to);
                to.finish(workspace, &tile);
            }
            see(workspace.value(&tile, output), jacobian);
        }
        Ok(())
    }
}
