//! Dense layers, as their inputs `A` and sensitivities `D`: the rows of `J` are `D_i ⊗ A_b` for the weight, for residual
//! `i` of sample `b`, and `D_i` for the bias.

use std::ops::Range;

use super::formed::Formed;
use super::kept::{Kept, scratch};
use super::plan::DenseUse;
use crate::kernels::Factor;
use crate::kernels::hadamard::{MatrixBlock, put_hadamard};
use crate::kernels::samples::{add_matrices_times, add_row_grams, put_transposed_matrices_times};
use crate::kernels::vector::{add_scaled, dot};
use crate::problem::{Rate, Work};
use crate::real::Real;

/// Entries of `JJᵀ` that are worked on together, so that they stay in the second-level cache.
const BLOCK_NUMBERS: usize = 32 * 1024;

/// Rows of `JJᵀ` that are worked on together at least, where a sample has not more of them.
const FEW_ROWS: usize = 64;

/// Most rows that long sums enlarge a block to, beyond the size of the cache.
const MANY_ROWS: usize = 256;

impl DenseUse {
    fn inputs<'a, T: Real>(&self, kept: &'a Kept<T>) -> &'a [T] {
        kept.inputs(self.inputs, self.columns)
    }

    fn sensitivities<'a, T: Real>(&self, kept: &'a Kept<T>) -> &'a [T] {
        kept.sensitivities(self.sensitivities, self.rows)
    }

    /// Range of the weight's entries among the wanted ones.
    fn weight(&self) -> Range<usize> {
        self.weight..self.weight + self.columns * self.rows
    }

    /// Range of the bias's entries among the wanted ones.
    fn bias(&self) -> Option<Range<usize>> {
        self.bias.map(|start| start..start + self.rows)
    }
}

/// Pairs of layers that share their weight, both ways round, and of each layer with itself.
fn pairs(layers: &[DenseUse]) -> impl Iterator<Item = (DenseUse, DenseUse)> {
    let of_one_weight = layers.chunk_by(|a, b| a.weight == b.weight);
    of_one_weight.flat_map(|layers| layers.iter().flat_map(|&left| layers.iter().map(move |&right| (left, right))))
}

/// Addend to products of inputs: the product of the ones that a bias is multiplied by.
fn ones<T: Real>(left: DenseUse, right: DenseUse) -> T {
    if left.bias.is_some() && left.bias == right.bias { T::ONE } else { T::ZERO }
}

/// Cost of [`DenseLayers::put_row_gram`].
pub(super) fn row_gram_work(layers: &[DenseUse], samples: usize, group: usize) -> Work {
    // In floats: a batch may be asked about that would fit no memory.
    let (samples, group) = (samples as f64, group as f64);
    let triangle = |size: f64| 0.5 * size * (size + 1.0);
    let of_pair = |(left, _): (DenseUse, DenseUse)| {
        let (inputs, outputs) = (left.columns as f64, left.rows as f64);
        let blocks = |area: f64, depth: f64| {
            Work::new(Rate::Product, 2.0 * area * depth, area * (1.0 + depth / FEW_ROWS as f64))
        };
        let of_residuals = triangle(samples * group);
        blocks(of_residuals, outputs) + blocks(triangle(samples), inputs) + Work::elementwise(of_residuals, 2.0, 3.0)
    };
    pairs(layers).map(of_pair).sum()
}

/// Cost of [`DenseLayers::add_product`] or [`DenseLayers::add_transposed_product`].
pub(super) fn product_work(layers: &[DenseUse], samples: usize, group: usize) -> Work {
    let (samples, group) = (samples as f64, group as f64);
    let of_layer = |layer: &DenseUse| {
        let (inputs, outputs) = (layer.columns as f64, layer.rows as f64);
        Work::product(samples, inputs, outputs) + Work::elementwise(samples * group * outputs, 2.0, 1.0)
    };
    layers.iter().map(of_layer).sum()
}

/// Cost of [`DenseLayers::add_gram_product`].
pub(super) fn gram_product_work(layers: &[DenseUse], samples: usize, group: usize) -> Work {
    let (samples, group) = (samples as f64, group as f64);
    let of_layer = |layer: &DenseUse| {
        let outputs = layer.rows as f64;
        Work::product(samples, samples, outputs) + Work::elementwise(samples * group * outputs, 4.0, 2.0)
    };
    layers.iter().map(of_layer).sum()
}

/// Dense layers of a batch, those of one weight side by side.
#[derive(Clone, Copy)]
pub(super) struct DenseLayers<'a, T> {
    pub(super) layers: &'a [DenseUse],
    pub(super) kept: &'a Kept<T>,
}

impl<T: Real> DenseLayers<'_, T> {
    /// `K = Σ (AAᵀ + 1) ⊙ DDᵀ`, or added to `K`: its lower triangle, in blocks of rows.
    pub(super) fn put_row_gram(&self, memory: &mut Vec<T>, gram: &mut [T], accumulate: bool) {
        let DenseLayers { layers, kept } = *self;
        let (samples, group, stride) = (kept.samples, kept.group, kept.residuals());
        let longest = layers.iter().map(|layer| layer.rows).max().unwrap_or(0);
        let rows = (BLOCK_NUMBERS / stride).max((longest / 2).clamp(FEW_ROWS, MANY_ROWS));
        let together = (rows / group).max(1);
        // Enough for smaller batches as well, whose blocks may be taller.
        let largest = BLOCK_NUMBERS.max(group.max(MANY_ROWS) * stride).min(stride * stride);
        let memory = scratch(memory, largest + largest / (group * group) + stride);
        for first in (0..samples).step_by(together) {
            let rows = first..samples.min(first + together);
            let block = &mut gram[rows.start * group * stride..rows.end * group * stride];
            let mut accumulate = accumulate;
            for pair in pairs(layers) {
                // Left of the diagonal, and on it.
                for columns in [0..rows.start, rows.clone()].into_iter().filter(|columns| !columns.is_empty()) {
                    let columns = if accumulate { self.reached(pair, [&rows, &columns]) } else { columns };
                    if !columns.is_empty() {
                        self.put_block(pair, memory, block, [rows.clone(), columns], accumulate);
                    }
                }
                accumulate = true;
            }
        }
    }

    /// The columns without those at the ends where a pair adds nothing to these rows, as their residuals do not depend on that use of a
    /// layer. Where samples are of several sets, those of a set follow each other.
    fn reached(&self, (left, right): (DenseUse, DenseUse), [rows, columns]: [&Range<usize>; 2]) -> Range<usize> {
        let of_samples = |layer: DenseUse, samples: &Range<usize>| {
            let size = layer.rows * self.kept.group;
            layer.sensitivities(self.kept)[samples.start * size..samples.end * size].chunks_exact(size)
        };
        let counts = |sensitivities: &[T]| sensitivities.iter().any(|&number| number != T::ZERO);
        if !of_samples(left, rows).any(counts) {
            return columns.start..columns.start;
        }
        if rows == columns {
            return columns.clone();
        }
        let first = of_samples(right, columns).position(counts).unwrap_or(columns.len());
        let behind = of_samples(right, columns).rev().position(counts).unwrap_or(0);
        columns.start + first..columns.end - behind.min(columns.len() - first)
    }

    /// The part of [`put_row_gram`](Self::put_row_gram) of some samples, with some samples.
    fn put_block(
        &self,
        (left, right): (DenseUse, DenseUse),
        memory: &mut [T],
        block: &mut [T],
        [rows, columns]: [Range<usize>; 2],
        accumulate: bool,
    ) {
        let kept = self.kept;
        let (group, stride, width) = (kept.group, kept.residuals(), columns.len() * kept.group);
        let (products, memory) = memory.split_at_mut(rows.len() * group * width);
        let (factors, memory) = memory.split_at_mut(rows.len() * columns.len());
        let is_triangle = rows == columns && left.sensitivities == right.sensitivities;
        let multiply = |to: &mut [T], a: &[T], b: &[T], [rows, columns]: [Range<usize>; 2], n: usize| {
            let a = &a[rows.start * n..rows.end * n];
            if is_triangle && n > 1 {
                return T::row_gram(to, a, n);
            }
            T::multiply_transposed(to, false, a, &b[columns.start * n..columns.end * n], n, columns.len());
        };
        let of_residuals = [&rows, &columns].map(|samples| samples.start * group..samples.end * group);
        let (a, b) = (left.inputs(kept), right.inputs(kept));
        multiply(factors, a, b, [rows, columns.clone()], left.columns);
        let (a, b) = (left.sensitivities(kept), right.sensitivities(kept));
        multiply(products, a, b, of_residuals, left.rows);
        let block = MatrixBlock { rows: &mut block[columns.start * group..], stride, width };
        put_hadamard(block, accumulate, products, factors, ones(left, right), group, memory);
    }

    /// Adds to the blocks of every sample's residuals with each other.
    pub(super) fn add_row_gram_blocks(&self, memory: &mut Vec<T>, blocks: &mut [T]) {
        let DenseLayers { layers, kept } = *self;
        let (factors, memory) = scratch(memory, kept.samples + kept.group).split_at_mut(kept.samples);
        for (left, right) in pairs(layers) {
            let [a, b] = [left, right].map(|layer| layer.inputs(kept).chunks_exact(layer.columns));
            for (factor, (a, b)) in factors.iter_mut().zip(a.zip(b)) {
                *factor = dot(a, b) + ones(left, right);
            }
            let sensitivities = [left, right].map(|layer| layer.sensitivities(kept));
            add_row_grams(blocks, factors, sensitivities, left.rows, kept.group, memory);
        }
    }

    /// `AAᵀ + 1` of every layer, both triangles.
    pub(super) fn put_input_grams(&self, grams: &mut Vec<T>) {
        let n = self.kept.samples;
        let grams = scratch(grams, self.layers.len() * n * n);
        for (layer, gram) in self.layers.iter().zip(grams.chunks_exact_mut((n * n).max(1))) {
            T::row_gram(gram, layer.inputs(self.kept), layer.columns);
            for i in 0..n {
                for j in 0..=i {
                    let entry = gram[i * n + j] + ones(*layer, *layer);
                    (gram[i * n + j], gram[j * n + i]) = (entry, entry);
                }
            }
        }
    }

    /// The Gram matrices of one residual's rows of all samples each, given [those of inputs](Self::put_input_grams): lower triangles.
    pub(super) fn put_row_gram_of_residuals(
        &self,
        memory: &mut Vec<T>,
        grams: &[T],
        formed: Option<Formed<'_, T>>,
        blocks: &mut [T],
    ) {
        let DenseLayers { layers, kept } = *self;
        let (n, group) = (kept.samples, kept.group);
        let widest = layers.iter().map(|layer| layer.rows).chain(formed.map(|formed| formed.count)).max().unwrap_or(0);
        let (products, rows) = scratch(memory, n * n + n * widest).split_at_mut(n * n);
        let mut multiply = |products: &mut [T], all: &[T], width: usize, residual: usize| {
            let rows = &mut rows[..n * width];
            let of_residual = all.chunks_exact(width).skip(residual).step_by(group);
            rows.chunks_exact_mut(width).zip(of_residual).for_each(|(to, row)| to.copy_from_slice(row));
            T::row_gram(products, rows, width);
        };
        for (residual, block) in blocks.chunks_exact_mut(n * n).enumerate() {
            match formed {
                Some(formed) => multiply(block, formed.rows, formed.count, residual),
                None => block.fill(T::ZERO),
            }
            for (layer, gram) in layers.iter().zip(grams.chunks_exact(n * n)) {
                multiply(products, layer.sensitivities(kept), layer.rows, residual);
                let entries = block.iter_mut().zip(&*products).zip(gram);
                entries.for_each(|((entry, &product), &gram)| *entry += product * gram);
            }
        }
    }

    /// Adds `JJᵀu`, given the [Gram matrices of inputs](Self::put_input_grams): `D_i · Σ_c (AAᵀ + 1)_bc Δ_c`, with `Δ_b = Σ u_i D_i`.
    pub(super) fn add_gram_product(&self, memory: &mut Vec<T>, grams: &[T], u: &[T], product: &mut [T]) {
        let DenseLayers { layers, kept } = *self;
        let n = kept.samples;
        for (layer, gram) in layers.iter().zip(grams.chunks_exact((n * n).max(1))) {
            let outputs = layer.rows;
            let (sums, changes) = scratch(memory, 2 * n * outputs).split_at_mut(n * outputs);
            put_transposed_matrices_times(sums, layer.sensitivities(kept), u, outputs, kept.group);
            T::multiply(changes, false, Factor::Plain(gram), sums, n, outputs);
            add_matrices_times(product, layer.sensitivities(kept), &changes[..n * outputs], outputs, kept.group);
        }
    }

    /// Adds `Jv`: `D_i · (V A_b + v)`.
    pub(super) fn add_product(&self, memory: &mut Vec<T>, v: &[T], product: &mut [T]) {
        let DenseLayers { layers, kept } = *self;
        for layer in layers {
            let (n, outputs) = (layer.columns, layer.rows);
            let changes = scratch(memory, kept.samples * outputs);
            if let Some(bias) = layer.bias() {
                changes.chunks_exact_mut(outputs).for_each(|row| row.copy_from_slice(&v[bias.clone()]));
            }
            T::multiply_transposed(changes, layer.bias.is_some(), layer.inputs(kept), &v[layer.weight()], n, outputs);
            add_matrices_times(product, layer.sensitivities(kept), changes, outputs, kept.group);
        }
    }

    /// Adds `Jᵀu`: `ΔᵀA` for the weight and the sum of the rows of `Δ` for the bias, with `Δ_b = Σ u_i D_i`.
    pub(super) fn add_transposed_product(&self, memory: &mut Vec<T>, u: &[T], product: &mut [T]) {
        let DenseLayers { layers, kept } = *self;
        for layer in layers {
            let (n, outputs) = (layer.columns, layer.rows);
            let sums = scratch(memory, kept.samples * outputs);
            put_transposed_matrices_times(sums, layer.sensitivities(kept), u, outputs, kept.group);
            let weight = &mut product[layer.weight()];
            T::multiply(weight, true, Factor::Transposed(sums), layer.inputs(kept), kept.samples, n);
            if let Some(bias) = layer.bias() {
                let bias = &mut product[bias];
                sums.chunks_exact(outputs).for_each(|row| add_scaled(bias, T::ONE, row));
            }
        }
    }
}
