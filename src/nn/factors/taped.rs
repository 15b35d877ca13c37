//! Factors from the layers of a tape.

use std::ops::Range;

use super::kept::scratch;
use super::plan::{JacobianForm, JacobianPlan};
use super::{Factors, look_ups};
use crate::nn::RecordedLayer;
use crate::nn::batch::Share;
use crate::nn::sweep::{
    BatchTile, JacobianRows, Nowhere, WantedColumns, Workspace, coming_from, leading_to, takes_stacks,
};
use crate::nn::tape::{Node, Tape};
use crate::nn::term::LossTerm;
use crate::nn::work::{forward_work, jacobian_work};
use crate::problem::ProductWork;
use crate::real::Real;
use crate::variables::{Variable, Variables};

/// Rows of adjoints that go back together; rounded up, to whole samples' rows.
const STACKED_ROWS: usize = 1024;

/// The losses of a tape, for which `group` residuals belong to each sample.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TapedLosses<'a, T> {
    pub(crate) tape: &'a Tape<T>,
    pub(crate) variables: &'a Variables<T>,
    pub(crate) terms: &'a [LossTerm<T>],
    pub(crate) group: usize,
}

/// Places of a plan's layers on a tape.
#[derive(Debug, Clone, Default)]
pub(super) struct Taped {
    /// Nodes that go into each layer and come out; a layer without inputs is its own.
    nodes: Vec<[Node; 2]>,
    /// Columns that are formed, among those of the whole Jacobian.
    formed_columns: WantedColumns,
    /// Nodes that an adjoint has to pass, and whether stacks of adjoints can pass all of them.
    marks: Vec<bool>,
    takes_stacks: bool,
    reached: Vec<bool>,
    /// Ranges of the formed arrays in the flat vector.
    ranges: Vec<Range<usize>>,
}

impl JacobianPlan {
    /// Makes the plan for some columns, and for the outputs of loss terms.
    fn make<T: Real>(&mut self, losses: TapedLosses<'_, T>, columns: &[Range<usize>]) {
        let TapedLosses { tape, variables, terms, group } = losses;
        let outputs = terms.iter().map(|term| term.output);
        let mut taped = std::mem::take(&mut self.taped);
        let Taped { nodes, formed_columns, marks, reached, ranges, .. } = &mut taped;
        leading_to(tape.records(), outputs.clone(), marks);
        self.layers.clear();
        nodes.clear();
        for (index, record) in tape.records().iter().enumerate().filter(|(index, _)| marks[*index]) {
            let Some(layer) = RecordedLayer::of_record(record) else { continue };
            self.layers.push(layer);
            let y = tape.node(index);
            nodes.push([record.operation.arguments().next().unwrap_or(y), y]);
        }
        self.plan_layers(columns, group);
        ranges.clear();
        ranges.extend(self.arrays.iter().filter(|array| array.form == JacobianForm::Formed).map(|array| array.range()));
        formed_columns.set(variables.iter(), ranges);
        self.forward = forward_work(tape, marks);
        let form = |variable: Variable| self.form_of(variable.range().start);
        let (wanted, formed) =
            (|variable| form(variable) != JacobianForm::None, |variable| form(variable) == JacobianForm::Formed);
        coming_from(tape.records(), wanted, None, marks);
        let mut passed = tape.records().iter().zip(&*marks).filter(|(_, mark)| **mark);
        let takes_stacks = self.formed.is_empty() && passed.all(|(record, _)| takes_stacks(&record.operation));
        let reverse = jacobian_work(tape, outputs.clone(), marks, formed, reached);
        let reverse_forming_all = jacobian_work(tape, outputs, marks, wanted, reached);
        (self.reverse, self.reverse_forming_all) = (reverse, reverse_forming_all);
        taped.takes_stacks = takes_stacks;
        self.taped = taped;
    }

    /// Nodes that go into a layer and come out.
    fn nodes(&self, layer: usize) -> [Node; 2] {
        self.taped.nodes[layer]
    }
}

impl<T: Real> Factors<T> {
    /// Cost of products with these columns; `None` where they cut through a variable.
    ///
    /// Parts kept of other columns stay.
    pub(crate) fn work(
        &mut self,
        losses: TapedLosses<'_, T>,
        columns: &[Range<usize>],
        samples: usize,
    ) -> Option<ProductWork> {
        let plan = self.plan_for(losses, columns);
        plan.is_whole.then(|| plan.work(samples, losses.group))
    }

    /// The plan for these columns: one of the two that were made last, or a new one.
    fn plan_for(&mut self, losses: TapedLosses<'_, T>, columns: &[Range<usize>]) -> &JacobianPlan {
        if self.plan.is_for(columns) {
            return &self.plan;
        }
        if !self.other.is_for(columns) {
            self.other.make(losses, columns);
        }
        &self.other
    }

    /// Begins a linearisation with the plan for these columns, with memory for the samples of all ranks. Returns `false` if a
    /// variable is wanted only in part.
    pub(crate) fn begin(&mut self, losses: TapedLosses<'_, T>, columns: &[Range<usize>], share: Share) -> bool {
        if !self.plan_for(losses, columns).is_whole {
            return false;
        }
        if !self.plan.is_for(columns) {
            std::mem::swap(&mut self.plan, &mut self.other);
        }
        let Factors { plan, kept, look_ups, formed, .. } = self;
        kept.resize(share, losses.group, plan.per_sample, plan.per_residual);
        scratch(formed, kept.residuals() * plan.formed_count());
        look_ups.clear();
        true
    }

    /// Keeps what a forward sweep has found for a tile, of the nodes that were wanted.
    pub(crate) fn keep_inputs(&mut self, tile: &BatchTile<'_, T>, workspace: &Workspace<T>, wanted: &[bool]) {
        let Factors { plan, kept, look_ups, .. } = self;
        let samples = kept.samples_of(tile);
        for dense in &plan.dense {
            let [x, _] = plan.nodes(dense.layer);
            let inputs = kept.inputs_mut(dense.inputs, x.width(), &samples);
            if wanted[x.index()] {
                inputs.copy_from_slice(workspace.value(tile, x));
            } else {
                inputs.fill(T::ZERO);
            }
        }
        for (of, table) in plan.tables.iter().enumerate() {
            let [x, _] = plan.nodes(table.layer);
            look_ups::list_numbers(table, of, samples.start, workspace.value(tile, x), look_ups);
        }
    }

    /// Returns the number of residuals of each sample in a stack of adjoints, of `width` that depend on the same nodes: enough
    /// for long products, and about as many in each stack.
    pub(crate) fn stack(&self, samples: usize, width: usize) -> usize {
        if !self.plan.taped.takes_stacks {
            return 1;
        }
        width.div_ceil((samples * width).div_ceil(STACKED_ROWS))
    }

    /// Rows of a stack at most, for no more samples than these.
    pub(crate) fn stacked_rows(&self, samples: usize, width: usize) -> usize {
        if self.plan.taped.takes_stacks { (samples * width).min(STACKED_ROWS + samples) } else { samples }
    }

    /// Sweeps a tile's adjoints back from a stack of residuals of each sample, and keeps what is found.
    pub(crate) fn reverse(&mut self, tile: &BatchTile<'_, T>, workspace: &mut Workspace<T>, residuals: Range<usize>) {
        let Factors { plan, kept, formed, written, .. } = self;
        let Taped { marks, formed_columns, .. } = &plan.taped;
        if plan.formed.is_empty() {
            workspace.reverse(tile, marks, &mut Nowhere);
        } else {
            let stride = kept.group * plan.formed_count();
            let samples = kept.samples_of(tile);
            let rows = &mut formed[samples.start * stride..samples.end * stride];
            let mut sink = JacobianRows::new(formed_columns, rows, residuals.start, kept.group, written);
            workspace.reverse(tile, marks, &mut sink);
            sink.finish(workspace, tile);
        }
        let layers = plan.dense.iter().map(|dense| (dense.layer, dense.sensitivities));
        let tables = plan.tables.iter().map(|table| (table.layer, table.sensitivities));
        for (layer, before) in layers.chain(tables) {
            let [_, y] = plan.nodes(layer);
            let (adjoints, size) = (workspace.derivative(tile, y), tile.rows.len() * y.width());
            for (part, residual) in residuals.clone().enumerate() {
                let adjoints = adjoints.map(|adjoints| &adjoints[part * size..]);
                kept.put_sensitivities((before, y.width()), &kept.samples_of(tile), residual, adjoints);
            }
        }
    }
}
