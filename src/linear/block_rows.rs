//! A Jacobian of blocks that is kept: its stored entries, and products with it.

use std::ops::Range;
use std::sync::Arc;

use super::block_sums::BlockSums;
use super::choice::PlanError;
use super::kept_rows::KeptRows;
use super::sparse::{BlockMatrix, BlockPattern, TooLarge};
use crate::kernels::simd::{self, Kernel};
use crate::kernels::vector::{add_scaled, dot};
use crate::lists::Lists;
use crate::problem::{BlockJacobian, Evaluated};
use crate::real::Real;

/// Structure of a block Jacobian: the blocks of columns in which each residual block has derivatives.
#[derive(Debug, Clone)]
pub struct BlockStructure {
    /// First column of each block of columns, and the number of columns.
    offsets: Vec<usize>,
    /// Blocks of columns of each residual block.
    touched: Lists<u32>,
}

impl BlockStructure {
    /// The structure of a problem of `n` columns.
    ///
    /// # Errors
    ///
    /// A structure that contradicts itself.
    pub(super) fn new<T: Real>(problem: &dyn BlockJacobian<T>, n: usize) -> Result<Self, PlanError> {
        let sizes = problem.column_blocks();
        let wrong = PlanError::Blocks { residual_block: None };
        if sizes.contains(&0) {
            return Err(wrong);
        }
        u32::try_from(sizes.len()).map_err(|_| TooLarge)?;
        let mut offsets = vec![0_usize];
        for &size in &sizes {
            offsets.push(offsets[offsets.len() - 1].checked_add(size).ok_or(wrong)?);
        }
        if offsets[sizes.len()] != n {
            return Err(wrong);
        }
        let mut touched = Lists::new();
        let mut culprit = None;
        problem.visit_structure(&mut |own| {
            let is_wrong = |place: usize| own[place] >= sizes.len() || own[..place].contains(&own[place]);
            if culprit.is_none() && (0..own.len()).any(is_wrong) {
                culprit = Some(touched.len());
            }
            touched.items.extend(own.iter().map(|&block| block as u32));
            touched.end();
        });
        match culprit {
            None => Ok(BlockStructure { offsets, touched }),
            residual_block => Err(PlanError::Blocks { residual_block }),
        }
    }

    /// Number of columns.
    pub(super) fn columns(&self) -> usize {
        self.offsets[self.blocks()]
    }

    /// Number of blocks of columns.
    pub(super) fn blocks(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of columns of a block.
    pub(super) fn size(&self, block: usize) -> usize {
        self.offsets[block + 1] - self.offsets[block]
    }

    /// Columns of a block.
    pub(super) fn range(&self, block: usize) -> Range<usize> {
        self.offsets[block]..self.offsets[block + 1]
    }

    /// Number of residual blocks.
    pub(super) fn residual_blocks(&self) -> usize {
        self.touched.len()
    }

    /// Blocks of columns that residual block `k` has derivatives in.
    pub(super) fn touched(&self, k: usize) -> &[u32] {
        self.touched.of(k)
    }

    /// Blocks of columns that residual block `k` has derivatives in, and their columns among those of its rows.
    #[inline(always)]
    pub(super) fn parts(&self, k: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
        let mut end = 0;
        self.touched(k).iter().map(move |&block| {
            let start = end;
            end += self.size(block as usize);
            (block as usize, start..end)
        })
    }

    /// Number of columns in which residual block `k` has derivatives.
    pub(super) fn width(&self, k: usize) -> usize {
        self.touched(k).iter().map(|&block| self.size(block as usize)).sum()
    }

    /// Stored entries of a Jacobian of `m` rows, whose residual blocks are taken to have about as many rows each.
    pub(super) fn entries(&self, m: usize) -> usize {
        let widths: usize = (0..self.residual_blocks()).map(|k| self.width(k)).sum();
        (widths as f64 * (m as f64 / self.residual_blocks().max(1) as f64)) as usize
    }

    /// Bytes of two Jacobians of `m` rows, of the blocks on the diagonal, and of vectors.
    pub(super) fn bytes<T>(&self, m: usize) -> usize {
        let squares: usize = (0..self.blocks()).map(|block| self.size(block).saturating_mul(self.size(block))).sum();
        let entries = self.entries(m).saturating_mul(2).saturating_add(squares.saturating_mul(3));
        entries.saturating_add(self.columns().saturating_mul(20)).saturating_mul(size_of::<T>())
    }

    /// Lower bound of the diameter of the graph, in residual blocks: the largest distance from the first block of columns of a connected
    /// piece, by breadth-first search. `residual_blocks` has those that touch each block.
    pub(super) fn depth(&self, residual_blocks: &Lists<u32>) -> usize {
        let mut is_seen = vec![false; self.blocks()];
        let (mut front, mut next, mut deepest) = (Vec::new(), Vec::new(), 0);
        for start in 0..self.blocks() {
            if std::mem::replace(&mut is_seen[start], true) {
                continue;
            }
            front.push(start);
            let mut depth = 0;
            loop {
                let touching = front.iter().flat_map(|&block| residual_blocks.of(block));
                let others = touching.flat_map(|&k| self.touched(k as usize)).map(|&block| block as usize);
                next.extend(others.filter(|&block| !std::mem::replace(&mut is_seen[block], true)));
                front.clear();
                if next.is_empty() {
                    break;
                }
                std::mem::swap(&mut front, &mut next);
                depth += 1;
            }
            deepest = deepest.max(depth);
        }
        deepest
    }

    /// Residual blocks that touch each block of columns.
    pub(super) fn residual_blocks_of_all(&self) -> Lists<u32> {
        let blocks_of = |k: usize| self.touched(k).iter().map(move |&block| (block as usize, k as u32));
        Lists::sorted(self.blocks(), (0..self.residual_blocks()).flat_map(blocks_of))
    }
}

/// `J` by its stored entries at a point, `Jᵀr`, and the blocks on the diagonal of `JᵀJ`.
pub struct BlockRows<T> {
    pub(super) structure: Arc<BlockStructure>,
    /// Rows of each residual block: the columns of its blocks side by side.
    rows: Vec<KeptRows<T>>,
    /// `Jᵀr`.
    pub(super) gradient: Vec<T>,
    /// Blocks on the diagonal of `JᵀJ`.
    diagonal: BlockMatrix<T>,
}

impl<T: Real> BlockRows<T> {
    /// No rows yet, and the sums over them.
    pub(super) fn new(structure: &Arc<BlockStructure>) -> Result<(Self, BlockSums<T>), TooLarge> {
        let sizes: Vec<usize> = (0..structure.blocks()).map(|block| structure.size(block)).collect();
        let mut pattern = BlockPattern::new(&sizes, &[])?;
        let sums = BlockSums::new(&mut pattern, structure);
        let rows = BlockRows {
            rows: sums.rows(),
            gradient: vec![T::ZERO; structure.columns()],
            diagonal: BlockMatrix::new(pattern),
            structure: Arc::clone(structure),
        };
        Ok((rows, sums))
    }

    /// Takes the rows of a problem at `x`, on all cores; returns the cost, and the sum of the squares of the rows.
    pub(super) fn linearize(
        &mut self,
        sums: &mut BlockSums<T>,
        problem: &mut dyn BlockJacobian<T>,
        x: &[T],
    ) -> Evaluated<(T, T)> {
        sums.sum(problem, x, (self.diagonal.values_mut(), &mut self.gradient), &mut self.rows)
    }

    /// Rows of residual block `k`.
    pub(super) fn of(&self, k: usize) -> &[T] {
        KeptRows::find(&self.rows, k).1
    }

    /// Block of `JᵀJ` on the diagonal.
    pub(super) fn diagonal_block(&self, block: usize) -> &[T] {
        let size = self.structure.size(block);
        &self.diagonal.values()[self.diagonal.pattern().diagonal_slot(block)..][..size * size]
    }

    /// `‖J_j‖` of every column.
    pub(super) fn column_norms(&self, norms: &mut [T]) {
        self.diagonal.diagonal(norms);
        norms.iter_mut().for_each(|norm| *norm = norm.sqrt());
    }

    /// `Σ g_j²/‖J_j‖²` for the gradient `g = Jᵀr`: a size of the gradient that units do not change.
    pub(super) fn squared_gradient(&self) -> T {
        let squares = |block: usize| self.diagonal_block(block).iter().step_by(self.structure.size(block) + 1);
        let with_influence = (0..self.structure.blocks()).flat_map(squares).zip(&self.gradient);
        let with_influence = with_influence.filter(|(square, _)| **square > T::ZERO);
        with_influence.fold(T::ZERO, |sum, (&square, &derivative)| sum + derivative * derivative / square)
    }

    /// `product = JᵀJv`.
    pub(super) fn gram_times(&self, v: &[T], product: &mut [T]) {
        product.fill(T::ZERO);
        simd::run(GramTimes { rows: self, v, product: Some(product), squares: &mut T::default() });
    }

    /// `‖Jv‖²`.
    pub(super) fn quadratic_form(&self, v: &[T]) -> T {
        let mut squares = T::ZERO;
        simd::run(GramTimes { rows: self, v, product: None, squares: &mut squares });
        squares
    }
}

/// `JᵀJ + λD²`, by the rows of `J`.
#[derive(Clone, Copy)]
pub(super) struct DampedRows<'a, T> {
    pub(super) rows: &'a BlockRows<T>,
    pub(super) lambda: T,
    pub(super) d: &'a [T],
}

/// Computes `‖Jv‖²` and optionally `JᵀJv`, in one pass over the rows.
struct GramTimes<'a, T> {
    rows: &'a BlockRows<T>,
    v: &'a [T],
    product: Option<&'a mut [T]>,
    squares: &'a mut T,
}

impl<T: Real> Kernel for GramTimes<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const _FUSED: bool>(self) {
        let GramTimes { rows, v, mut product, squares } = self;
        let structure = &*rows.structure;
        let (mut gathered, mut sums) = (Vec::new(), Vec::new());
        for k in 0..structure.residual_blocks() {
            gathered.clear();
            structure.parts(k).for_each(|(block, _)| gathered.extend_from_slice(&v[structure.range(block)]));
            let width = gathered.len();
            if width == 0 {
                continue;
            }
            sums.clear();
            sums.resize(width, T::ZERO);
            for row in rows.of(k).chunks_exact(width) {
                let along = dot(row, &gathered);
                *squares += along * along;
                if product.is_some() {
                    add_scaled(&mut sums, along, row);
                }
            }
            if let Some(product) = &mut product {
                for (block, columns) in structure.parts(k) {
                    add_scaled(&mut product[structure.range(block)], T::ONE, &sums[columns]);
                }
            }
        }
    }
}
