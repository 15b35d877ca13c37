//! Factors from layers that another library has recorded.

use std::ops::Range;

use super::kept::room;
use super::plan::{DenseUse, Plan, TableUse, factors_are_cheaper, look_up_is_cheaper};
use super::{Factors, look_ups};
use crate::kernels::vector::add_scaled;
use crate::nn::RecordedLayer;
use crate::nn::batch::Share;
use crate::problem::ProductWork;
use crate::real::Real;

/// The place of a recorded layer's part of the Jacobian in what is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    /// The dense layer of this number.
    Factored(usize),
    /// The look-up of this number.
    LookedUp(usize),
    /// Formed columns, and where those of each array begin among them.
    Formed([Option<usize>; 2]),
}

impl<T: Real> Factors<T> {
    /// Makes the plan for recorded layers that cover all of `count` parameters; `false` where they do not.
    pub(crate) fn plan_layers(
        &mut self,
        layers: &[RecordedLayer],
        count: usize,
        group: usize,
        places: &mut Vec<Place>,
    ) -> bool {
        self.plan = Plan::default();
        places.clear();
        let mut arrays: Vec<Range<usize>> =
            layers.iter().flat_map(RecordedLayer::parameters).map(|(start, len)| start..start + len).collect();
        arrays.sort_unstable_by_key(|array| (array.start, array.end));
        arrays.dedup();
        let mut end = 0;
        let covers = arrays.iter().all(|array| std::mem::replace(&mut end, array.end) == array.start);
        if !(covers && end == count) {
            return false;
        }
        self.plan.place_layers(layers, count, group, places);
        true
    }

    /// Makes room for a batch, before the layers' inputs and sensitivities are taken.
    pub(crate) fn begin_layers(&mut self, samples: usize, group: usize) {
        let Factors { plan, kept, look_ups, formed, .. } = self;
        kept.resize(Share { before: 0, total: samples }, group, plan.per_sample, plan.per_residual);
        room(formed, kept.residuals() * plan.formed_count()).fill(T::ZERO);
        look_ups.clear();
    }

    /// Takes the inputs of a layer that is not formed.
    pub(crate) fn take_inputs(&mut self, place: Place, inputs: &[T]) {
        let Factors { plan, kept, look_ups, .. } = self;
        match place {
            Place::Factored(layer) => {
                let DenseUse { inputs: before, columns, .. } = plan.dense[layer];
                let samples = 0..kept.samples;
                kept.inputs_mut(before, columns, &samples).copy_from_slice(inputs);
            }
            Place::LookedUp(table) => look_ups::list_numbers(&plan.tables[table], table, 0, inputs, look_ups),
            Place::Formed(_) => {}
        }
    }

    /// Takes the sensitivities of residual `row` of each sample to what came out of a layer; `inputs` are those of the layer.
    pub(crate) fn take_sensitivities(
        &mut self,
        (place, layer): (Place, &RecordedLayer),
        inputs: &[T],
        sensitivities: &[T],
        row: usize,
    ) {
        let Factors { plan, kept, formed, .. } = self;
        let (samples, group) = (kept.samples, kept.group);
        let (before, width) = match place {
            Place::Factored(layer) => (plan.dense[layer].sensitivities, plan.dense[layer].rows),
            Place::LookedUp(table) => (plan.tables[table].sensitivities, plan.tables[table].width()),
            Place::Formed(places) => {
                let stride = plan.formed_count();
                let rows = formed[row * stride..].chunks_mut(group * stride).take(samples);
                let numbers = inputs.chunks_exact(layer.inputs()).zip(sensitivities.chunks_exact(layer.outputs()));
                rows.zip(numbers)
                    .for_each(|(formed, (inputs, deltas))| layer.add_columns(places, inputs, deltas, formed));
                return;
            }
        };
        let rows = kept.sensitivities_mut(before, width, &(0..samples));
        let rows = rows[row * width..].chunks_mut(group * width).zip(sensitivities.chunks_exact(width));
        rows.for_each(|(row, numbers)| row[..width].copy_from_slice(numbers));
    }

    /// Cost of the products, with the layers that the plan was made for.
    pub(crate) fn recorded_work(&self, samples: usize, group: usize) -> ProductWork {
        self.plan.work(samples, group)
    }

    /// Fills rows of the Jacobian, from residual `first` on.
    pub(crate) fn rows(&self, first: usize, jacobian: &mut [T]) {
        let Factors { plan, kept, look_ups, formed, .. } = self;
        let (group, count) = (kept.group, plan.formed_count());
        jacobian.fill(T::ZERO);
        let last = first + jacobian.len() / plan.count;
        for (residual, jacobian) in (first..last).zip(jacobian.chunks_exact_mut(plan.count)) {
            for layer in &plan.dense {
                let inputs =
                    &kept.inputs(layer.inputs, layer.columns)[residual / group * layer.columns..][..layer.columns];
                let deltas =
                    &kept.sensitivities(layer.sensitivities, layer.rows)[residual * layer.rows..][..layer.rows];
                let weight = jacobian[layer.weight..].chunks_exact_mut(layer.columns);
                weight.zip(deltas).for_each(|(row, &delta)| add_scaled(row, delta, inputs));
                if let Some(bias) = layer.bias {
                    add_scaled(&mut jacobian[bias..bias + layer.rows], T::ONE, deltas);
                }
            }
            let mut rest = &formed[residual * count..(residual + 1) * count];
            for range in &plan.formed {
                let (now, later) = rest.split_at(range.len());
                add_scaled(&mut jacobian[range.clone()], T::ONE, now);
                rest = later;
            }
        }
        look_ups::add_rows(&plan.tables, look_ups, kept, first..last, (jacobian, plan.count));
    }
}

impl Plan {
    /// Lists the layers by the form in which their part of the Jacobian is kept: as a network's are.
    fn place_layers(&mut self, layers: &[RecordedLayer], count: usize, group: usize, places: &mut Vec<Place>) {
        (self.is_whole, self.count) = (true, count);
        let uses = |array: usize| layers.iter().filter(|layer| layer.arrays().contains(&Some(array))).count();
        let mut kept: Vec<bool> = layers
            .iter()
            .map(|layer| match *layer {
                // A bias goes along with a weight that is used as often.
                RecordedLayer::Dense { weight, bias, inputs, outputs, positions: 1 } => {
                    bias.is_none_or(|bias| uses(bias) == uses(weight))
                        && factors_are_cheaper(outputs, inputs, uses(weight), group)
                }
                RecordedLayer::Embedding { rows, positions, .. } => look_up_is_cheaper(rows, positions),
                _ => false,
            })
            .collect();
        // All uses of an array have one form.
        let share = |a: &RecordedLayer, b: &RecordedLayer| {
            a.arrays().iter().flatten().any(|&array| b.arrays().contains(&Some(array)))
        };
        let mut is_settled = false;
        while !std::mem::replace(&mut is_settled, true) {
            for layer in 0..layers.len() {
                if kept[layer] && (0..layers.len()).any(|other| !kept[other] && share(&layers[layer], &layers[other])) {
                    (kept[layer], is_settled) = (false, false);
                }
            }
        }
        let mut order: Vec<usize> = (0..layers.len()).collect();
        // Those of one weight side by side.
        order.sort_by_key(|&layer| layers[layer].arrays()[0]);
        places.resize(layers.len(), Place::Formed([None, None]));
        for layer in order.iter().copied() {
            let sensitivities = self.per_residual;
            match layers[layer] {
                RecordedLayer::Dense { weight, bias, inputs: columns, outputs: rows, .. } if kept[layer] => {
                    places[layer] = Place::Factored(self.dense.len());
                    self.dense.push(DenseUse { columns, rows, weight, bias, inputs: self.per_sample, sensitivities });
                    self.per_sample += columns;
                    self.per_residual += rows;
                }
                RecordedLayer::Embedding { table, rows, columns, positions } if kept[layer] => {
                    places[layer] = Place::LookedUp(self.tables.len());
                    self.tables.push(TableUse { numbers: positions, table, rows, columns, sensitivities });
                    self.per_residual += columns * positions;
                }
                _ => self.formed.extend(layers[layer].parameters().map(|(start, len)| start..start + len)),
            }
        }
        self.formed.sort_unstable_by_key(|array| array.start);
        self.formed.dedup();
        let starts = self.formed.iter().scan(0, |end, array| {
            let start = std::mem::replace(end, *end + array.len());
            Some((array.start, start))
        });
        let starts: Vec<(usize, usize)> = starts.collect();
        let start_of = |array: usize| starts.iter().find(|(start, _)| *start == array).map(|&(_, place)| place);
        for (place, layer) in places.iter_mut().zip(layers) {
            if let Place::Formed(arrays) = place {
                *arrays = layer.arrays().map(|array| array.and_then(start_of));
            }
        }
        for layer in layers {
            let (forward, columns) = layer.work();
            self.forward.add(1.0, forward);
            self.reverse.add(group as f64, forward);
            self.reverse_forming_all.add(group as f64, forward);
            self.reverse_forming_all.add(group as f64, columns);
        }
    }
}
