//! Evaluation mode: predictions and losses on data that is not bound.

use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use super::Network;
use super::loss_sweeps::LossSweeps;
use crate::nn::BatchError;
use crate::nn::batch::{SampleArrays, Selection};
use crate::nn::sweep::{BatchTile, leading_to};
use crate::nn::tape::Node;
use crate::real::Real;
use crate::variables::Variables;

impl<T: Real> Network<T> {
    /// The values of a node for other inputs than the bound batch's, in evaluation mode: nothing is dropped.
    ///
    /// # Errors
    ///
    /// [`BatchError`] for inputs that do not fit, a node of another tape, or other variables than the network's.
    pub fn predict(
        &mut self,
        variables: &Variables<T>,
        inputs: &[ArrayView2<'_, T>],
        output: Node,
    ) -> Result<Array2<T>, BatchError> {
        let rows = SampleArrays { inputs, targets: &[], weights: None }.rows();
        let mut predictions = Array2::from_elem((rows, output.width()), T::ZERO);
        self.predict_into(variables, inputs, output, predictions.view_mut())?;
        Ok(predictions)
    }

    /// Writes the predictions of [`predict`](Self::predict) into an existing array.
    ///
    /// # Errors
    ///
    /// As [`predict`](Self::predict), and [`BatchError::Output`] for an array of the wrong shape.
    pub fn predict_into(
        &mut self,
        variables: &Variables<T>,
        inputs: &[ArrayView2<'_, T>],
        output: Node,
        mut predictions: ArrayViewMut2<'_, T>,
    ) -> Result<(), BatchError> {
        let samples = SampleArrays { inputs, targets: &[], weights: None };
        let rows = self.check_prediction(variables, inputs, output)?;
        let (expected, found) = ([rows, output.width()], [predictions.nrows(), predictions.ncols()]);
        if expected != found {
            return Err(BatchError::Output { expected, found });
        }
        let Network { sweeps: LossSweeps { tape, workspace, .. }, passing, marks, .. } = self;
        leading_to(tape.records(), std::iter::once(output), marks);
        for rows in workspace.tiles(0..rows) {
            passing.fill(samples, &Selection::Range(rows.clone()));
            let tile = BatchTile { tape, x: variables.values(), batch: passing, rows: 0..rows.len(), masks: None };
            workspace.forward(&tile, marks);
            let values = workspace.value(&tile, output).chunks_exact(output.width());
            for (row, values) in rows.zip(values) {
                for (prediction, &value) in predictions.row_mut(row).iter_mut().zip(values) {
                    *prediction = value;
                }
            }
        }
        Ok(())
    }

    /// The loss of other data than the bound batch, in evaluation mode: nothing is dropped. Of several ranks, it is the loss
    /// of the data of all.
    ///
    /// # Errors
    ///
    /// [`BatchError`] for arrays that do not fit, other variables than the network's, or a network without a loss.
    pub fn evaluate(
        &mut self,
        variables: &Variables<T>,
        inputs: &[ArrayView2<'_, T>],
        targets: &[ArrayView2<'_, T>],
    ) -> Result<T, BatchError> {
        self.visit(variables, SampleArrays { inputs, targets, weights: None }, |_| ())
    }
}
