//! Interrupting and going on.

use super::run::FitRun;
use super::{FitData, Trainer};
use crate::real::Real;
use crate::train::checkpoint::{FitTerms, list};
use crate::train::{Checkpoint, CheckpointError, TrainError};
use crate::variables::Layout;

impl<T: Real> Trainer<'_, T> {
    /// Settings that must be the same to go on.
    pub(super) fn terms(&self, data: &FitData<'_, T>, validation: Option<&FitData<'_, T>>) -> FitTerms {
        let validation_rows = validation.map_or(0, |validation| validation.total);
        FitTerms::new([
            ("bits of a float", (8 * size_of::<T>()).to_string()),
            ("rows of the training data", data.total.to_string()),
            ("rows of the validation data", validation_rows.to_string()),
            ("sample weights", data.weights.is_some().to_string()),
            ("batch size", self.settings.batch_size.to_string()),
            ("seed of the order", self.settings.shuffle.map_or("none".to_owned(), |seed| seed.to_string())),
            ("drop_remainder", self.settings.drop_remainder.to_string()),
            ("weight decay by evidence", self.settings.weight_decay_by_evidence.to_string()),
            ("seed of dropout", self.network.mask_seed().to_string()),
            ("metrics", list(self.metrics.iter().map(|measured| measured.name.as_str()))),
            ("callbacks", list(self.callbacks.iter().map(|callback| callback.name()))),
        ])
    }

    /// Returns the state from which a training goes on, on any number of ranks.
    pub(super) fn snapshot(&mut self, run: &FitRun, terms: FitTerms) -> Result<Checkpoint<T>, TrainError> {
        let mut sums = run.sums;
        self.metrics.iter_mut().for_each(|measured| measured.save());
        self.merge(&mut sums.seconds)?;
        let metrics = self.metrics.iter().map(|measured| {
            let mut state = Vec::new();
            measured.metric.state(&mut state);
            (measured.name.clone(), state)
        });
        let metrics = metrics.collect();
        self.metrics.iter_mut().for_each(|measured| measured.go_back());
        let callbacks = self.callbacks.iter().map(|callback| (callback.name().to_owned(), callback.state()));
        Ok(Checkpoint {
            terms,
            variables: Layout::of(self.variables).to_saved(),
            values: self.variables.values().to_vec(),
            optimizer: self.optimizer.state(),
            mask_step: self.network.mask_step(),
            epoch: run.epoch,
            batch: run.batch,
            sums,
            metrics,
            callbacks: callbacks.collect(),
            history: run.history.clone(),
        })
    }

    /// Restores callbacks, optimizer, variables, metrics and progress from a checkpoint.
    pub(super) fn go_on(
        &mut self,
        checkpoint: Checkpoint<T>,
        run: &mut FitRun,
        terms: &FitTerms,
    ) -> Result<(), TrainError> {
        checkpoint.terms.check(terms)?;
        checkpoint.check(run.batches)?;
        let (expected, found) = (self.variables.values().len(), checkpoint.values.len());
        let of_values = (expected != found).then(|| format!("it has {found} values, not {expected}"));
        let difference = Layout::of(self.variables).difference_of_saved(&checkpoint.variables).or(of_values);
        if let Some(difference) = difference {
            return Err(CheckpointError::OtherVariables { difference }.into());
        }
        for (callback, (name, state)) in self.callbacks.iter_mut().zip(&checkpoint.callbacks) {
            let failed = |source| TrainError::Callback { callback: name.clone(), source };
            callback.restore(state).map_err(failed)?;
        }
        self.optimizer.restore(&checkpoint.optimizer, self.variables)?;
        self.variables.values_mut().copy_from_slice(&checkpoint.values);
        self.network.set_mask_step(checkpoint.mask_step);
        // The first rank holds what all ranks have measured.
        if self.network.communicator().is_root() {
            for (measured, (_, state)) in self.metrics.iter_mut().zip(&checkpoint.metrics) {
                measured.metric.restore(state);
            }
        }
        (run.epoch, run.batch, run.sums) = (checkpoint.epoch, checkpoint.batch, checkpoint.sums);
        (run.history, run.is_resumed) = (checkpoint.history, true);
        Ok(())
    }

    /// Saves a checkpoint where one is to be saved: the first rank does it for all.
    pub(super) fn save_backup(&self, checkpoint: &Checkpoint<T>) -> Result<(), TrainError> {
        let Some(backup) = &self.backup else { return Ok(()) };
        let is_root = self.network.communicator().is_root();
        let saved = if is_root { (backup.save)(checkpoint, &backup.path) } else { Ok(()) };
        self.agree(saved.map_err(TrainError::from))
    }
}
