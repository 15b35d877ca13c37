//! Factors of all ranks' rows: each rank sends its own to all others.

use std::ops::Range;

use super::kept::Kept;
use super::plan::JacobianPlan;
use super::{Factors, look_ups};
use crate::real::Real;

impl<T: Real> Factors<T> {
    /// Numbers that are sent for each sample, its residuals aside: the layers' inputs and the numbers of looked-up rows;
    /// and, for each of its residuals, the sensitivities and the formed columns.
    pub(crate) fn sent_per_sample(&self) -> usize {
        let Factors { plan, kept, .. } = self;
        let looked_up: usize = plan.tables.iter().map(|table| table.numbers).sum();
        plan.per_sample + looked_up + kept.group * (plan.per_residual + plan.formed_count())
    }

    /// Appends the factors of this rank's samples, before [`finish`](Self::finish).
    pub(crate) fn send(&mut self, samples: &Range<usize>, message: &mut Vec<T>) {
        let Factors { plan, kept, look_ups, formed, .. } = self;
        for_each_part(plan, kept, formed, samples, |part| message.extend_from_slice(part));
        for (of, table) in plan.tables.iter().enumerate() {
            let start = message.len();
            message.resize(start + samples.len() * table.numbers, T::ZERO);
            look_ups.iter().for_each(|up| up.write(&plan.tables, samples.start, of, &mut message[start..]));
        }
    }

    /// Clears this rank's look-ups, which it receives again with the others'.
    pub(crate) fn begin_receiving(&mut self) {
        self.look_ups.clear();
    }

    /// Reads the factors that a rank has sent for its samples.
    pub(crate) fn receive(&mut self, samples: &Range<usize>, mut message: &[T]) {
        let Factors { plan, kept, look_ups, formed, .. } = self;
        let mut take = |count: usize| {
            let (now, later) = message.split_at(count);
            message = later;
            now
        };
        for_each_part(plan, kept, formed, samples, |part| part.copy_from_slice(take(part.len())));
        for (of, table) in plan.tables.iter().enumerate() {
            look_ups::list_numbers(table, of, samples.start, take(samples.len() * table.numbers), look_ups);
        }
    }
}

/// Calls for every list of floats that is kept of some samples.
fn for_each_part<T: Real>(
    plan: &JacobianPlan,
    kept: &mut Kept<T>,
    formed: &mut [T],
    samples: &Range<usize>,
    mut call: impl FnMut(&mut [T]),
) {
    for layer in &plan.dense {
        call(kept.inputs_mut(layer.inputs, layer.columns, samples));
        call(kept.sensitivities_mut(layer.sensitivities, layer.rows, samples));
    }
    for table in &plan.tables {
        call(kept.sensitivities_mut(table.sensitivities, table.width(), samples));
    }
    let stride = kept.group * plan.formed_count();
    call(&mut formed[samples.start * stride..samples.end * stride]);
}
