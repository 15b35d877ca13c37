//! The state of a first-order optimizer, written down and taken over.

use super::memory::{Accumulated, Memory};
use super::optimizer::AVERAGE;
use super::{FirstOrder, UpdateRule};
use crate::optim::layout::Checked;
use crate::optim::state::{count, entry};
use crate::optim::{Convention, OptimizerError, OptimizerState};
use crate::real::Real;
use crate::variables::{Gradient, Variables};

/// The name of a sum of gradients that have not been applied yet, and of what must be known about it.
const ACCUMULATED: &str = "accumulated_gradient";
const ACCUMULATED_COUNT: &str = "accumulated_count";
const ACCUMULATED_ROWS: &str = "accumulated_rows";

/// Part of the sum that belongs to a variable, before the rows.
const ABSENT: f64 = -2.0;
const DENSE: f64 = -1.0;

fn refuse<V>(difference: impl Into<String>) -> Result<V, OptimizerError> {
    Err(OptimizerError::State { difference: difference.into() })
}

impl<T: Real, R: UpdateRule<T>> FirstOrder<T, R> {
    /// Settings that are no hyperparameters, as numbers.
    fn settings(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let shell = [
            ("pytorch", f64::from(u8::from(self.convention == Convention::PyTorch))),
            ("gradient_accumulation_steps", self.accumulation_steps as f64),
            ("ema_overwrite_frequency", self.ema_overwrite_frequency.unwrap_or(0) as f64),
        ];
        let rule = self.switches.iter().map(|&(name, on)| (name, f64::from(u8::from(on))));
        shell.into_iter().chain(rule)
    }

    pub(super) fn save(&self, state: &mut OptimizerState<T>) {
        if state.optimizer != self.rule.name() {
            state.optimizer = self.rule.name().to_owned();
        }
        state.iterations = self.iterations;
        state.parts.clear();
        for (index, (name, value)) in self.hyperparameters.iter().enumerate() {
            let saved = entry(&mut state.hyperparameters, index, name);
            if saved != value {
                saved.clone_from(value);
            }
        }
        state.hyperparameters.truncate(self.hyperparameters.iter().len());

        let (mut numbers, mut slots) = (0, 0);
        let mut number = |state: &mut OptimizerState<T>, name: &str, value: &mut dyn Iterator<Item = f64>| {
            let saved = entry(&mut state.numbers, numbers, name);
            saved.clear();
            saved.extend(value);
            numbers += 1;
        };
        for (name, value) in self.settings() {
            number(state, name, &mut [value].into_iter());
        }
        match &self.memory {
            None => state.variables.clear(),
            Some(memory) => {
                memory.layout.save(state);
                let average = memory.average.iter().map(|average| (AVERAGE, average));
                for (name, slot) in memory.slot_names.iter().copied().zip(&memory.slots).chain(average) {
                    let saved = entry(&mut state.slots, slots, name);
                    saved.clear();
                    saved.extend_from_slice(slot);
                    slots += 1;
                }
                if let Some(Accumulated { sum, count }) = &memory.accumulated {
                    number(state, ACCUMULATED_COUNT, &mut [*count as f64].into_iter());
                    let mut dense = sum.clone();
                    let saved = entry(&mut state.slots, slots, ACCUMULATED);
                    saved.clear();
                    for variable in sum.variables() {
                        saved.extend_from_slice(dense.dense_mut(variable));
                    }
                    slots += 1;
                    for variable in sum.variables() {
                        let rows: &mut dyn Iterator<Item = f64> = match sum.of(variable) {
                            Gradient::Absent => &mut [ABSENT].into_iter(),
                            Gradient::Dense(_) => &mut [DENSE].into_iter(),
                            Gradient::Rows { rows, .. } => &mut rows.iter().map(|&row| row as f64),
                        };
                        number(state, ACCUMULATED_ROWS, rows);
                    }
                }
            }
        }
        state.numbers.truncate(numbers);
        state.slots.truncate(slots);
    }

    pub(super) fn take_over(
        &mut self,
        state: &OptimizerState<T>,
        variables: &Variables<T>,
    ) -> Result<(), OptimizerError> {
        let name = self.rule.name();
        if state.optimizer != name {
            return refuse(format!("it is of {}, not of {name}", state.optimizer));
        }
        state.check()?;
        let mut hyperparameters = self.hyperparameters.clone();
        let (expected, found) = (hyperparameters.iter().len(), state.hyperparameters.len());
        if expected != found {
            return refuse(format!("it has {found} hyperparameters, not {expected}"));
        }
        // All are put before any is checked, as some exclude each other.
        for ((expected, _), (found, value)) in self.hyperparameters.iter().zip(&state.hyperparameters) {
            if expected != found {
                return refuse(format!("it has the hyperparameter {found} in place of {expected}"));
            }
            hyperparameters.put(name, expected, value.clone());
        }
        hyperparameters.check()?;
        let mut numbers = state.numbers.iter();
        for (expected, value) in self.settings() {
            match numbers.next() {
                Some((found, saved)) if found == expected && *saved == [value] => (),
                Some((found, saved)) if found == expected => {
                    return refuse(format!("{found} is {saved:?} there and {value} here"));
                }
                _ => return refuse(format!("it has no {expected}")),
            }
        }
        let memory = if state.variables.is_empty() {
            None
        } else {
            let slots = self.rule.slots(hyperparameters.of_rule());
            let mut memory = Memory::new(self, variables);
            memory.fit_slots(slots);
            memory.layout.check_state(state)?;
            memory.take_over(state, numbers.as_slice(), self.accumulation_steps, variables)?;
            Some(memory)
        };
        self.hyperparameters = hyperparameters;
        self.iterations = state.iterations;
        self.memory = memory;
        Ok(())
    }
}

impl<T: Real> Memory<T> {
    fn take_over(
        &mut self,
        state: &OptimizerState<T>,
        numbers: &[(String, Vec<f64>)],
        accumulation_steps: u64,
        variables: &Variables<T>,
    ) -> Result<(), OptimizerError> {
        let expected = self.layout.numbers();
        let mut saved = state.slots.iter();
        let mut next = |name: &str| match saved.next() {
            Some((found, numbers)) if found == name && numbers.len() == expected => Ok(numbers),
            Some((found, numbers)) if found == name => {
                refuse(format!("the slot {name} has {} numbers, not {expected}", numbers.len()))
            }
            Some((found, _)) => refuse(format!("it has the slot {found} in place of {name}")),
            None => refuse(format!("it has no slot {name}")),
        };
        let average = self.average.iter_mut().map(|average| (AVERAGE, average));
        for (name, slot) in self.slot_names.iter().copied().zip(&mut self.slots).chain(average) {
            slot.clone_from(next(name)?);
        }
        if let Some(accumulated) = &mut self.accumulated {
            accumulated.take_over(next(ACCUMULATED)?, numbers, accumulation_steps, variables)?;
        }
        match saved.next() {
            None => Ok(()),
            Some((name, _)) => refuse(format!("it has a slot {name}, which is not needed")),
        }
    }
}

impl<T: Real> Accumulated<T> {
    fn take_over(
        &mut self,
        dense: &[T],
        numbers: &[(String, Vec<f64>)],
        accumulation_steps: u64,
        variables: &Variables<T>,
    ) -> Result<(), OptimizerError> {
        let [(count_name, count_numbers), rows @ ..] = numbers else {
            return refuse(format!("it has no {ACCUMULATED_COUNT}"));
        };
        let (ACCUMULATED_COUNT, &[accumulated]) = (count_name.as_str(), count_numbers.as_slice()) else {
            return refuse(format!("it has no {ACCUMULATED_COUNT}"));
        };
        if rows.len() != variables.len() || rows.iter().any(|(name, _)| name != ACCUMULATED_ROWS) {
            return refuse(format!("it does not have {ACCUMULATED_ROWS} of every variable"));
        }
        // After the last of them none are left.
        self.count = count(ACCUMULATED_COUNT, accumulated, accumulation_steps - 1)?;
        for (variable, (_, rows)) in variables.iter().zip(rows) {
            let dense = &dense[variable.range()];
            match rows[..] {
                [ABSENT] => (),
                [DENSE] => self.sum.set(variable, Gradient::Dense(dense)),
                _ => {
                    self.sum.set(variable, Gradient::Rows { rows: &[], values: &[] });
                    for &row in rows {
                        if !(row >= 0.0 && row < variable.rows() as f64) {
                            return refuse(format!("{} has no row {row}", variables.name(variable)));
                        }
                        let row = row as usize;
                        self.sum.add_row(variable, row, &dense[row * variable.columns()..][..variable.columns()]);
                    }
                }
            }
        }
        Ok(())
    }
}
