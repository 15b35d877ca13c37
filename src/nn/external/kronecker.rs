//! Kronecker factors of recorded layers.

use std::ops::Range;

use super::batch::ExternalBatch;
use super::memory::ModelMemory;
use crate::kernels::vector::dot;
use crate::nn::RecordedLayer;
use crate::nn::sweep::{fill_signs, random_bits, row_number};
use crate::problem::{
    Evaluated, EvaluationError, FactorSample, JacobianProducts, KroneckerBlock, KroneckerFactored, KroneckerFactors,
    LeastSquares, NotKroneckerFactored, Objective,
};
use crate::real::Real;
use crate::variables::Gradients;

/// Factors are estimated from all rows, whatever share was asked for, since a model gives the sensitivities of all.
impl<T: Real> KroneckerFactored<T> for ExternalBatch<'_, T> {
    fn kronecker_blocks(&self) -> &[KroneckerBlock] {
        &self.memory.blocks.blocks
    }

    fn linearize_factored(
        &mut self,
        x: &[T],
        _trainable: &[Range<usize>],
        gradients: &mut Gradients<T>,
        sample: Option<FactorSample<'_, T>>,
        _keep: bool,
    ) -> Evaluated<T> {
        let loss = self.loss_and_gradient(x, gradients)?;
        if let Some(FactorSample { factors, signs, .. }) = sample {
            self.sum_factors(factors, signs)?;
        }
        Ok(loss)
    }

    fn curvature(&mut self, x: &[T], directions: &[&[T]], products: &mut [T]) -> Evaluated {
        self.linearize_at(x)?;
        let (size, count) = (self.residual_count(), directions.len());
        let mut derivatives = std::mem::take(&mut self.memory.along);
        derivatives.resize(size * count, T::ZERO);
        let mut outcome = Ok(());
        for (direction, derivatives) in directions.iter().zip(derivatives.chunks_exact_mut(size)) {
            outcome = outcome.and_then(|()| match self.multiply(direction, derivatives)? {
                true => Ok(()),
                false => Err(EvaluationError::new(NotKroneckerFactored::Layers)),
            });
        }
        for (place, product) in products.iter_mut().enumerate() {
            let [a, b] = [place / count, place % count].map(|k| &derivatives[k * size..(k + 1) * size]);
            *product = dot(a, b);
        }
        self.memory.along = derivatives;
        outcome
    }

    fn loss_at(&mut self, x: &[T]) -> Evaluated<T> {
        self.loss(x)
    }
}

impl<T: Real> ExternalBatch<'_, T> {
    /// Sums over all samples, at the point that was linearised.
    fn sum_factors(&mut self, factors: &mut KroneckerFactors<T>, source: [u64; 2]) -> Evaluated {
        let (samples, width) = (self.memory.samples, self.memory.width);
        self.find_roots();
        let mut signs = std::mem::take(&mut self.memory.along);
        signs.resize(samples * width, T::ZERO);
        fill_signs(source, 0..samples, width, &mut signs);
        let ModelMemory { buffers, seeds, blocks, layers, inputs, .. } = &mut *self.memory;
        self.loss.seed_residuals(buffers, width, &signs, (0, width), (seeds, false));
        let root_weights = self.batch.root_weights(&(0..samples));
        factors.begin();
        factors.add_samples(random_bits(source, 0..samples), root_weights);
        let outcome = self.model.sensitivities(seeds, &mut |index, delta| {
            let (inputs, [first, second]) = (&inputs[index], blocks.places[index]);
            if let Some(block) = first {
                match layers[index] {
                    RecordedLayer::Dense { .. } => {
                        factors.add_inputs(block, inputs, root_weights);
                        factors.add_sensitivities(block, delta);
                    }
                    RecordedLayer::Embedding { .. } => {
                        factors.add_look_ups(block, inputs.iter().map(|&row| row_number(row)), root_weights);
                        factors.add_sensitivities(block, delta);
                    }
                    RecordedLayer::Scale { .. } => {
                        signs.clear();
                        signs.extend(delta.iter().zip(inputs).map(|(&delta, &x)| delta * x));
                        factors.add_gradients(block, &signs, samples);
                    }
                }
            }
            if let Some(block) = second {
                factors.add_gradients(block, delta, samples);
            }
        });
        self.memory.along = signs;
        outcome?;
        factors.finish(self.batch.mean_over);
        Ok(())
    }
}
