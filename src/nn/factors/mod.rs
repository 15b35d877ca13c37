//! The Jacobian of a network as factors: what products with it, and its rows' Gram matrix, are computed from, while it is
//! never formed.

mod dense;
mod formed;
mod gathered;
mod kept;
mod look_ups;
mod plan;
mod recorded;

use std::ops::Range;

use formed::Formed;
use kept::{Kept, room};
use look_ups::LookUp;
use plan::Plan;
pub(crate) use recorded::Place;

use super::batch::Share;
use super::sweep::{JacobianRows, Nowhere, Tile, Workspace};
use super::tape::{Node, Tape};
use crate::problem::{ProductWork, Work};
use crate::real::Real;
use crate::variables::Variable;

/// Rows of adjoints that go back together; rounded up, to whole samples' rows.
const STACKED_ROWS: usize = 1024;

/// Factors of some columns of a Jacobian.
#[derive(Debug, Clone)]
pub(crate) struct Factors<T> {
    plan: Plan,
    /// The plan that was asked about last, if it is another.
    other: Plan,
    kept: Kept<T>,
    look_ups: Vec<LookUp>,
    /// The formed columns.
    formed: Vec<T>,
    /// Which variables' formed columns have been written.
    written: Vec<bool>,
    memory: Vec<T>,
}

impl<T: Real> Factors<T> {
    /// Nothing kept.
    pub(crate) fn new() -> Self {
        Factors {
            plan: Plan::default(),
            other: Plan::default(),
            kept: Kept::new(),
            look_ups: Vec::new(),
            formed: Vec::new(),
            written: Vec::new(),
            memory: Vec::new(),
        }
    }

    /// Cost of products with these columns; `None` where they cut through a variable.
    ///
    /// Parts kept of other columns stay.
    pub(crate) fn work(
        &mut self,
        tape: &Tape<T>,
        variables: impl Iterator<Item = Variable>,
        outputs: impl Iterator<Item = Node> + Clone,
        group: usize,
        columns: &[Range<usize>],
        samples: usize,
    ) -> Option<ProductWork> {
        let plan = self.plan_for(tape, variables, outputs, group, columns);
        plan.is_whole.then(|| plan.work(samples, group))
    }

    /// The plan for these columns, made if it is neither of those at hand.
    fn plan_for(
        &mut self,
        tape: &Tape<T>,
        variables: impl Iterator<Item = Variable>,
        outputs: impl Iterator<Item = Node> + Clone,
        group: usize,
        columns: &[Range<usize>],
    ) -> &Plan {
        if self.plan.is_for(columns) {
            return &self.plan;
        }
        if !self.other.is_for(columns) {
            self.other.make(tape, variables, outputs, group, columns);
        }
        &self.other
    }

    /// Takes the plan for these columns as the one to keep numbers for, and makes room for the samples of all ranks; `false`
    /// where the columns cut through a variable.
    pub(crate) fn begin(
        &mut self,
        tape: &Tape<T>,
        variables: impl Iterator<Item = Variable>,
        outputs: impl Iterator<Item = Node> + Clone,
        group: usize,
        columns: &[Range<usize>],
        share: Share,
    ) -> bool {
        if !self.plan_for(tape, variables, outputs, group, columns).is_whole {
            return false;
        }
        if !self.plan.is_for(columns) {
            std::mem::swap(&mut self.plan, &mut self.other);
        }
        let Factors { plan, kept, look_ups, formed, .. } = self;
        kept.resize(share, group, plan.per_sample, plan.per_residual);
        room(formed, kept.residuals() * plan.formed_count());
        look_ups.clear();
        true
    }

    /// Keeps what a forward sweep has found for a tile, of the nodes that were wanted.
    pub(crate) fn keep_inputs(&mut self, tile: &Tile<'_, T>, workspace: &Workspace<T>, wanted: &[bool]) {
        let Factors { plan, kept, look_ups, .. } = self;
        for (layer, &[x, _]) in plan.dense.iter().zip(&plan.dense_nodes) {
            kept.keep_inputs(layer.inputs, x, tile, workspace, wanted[x.index()]);
        }
        look_ups::list((&plan.tables, &plan.table_nodes), tile, workspace, kept.before, look_ups);
    }

    /// How many residuals of each sample to take back in a stack of adjoints, of `width` that depend on the same nodes: so
    /// many that the products are long, and about as many in each stack.
    pub(crate) fn stack(&self, samples: usize, width: usize) -> usize {
        if !self.plan.takes_stacks {
            return 1;
        }
        width.div_ceil((samples * width).div_ceil(STACKED_ROWS))
    }

    /// Rows of a stack at most, for no more samples than these.
    pub(crate) fn stacked_rows(&self, samples: usize, width: usize) -> usize {
        if self.plan.takes_stacks { (samples * width).min(STACKED_ROWS + samples) } else { samples }
    }

    /// Sweeps a tile's adjoints back from a stack of residuals of each sample, and keeps what is found.
    pub(crate) fn reverse(&mut self, tile: &Tile<'_, T>, workspace: &mut Workspace<T>, residuals: Range<usize>) {
        let Factors { plan, kept, formed, written, .. } = self;
        if plan.formed.is_empty() {
            workspace.reverse(tile, &plan.marks, &mut Nowhere);
        } else {
            let stride = kept.group * plan.formed_count();
            let samples = kept.samples_of(tile);
            let rows = &mut formed[samples.start * stride..samples.end * stride];
            let mut sink = JacobianRows::new(&plan.formed_columns, rows, residuals.start, kept.group, written);
            workspace.reverse(tile, &plan.marks, &mut sink);
            sink.finish();
        }
        let layers = plan.dense.iter().map(|layer| layer.sensitivities).zip(&plan.dense_nodes);
        let tables = plan.tables.iter().map(|table| table.sensitivities).zip(&plan.table_nodes);
        for (before, &[_, node]) in layers.chain(tables) {
            kept.keep_sensitivities(before, node, tile, workspace, residuals.clone());
        }
    }

    /// After the last tile.
    pub(crate) fn finish(&mut self) {
        look_ups::sort(&mut self.look_ups);
    }

    /// `JJᵀ`: its lower triangle.
    pub(crate) fn row_gram(&mut self, gram: &mut [T]) {
        let Factors { plan, kept, look_ups, formed: columns, memory, .. } = self;
        let formed = formed(plan, kept, columns);
        match &formed {
            Some(formed) => T::row_gram(gram, formed.rows, formed.count),
            None if plan.dense.is_empty() => gram.fill(T::ZERO),
            None => {}
        }
        dense::put_row_gram(&plan.dense, kept, memory, gram, formed.is_some());
        look_ups::add_row_gram(&plan.tables, look_ups, kept, gram);
    }

    /// The blocks of every sample's residuals on the diagonal of `JJᵀ`.
    pub(crate) fn row_gram_blocks(&mut self, blocks: &mut [T]) {
        let Factors { plan, kept, look_ups, formed: columns, memory, .. } = self;
        blocks.fill(T::ZERO);
        if let Some(formed) = formed(plan, kept, columns) {
            formed.add_row_gram_blocks(memory, blocks, kept.group);
        }
        dense::add_row_gram_blocks(&plan.dense, kept, memory, blocks);
        look_ups::add_row_gram_blocks(&plan.tables, look_ups, kept, blocks);
    }

    /// `Jv`.
    pub(crate) fn multiply(&mut self, v: &[T], product: &mut [T]) {
        let Factors { plan, kept, look_ups, formed: columns, memory, .. } = self;
        product.fill(T::ZERO);
        if let Some(formed) = formed(plan, kept, columns) {
            formed.add_product(memory, v, product);
        }
        dense::add_product(&plan.dense, kept, memory, v, product);
        look_ups::add_product(&plan.tables, look_ups, kept, v, product);
    }

    /// `Jᵀu`.
    pub(crate) fn multiply_transposed(&mut self, u: &[T], product: &mut [T]) {
        let Factors { plan, kept, look_ups, formed: columns, memory, .. } = self;
        product.fill(T::ZERO);
        if let Some(formed) = formed(plan, kept, columns) {
            formed.put_transposed_product(memory, u, product);
        }
        dense::add_transposed_product(&plan.dense, kept, memory, u, product);
        look_ups::add_transposed_product(&plan.tables, look_ups, kept, u, product);
    }
}

/// The formed columns; `None` when there are none.
fn formed<'a, T: Real>(plan: &'a Plan, kept: &Kept<T>, rows: &'a [T]) -> Option<Formed<'a, T>> {
    let count = plan.formed_count();
    let rows = &rows[..kept.residuals() * count];
    (count > 0).then_some(Formed { rows, count, columns: &plan.formed })
}

impl Plan {
    /// Cost of the products for so many samples.
    fn work(&self, samples: usize, group: usize) -> ProductWork {
        let residuals = samples.saturating_mul(group);
        let formed = residuals.saturating_mul(self.formed_count());
        let inputs = samples.saturating_mul(self.per_sample);
        let kept = inputs.saturating_add(residuals.saturating_mul(self.per_residual));
        let forward = self.forward.of(samples);
        let formed_gram = match self.formed_count() {
            0 => Work::NONE,
            count => Work::triangle(residuals as f64, count as f64),
        };
        ProductWork {
            linearize: forward + self.reverse.of(samples) + Work::elementwise(kept as f64, 0.0, 2.0),
            row_gram: Some(
                formed_gram
                    + dense::row_gram_work(&self.dense, samples, group)
                    + look_ups::row_gram_work(&self.tables, samples, group),
            ),
            product: Work::elementwise(formed as f64, 2.0, 1.0)
                + dense::product_work(&self.dense, samples, group)
                + look_ups::product_work(&self.tables, samples, group),
            jacobian: Some(forward + self.reverse_forming_all.of(samples)),
            numbers: kept.saturating_add(formed),
        }
    }
}
