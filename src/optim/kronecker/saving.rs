//! The state, written down and taken over.

use super::curvature::Curvature;
use super::memory::Memory;
use super::scalars::Scalars;
use super::settings::{HYPERPARAMETERS, KroneckerStep};
use super::{KroneckerLevenbergMarquardt, NAME, SLOTS};
use crate::optim::layout::Checked;
use crate::optim::state::{count, entry};
use crate::optim::{Optimizer, OptimizerError, OptimizerState};
use crate::problem::KroneckerBlock;
use crate::real::Real;
use crate::variables::Variables;

/// Names of the numbers: settings that are no hyperparameters, single numbers, and the numbers of each block.
const NUMBERS: [&str; 6] = ["settings", "scalars", "blocks", "counts", "factors", "inverses"];

/// Largest count of estimates.
const MOST: u64 = 1 << 53;

fn refuse<V>(difference: impl Into<String>) -> Result<V, OptimizerError> {
    Err(OptimizerError::State { difference: difference.into() })
}

impl<T: Real> KroneckerLevenbergMarquardt<T> {
    /// Settings that are no hyperparameters, as numbers.
    fn fixed_settings(&self) -> [f64; 5] {
        let is_quadratic = f64::from(u8::from(self.settings.step == KroneckerStep::Quadratic));
        let [inputs, outputs] = self.settings.widest.map(|width| width as f64);
        // In halves, which are exact.
        let [low, high] = [self.settings.seed & 0xffff_ffff, self.settings.seed >> 32].map(|half| half as f64);
        [is_quadratic, inputs, outputs, low, high]
    }

    pub(super) fn save(&self, state: &mut OptimizerState<T>) {
        NAME.clone_into(&mut state.optimizer);
        state.iterations = self.iterations;
        for (index, (spec, value)) in HYPERPARAMETERS.iter().zip(&self.settings.hyperparameters).enumerate() {
            let saved = entry(&mut state.hyperparameters, index, spec.name);
            if saved != value {
                saved.clone_from(value);
            }
        }
        state.hyperparameters.truncate(HYPERPARAMETERS.len());
        state.parts.clear();
        let mut write = |index: usize, values: &mut dyn Iterator<Item = f64>| {
            let saved = entry(&mut state.numbers, index, NUMBERS[index]);
            saved.clear();
            saved.extend(values);
        };
        write(0, &mut self.fixed_settings().into_iter());
        let Some(memory) = &self.memory else {
            state.numbers.truncate(1);
            state.variables.clear();
            state.slots.clear();
            return;
        };
        write(1, &mut memory.scalars.to_numbers().into_iter());
        let mut written = 2;
        if let Some(curvature) = &memory.curvature {
            write(2, &mut curvature.sample.blocks().iter().flat_map(|block| block.to_numbers()));
            write(3, &mut curvature.counts.iter().map(|&count| count as f64));
            write(4, &mut curvature.factors.now.iter().map(|number| number.to_f64()));
            write(5, &mut curvature.inverses.now.iter().map(|number| number.to_f64()));
            written = NUMBERS.len();
        }
        state.numbers.truncate(written);
        memory.layout.save(state);
        entry(&mut state.slots, 0, SLOTS[0]).clone_from(&memory.velocity);
        state.slots.truncate(1);
    }

    pub(super) fn take_over(
        &mut self,
        state: &OptimizerState<T>,
        variables: &Variables<T>,
    ) -> Result<(), OptimizerError> {
        if state.optimizer != NAME {
            return refuse(format!("it is of {}, not of {NAME}", state.optimizer));
        }
        state.check()?;
        let mut restored =
            KroneckerLevenbergMarquardt { settings: self.settings.clone(), iterations: state.iterations, memory: None };
        for (name, value) in &state.hyperparameters {
            restored.set_hyperparameter(name, value.clone())?;
        }
        if numbers_of(state, 0)? != self.fixed_settings() {
            return refuse("it is of other settings");
        }
        if !state.variables.is_empty() {
            let mut memory = Memory::new(&restored.settings, variables);
            memory.layout.check_state(state)?;
            memory.take_over(state, self.settings.widest)?;
            restored.memory = Some(memory);
        }
        *self = restored;
        Ok(())
    }
}

/// The numbers of a name.
fn numbers_of<T>(state: &OptimizerState<T>, index: usize) -> Result<&[f64], OptimizerError> {
    match state.numbers.get(index) {
        Some((name, numbers)) if name == NUMBERS[index] => Ok(numbers),
        _ => refuse(format!("it has no {}", NUMBERS[index])),
    }
}

impl<T: Real> Memory<T> {
    fn take_over(&mut self, state: &OptimizerState<T>, widest: [usize; 2]) -> Result<(), OptimizerError> {
        match &state.slots[..] {
            [(name, slot)] if name == SLOTS[0] && slot.len() == self.velocity.len() => {
                self.velocity.copy_from_slice(slot);
            }
            _ => return refuse(format!("it has not the slot {}, of {} numbers", SLOTS[0], self.velocity.len())),
        }
        let numbers = numbers_of(state, 1)?;
        let Ok(numbers) = numbers.try_into() else { return refuse("scalars are not eleven numbers") };
        self.scalars = Scalars::from_numbers(numbers);
        count("estimates", self.scalars.estimates, MOST)?;
        if state.numbers.len() <= 2 {
            return Ok(());
        }
        let (blocks, rest) = numbers_of(state, 2)?.as_chunks::<6>();
        let parameters = self.velocity.len();
        let blocks: Option<Vec<_>> =
            blocks.iter().map(|&numbers| KroneckerBlock::from_numbers(numbers, parameters)).collect();
        let Some(blocks) = blocks.filter(|_| rest.is_empty()) else { return refuse("blocks are none") };
        let mut curvature = Curvature::new(&blocks, widest, &self.layout)?;
        let counts = numbers_of(state, 3)?;
        if counts.len() != blocks.len() {
            return refuse(format!("it has {} counts of {} blocks", counts.len(), blocks.len()));
        }
        for (to, &number) in curvature.counts.iter_mut().zip(counts) {
            *to = count("counts", number, MOST)?;
        }
        for (index, to) in [(4, &mut curvature.factors.now), (5, &mut curvature.inverses.now)] {
            let numbers = numbers_of(state, index)?;
            if numbers.len() != to.len() {
                return refuse(format!("{} are {} numbers instead of {}", NUMBERS[index], numbers.len(), to.len()));
            }
            to.iter_mut().zip(numbers).for_each(|(to, &number)| *to = T::from_f64(number));
        }
        self.curvature = Some(curvature);
        Ok(())
    }
}
