//! A model of another library with a loss, bound to a batch: the objective of optimizers.

use std::ops::Range;

use super::error::ModelError;
use super::memory::ModelMemory;
use super::model::ExternalModel;
use crate::kernels::vector::dot;
use crate::nn::batch::Batch;
use crate::nn::layer_blocks::LayerBlocks;
use crate::nn::weighted_loss::{Outputs, WeightedLoss};
use crate::problem::{
    Capabilities, Evaluated, EvaluationError, JacobianProducts, KroneckerFactored, LeastSquares, NotKroneckerFactored,
    NotLeastSquares, Objective,
};
use crate::real::Real;
use crate::variables::Gradients;

/// A [model of another library](ExternalModel) with a loss and targets, of [`External::bind`](super::External::bind).
///
/// It is an [`Objective`] for all optimizers and, where the loss allows it, a [`LeastSquares`] problem for full solves.
pub struct ExternalBatch<'a, T> {
    pub(super) model: &'a mut dyn ExternalModel<T>,
    pub(super) loss: WeightedLoss<'a, T>,
    pub(super) batch: &'a Batch<T>,
    pub(super) memory: &'a mut ModelMemory<T>,
}

/// Largest difference of a gradient from the factors and that of the model, in multiples of `√ε`.
const AGREEMENT: f64 = 32.0;

impl<T: Real> ExternalBatch<'_, T> {
    /// Returns true if steps are computed from recorded layers, and are exact; otherwise they are made of products.
    pub fn is_recorded(&self) -> bool {
        self.memory.is_recorded
    }

    /// Outputs at a point, evaluated where neither of the last two points was this one; returns which of them it is.
    fn evaluate(&mut self, x: &[T]) -> Evaluated<usize> {
        let memory = &mut *self.memory;
        let known = memory.points.iter().position(|point| point.x == x);
        let place = match known {
            Some(place) => place,
            None => {
                let point = &mut memory.points[memory.older];
                point.x.clear();
                self.model.outputs(x, &mut point.outputs)?;
                point.x.extend_from_slice(x);
                memory.older
            }
        };
        memory.older = 1 - place;
        Ok(place)
    }

    /// Outputs of samples, and their targets.
    fn compared<'b>(batch: &'b Batch<T>, width: usize, samples: Range<usize>, outputs: &'b [T]) -> Outputs<'b, T> {
        let values = &outputs[samples.start * width..samples.end * width];
        Outputs::new(batch, &samples, values, batch.only_target(&samples))
    }

    /// The residuals of samples with these outputs, whose roots are left in the buffers; returns their cost.
    pub(super) fn residuals_of(&mut self, place: OutputSource, samples: Range<usize>, r: &mut [T]) -> T {
        let is_exact = self.is_exact();
        let ModelMemory { points, outputs, buffers, width, .. } = &mut *self.memory;
        let values = match place {
            OutputSource::Point(point) => &points[point].outputs,
            OutputSource::Linearized => &*outputs,
        };
        let compared = Self::compared(self.batch, *width, samples, values);
        self.loss.residuals(&compared, buffers, (0, *width), r);
        if is_exact { T::from_f64(0.5) * dot(r, r) } else { self.loss.value(&compared, buffers) }
    }

    /// Leaves the roots of the loss in the buffers, at the point that was linearised.
    pub(super) fn find_roots(&mut self) {
        let (samples, width) = (self.memory.samples, self.memory.width);
        let mut residuals = std::mem::take(&mut self.memory.scratch);
        residuals.resize(samples * width, T::ZERO);
        self.residuals_of(OutputSource::Linearized, 0..samples, &mut residuals);
        self.memory.scratch = residuals;
    }

    /// Returns true if `½‖r‖²` is the loss.
    fn is_exact(&self) -> bool {
        self.loss.loss.least_squares().is_some_and(|seen| seen.is_exact())
    }

    /// Linearises the model at `x`, for later products and factors.
    pub(super) fn linearize_at(&mut self, x: &[T]) -> Evaluated {
        self.check_point(x)?;
        if self.memory.linearized.as_deref() == Some(x) {
            return Ok(());
        }
        let memory = &mut *self.memory;
        memory.linearized = None;
        self.model.linearize(x, &mut memory.outputs)?;
        let point = &mut memory.points[memory.older];
        point.x.clear();
        point.x.extend_from_slice(x);
        point.outputs.copy_from_slice(&memory.outputs);
        memory.older = 1 - memory.older;
        let is_new = memory.planned != Some((x.len(), memory.width)) || memory.layers != self.model.layers();
        if is_new {
            self.check_finite()?;
            let memory = &mut *self.memory;
            memory.layers.clear();
            memory.layers.extend_from_slice(self.model.layers());
            memory.planned = Some((x.len(), memory.width));
            memory.blocks = LayerBlocks::default();
            let ModelMemory { factors, layers, places, width, .. } = memory;
            memory.is_recorded = !layers.is_empty() && factors.plan_recorded(layers, x.len(), *width, places);
        }
        if self.memory.is_recorded && self.loss.loss.least_squares().is_some() {
            let collected = self.collect_factors();
            let checked = collected.and_then(|()| if is_new { self.check_layers() } else { Ok(()) });
            if checked.is_err() {
                // The next linearisation checks the layers again.
                self.memory.planned = None;
                return checked;
            }
        }
        self.memory.linearized = Some(x.to_vec());
        Ok(())
    }

    /// Refuses outputs that are not finite, at the point that was linearised.
    pub(super) fn check_finite(&self) -> Evaluated {
        let ModelMemory { outputs, width, .. } = &*self.memory;
        let Some(place) = outputs.iter().position(|output| !output.is_finite()) else { return Ok(()) };
        let (sample, output, value) = (place / width, place % width, outputs[place].to_f64());
        Err(EvaluationError::new(ModelError::NonFiniteOutput { sample, output, value }))
    }

    /// Takes over what the layers have recorded, at the point that was linearised.
    fn collect_factors(&mut self) -> Evaluated {
        let (samples, width) = (self.memory.samples, self.memory.width);
        self.find_roots();
        let ModelMemory { factors, layers, places, inputs, seeds, buffers, .. } = &mut *self.memory;
        factors.begin_recorded(samples, width);
        inputs.resize_with(layers.len(), Vec::new);
        for (index, layer) in layers.iter().enumerate() {
            inputs[index].resize(samples * layer.inputs(), T::ZERO);
            self.model.inputs(index, &mut inputs[index])?;
            factors.take_inputs(places[index], &inputs[index]);
        }
        factors.finish();
        for row in 0..width {
            self.loss.seed_row(buffers, width, row, seeds);
            self.model.sensitivities(seeds, &mut |index, sensitivities| {
                factors.take_sensitivities((places[index], &layers[index]), &inputs[index], sensitivities, row);
            })?;
        }
        Ok(())
    }

    /// Compares a gradient by the layers with that of the model, which may have more to it; and refuses layers whose samples depend
    /// on each other.
    fn check_layers(&mut self) -> Evaluated {
        let (samples, width) = (self.memory.samples, self.memory.width);
        let n = self.model.parameter_count();
        let ModelMemory { factors, layers, seeds, ahead, moved, scratch, buffers, .. } = &mut *self.memory;
        // Weights that differ, so that errors do not cancel.
        ahead.iter_mut().enumerate().for_each(|(i, u)| *u = T::from_f64(1.0 + 0.5 * (i as f64).sin()));
        self.loss.seed_residuals(buffers, width, ahead, (0, width), (seeds, false));
        moved.resize(n, T::ZERO);
        self.model.pull(seeds, moved)?;
        scratch.resize(n, T::ZERO);
        factors.multiply_transposed(ahead, scratch);
        let (mut difference, mut size) = (T::ZERO, T::ZERO);
        for (&own, &pulled) in scratch.iter().zip(&*moved) {
            difference = difference.max((own - pulled).abs());
            size = size.max(pulled.abs());
        }
        let agrees = difference <= T::from_f64(AGREEMENT) * T::EPSILON.sqrt() * size;
        // Cotangents of every other sample have to leave the layers of the rest alone.
        let cotangents = seeds.clone();
        let mut mixed = None;
        for parity in 0..samples.min(2) {
            seeds.copy_from_slice(&cotangents);
            let others = seeds.chunks_exact_mut(width).skip(1 - parity).step_by(2);
            others.for_each(|cotangents| cotangents.fill(T::ZERO));
            self.model.sensitivities(seeds, &mut |index, sensitivities| {
                let of_samples = |skipped| sensitivities.chunks_exact(layers[index].outputs()).skip(skipped).step_by(2);
                let size =
                    |skipped| of_samples(skipped).flatten().fold(T::ZERO, |largest, &number| largest.max(number.abs()));
                if size(1 - parity) > T::EPSILON * size(parity) && mixed.is_none() {
                    mixed = Some(index);
                }
            })?;
        }
        if let Some(layer) = mixed {
            let first = self.memory.layers[layer].parameters().next();
            let parameter = first.map_or_else(String::new, |range| self.model.parameter_name(range.start));
            return Err(EvaluationError::new(ModelError::MixedSamples { parameter }));
        }
        self.memory.is_recorded = agrees;
        Ok(())
    }

    /// Fills `gradient` with `Jᵀu` of the loss's rows at the point that was linearised.
    pub(super) fn pull_residuals(&mut self, u: &[T], gradient: &mut [T]) -> Evaluated {
        self.find_roots();
        let ModelMemory { buffers, seeds, width, .. } = &mut *self.memory;
        self.loss.seed_residuals(buffers, *width, u, (0, *width), (seeds, false));
        self.model.pull(seeds, gradient)
    }

    /// Second derivatives of the outputs at `x` along `v`, by a [`CurvatureStencil`] over a part of it.
    fn find_curvature(&mut self, x: &[T], v: &[T]) -> Evaluated {
        let of = self.memory.curvature_of.as_ref();
        if of.is_some_and(|[at, along]| at == x && along == v) {
            return Ok(());
        }
        self.memory.curvature_of = None;
        let here = self.evaluate(x)?;
        let CurvatureStencil { probe, weights } = CurvatureStencil::of_precision(T::EPSILON.to_f64());
        let ModelMemory { points, curvature, ahead, moved, .. } = &mut *self.memory;
        let points_here = &points[here].outputs;
        curvature.fill(T::ZERO);
        for &(place, weight) in weights {
            for step in [probe * place, -probe * place].map(T::from_f64) {
                moved.clear();
                moved.extend(x.iter().zip(v).map(|(&x, &v)| x + step * v));
                self.model.outputs(moved, ahead)?;
                // The difference is small, and is taken before it is multiplied.
                for ((curvature, &ahead), &here) in curvature.iter_mut().zip(&*ahead).zip(points_here) {
                    *curvature += T::from_f64(weight) * (ahead - here);
                }
            }
        }
        let factor = T::from_f64((probe * probe).recip());
        curvature.iter_mut().for_each(|curvature| *curvature *= factor);
        self.memory.curvature_of = Some([x.to_vec(), v.to_vec()]);
        Ok(())
    }

    fn check_point(&self, x: &[T]) -> Evaluated {
        let (expected, found) = (self.model.parameter_count(), x.len());
        if expected == found {
            return Ok(());
        }
        Err(format!("the model has {expected} parameters, but the variables hold {found} numbers").into())
    }
}

/// A symmetric difference for second derivatives: `Σ w (f(x + k h) − 2 f(x) + f(x − k h)) / h²`, for places `k` and weights `w`.
struct CurvatureStencil {
    probe: f64,
    weights: &'static [(f64, f64)],
}

impl CurvatureStencil {
    /// The stencil for outputs that are rounded to `epsilon`.
    ///
    /// In double precision, three places with `h = (48 ε)^¼ = 3e-4`: there the error of the difference, `h²/12` of the fourth derivative, is
    /// as large as that of rounding, `4 ε/h²` of the outputs, for derivatives of one size. In single precision the same would leave 2e-4.
    /// Five places with `h = (100 ε)^⅙ = 0.15` leave `h⁴/90` of the sixth derivative, 6e-6, and 3e-5 of rounding, `5.3 ε/h²`: networks,
    /// whose higher derivatives are larger, agree best there.
    fn of_precision(epsilon: f64) -> CurvatureStencil {
        if epsilon < 1e-10 {
            return CurvatureStencil { probe: (48.0 * epsilon).sqrt().sqrt(), weights: &[(1.0, 1.0)] };
        }
        CurvatureStencil { probe: (100.0 * epsilon).cbrt().sqrt(), weights: &[(1.0, 4.0 / 3.0), (2.0, -1.0 / 12.0)] }
    }
}

/// Place of the outputs of which residuals are taken.
#[derive(Clone, Copy)]
pub(super) enum OutputSource {
    Point(usize),
    Linearized,
}

impl<T: Real> Objective<T> for ExternalBatch<'_, T> {
    fn loss(&mut self, x: &[T]) -> Evaluated<T> {
        self.check_point(x)?;
        let place = self.evaluate(x)?;
        let ModelMemory { points, buffers, samples, width, .. } = &mut *self.memory;
        let compared = Self::compared(self.batch, *width, 0..*samples, &points[place].outputs);
        Ok(self.loss.value(&compared, buffers))
    }

    fn loss_and_gradient(&mut self, x: &[T], gradients: &mut Gradients<T>) -> Evaluated<T> {
        self.linearize_at(x)?;
        let memory = &mut *self.memory;
        let compared = Self::compared(self.batch, memory.width, 0..memory.samples, &memory.outputs);
        let loss = self.loss.value_and_gradients(&compared, &mut memory.buffers);
        gradients.clear();
        self.model.pull(memory.buffers.gradients(memory.outputs.len()), gradients.flat_mut())?;
        Ok(loss)
    }

    fn least_squares(&mut self) -> Result<&mut dyn LeastSquares<T>, NotLeastSquares> {
        match self.loss.loss.least_squares() {
            Some(_) => Ok(self),
            None => Err(NotLeastSquares { loss: self.loss.loss.name().to_owned() }),
        }
    }

    fn kronecker_factored(&mut self) -> Result<&mut dyn KroneckerFactored<T>, NotKroneckerFactored> {
        self.least_squares()?;
        if !self.memory.is_recorded {
            return Err(NotKroneckerFactored::Layers);
        }
        let ModelMemory { blocks, layers, .. } = &mut *self.memory;
        if blocks.blocks.is_empty() {
            *blocks = LayerBlocks::new(layers, |parameter| self.model.parameter_name(parameter))?;
        }
        Ok(self)
    }
}

impl<T: Real> LeastSquares<T> for ExternalBatch<'_, T> {
    fn parameter_count(&self) -> usize {
        self.model.parameter_count()
    }

    fn residual_count(&self) -> usize {
        self.memory.samples * self.memory.width
    }

    fn row_group(&self) -> usize {
        self.memory.width
    }

    fn residuals(&mut self, x: &[T], first: usize, r: &mut [T]) -> Evaluated {
        let place = self.evaluate(x)?;
        let width = self.memory.width;
        self.memory.cost = self.residuals_of(OutputSource::Point(place), first / width..(first + r.len()) / width, r);
        Ok(())
    }

    fn linearize(&mut self, x: &[T], first: usize, r: &mut [T], jacobian: &mut [T]) -> Evaluated {
        self.linearize_at(x)?;
        let width = self.memory.width;
        if self.memory.is_recorded {
            self.memory.factors.rows(first, jacobian);
        } else {
            let mut unit = vec![T::ZERO; self.residual_count()];
            for (residual, row) in (first..).zip(jacobian.chunks_exact_mut(x.len())) {
                unit[residual] = T::ONE;
                self.pull_residuals(&unit, row)?;
                unit[residual] = T::ZERO;
            }
        }
        self.memory.cost = self.residuals_of(OutputSource::Linearized, first / width..(first + r.len()) / width, r);
        Ok(())
    }

    fn parameter_name(&self, index: usize) -> String {
        self.model.parameter_name(index)
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<T> {
        self
    }
}

impl<T: Real> Capabilities<T> for ExternalBatch<'_, T> {
    fn cost_of(&mut self, _first: usize, _r: &[T]) -> Option<T> {
        Some(self.memory.cost)
    }

    fn second_directional_derivative(&mut self, x: &[T], v: &[T], first: usize, second: &mut [T]) -> Evaluated<bool> {
        self.find_curvature(x, v)?;
        let place = self.evaluate(x)?;
        let width = self.memory.width;
        self.residuals_of(OutputSource::Point(place), first / width..(first + second.len()) / width, second);
        let ModelMemory { buffers, curvature, .. } = &*self.memory;
        let change = &curvature[first..first + second.len()];
        self.loss.residual_derivatives(buffers, width, Some(change), (0, width), second);
        Ok(true)
    }

    /// Returns false: a pull takes longer than an evaluation.
    fn derivatives_are_cheap(&mut self) -> Option<bool> {
        Some(false)
    }

    fn products(&mut self) -> Option<&mut dyn JacobianProducts<T>> {
        Some(self)
    }
}
