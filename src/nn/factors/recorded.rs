//! Factors from layers that another library has recorded.

use super::kept::scratch;
use super::plan::{DenseUse, JacobianPlan};
use super::{Factors, LookUps, look_ups};
use crate::kernels::vector::add_scaled;
use crate::nn::RecordedLayer;
use crate::nn::batch::Share;
use crate::problem::ProductWork;
use crate::real::Real;

/// Place of a recorded layer's part of the Jacobian among the kept numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FactorPlace {
    kept: Option<KeptAs>,
    /// First columns of the layer's formed arrays among all formed columns.
    formed: [Option<usize>; 2],
}

/// Form in which the weight of a layer is kept.
#[derive(Debug, Clone, Copy)]
enum KeptAs {
    /// Kept as the factored dense layer of this index.
    Factored(usize),
    /// Kept as the look-up of this index.
    LookedUp(usize),
}

impl<T: Real> Factors<T> {
    /// Makes the plan for recorded layers that cover all of `count` parameters; `false` where they do not.
    pub(crate) fn plan_recorded(
        &mut self,
        layers: &[RecordedLayer],
        count: usize,
        group: usize,
        places: &mut Vec<FactorPlace>,
    ) -> bool {
        self.plan = JacobianPlan::default();
        places.clear();
        self.plan.layers.extend_from_slice(layers);
        self.plan.plan_layers(std::slice::from_ref(&(0..count)), group);
        let mut end = 0;
        let covers = self.plan.arrays.iter().all(|array| std::mem::replace(&mut end, array.range().end) == array.start);
        if !(covers && end == count) {
            return false;
        }
        self.plan.estimate_work(group);
        self.plan.list_places(places);
        true
    }

    /// Reserves memory for a batch, before the layers' inputs and sensitivities are taken.
    pub(crate) fn begin_recorded(&mut self, samples: usize, group: usize) {
        let Factors { plan, kept, look_ups, formed, .. } = self;
        kept.resize(Share { before: 0, total: samples }, group, plan.per_sample, plan.per_residual);
        scratch(formed, kept.residuals() * plan.formed_count()).fill(T::ZERO);
        look_ups.clear();
    }

    /// Takes the inputs of a layer that is not formed.
    pub(crate) fn take_inputs(&mut self, place: FactorPlace, inputs: &[T]) {
        let Factors { plan, kept, look_ups, .. } = self;
        match place.kept {
            Some(KeptAs::Factored(dense)) => {
                let DenseUse { inputs: before, columns, .. } = plan.dense[dense];
                let samples = 0..kept.samples;
                kept.inputs_mut(before, columns, &samples).copy_from_slice(inputs);
            }
            Some(KeptAs::LookedUp(table)) => {
                look_ups::list_numbers(&plan.tables[table], table, 0, inputs, look_ups);
            }
            None => {}
        }
    }

    /// Takes the sensitivities of residual `row` of each sample to the outputs of a layer; `inputs` are those of the layer.
    pub(crate) fn take_sensitivities(
        &mut self,
        (place, layer): (FactorPlace, &RecordedLayer),
        inputs: &[T],
        sensitivities: &[T],
        row: usize,
    ) {
        let Factors { plan, kept, formed, .. } = self;
        let (samples, group) = (kept.samples, kept.group);
        let of_samples = sensitivities.chunks_exact(layer.outputs());
        let kept_as = place.kept.map(|kept_as| match kept_as {
            KeptAs::Factored(dense) => (plan.dense[dense].sensitivities, plan.dense[dense].rows),
            KeptAs::LookedUp(table) => (plan.tables[table].sensitivities, plan.tables[table].width()),
        });
        if let Some((before, width)) = kept_as {
            kept.put_sensitivities((before, width), &(0..samples), row, Some(sensitivities));
        }
        if place.formed != [None, None] {
            let stride = plan.formed_count();
            let rows = formed[row * stride..].chunks_mut(group * stride).take(samples);
            let numbers = inputs.chunks_exact(layer.inputs()).zip(of_samples);
            for (formed, (inputs, deltas)) in rows.zip(numbers) {
                layer.add_columns(place.formed, inputs, deltas, formed);
            }
        }
    }

    /// Cost of the products, with the layers that the plan was made for; those with `JJᵀ` take two.
    pub(crate) fn recorded_work(&self, samples: usize, group: usize) -> ProductWork {
        ProductWork { gram_product: None, ..self.plan.work(samples, group) }
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
        LookUps { tables: &plan.tables, look_ups, kept }.add_rows(first..last, jacobian, plan.count);
    }
}

impl JacobianPlan {
    /// Lists where each layer's part of the Jacobian is kept.
    fn list_places(&self, places: &mut Vec<FactorPlace>) {
        places.extend(self.layers.iter().map(|layer| FactorPlace {
            kept: None,
            formed: layer.arrays().map(|start| start.and_then(|start| self.formed_place(start))),
        }));
        let dense = self.dense.iter().enumerate().map(|(place, dense)| (dense.layer, KeptAs::Factored(place)));
        let tables = self.tables.iter().enumerate().map(|(place, table)| (table.layer, KeptAs::LookedUp(place)));
        dense.chain(tables).for_each(|(layer, kept)| places[layer].kept = Some(kept));
    }

    /// Adds up the work of the layers: that of the activations between them is not known.
    fn estimate_work(&mut self, group: usize) {
        for layer in &self.layers {
            let (forward, columns) = layer.work();
            self.forward.add(1.0, forward);
            self.reverse.add(group as f64, forward);
            self.reverse_forming_all.add(group as f64, forward);
            self.reverse_forming_all.add(group as f64, columns);
        }
    }
}
