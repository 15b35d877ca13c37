//! The loop.

use std::mem;

use ndarray::ArrayView2;

use super::Trainer;
use super::data::FitData;
use super::run::FitRun;
use crate::clock::Stopwatch;
use crate::nn::{BatchError, Selection};
use crate::optim::OptimizerError;
use crate::real::Real;
use crate::train::checkpoint::FitTerms;
use crate::train::order::shuffle;
use crate::train::sums::EpochSums;
use crate::train::{Callback, CallbackError, Context, History, Mode, StopReason, TrainError};

impl<'a, T: Real> Trainer<'a, T> {
    /// Trains, and returns the logs of every epoch.
    ///
    /// # Errors
    ///
    /// [`TrainError`] if the training could not start, and [`TrainError::BrokenOff`] if it stopped early. In the latter case, the variables
    /// have their values after the last step, the error has the logs of the epochs, and [`checkpoint`](Self::checkpoint) returns the state
    /// to resume from.
    pub fn fit(&mut self, inputs: &[ArrayView2<'_, T>], targets: &[ArrayView2<'_, T>]) -> Result<History, TrainError> {
        let weights;
        let (mut data, validation) = self.prepare(FitData::new(inputs, targets, self.sample_weights))?;
        if let Some(class_weights) = self.class_weights {
            weights = self.agree(data.class_weighted(class_weights, self.network))?;
            data.weights = Some(&weights);
        }
        let terms = self.terms(&data, validation.as_ref());
        let mut run = self.new_run(&data, validation.is_some());
        self.metrics.iter_mut().for_each(|measured| measured.metric.reset());
        let before = self.resume.is_some().then(|| self.variables.values().to_vec());
        let begun = self.begin(&mut run, &terms);
        if let (Err(_), Some(before)) = (&begun, before) {
            self.variables.values_mut().copy_from_slice(&before);
        }
        begun?;
        run.history.warnings = match self.network.several_ranks() {
            None => self.unit_warnings(&data),
            Some(_) => Vec::new(),
        };

        let outcome = self.run_epochs(&mut run, &data, validation.as_ref(), &terms);
        let outcome = match self.snapshot(&run, terms) {
            Ok(checkpoint) => {
                let outcome = outcome.and_then(|reason| {
                    self.save_backup(&checkpoint)?;
                    self.end(&mut run, reason)
                });
                self.checkpoint = Some(checkpoint);
                outcome
            }
            Err(error) => outcome.and(Err(error)),
        };
        let history = mem::take(&mut run.history);
        match outcome {
            Ok(()) => Ok(history),
            Err(source) => {
                let (history, source) = (Box::new(history), Box::new(source));
                Err(TrainError::BrokenOff { epoch: run.epoch, batch: run.batch, history, source })
            }
        }
    }

    /// Restores the checkpoint, if one was given, and calls `on_train_begin`.
    fn begin(&mut self, run: &mut FitRun, terms: &FitTerms) -> Result<(), TrainError> {
        if let Some(checkpoint) = self.resume.take() {
            let restored = self.go_on(checkpoint, run, terms);
            self.agree(restored)?;
        }
        self.check_same(run, terms)?;
        self.notify(run, |callback, context| callback.on_train_begin(context))
    }

    /// Checks everything, and sets validation data aside.
    fn prepare<'d>(&mut self, mut data: FitData<'d, T>) -> Result<(FitData<'d, T>, Option<FitData<'d, T>>), TrainError>
    where
        'a: 'd,
    {
        let settings = self.settings;
        let mut validation = self.validation.as_ref().map(|set| FitData::new(&set.inputs, &set.targets, set.weights));
        let checked = self.check(&data, validation.as_ref());
        self.share(checked, [Some(&mut data), validation.as_mut()])?;
        self.check_same_settings()?;
        if data.total == 0 {
            return Err(TrainError::Empty);
        }
        if validation.as_ref().is_some_and(|validation| validation.total == 0) {
            return Err(TrainError::Validation(BatchError::Empty));
        }
        if let (None, Some(split)) = (&validation, settings.validation_split) {
            let (first, last) = data.split(split)?;
            (data, validation) = (first, Some(last));
        }
        if self.batches(data.total) == 0 {
            return Err(TrainError::NoFullBatch { rows: data.total, batch_size: settings.batch_size });
        }
        Ok((data, validation))
    }

    /// Checks the settings, and this rank's rows of the data.
    fn check(&mut self, data: &FitData<'_, T>, validation: Option<&FitData<'_, T>>) -> Result<(), TrainError> {
        let settings = self.settings;
        if settings.batch_size == 0 {
            return Err(TrainError::BatchSize);
        }
        if settings.initial_epoch > settings.epochs {
            let (initial_epoch, epochs) = (settings.initial_epoch, settings.epochs);
            return Err(TrainError::InitialEpoch { initial_epoch, epochs });
        }
        if let Some(backup) = self.backup.as_ref().filter(|_| self.network.communicator().is_root()) {
            (backup.check)(&backup.path)?;
        }
        self.check_metrics()?;
        data.check(self.network).map_err(|error| match error {
            BatchError::Empty => TrainError::Empty,
            error => error.into(),
        })?;
        validation.map_or(Ok(()), |validation| validation.check(self.network)).map_err(TrainError::Validation)
    }

    /// Minibatches in an epoch.
    fn batches(&self, rows: usize) -> usize {
        let batch_size = self.settings.batch_size;
        if self.settings.drop_remainder { rows / batch_size } else { rows.div_ceil(batch_size) }
    }

    /// A training that has not begun.
    fn new_run(&self, data: &FitData<'_, T>, has_validation: bool) -> FitRun {
        let mut known = vec![("loss".to_owned(), Mode::Min)];
        known.extend(self.metrics.iter().map(|measured| (measured.name.clone(), measured.metric.mode())));
        if has_validation {
            known.push(("val_loss".to_owned(), Mode::Min));
            let metrics = self.metrics.iter();
            known.extend(metrics.map(|measured| (measured.validation_name.clone(), measured.metric.mode())));
        }
        if self.settings.weight_decay_by_evidence {
            known.push(("weight_decay".to_owned(), Mode::Min));
        }
        let others = ["learning_rate", "applied", "damping", "gain_ratio", "attempts", "seconds"];
        known.extend(others.map(|name| (name.to_owned(), Mode::Min)));
        let (epoch, batches) = (self.settings.initial_epoch, self.batches(data.total));
        FitRun { epoch, batches, order: (0..data.total).collect(), known, ..FitRun::default() }
    }

    fn run_epochs(
        &mut self,
        run: &mut FitRun,
        data: &FitData<'_, T>,
        validation: Option<&FitData<'_, T>>,
        terms: &FitTerms,
    ) -> Result<StopReason, TrainError> {
        while run.epoch < self.settings.epochs {
            if let Some(reason) = run.stop.take() {
                return Ok(reason);
            }
            // Not between the beginning of an epoch and its first step: a resumed epoch would begin twice.
            self.settle(run, Ok(()))?;
            if run.is_cancelled {
                return Ok(StopReason::Cancelled);
            }
            if run.batch == 0 {
                self.notify(run, |callback, context| callback.on_epoch_begin(context))?;
                self.adapt_weight_decay(data)?;
            }
            let begun = Stopwatch::start();
            let outcome = self.run_batches(run, data);
            run.sums.seconds += begun.elapsed().as_secs_f64();
            if !outcome? {
                return Ok(StopReason::Cancelled);
            }
            if run.batch == 0 {
                continue;
            }
            self.end_epoch(run, validation)?;
            if self.backup.as_ref().is_some_and(|backup| run.epoch.is_multiple_of(backup.every)) {
                let checkpoint = self.snapshot(run, terms.clone())?;
                self.save_backup(&checkpoint)?;
            }
        }
        Ok(run.stop.take().unwrap_or(StopReason::Completed))
    }

    /// Updates the weight decay by all training data, if it is that of the evidence. No masks of dropout are used up.
    fn adapt_weight_decay(&mut self, data: &FitData<'_, T>) -> Result<(), TrainError> {
        let Trainer { network, variables, optimizer, settings, .. } = self;
        if !settings.weight_decay_by_evidence {
            return Ok(());
        }
        if network.several_ranks().is_some() {
            let reason = "it is not found over several ranks".to_owned();
            return Err(OptimizerError::NoEvidence { reason }.into());
        }
        let mask_step = network.mask_step();
        network.bind(data.samples(), &Selection::Range(data.range.clone()), None)?;
        let adapted = optimizer.adapt_weight_decay(&mut **network, variables);
        network.set_mask_step(mask_step);
        adapted?;
        Ok(())
    }

    /// The minibatches of an epoch that are left. Returns whether none was cancelled.
    fn run_batches(&mut self, run: &mut FitRun, data: &FitData<'_, T>) -> Result<bool, TrainError> {
        let mut order = mem::take(&mut run.order);
        if let Some(seed) = self.settings.shuffle {
            shuffle(&mut order, seed, run.epoch);
        }
        let outcome = self.run_batches_in(&order, run, data);
        run.order = order;
        outcome
    }

    fn run_batches_in(&mut self, order: &[usize], run: &mut FitRun, data: &FitData<'_, T>) -> Result<bool, TrainError> {
        for rows in order.chunks(self.settings.batch_size).take(run.batches).skip(run.batch) {
            if run.stop.is_some() {
                break;
            }
            match self.step_on(data, rows, run) {
                Ok(report) => {
                    run.sums.add(&report, rows.len());
                    run.batch += 1;
                    self.notify(run, |callback, context| callback.on_batch_end(&report, context))?;
                }
                Err(TrainError::Optimizer(error)) => {
                    self.notify(run, |callback, context| callback.on_step_error(&error, context))?;
                    if run.stop.is_none() {
                        return Err(error.into());
                    }
                }
                Err(error) => return Err(error),
            }
            if run.stop.is_none() && run.is_cancelled {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Logs and validates an epoch, and goes on to the next.
    fn end_epoch(&mut self, run: &mut FitRun, validation: Option<&FitData<'_, T>>) -> Result<(), TrainError> {
        self.merge(&mut run.sums.seconds)?;
        self.check_same_variables()?;
        let mut logs = mem::take(&mut run.logs);
        logs.clear();
        logs.set("loss", run.sums.loss());
        self.metrics.iter().for_each(|measured| measured.log(false, &mut logs));
        if let Some(validation) = validation {
            self.evaluate_into(validation, true, &mut logs)?;
        }
        self.metrics.iter_mut().for_each(|measured| measured.metric.reset());
        if let Ok(rate) = self.optimizer.hyperparameter("learning_rate") {
            logs.set("learning_rate", rate.at(self.optimizer.iterations()));
        }
        if self.settings.weight_decay_by_evidence {
            logs.set("weight_decay", self.optimizer.hyperparameter("weight_decay")?.at(self.optimizer.iterations()));
        }
        run.sums.log(&mut logs);
        let outcome = self.notify(run, |callback, context| callback.on_epoch_end(&mut logs, context));
        run.history.push(run.epoch, &logs);
        run.logs = logs;
        run.sums = EpochSums::default();
        (run.epoch, run.batch) = (run.epoch + 1, 0);
        outcome
    }

    fn end(&mut self, run: &mut FitRun, reason: StopReason) -> Result<(), TrainError> {
        if reason != StopReason::Cancelled {
            self.optimizer.finalize(self.variables)?;
        }
        run.history.stop_reason = Some(reason.clone());
        run.stop = Some(reason);
        self.notify(run, |callback, context| callback.on_train_end(context))
    }

    /// Calls all callbacks on all ranks, and makes the ranks agree on the outcome.
    fn notify(
        &mut self,
        run: &mut FitRun,
        call: impl FnMut(&mut dyn Callback<T>, &mut Context<'_, T>) -> Result<(), CallbackError>,
    ) -> Result<(), TrainError> {
        let outcome = self.call(run, call);
        self.settle(run, outcome)
    }

    /// Calls all callbacks.
    fn call(
        &mut self,
        run: &mut FitRun,
        mut call: impl FnMut(&mut dyn Callback<T>, &mut Context<'_, T>) -> Result<(), CallbackError>,
    ) -> Result<(), TrainError> {
        for callback in &mut self.callbacks {
            let mut context = Context {
                variables: self.variables,
                optimizer: self.optimizer,
                history: &run.history,
                epoch: run.epoch,
                epochs: self.settings.epochs,
                batch: run.batch,
                batches: run.batches,
                is_resumed: run.is_resumed,
                is_root: self.network.communicator().is_root(),
                known: &run.known,
                stop: None,
                stop_reason: run.stop.as_ref(),
            };
            let outcome = call(callback.as_mut(), &mut context);
            let stop = context.stop;
            let name = || callback.name().to_owned();
            outcome.map_err(|source| TrainError::Callback { callback: name(), source })?;
            if let (Some(reason), None) = (stop, &run.stop) {
                run.stop = Some(StopReason::Callback { callback: name(), reason });
            }
        }
        Ok(())
    }
}
