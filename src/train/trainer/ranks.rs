//! Messages between ranks.

use std::fmt::Write;

use super::run::FitRun;
use super::{FitData, Trainer};
use crate::distributed::{Communicator, RankError};
use crate::optim::OptimizerState;
use crate::real::Real;
use crate::train::checkpoint::FitTerms;
use crate::train::{StopReason, TrainError};

/// Words of [`TrainError::RanksDiffer`] for settings, and of where a training stands.
const SETTINGS: &str = "settings";

impl<T: Real> Trainer<'_, T> {
    /// Goes on if all ranks do.
    pub(super) fn agree<R>(&self, outcome: Result<R, TrainError>) -> Result<R, TrainError> {
        match self.network.several_ranks() {
            Some(ranks) => Ok(ranks.agree(outcome)?),
            None => outcome,
        }
    }

    /// Exchanges the numbers of rows, if no rank has refused its own.
    pub(super) fn share(
        &self,
        checked: Result<(), TrainError>,
        mut sets: [Option<&mut FitData<'_, T>>; 2],
    ) -> Result<(), TrainError> {
        let Some(ranks) = self.network.several_ranks() else { return checked };
        let own = |data: &&mut FitData<'_, T>| self.network.own_rows(data.samples()) as f64;
        let rows = sets.each_ref().map(|data| data.as_ref().map_or(0.0, own));
        let said = ranks.try_all_gather(checked.map(|()| &rows[..]))?;
        for (set, data) in sets.iter_mut().enumerate() {
            let sum = |said: &[Vec<f64>]| said.iter().map(|rows| rows[set]).sum::<f64>() as usize;
            if let Some(data) = data {
                let before = sum(&said[..ranks.rank()]);
                (data.range, data.total) = (before..before + rows[set] as usize, sum(&said));
            }
        }
        Ok(())
    }

    /// Refuses settings that are not the same on all ranks.
    pub(super) fn check_same_settings(&self) -> Result<(), TrainError> {
        let Some(ranks) = self.network.several_ranks() else { return Ok(()) };
        let (backup, validation) = (self.backup.as_ref().map(|backup| backup.every), self.validation.is_some());
        let trainable = self.variables.trainable_ranges();
        let settings = format!("{:?} {backup:?} {validation} {trainable:?}", self.settings);
        check_numbers(ranks, SETTINGS, &numbers_of(&settings))
    }

    /// Refuses to begin if settings, progress, variables or optimizers of the ranks differ.
    pub(super) fn check_same(&self, run: &FitRun, terms: &FitTerms) -> Result<(), TrainError> {
        let Some(ranks) = self.network.several_ranks() else { return Ok(()) };
        let place = format!("{terms:?} {} {} {}", run.epoch, run.batch, self.network.mask_step());
        check_numbers(ranks, SETTINGS, &numbers_of(&place))?;
        self.check_same_variables()?;
        let (mut text, mut slots) = (String::new(), Vec::new());
        describe(&self.optimizer.state(), &mut text, &mut slots);
        slots.extend(text.bytes().map(|byte| T::from_f64(byte.into())));
        check_numbers(ranks, "optimizer's numbers", &slots)
    }

    /// Refuses to go on where variables are not the same on all ranks.
    pub(super) fn check_same_variables(&self) -> Result<(), TrainError> {
        let Some(ranks) = self.network.several_ranks() else { return Ok(()) };
        check_numbers(ranks, "variables", self.variables.values())
    }

    /// Makes the ranks agree: an error or a stop request of one is one of all.
    pub(super) fn settle(&self, run: &mut FitRun, outcome: Result<(), TrainError>) -> Result<(), TrainError> {
        run.is_cancelled = self.cancel.as_ref().is_some_and(|token| token.is_cancelled());
        let Some(ranks) = self.network.several_ranks() else { return outcome };
        let mut requests = [run.stop.is_some(), run.is_cancelled].map(|request| f64::from(u8::from(request)));
        ranks.try_all_sum(&mut requests, outcome)?;
        run.is_cancelled = requests[1] > 0.0;
        if requests[0] > 0.0 {
            settle_reason(ranks, run)?;
        }
        Ok(())
    }

    /// Makes the metrics those of all ranks' samples, and the seconds those of rank 0.
    pub(super) fn merge(&mut self, seconds: &mut f64) -> Result<(), TrainError> {
        let Trainer { network, metrics, .. } = self;
        let Some(ranks) = network.several_ranks() else { return Ok(()) };
        let mut message = vec![*seconds];
        for measured in &*metrics {
            let place = message.len();
            message.push(0.0);
            measured.metric.state(&mut message);
            message[place] = (message.len() - place - 1) as f64;
        }
        let said = ranks.all_gather(&message).map_err(RankError::from)?;
        *seconds = said[0][0];
        for (rank, said) in said.iter().enumerate() {
            let mut numbers = &said[1..];
            for measured in &mut *metrics {
                let state = read_state(&mut numbers);
                let is_taken = match (state, rank) {
                    (Some(state), 0) => {
                        measured.metric.restore(state);
                        true
                    }
                    (Some(state), _) => measured.metric.merge(state),
                    (None, _) => false,
                };
                if !is_taken {
                    let message = format!("the metric {} is not that of the other ranks", measured.name);
                    return Err(RankError { rank, message }.into());
                }
            }
        }
        Ok(())
    }
}

/// A state that follows its length.
fn read_state<'m>(numbers: &mut &'m [f64]) -> Option<&'m [f64]> {
    let (&count, rest) = numbers.split_first()?;
    let (state, rest) = rest.split_at_checked(count as usize)?;
    *numbers = rest;
    Some(state)
}

/// Gives all ranks the reason of the first that has one.
fn settle_reason(ranks: &Communicator, run: &mut FitRun) -> Result<(), RankError> {
    let own = match &run.stop {
        Some(StopReason::Callback { callback, reason }) => format!("{callback}\0{reason}"),
        _ => String::new(),
    };
    let said = ranks.all_gather(&numbers_of(&own)).map_err(RankError::from)?;
    let first = said.iter().find(|text| !text.is_empty()).map_or(&[][..], Vec::as_slice);
    let bytes: Vec<u8> = first.iter().map(|&byte| byte as u8).collect();
    if let Some((callback, reason)) = String::from_utf8_lossy(&bytes).split_once('\0') {
        run.stop = Some(StopReason::Callback { callback: callback.to_owned(), reason: reason.to_owned() });
    }
    Ok(())
}

fn check_numbers<T: Real>(ranks: &Communicator, what: &'static str, numbers: &[T]) -> Result<(), TrainError> {
    match ranks.first_to_differ(numbers).map_err(RankError::from)? {
        Some(rank) => Err(TrainError::RanksDiffer { rank, what }),
        None => Ok(()),
    }
}

/// The bytes of a text.
fn numbers_of(text: &str) -> Vec<f64> {
    text.bytes().map(f64::from).collect()
}

/// A state as text, and its slots.
fn describe<T: Real>(state: &OptimizerState<T>, text: &mut String, slots: &mut Vec<T>) {
    let OptimizerState { optimizer, iterations, hyperparameters, numbers, parts, .. } = state;
    // A text takes whatever is written.
    let _ = write!(text, "{optimizer} {iterations} {hyperparameters:?} {numbers:?}");
    state.slots.iter().for_each(|(_, slot)| slots.extend_from_slice(slot));
    parts.iter().for_each(|part| describe(part, text, slots));
}
