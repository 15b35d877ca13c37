//! The approximate Gauss–Newton matrix: averaged factors of all blocks, and their damped inverses.

use super::factor_inverse::{FactorInverse, invert_factor, trace};
use super::layer_inverses::LayerInverses;
use crate::kernels::inverse;
use crate::kernels::simd::{self, Kernel};
use crate::optim::finite::first_non_finite;
use crate::optim::gradients::parts;
use crate::optim::{OptimizerError, OptimizerResult};
use crate::problem::kronecker::form::FactorForm;
use crate::problem::{KroneckerBlock, KroneckerFactors, OutputProducts};
use crate::real::Real;
use crate::variables::{Gradients, Layout, Variable};

/// A block with a factor that could not be inverted.
pub(super) struct SingularBlock(pub(super) usize);

/// Factors and inverses of all blocks.
#[derive(Debug, Clone)]
pub(super) struct KroneckerCurvature<T> {
    /// The last estimate.
    pub(super) sample: KroneckerFactors<T>,
    /// Weight or table, and bias, of each block.
    pub(super) variables: Vec<[Option<Variable>; 2]>,
    /// Moving averages of the factors, and their inverses, with the new ones that replace them once the step is made.
    pub(super) factors: Versions<T>,
    pub(super) inverses: Versions<T>,
    /// Estimates that each block's averages are of.
    pub(super) counts: Vec<u64>,
    /// Blocks with variables that are adjusted.
    pub(super) active: Vec<bool>,
    /// Blocks of which all variables are adjusted.
    whole: Vec<bool>,
    /// Blocks whose part of the direction holds the gradient of the weight times the inverse of the output factor.
    formed: Vec<bool>,
    memory: Vec<T>,
    matrix: Vec<T>,
    product: Vec<T>,
}

/// Values, and the new ones that will replace them.
#[derive(Debug, Clone)]
pub(super) struct Versions<T> {
    pub(super) now: Vec<T>,
    pub(super) next: Vec<T>,
    is_new: bool,
}

impl<T: Real> Versions<T> {
    fn new(count: usize) -> Self {
        Versions { now: vec![T::ZERO; count], next: vec![T::ZERO; count], is_new: false }
    }

    /// The values for the step at work.
    fn latest(&self) -> &[T] {
        if self.is_new { &self.next } else { &self.now }
    }

    fn commit(&mut self) {
        if std::mem::take(&mut self.is_new) {
            std::mem::swap(&mut self.now, &mut self.next);
        }
    }
}

impl<T: Real> KroneckerCurvature<T> {
    /// Workspace for these blocks.
    ///
    /// # Errors
    ///
    /// [`OptimizerError::NoCurvature`] where a block is not of whole variables.
    pub(super) fn new(blocks: &[KroneckerBlock], rank: usize, layout: &Layout) -> OptimizerResult<Self> {
        let of_range = |range: std::ops::Range<usize>| {
            let found = layout.variables().find(|variable| variable.range() == range);
            found.ok_or_else(|| OptimizerError::NoCurvature { parameters: format!("{}..{}", range.start, range.end) })
        };
        let of_block = |block: &KroneckerBlock| {
            let mut ranges = block.parameters().map(of_range);
            Ok([ranges.next().transpose()?, ranges.next().transpose()?])
        };
        let sample = KroneckerFactors::new(blocks, rank);
        let count = sample.numbers().len();
        let variables = blocks.iter().map(of_block).collect::<OptimizerResult<_>>()?;
        let places = (0..blocks.len()).flat_map(|block| sample.places(block));
        let widest = blocks.iter().map(|block| block.input_size().max(block.output_size())).max().unwrap_or(0);
        let scratch = |(_, size, form)| match form {
            FactorForm::Diagonal => 0,
            FactorForm::Full => inverse::scratch_len(size),
            // Also for products with other factors of the block.
            FactorForm::Sketch(rank) => inverse::scratch_len(rank).max(2 * rank * (widest + 1)),
        };
        let size = places.map(scratch).max();
        let parameters = |block: &KroneckerBlock| match *block {
            KroneckerBlock::Dense { .. } => block.input_size() * block.output_size(),
            KroneckerBlock::Embedding { .. } | KroneckerBlock::Diagonal { .. } => 0,
        };
        let largest = blocks.iter().map(parameters).max().unwrap_or(0);
        Ok(KroneckerCurvature {
            variables,
            factors: Versions::new(count),
            inverses: Versions::new(count),
            counts: vec![0; blocks.len()],
            active: vec![false; blocks.len()],
            whole: vec![false; blocks.len()],
            formed: vec![false; blocks.len()],
            memory: vec![T::ZERO; size.unwrap_or(0)],
            matrix: vec![T::ZERO; largest],
            product: vec![T::ZERO; largest],
            sample,
        })
    }

    /// Marks the blocks with variables that are adjusted. Returns whether one of them has no factors yet.
    pub(super) fn activate(&mut self, is_adjusted: impl Fn(Variable) -> bool) -> bool {
        let mut has_new = false;
        let marks = self.active.iter_mut().zip(&mut self.whole);
        for (((active, whole), variables), &count) in marks.zip(&self.variables).zip(&self.counts) {
            let mut adjusted = variables.iter().flatten().map(|&variable| is_adjusted(variable));
            (*active, *whole) = (adjusted.clone().any(|is| is), adjusted.all(|is| is));
            has_new |= *active && count == 0;
        }
        has_new
    }

    /// Moves the averages of the active blocks towards the sample, by `1 − min(1 − 1/k, decay)` for estimate `k`.
    pub(super) fn average(&mut self, decay: f64) {
        let KroneckerCurvature { sample, factors, counts, active, .. } = self;
        let Versions { now, next, is_new } = factors;
        *is_new = true;
        for block in 0..active.len() {
            let range = sample.range(block);
            let (now, next) = (&now[range.clone()], &mut next[range.clone()]);
            if !active[block] {
                next.copy_from_slice(now);
                continue;
            }
            let kept = (1.0 - 1.0 / (counts[block] + 1) as f64).min(decay);
            let new = 1.0 - kept;
            let from = &sample.numbers()[range.clone()];
            for (place, _, form) in sample.places(block) {
                let part = place.start - range.start..place.end - range.start;
                let (next, now, sample) = (&mut next[part.clone()], &now[part.clone()], &from[part]);
                // The second moment of the sum of two sketches is the sum of theirs in the mean, as signs are random.
                let is_sketch = matches!(form, FactorForm::Sketch(_));
                let [kept, new] = [kept, new].map(|share| T::from_f64(if is_sketch { share.sqrt() } else { share }));
                simd::run(Average { next, now, sample, kept, new });
            }
        }
    }

    /// Mean of the diagonal of the approximate Gauss–Newton matrix of the active blocks; zero before there are factors.
    pub(super) fn mean_diagonal(&self) -> f64 {
        let factors = self.factors.latest();
        let (mut sum, mut count) = (0.0, 0);
        for block in (0..self.active.len()).filter(|&block| self.active[block]) {
            let [(inputs, n, of_inputs), (_, m, of_outputs)] = self.sample.places(block);
            let range = self.sample.range(block);
            let (a, g) = factors[range].split_at(inputs.len());
            sum += if n == 0 { 1.0 } else { trace(a, (n, of_inputs)) } * trace(g, (m, of_outputs));
            count += n.max(1) * m;
        }
        sum / count.max(1) as f64
    }

    /// The first active block whose sample holds NaN or infinity.
    pub(super) fn first_non_finite(&self) -> Option<usize> {
        let numbers = |block| &self.sample.numbers()[self.sample.range(block)];
        let is_at_fault = |&block: &usize| self.active[block] && first_non_finite(numbers(block)).is_some();
        (0..self.active.len()).find(is_at_fault)
    }

    /// Inverts the factors, with damping `λ` and a block's own weight decay. Returns the effective number of parameters of the
    /// active blocks, `tr(F (F + λ)⁻¹)` for the damped product `F + λ` of the factors: how many directions the damping leaves.
    ///
    /// # Errors
    ///
    /// [`SingularBlock`] for a factor that has no inverse, whatever the damping.
    pub(super) fn invert(&mut self, damping: impl Fn(Option<Variable>) -> f64) -> Result<f64, SingularBlock> {
        let KroneckerCurvature { sample, factors, inverses, variables, memory, active, counts, .. } = self;
        inverses.is_new = true;
        let factors = factors.latest();
        let mut effective = 0.0;
        for block in 0..active.len() {
            let range = sample.range(block);
            let next = &mut inverses.next[range.clone()];
            if counts[block] == 0 && !active[block] {
                next.fill(T::ZERO);
                continue;
            }
            next.copy_from_slice(&factors[range.clone()]);
            let damping = damping(variables[block][0]);
            let [(inputs, n, of_inputs), (_, m, of_outputs)] = sample.places(block);
            let (a, g) = next.split_at_mut(inputs.len());
            let [more_inputs, more_outputs] =
                if n == 0 { [1.0, damping] } else { shares(a, (n, of_inputs), g, (m, of_outputs), damping) };
            let fault = || SingularBlock(block);
            let columns = if let KroneckerBlock::Dense { inputs, .. } = sample.blocks()[block] { inputs } else { n };
            let rank_of_inputs =
                invert_factor(a, &factors[inputs.clone()], (n, of_inputs, columns), more_inputs, memory)
                    .ok_or_else(fault)?;
            let outputs = &factors[inputs.end..range.end];
            let rank_of_outputs =
                invert_factor(g, outputs, (m, of_outputs, m), more_outputs, memory).ok_or_else(fault)?;
            if active[block] {
                effective += if n == 0 { rank_of_outputs } else { rank_of_inputs * rank_of_outputs };
            }
        }
        Ok(effective)
    }

    /// The products that a problem may form in `direction` before it is [preconditioned](Self::precondition).
    pub(super) fn output_products<'a>(&'a mut self, direction: &'a mut [T]) -> OutputProducts<'a, T> {
        let KroneckerCurvature { sample, inverses, whole, formed, matrix, .. } = self;
        OutputProducts { factors: sample, inverses: inverses.latest(), whole, sums: direction, formed, scratch: matrix }
    }

    /// Fills `direction` with the preconditioned gradient, where there is one.
    pub(super) fn precondition(&mut self, gradients: &Gradients<T>, direction: &mut [T]) {
        let KroneckerCurvature { sample, inverses, variables, active, formed, matrix, product, memory, .. } = self;
        let inverses = inverses.latest();
        for block in (0..active.len()).filter(|&block| active[block]) {
            let [a, g] =
                sample.places(block).map(|(range, size, form)| FactorInverse { numbers: &inverses[range], size, form });
            let (n, m) = (a.size, g.size);
            let [weight, bias] = variables[block];
            let Some(weight) = weight else { continue };
            match sample.blocks()[block] {
                KroneckerBlock::Dense { inputs, .. } => {
                    let layer = LayerInverses { a, g, inputs };
                    let is_formed = std::mem::take(&mut formed[block]);
                    let given = |variable: &Variable| Some(gradients.given(*variable)).filter(|of| !of.is_empty());
                    let [weights, offsets] = [Some(weight), bias].map(|of| of.as_ref().and_then(given));
                    // Without a gradient, a weight or a bias counts as zeros, and stays where it is.
                    if weights.is_none() || bias.is_some() && offsets.is_none() {
                        matrix[..n * m].fill(T::ZERO);
                    }
                    let (no_weights, no_offsets) = matrix[..n * m].split_at(m * inputs);
                    let (weights_or, offsets_or) = (weights.unwrap_or(no_weights), offsets.unwrap_or(no_offsets));
                    let ranges = [weight.range(), bias.map_or(0..0, |bias| bias.range())];
                    layer.direct([weights_or, offsets_or], is_formed, [product, memory], direction, &ranges);
                    for (range, gradient) in ranges.into_iter().zip([weights, offsets]) {
                        if gradient.is_none() {
                            direction[range].fill(T::ZERO);
                        }
                    }
                }
                KroneckerBlock::Embedding { columns, .. } => {
                    for (range, values) in parts(gradients, weight) {
                        for (start, values) in range.step_by(columns).zip(values.chunks_exact(columns)) {
                            let row = (start - weight.range().start) / columns;
                            let to = &mut direction[start..start + columns];
                            g.times(values, 1, to, memory);
                            to.iter_mut().for_each(|number| *number *= a.numbers[row]);
                        }
                    }
                }
                KroneckerBlock::Diagonal { .. } => {
                    let to = direction[weight.range()].iter_mut();
                    to.zip(gradients.given(weight)).zip(g.numbers).for_each(|((to, &number), &g)| *to = number * g);
                }
            }
        }
    }

    /// Makes the new values the state.
    pub(super) fn commit(&mut self) {
        if self.factors.is_new {
            for (count, &active) in self.counts.iter_mut().zip(&self.active) {
                *count += u64::from(active);
            }
        }
        self.factors.commit();
        self.inverses.commit();
    }

    /// Discards the new values.
    pub(super) fn discard(&mut self) {
        (self.factors.is_new, self.inverses.is_new) = (false, false);
        self.formed.fill(false);
    }
}

/// Returns the shares of the damping: `π √λ` for the input factor and `√λ / π` for the output factor, where `π` makes up for
/// their scales.
fn shares<T: Real>(
    a: &[T],
    (n, of_inputs): (usize, FactorForm),
    g: &[T],
    (m, of_outputs): (usize, FactorForm),
    damping: f64,
) -> [f64; 2] {
    let ratio = (trace(a, (n, of_inputs)) / n as f64) / (trace(g, (m, of_outputs)) / m as f64);
    let pi = if ratio > 0.0 && ratio.is_finite() { ratio.sqrt() } else { 1.0 };
    [pi * damping.sqrt(), damping.sqrt() / pi]
}

/// `next = kept · now + new · sample`.
struct Average<'a, T> {
    next: &'a mut [T],
    now: &'a [T],
    sample: &'a [T],
    kept: T,
    new: T,
}

impl<T: Real> Kernel for Average<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        for ((next, &now), &sample) in self.next.iter_mut().zip(self.now).zip(self.sample) {
            *next = self.kept * now + self.new * sample;
        }
    }
}
