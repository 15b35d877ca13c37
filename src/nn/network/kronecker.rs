//! Kronecker factors of a network's layers.

use std::ops::Range;

use super::Network;
use super::loss_tile::LossTile;
use crate::distributed::Communicator;
use crate::kernels::vector::dot;
use crate::nn::factor_plan::FactorPlan;
use crate::nn::sweep::{FactorSums, GradientSums, LayerProducts, fill_signs, random_bits};
use crate::problem::{
    Evaluated, EvaluationError, FactorSample, KroneckerBlock, KroneckerFactored, NotKroneckerFactored, Objective,
    OutputProducts, Work,
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
    ) -> Evaluated<T> {
        let own = self.own_factors(x, trainable, gradients, (sample.as_mut(), None), keep);
        let loss = match self.several_ranks() {
            None => own,
            Some(ranks) => gradients.all_sum_with_loss(ranks, own).map_err(EvaluationError::new),
        }?;
        if let Some(FactorSample { factors, .. }) = sample {
            if let Some(ranks) = self.several_ranks() {
                ranks.all_sum(factors.sums_mut()).map_err(EvaluationError::new)?;
            }
            factors.finish(self.sweeps.batch.mean_over);
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
    ) -> Evaluated<T> {
        if self.several_ranks().is_some() {
            return self.linearize_factored(x, trainable, gradients, None, keep);
        }
        self.own_factors(x, trainable, gradients, (None, Some(&mut products)), keep)
    }

    fn curvature(&mut self, x: &[T], directions: &[&[T]], products: &mut [T]) -> Evaluated {
        let own = self.own_curvature(x, directions, products);
        match self.several_ranks() {
            None => own,
            Some(ranks) => ranks.try_all_sum(products, own).map_err(EvaluationError::new),
        }
    }

    fn loss_at(&mut self, x: &[T]) -> Evaluated<T> {
        self.loss(x)
    }

    fn step_work(&self) -> Option<Work> {
        self.factor_plan.as_ref().map(|plan| self.kronecker_work(&plan.blocks, self.rows()))
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
            self.factor_plan = Some(FactorPlan::new(&self.sweeps.tape, &self.variables, &self.sweeps.loss_nodes[0])?);
        }
        Ok(())
    }

    /// Rows that factors are estimated from: a part that moves on with every count.
    fn sampled_rows(&self, share: f64, count: u64) -> Range<usize> {
        let rows = self.rows();
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
    ) -> Evaluated<T> {
        if let Some(sample) = &mut sample {
            sample.factors.begin();
        }
        self.begin_gradient(x, gradients)?;
        self.want_columns(trainable);
        let sampled = sample.as_ref().map_or(0..0, |sample| self.sampled_rows(sample.share, sample.signs[1]));
        let (samples, group) = (self.rows(), self.rows_per_sample());
        let Network { sweeps, marks, signs, columns, variables, factor_plan, .. } = self;
        let Some(plan) = factor_plan else {
            return Err(EvaluationError::new(NotKroneckerFactored::Layers));
        };
        plan.activate(variables.iter().filter(|&variable| columns.include(variable)));
        plan.sampled = sampled.clone();
        let (of_variable, active) = (&plan.of_variable, &plan.active);
        let mut loss = T::ZERO;
        let mut visit = |tile: &mut LossTile<'_, T>| {
            let rows = tile.tile.rows.clone();
            tile.forward_once(keep);
            tile.seed_gradients(&mut loss);
            let products = products.as_deref_mut().map(|products| LayerProducts { products, of_variable, samples });
            tile.reverse(marks, &mut GradientSums { gradients, products });
            let is_sampled = sampled.contains(&rows.start);
            let Some(FactorSample { factors, signs: source, .. }) = sample.as_deref_mut().filter(|_| is_sampled) else {
                return;
            };
            signs.resize(signs.len().max(rows.len() * group), T::ZERO);
            let signs = &mut signs[..rows.len() * group];
            fill_signs(*source, tile.tile.batch.places(&rows), group, signs);
            let root_weights = tile.tile.batch.root_weights(&rows);
            factors.add_samples(random_bits(*source, tile.tile.batch.places(&rows)), root_weights);
            tile.pull(signs, marks, &mut FactorSums { factors, of_variable, active, root_weights });
        };
        plan.parts(samples).into_iter().for_each(|part| sweeps.tiles(x, part, &mut visit));
        for variable in variables.iter().filter(|&variable| !columns.include(variable)) {
            gradients.set(variable, Gradient::Absent);
        }
        Ok(loss)
    }

    /// Products of directions with the curvature of this rank's rows.
    fn own_curvature(&mut self, x: &[T], directions: &[&[T]], products: &mut [T]) -> Evaluated {
        products.fill(T::ZERO);
        self.check_residuals(x)?;
        let (samples, count) = (self.rows(), directions.len());
        let Network { sweeps, signs, factor_plan: Some(plan), .. } = self else {
            return Err(EvaluationError::new(NotKroneckerFactored::Layers));
        };
        let mut visit = |tile: &mut LossTile<'_, T>| {
            let size = tile.tile.rows.len() * tile.group;
            signs.resize(signs.len().max(size * count), T::ZERO);
            tile.forward_once(count > 1);
            for (direction, derivatives) in directions.iter().zip(signs.chunks_exact_mut(size.max(1))) {
                tile.push(direction, derivatives);
            }
            for (place, product) in products.iter_mut().enumerate() {
                let [a, b] = [place / count, place % count].map(|k| &signs[k * size..(k + 1) * size]);
                *product += dot(a, b);
            }
        };
        plan.parts(samples).into_iter().for_each(|part| sweeps.tiles(x, part, &mut visit));
        Ok(())
    }
}
