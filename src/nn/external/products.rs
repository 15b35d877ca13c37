//! Products with the Jacobian of an external model's residuals: from the factors of its layers, or by pulls and pushes.

use std::ops::Range;

use super::batch::{ExternalBatch, OutputSource};
use super::memory::ModelMemory;
use crate::kernels::vector::dot;
use crate::problem::{Evaluated, JacobianProducts, LeastSquares, ProductWork, Rate, Work};
use crate::real::Real;

impl<T: Real> JacobianProducts<T> for ExternalBatch<'_, T> {
    fn work(&mut self, columns: &[Range<usize>]) -> Option<ProductWork> {
        let (m, n) = (self.residual_count(), self.model.parameter_count());
        if columns != std::slice::from_ref(&(0..n)) {
            return None;
        }
        let memory = &*self.memory;
        if memory.is_recorded {
            return Some(memory.factors.recorded_work(memory.samples, memory.width));
        }
        // A pass takes each parameter to each sample once, if no more often; a pull goes there and back.
        let pass = Work::new(Rate::Product, 2.0 * memory.samples as f64 * n as f64, (m + n) as f64);
        Some(ProductWork {
            linearize: pass,
            row_gram: None,
            product: pass * 2.0,
            gram_product: None,
            jacobian: None,
            numbers: m + n,
        })
    }

    fn linearize_products(&mut self, x: &[T], columns: &[Range<usize>], r: &mut [T]) -> Evaluated<T> {
        if columns != std::slice::from_ref(&(0..x.len())) {
            return Err("products are with all columns".into());
        }
        self.linearize_at(x)?;
        let samples = self.memory.samples;
        Ok(self.residuals_of(OutputSource::Linearized, 0..samples, r))
    }

    fn multiply(&mut self, v: &[T], product: &mut [T]) -> Evaluated<bool> {
        if self.memory.is_recorded {
            self.memory.factors.multiply(v, product);
            return Ok(true);
        }
        let width = self.memory.width;
        let mut tangents = std::mem::take(&mut self.memory.ahead);
        let pushed = self.push_outputs(v, &mut tangents);
        self.find_roots();
        self.loss.residual_derivatives(&self.memory.buffers, width, Some(&tangents), (0, width), product);
        self.memory.ahead = tangents;
        pushed.map(|()| true)
    }

    fn multiply_transposed(&mut self, u: &[T], product: &mut [T]) -> Evaluated {
        if self.memory.is_recorded {
            self.memory.factors.multiply_transposed(u, product);
            return Ok(());
        }
        self.pull_residuals(u, product)
    }

    fn row_gram(&mut self, gram: &mut [T]) -> Evaluated {
        self.memory.factors.row_gram(gram);
        Ok(())
    }

    fn row_gram_blocks(&mut self, blocks: &mut [T]) -> Evaluated<bool> {
        if self.memory.is_recorded {
            self.memory.factors.row_gram_blocks(blocks);
        }
        Ok(self.memory.is_recorded)
    }
}

impl<T: Real> ExternalBatch<'_, T> {
    /// Derivatives of the outputs along `v` at the point that was linearised: the model's own, or a difference.
    fn push_outputs(&mut self, v: &[T], tangents: &mut [T]) -> Evaluated {
        let ModelMemory { linearized, outputs, moved, .. } = &mut *self.memory;
        let x = linearized.as_deref().ok_or("the model is not linearised")?;
        if self.model.push(v, tangents)? {
            return Ok(());
        }
        let length = dot(v, v).sqrt();
        if length == T::ZERO {
            tangents.fill(T::ZERO);
            return Ok(());
        }
        let step = T::EPSILON.sqrt() * (T::ONE + dot(x, x).sqrt()) / length;
        moved.clear();
        moved.extend(x.iter().zip(v).map(|(&x, &v)| x + step * v));
        self.model.outputs(moved, tangents)?;
        tangents.iter_mut().zip(outputs).for_each(|(ahead, &mut here)| *ahead = (*ahead - here) / step);
        Ok(())
    }
}
