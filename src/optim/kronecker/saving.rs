//! The state, saved and restored.

use super::curvature::KroneckerCurvature;
use super::scalars::Scalars;
use super::settings::KroneckerStep;
use super::{KroneckerLevenbergMarquardt, KroneckerMemory, SLOT};
use crate::optim::OptimizerResult;
use crate::optim::state::count;
use crate::optim::state_reader::{StateReader, refuse};
use crate::optim::state_writer::StateWriter;
use crate::problem::KroneckerBlock;
use crate::real::Real;

/// Largest count of estimates.
const MOST: u64 = 1 << 53;

impl<T> KroneckerLevenbergMarquardt<T> {
    /// Settings that are no hyperparameters, as numbers.
    pub(super) fn fixed_settings(&self) -> [f64; 4] {
        let is_quadratic = f64::from(u8::from(self.settings.step == KroneckerStep::Quadratic));
        // In halves, which are exact.
        let [low, high] = [self.settings.seed & 0xffff_ffff, self.settings.seed >> 32].map(|half| half as f64);
        [is_quadratic, self.settings.rank as f64, low, high]
    }
}

impl<T: Real> KroneckerMemory<T> {
    /// Writes layout, slot, scalars and curvature.
    pub(super) fn save(&self, to: &mut StateWriter<'_, T>) {
        to.variables(&self.layout);
        to.slot(SLOT, &self.velocity);
        to.numbers("scalars", self.scalars.to_numbers());
        if let Some(curvature) = &self.curvature {
            to.numbers("blocks", curvature.sample.blocks().iter().flat_map(|block| block.to_numbers()));
            to.numbers("counts", curvature.counts.iter().map(|&count| count as f64));
            to.numbers("factors", curvature.factors.now.iter().map(|number| number.to_f64()));
            to.numbers("inverses", curvature.inverses.now.iter().map(|number| number.to_f64()));
        }
    }

    /// Reads slot, scalars and curvature.
    pub(super) fn take_over(&mut self, mut from: StateReader<'_, T>, rank: usize) -> OptimizerResult<()> {
        let velocity = from.slot(SLOT, self.velocity.len())?;
        self.velocity.copy_from_slice(velocity);
        let Ok(scalars) = from.numbers("scalars")?.try_into() else { return refuse("scalars are not eleven numbers") };
        self.scalars = Scalars::from_numbers(scalars);
        count("estimates", self.scalars.renewals, MOST)?;
        if !from.has_numbers() {
            return from.end();
        }
        let (blocks, rest) = from.numbers("blocks")?.as_chunks::<6>();
        let parameters = self.velocity.len();
        let blocks: Option<Vec<_>> =
            blocks.iter().map(|&numbers| KroneckerBlock::from_numbers(numbers, parameters)).collect();
        let Some(blocks) = blocks.filter(|_| rest.is_empty()) else { return refuse("blocks are none") };
        let mut curvature = KroneckerCurvature::new(&blocks, rank, &self.layout)?;
        let counts = from.numbers("counts")?;
        if counts.len() != blocks.len() {
            return refuse(format!("it has {} counts of {} blocks", counts.len(), blocks.len()));
        }
        for (to, &number) in curvature.counts.iter_mut().zip(counts) {
            *to = count("counts", number, MOST)?;
        }
        for (name, to) in [("factors", &mut curvature.factors.now), ("inverses", &mut curvature.inverses.now)] {
            let numbers = from.numbers(name)?;
            if numbers.len() != to.len() {
                return refuse(format!("{name} are {} numbers instead of {}", numbers.len(), to.len()));
            }
            to.iter_mut().zip(numbers).for_each(|(to, &number)| *to = T::from_f64(number));
        }
        self.curvature = Some(curvature);
        from.end()
    }
}
