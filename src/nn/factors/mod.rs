//! The Jacobian of a network as factors, from which products and the Gram matrix of its rows are computed; it is never formed.

mod dense;
mod formed;
mod gathered;
mod kept;
mod look_ups;
mod plan;
mod recorded;
mod taped;

use dense::DenseLayers;
use formed::Formed;
use kept::Kept;
use look_ups::{LookUp, LookUps};
use plan::JacobianPlan;
pub(crate) use recorded::FactorPlace;
pub(crate) use taped::TapedLosses;

use super::sweep::RowProgress;
use crate::problem::{ProductWork, Work};
use crate::real::Real;

/// Factors of some columns of a Jacobian.
#[derive(Debug, Clone, Default)]
pub(crate) struct Factors<T> {
    plan: JacobianPlan,
    /// The plan that was estimated last, if it is another.
    other: JacobianPlan,
    kept: Kept<T>,
    look_ups: Vec<LookUp>,
    /// The formed columns.
    formed: Vec<T>,
    /// Memory of formed columns while they are written.
    written: RowProgress,
    memory: Vec<T>,
    /// Gram matrices of the inputs of dense layers, and whether they are those of the last linearisation.
    input_grams: Vec<T>,
    has_input_grams: bool,
}

impl<T: Real> Factors<T> {
    /// After the last tile.
    pub(crate) fn finish(&mut self) {
        look_ups::sort(&mut self.look_ups);
        self.has_input_grams = false;
    }

    /// `JJᵀ`: its lower triangle.
    pub(crate) fn row_gram(&mut self, gram: &mut [T]) {
        let FactorParts { formed, dense, look_ups, memory } = self.parts();
        match &formed {
            Some(formed) => T::row_gram(gram, formed.rows, formed.count),
            None if dense.layers.is_empty() => gram.fill(T::ZERO),
            None => {}
        }
        dense.put_row_gram(memory, gram, formed.is_some());
        look_ups.add_row_gram(gram);
    }

    /// The blocks of every sample's residuals on the diagonal of `JJᵀ`.
    pub(crate) fn row_gram_blocks(&mut self, blocks: &mut [T]) {
        let FactorParts { formed, dense, look_ups, memory } = self.parts();
        blocks.fill(T::ZERO);
        if let Some(formed) = formed {
            formed.add_row_gram_blocks(memory, blocks, dense.kept.group);
        }
        dense.add_row_gram_blocks(memory, blocks);
        look_ups.add_row_gram_blocks(blocks);
    }

    /// The Gram matrices of one residual's rows of all samples each; `false` where they are not known.
    pub(crate) fn row_gram_of_residuals(&mut self, blocks: &mut [T]) -> bool {
        if !self.find_input_grams() {
            return false;
        }
        let grams = std::mem::take(&mut self.input_grams);
        let FactorParts { formed, dense, memory, .. } = self.parts();
        dense.put_row_gram_of_residuals(memory, &grams, formed, blocks);
        self.input_grams = grams;
        true
    }

    /// `JJᵀu`; `false` where it is not known but by two products.
    pub(crate) fn multiply_row_gram(&mut self, u: &[T], product: &mut [T]) -> bool {
        if !self.find_input_grams() {
            return false;
        }
        let grams = std::mem::take(&mut self.input_grams);
        let FactorParts { formed, dense, memory, .. } = self.parts();
        product.fill(T::ZERO);
        if let Some(formed) = formed {
            formed.add_gram_product(memory, u, product);
        }
        dense.add_gram_product(memory, &grams, u, product);
        self.input_grams = grams;
        true
    }

    /// Computes the Gram matrices of inputs, once for each linearisation; `false` for layers that products with them are not known for.
    fn find_input_grams(&mut self) -> bool {
        if !self.plan.multiplies_gram() {
            return false;
        }
        if !std::mem::replace(&mut self.has_input_grams, true) {
            let mut grams = std::mem::take(&mut self.input_grams);
            self.parts().dense.put_input_grams(&mut grams);
            self.input_grams = grams;
        }
        true
    }

    /// `Jv`.
    pub(crate) fn multiply(&mut self, v: &[T], product: &mut [T]) {
        let FactorParts { formed, dense, look_ups, memory } = self.parts();
        product.fill(T::ZERO);
        if let Some(formed) = formed {
            formed.add_product(memory, v, product);
        }
        dense.add_product(memory, v, product);
        look_ups.add_product(v, product);
    }

    /// `Jᵀu`.
    pub(crate) fn multiply_transposed(&mut self, u: &[T], product: &mut [T]) {
        let FactorParts { formed, dense, look_ups, memory } = self.parts();
        product.fill(T::ZERO);
        if let Some(formed) = formed {
            formed.put_transposed_product(memory, u, product);
        }
        dense.add_transposed_product(memory, u, product);
        look_ups.add_transposed_product(u, product);
    }

    /// The parts of the products, and scratch.
    fn parts(&mut self) -> FactorParts<'_, T> {
        let Factors { plan, kept, look_ups, formed, memory, .. } = self;
        let count = plan.formed_count();
        let rows = &formed[..kept.residuals() * count];
        let formed = (count > 0).then_some(Formed { rows, count, columns: &plan.formed });
        let dense = DenseLayers { layers: &plan.dense, kept };
        FactorParts { formed, dense, look_ups: LookUps { tables: &plan.tables, look_ups, kept }, memory }
    }
}

/// Parts that the products with a Jacobian add up.
struct FactorParts<'a, T> {
    /// The formed columns; `None` where there are none.
    formed: Option<Formed<'a, T>>,
    dense: DenseLayers<'a, T>,
    look_ups: LookUps<'a, T>,
    memory: &'a mut Vec<T>,
}

impl JacobianPlan {
    /// Returns true if every weight is used once, and no table: `JJᵀu` then takes one Gram matrix of inputs for each layer.
    fn multiplies_gram(&self) -> bool {
        self.tables.is_empty() && self.dense.windows(2).all(|layers| layers[0].weight != layers[1].weight)
    }

    /// Cost of the products for `samples` samples.
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
            gram_product: self.multiplies_gram().then(|| {
                Work::elementwise(formed as f64, 4.0, 2.0) + dense::gram_product_work(&self.dense, samples, group)
            }),
            jacobian: Some(forward + self.reverse_forming_all.of(samples)),
            numbers: kept.saturating_add(formed),
        }
    }
}
