//! Predictions and evaluations of a network.

use ndarray::{Array2, ArrayView2};

use super::Trainer;
use super::data::FitData;
use crate::nn::BatchError;
use crate::real::Real;
use crate::train::{ConfusionMatrix, Logs, TrainError};

impl<T: Real> Trainer<'_, T> {
    /// Evaluates the loss and the metrics on data, without dropout. The data are processed in parts; the result does not depend on the
    /// batch size. With several ranks, it is that of the data of all ranks.
    ///
    /// # Errors
    ///
    /// [`TrainError::Data`], or [`TrainError::Metric`].
    pub fn evaluate(
        &mut self,
        inputs: &[ArrayView2<'_, T>],
        targets: &[ArrayView2<'_, T>],
    ) -> Result<Logs, TrainError> {
        let checked = self.check_metrics();
        self.agree(checked)?;
        let mut logs = Logs::default();
        self.evaluate_into(&FitData::new(inputs, targets, None), false, &mut logs)?;
        Ok(logs)
    }

    /// Predicts the first output for new inputs, without dropout. The inputs are processed in parts. Each rank predicts for its own inputs.
    ///
    /// # Errors
    ///
    /// [`TrainError::Data`].
    pub fn predict(&mut self, inputs: &[ArrayView2<'_, T>]) -> Result<Array2<T>, TrainError> {
        let output = *self.network.outputs().first().ok_or(BatchError::NoLoss)?;
        Ok(self.network.predict(self.variables, inputs, output)?)
    }

    /// Samples by their class and the class that is predicted for them, of the first output, with nothing dropped. A rank counts its own.
    ///
    /// # Errors
    ///
    /// [`TrainError::Data`], and [`TrainError::NoClasses`] for a loss or targets without classes.
    pub fn confusion_matrix(
        &mut self,
        inputs: &[ArrayView2<'_, T>],
        targets: &[ArrayView2<'_, T>],
    ) -> Result<ConfusionMatrix, TrainError> {
        let (kind, width) = self.network.term_targets().next().ok_or(BatchError::NoLoss)?;
        let data = FitData::new(inputs, targets, None);
        data.check(self.network)?;
        data.check_classes(kind)?;
        let mut matrix = ConfusionMatrix::new(kind, width);
        self.network.visit(self.variables, data.samples(), |predictions| {
            if predictions.term == 0 {
                matrix.update(&predictions);
            }
        })?;
        Ok(matrix)
    }

    /// The metrics since the last reset: on this rank's rows, where there are several.
    pub fn metrics(&self) -> Logs {
        let mut logs = Logs::default();
        self.metrics.iter().for_each(|measured| measured.log(false, &mut logs));
        logs
    }

    /// Adds the loss and the metrics on data to the logs.
    pub(super) fn evaluate_into(
        &mut self,
        data: &FitData<'_, T>,
        is_validation: bool,
        logs: &mut Logs,
    ) -> Result<(), TrainError> {
        let Trainer { network, variables, metrics, .. } = self;
        metrics.iter_mut().for_each(|measured| measured.metric.reset());
        let loss = network.visit(variables, data.samples(), |predictions| {
            metrics.iter_mut().for_each(|measured| measured.update(&predictions));
        });
        let loss = loss.map_err(if is_validation { TrainError::Validation } else { TrainError::Data })?;
        self.merge(&mut 0.0)?;
        let Trainer { metrics, .. } = self;
        logs.set(if is_validation { "val_loss" } else { "loss" }, loss.to_f64());
        metrics.iter().for_each(|measured| measured.log(is_validation, logs));
        metrics.iter_mut().for_each(|measured| measured.metric.reset());
        Ok(())
    }

    pub(super) fn check_metrics(&mut self) -> Result<(), TrainError> {
        for place in 0..self.metrics.len() {
            let (before, rest) = self.metrics.split_at_mut(place);
            let measured = &mut rest[0];
            measured.check(self.network)?;
            if measured.name == "loss" || before.iter().any(|other| other.name == measured.name) {
                let reason = "there is one of this name already".to_owned();
                return Err(TrainError::Metric { metric: measured.name.clone(), reason });
            }
        }
        Ok(())
    }
}
