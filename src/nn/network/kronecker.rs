//! Kronecker factors of a network's layers.

use std::ops::Range;

use super::Network;
use crate::distributed::Communicator;
use crate::kernels::vector::dot;
use crate::nn::BatchError;
use crate::nn::factor_plan::FactorPlan;
use crate::nn::sweep::{FactorSums, GradientSums, GradientSumsWithProducts, Tile, fill_signs};
use crate::problem::{
    EvaluationError, FactorSample, KroneckerBlock, KroneckerFactored, NotKroneckerFactored, Objective, OutputProducts,
};
use crate::real::Real;
use crate::variables::{Gradient, Gradients};

/// Implements the Kronecker factorisation over ranks: each sums over its rows; gradients, factors and products with the curvature
/// take one exchange each.
impl<T: Real> KroneckerFactored<T> for Network<T> {
    fn kronecker_blocks(&self) -> &[KroneckerBlock] {
        self.factor_plan.as_ref().map_or(&[], |plan| &plan.blocks)
    }

    fn linearize_factored(
        &mut self,
        x: &[T],
        trainable: &[Range<usize>],
        gradients: &mut Gradients<T>,
        mut sample: Option<FactorSample<'_, T>>,
        keep: bool,
    ) -> Result<T, EvaluationError> {
        let own = self.own_factors(x, trainable, gradients, (sample.as_mut(), None), keep);
        let loss = match self.several_ranks() {
            None => own,
            Some(ranks) => gradients.all_sum_with_loss(ranks, own).map_err(EvaluationError::new),
        }?;
        if let Some(FactorSample { factors, .. }) = sample {
            if let Some(ranks) = self.several_ranks() {
                ranks.all_sum(factors.sums_mut()).map_err(EvaluationError::new)?;
            }
            factors.finish(self.batch.mean_over);
        }
        Ok(loss)
    }

    /// Products are of the rows of one rank alone.
    fn linearize_with_products(
        &mut self,
        x: &[T],
        trainable: &[Range<usize>],
        gradients: &mut Gradients<T>,
        mut products: OutputProducts<'_, T>,
        keep: bool,
    ) -> Result<T, EvaluationError> {
        if self.several_ranks().is_some() {
            return self.linearize_factored(x, trainable, gradients, None, keep);
        }
        self.own_factors(x, trainable, gradients, (None, Some(&mut products)), keep)
    }

    fn curvature(&mut self, x: &[T], directions: &[&[T]], products: &mut [T]) -> Result<(), EvaluationError> {
        let own = self.own_curvature(x, directions, products);
        match self.several_ranks() {
            None => own,
            Some(ranks) => ranks.try_all_sum(products, own).map_err(EvaluationError::new),
        }
    }

    fn loss_at(&mut self, x: &[T]) -> Result<T, EvaluationError> {
        self.loss(x)
    }

    fn communicator(&self) -> Option<&Communicator> {
        self.several_ranks()
    }
}

impl<T: Real> Network<T> {
    /// Finds the blocks, or why there are none.
    pub(super) fn plan_factors(&mut self) -> Result<(), NotKroneckerFactored> {
        self.check_forms()?;
        if self.sets.count > 1 {
            return Err(NotKroneckerFactored::SampleSets);
        }
        if self.factor_plan.is_none() {
            self.factor_plan = Some(FactorPlan::new(&self.tape, &self.variables, &self.loss_nodes[0])?);
        }
        Ok(())
    }

    /// Rows that factors are estimated from: a part that moves on with every count.
    fn sampled_rows(&self, share: f64, count: u64) -> Range<usize> {
        let rows = self.batch.rows();
        let sampled = ((rows as f64 * share).ceil() as usize).min(rows);
        let parts = rows.checked_div(sampled).unwrap_or(1) as u64;
        let start = (count % parts) as usize * sampled;
        start..start + sampled
    }

    /// This rank's part of the loss, of its gradient, and of the sums of factors or products.
    fn own_factors(
        &mut self,
        x: &[T],
        trainable: &[Range<usize>],
        gradients: &mut Gradients<T>,
        (mut sample, mut products): (Option<&mut FactorSample<'_, T>>, Option<&mut OutputProducts<'_, T>>),
        keep: bool,
    ) -> Result<T, EvaluationError> {
        if let Some(sample) = &mut sample {
            sample.factors.begin();
        }
        self.check_bound(x).map_err(EvaluationError::new)?;
        if !gradients.variables().eq(self.variables.iter()) {
            return Err(EvaluationError::new(BatchError::Gradients));
        }
        gradients.clear();
        self.want_columns(trainable);
        let group = self.rows_per_sample();
        let sampled = sample.as_ref().map_or(0..0, |sample| self.sampled_rows(sample.share, sample.signs[1]));
        let Network { tape, workspace, batch, terms, buffers, loss_nodes, marks, masks, .. } = self;
        let Network { residuals, signs, columns, variables, .. } = self;
        let Some(plan) = &mut self.factor_plan else {
            return Err(EvaluationError::new(NotKroneckerFactored::Layers));
        };
        plan.activate(variables.iter().filter(|&variable| columns.include(variable)));
        plan.sampled = sampled.clone();
        let mut loss = T::ZERO;
        let tiles = plan.parts(batch.rows()).map(|part| workspace.tiles(part));
        for rows in tiles.into_iter().flatten() {
            let is_sampled = sampled.contains(&rows.start);
            let tile = Tile { tape, x, batch, rows: rows.clone(), masks: Some(*masks) };
            workspace.forward_once(&tile, &loss_nodes[0], keep);
            workspace.clear_derivatives();
            for term in &*terms {
                loss += term.loss_and_seed(&tile, workspace, buffers);
            }
            let gradient_sums = GradientSums(gradients);
            match products.as_deref_mut() {
                None => workspace.reverse(&tile, marks, &mut { gradient_sums }),
                Some(products) => {
                    let (of_variable, samples) = (&plan.of_variable, batch.rows());
                    let sums = GradientSumsWithProducts { gradients: gradient_sums, products, of_variable, samples };
                    workspace.reverse(&tile, marks, &mut { sums });
                }
            }
            let Some(FactorSample { factors, signs: source, .. }) = sample.as_deref_mut().filter(|_| is_sampled) else {
                continue;
            };
            signs.resize(signs.len().max(rows.len() * group), T::ZERO);
            let signs = &mut signs[..rows.len() * group];
            fill_signs(*source, batch.places(&rows), group, signs);
            workspace.clear_derivatives();
            for term in &*terms {
                term.residuals(&tile, workspace, buffers, &mut residuals[..signs.len()], group);
                term.seed_residuals(&tile, workspace, buffers, signs, group);
            }
            let root_weights = batch.root_weights(&rows);
            factors.add_samples(root_weights);
            let (of_variable, active) = (&plan.of_variable, &plan.active);
            workspace.reverse(&tile, marks, &mut FactorSums { factors, of_variable, active, root_weights });
        }
        for variable in variables.iter().filter(|&variable| !columns.include(variable)) {
            gradients.set(variable, Gradient::Absent);
        }
        Ok(loss)
    }

    /// Products of directions with the curvature of this rank's rows.
    fn own_curvature(&mut self, x: &[T], directions: &[&[T]], products: &mut [T]) -> Result<(), EvaluationError> {
        products.fill(T::ZERO);
        self.check_residuals(x)?;
        let (group, count) = (self.rows_per_sample(), directions.len());
        let Network { tape, workspace, batch, terms, buffers, loss_nodes, masks, residuals, signs, .. } = self;
        let Some(plan) = &self.factor_plan else {
            return Err(EvaluationError::new(NotKroneckerFactored::Layers));
        };
        let tiles = plan.parts(batch.rows()).map(|part| workspace.tiles(part));
        for rows in tiles.into_iter().flatten() {
            let tile = Tile { tape, x, batch, rows: rows.clone(), masks: Some(*masks) };
            let size = rows.len() * group;
            signs.resize(signs.len().max(size * count), T::ZERO);
            workspace.forward_once(&tile, &loss_nodes[0], count > 1);
            for (direction, derivatives) in directions.iter().zip(signs.chunks_exact_mut(size.max(1))) {
                workspace.tangent(&tile, &loss_nodes[0], direction);
                for term in &*terms {
                    term.residuals(&tile, workspace, buffers, &mut residuals[..size], group);
                    let change = workspace.derivative(&tile, term.output);
                    term.residual_derivatives(change, buffers, derivatives, group);
                }
            }
            for i in 0..count {
                for j in 0..count {
                    let [a, b] = [i, j].map(|k| &signs[k * size..(k + 1) * size]);
                    products[i * count + j] += dot(a, b);
                }
            }
        }
        Ok(())
    }
}
