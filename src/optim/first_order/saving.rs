//! The state of a first-order optimizer, saved and restored.

use super::memory::Accumulated;
use super::optimizer::AVERAGE;
use super::{FirstOrder, FirstOrderMemory, UpdateRule};
use crate::optim::state::count;
use crate::optim::state_reader::{StateReader, refuse};
use crate::optim::state_writer::StateWriter;
use crate::optim::{Convention, OptimizerResult};
use crate::real::Real;
use crate::variables::{Gradient, Variables};

/// The name of a sum of gradients that have not been applied yet, and of what must be known about it.
const ACCUMULATED: &str = "accumulated_gradient";
const ACCUMULATED_COUNT: &str = "accumulated_count";
const ACCUMULATED_ROWS: &str = "accumulated_rows";

/// Part of the sum that belongs to a variable, before the rows.
const ABSENT: f64 = -2.0;
const DENSE: f64 = -1.0;

impl<T: Real, R: UpdateRule<T>> FirstOrder<T, R> {
    /// Settings that are no hyperparameters, as numbers.
    pub(super) fn settings(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let shell = [
            ("pytorch", f64::from(u8::from(self.convention == Convention::PyTorch))),
            ("gradient_accumulation_steps", self.accumulation_steps as f64),
            ("ema_overwrite_frequency", self.ema_overwrite_frequency.unwrap_or(0) as f64),
        ];
        let rule = self.switches.iter().map(|&(name, on)| (name, f64::from(u8::from(on))));
        shell.into_iter().chain(rule)
    }
}

impl<T: Real> FirstOrderMemory<T> {
    /// Writes layout, slots and the sum of earlier gradients.
    pub(super) fn save(&self, to: &mut StateWriter<'_, T>) {
        to.variables(&self.layout);
        self.slot_names.iter().zip(&self.slots).for_each(|(name, slot)| to.slot(name, slot));
        self.average.iter().for_each(|average| to.slot(AVERAGE, average));
        let Some(Accumulated { sum, count }) = &self.accumulated else { return };
        to.numbers(ACCUMULATED_COUNT, [*count as f64]);
        to.slot(ACCUMULATED, sum.clone().flat_mut());
        for variable in sum.variables() {
            match sum.of(variable) {
                Gradient::Absent => to.numbers(ACCUMULATED_ROWS, [ABSENT]),
                Gradient::Dense(_) => to.numbers(ACCUMULATED_ROWS, [DENSE]),
                Gradient::Rows { rows, .. } => to.numbers(ACCUMULATED_ROWS, rows.iter().map(|&row| row as f64)),
            }
        }
    }

    /// Reads slots and the sum of earlier gradients.
    pub(super) fn take_over(
        &mut self,
        mut from: StateReader<'_, T>,
        accumulation_steps: u64,
        variables: &Variables<T>,
    ) -> OptimizerResult<()> {
        let average = self.average.iter_mut().map(|average| (AVERAGE, average));
        for (name, slot) in self.slot_names.iter().copied().zip(&mut self.slots).chain(average) {
            let saved = from.slot(name, slot.len())?;
            slot.copy_from_slice(saved);
        }
        if let Some(accumulated) = &mut self.accumulated {
            accumulated.take_over(&mut from, accumulation_steps, variables)?;
        }
        from.end()
    }
}

impl<T: Real> Accumulated<T> {
    fn take_over(
        &mut self,
        from: &mut StateReader<'_, T>,
        accumulation_steps: u64,
        variables: &Variables<T>,
    ) -> OptimizerResult<()> {
        let dense = from.slot(ACCUMULATED, variables.values().len())?;
        let &[accumulated] = from.numbers(ACCUMULATED_COUNT)? else {
            return refuse(format!("{ACCUMULATED_COUNT} is not one number"));
        };
        // After the last of them none are left.
        self.count = count(ACCUMULATED_COUNT, accumulated, accumulation_steps - 1)?;
        for variable in variables.iter() {
            let dense = &dense[variable.range()];
            match from.numbers(ACCUMULATED_ROWS)? {
                [ABSENT] => (),
                [DENSE] => self.sum.set(variable, Gradient::Dense(dense)),
                rows => {
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
