//! Elimination of blocks of columns that no residual block shares: the Schur complement.

use std::ops::Range;

use super::block_jacobi::BlockJacobi;
use super::block_rows::{BlockRows, BlockStructure, DampedRows};
use super::elimination_part::{DiagonalSums, EliminationPart, Neighbour, Operation, RunPart, Span};
use super::model::IllConditioned;
use crate::kernels::simd;
use crate::kernels::vector::add_scaled;
use crate::lists::{Lists, prefix_sums, take_first};
use crate::parallel;
use crate::real::Real;

/// No place.
const NONE: u32 = u32::MAX;

/// Fewest residual blocks of a part, and most that touch no eliminated block and are listed together.
const FEWEST: usize = 512;

/// Least entries of a part's rows for each entry of its sums of blocks on the diagonal.
const SHARE: usize = 4;

/// Places of a problem's columns after an independent set of their blocks is eliminated.
///
/// With columns `E` that are eliminated and `F` that are kept, `H = JᵀJ + λD²` becomes `S = H_FF − H_FE H_EE⁻¹ H_EF`, of which `H_EE`
/// consists of small blocks on the diagonal.
#[derive(Debug, Clone)]
pub(super) struct Elimination<T> {
    /// Blocks of columns that are eliminated, and those that are kept.
    eliminated: Vec<usize>,
    kept: Vec<usize>,
    /// Place of each block among those, whichever it belongs to.
    places: Vec<u32>,
    is_eliminated: Vec<bool>,
    /// First entry of each kept block in a vector of the kept columns.
    kept_offsets: Vec<usize>,
    /// Residual blocks that touch each eliminated block, and last, in several lists, those that touch none.
    residual_blocks: Lists<u32>,
    /// `H_EE`.
    pivots: BlockJacobi<T>,
    parts: Vec<EliminationPart<T>>,
    /// The eliminated blocks' part of a vector, in their order.
    own: Vec<T>,
}

impl<T: Real> Elimination<T> {
    /// Eliminates these blocks, of which no two share a residual block.
    pub(super) fn new(structure: &BlockStructure, eliminated: Vec<usize>) -> Self {
        let n = structure.blocks();
        let mut is_eliminated = vec![false; n];
        eliminated.iter().for_each(|&block| is_eliminated[block] = true);
        let kept: Vec<usize> = (0..n).filter(|&block| !is_eliminated[block]).collect();
        let mut places = vec![NONE; n];
        for blocks in [&eliminated, &kept] {
            blocks.iter().enumerate().for_each(|(place, &block)| places[block] = place as u32);
        }
        let kept_offsets = prefix_sums(kept.iter().map(|&block| structure.size(block)));
        let count = structure.residual_blocks();
        let mut others = 0;
        let lists: Vec<(usize, u32)> = (0..count)
            .map(|k| {
                let mut own = structure.touched(k).iter().filter(|&&block| is_eliminated[block as usize]);
                let list = own.next().map(|&block| places[block as usize] as usize);
                others += usize::from(list.is_none());
                (list.unwrap_or_else(|| eliminated.len() + (others - 1) / FEWEST), k as u32)
            })
            .collect();
        let residual_blocks = Lists::sorted(eliminated.len() + others.div_ceil(FEWEST), lists.into_iter());
        let sizes = || eliminated.iter().map(|&block| structure.size(block));
        let pivots = BlockJacobi::new(sizes());
        let own = vec![T::ZERO; sizes().sum()];
        let parts = Vec::new();
        let mut elimination =
            Elimination { eliminated, kept, places, is_eliminated, kept_offsets, residual_blocks, pivots, parts, own };
        elimination.parts = elimination.divided(structure);
        elimination
    }

    /// Parts of about as many residual blocks each; they do not depend on the number of threads.
    fn divided(&self, structure: &BlockStructure) -> Vec<EliminationPart<T>> {
        let count = structure.residual_blocks();
        let entries: usize = (0..count).map(|k| structure.width(k)).sum();
        let squares: usize = self.kept.iter().map(|&block| structure.size(block).pow(2)).sum();
        let fewest = FEWEST.max((SHARE * squares).saturating_mul(count) / entries.max(1));
        let mut first = 0;
        let parts = parallel::parts(count, fewest).filter_map(|part| {
            let all = self.residual_blocks.len();
            let before = self.residual_blocks.starts.partition_point(|&start| start < part.end);
            let lists = first..if part.end == count { all } else { before.min(all) };
            first = lists.end;
            (!lists.is_empty()).then_some(lists)
        });
        let part = |lists: Range<usize>| {
            let mut spans = Lists::new();
            for &k in lists.clone().flat_map(|e| self.residual_blocks.of(e)) {
                let kept = structure.touched(k as usize).iter().map(|&block| block as usize);
                let kept = kept.filter(|&block| !self.is_eliminated[block]).map(|block| {
                    let (f, size) = (self.places[block], structure.size(block) as u32);
                    Span { f, size, start: self.kept_offsets[f as usize] }
                });
                spans.items.extend(kept);
                spans.end();
            }
            let starts = prefix_sums(lists.clone().map(|e| self.residual_blocks.of(e).len()));
            let sizes = lists.clone().map(|e| self.eliminated.get(e).map_or(0, |&block| structure.size(block)));
            EliminationPart::new(lists.clone(), sizes.collect(), starts, spans, self.kept_columns())
        };
        parts.map(part).collect()
    }

    /// Blocks of columns that are kept.
    pub(super) fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Number of columns that are kept.
    pub(super) fn kept_columns(&self) -> usize {
        self.kept_offsets[self.kept.len()]
    }

    /// Columns of kept block `f` in a vector of the kept columns.
    fn kept_range(&self, f: usize) -> Range<usize> {
        self.kept_offsets[f]..self.kept_offsets[f + 1]
    }

    /// Factorises `H_EE`, and takes the rows.
    pub(super) fn factorize(&mut self, system: DampedRows<'_, T>) -> Result<(), IllConditioned> {
        for (e, &block) in self.eliminated.iter().enumerate() {
            self.pivots.fill(e, system, block);
            self.pivots.factorize(e)?;
        }
        let Elimination { eliminated, residual_blocks, parts, .. } = self;
        parallel::for_each(parts.iter_mut().collect(), |part| {
            part.take_rows(system.rows, residual_blocks, |e| eliminated.get(e).copied());
        });
        Ok(())
    }

    /// Fills the blocks on the diagonal of `S`, and factorises them.
    pub(super) fn fill_diagonal(
        &self,
        system: DampedRows<'_, T>,
        diagonal: &mut BlockJacobi<T>,
    ) -> Result<(), IllConditioned> {
        let squares = || self.kept.iter().map(|&block| system.rows.structure.size(block).pow(2));
        let starts = prefix_sums(squares());
        let sums = parallel::map(self.parts.len(), |part| {
            let mut sums = vec![T::ZERO; starts[self.kept.len()]];
            simd::run(DiagonalSums { pivots: &self.pivots, part: &self.parts[part], starts: &starts, sums: &mut sums });
            sums
        });
        self.kept.iter().enumerate().try_for_each(|(f, &block)| {
            diagonal.fill(f, system, block);
            sums.iter().for_each(|sums| add_scaled(diagonal.block_mut(f), -T::ONE, &sums[starts[f]..starts[f + 1]]));
            diagonal.factorize(f)
        })
    }

    /// Calls `visit` for each product that the Schur complement is the sum of, with its pair of kept blocks: first those of
    /// [`visit_kept_products`](Self::visit_kept_products), then those of [`visit_fill`](Self::visit_fill).
    pub(super) fn visit_products(&self, structure: &BlockStructure, mut visit: impl FnMut(usize, usize)) {
        let kept_of = |k: usize| {
            let kept = structure.touched(k).iter().filter(|&&block| !self.is_eliminated[block as usize]);
            kept.map(|&block| self.places[block as usize] as usize)
        };
        for k in 0..structure.residual_blocks() {
            for (p, i) in kept_of(k).enumerate() {
                kept_of(k).take(p + 1).for_each(|j| visit(i, j));
            }
        }
        let mut neighbours = Vec::new();
        let mut seen_by = vec![usize::MAX; self.kept.len()];
        for e in 0..self.eliminated.len() {
            neighbours.clear();
            for f in self.residual_blocks.of(e).iter().flat_map(|&k| kept_of(k as usize)) {
                if std::mem::replace(&mut seen_by[f], e) != e {
                    neighbours.push(f);
                }
            }
            for &i in &neighbours {
                neighbours.iter().filter(|&&j| j <= i).for_each(|&j| visit(i, j));
            }
        }
    }

    /// Calls `visit` with the product of each pair of kept blocks of each residual block, by rows, those of the later block's columns.
    #[inline(always)]
    pub(super) fn visit_kept_products(&self, rows: &BlockRows<T>, mut visit: impl FnMut(&[T])) {
        let structure = &*rows.structure;
        let is_kept = |(block, _): &(usize, Range<usize>)| !self.is_eliminated[*block];
        let mut product = Vec::new();
        for k in 0..structure.residual_blocks() {
            let width = structure.width(k);
            for (p, (i, of_i)) in structure.parts(k).filter(is_kept).enumerate() {
                for (j, of_j) in structure.parts(k).filter(is_kept).take(p + 1) {
                    let is_later = self.places[i] >= self.places[j];
                    let (above, below) = if is_later { (&of_i, &of_j) } else { (&of_j, &of_i) };
                    product.clear();
                    product.resize(above.len() * below.len(), T::ZERO);
                    for row in rows.of(k).chunks_exact(width) {
                        let (a, b) = (&row[above.clone()], &row[below.clone()]);
                        product.chunks_exact_mut(below.len()).zip(a).for_each(|(sums, &a)| add_scaled(sums, a, b));
                    }
                    visit(&product);
                }
            }
        }
    }

    /// Calls `visit` with the product that each elimination subtracts from the Schur complement in each pair of kept blocks, by
    /// rows, those of the later block's columns.
    #[inline(always)]
    pub(super) fn visit_fill(&self, mut visit: impl FnMut(&[T])) {
        let mut block = Vec::new();
        for part in &self.parts {
            part.visit_couplings(&self.pivots, self.kept.len(), |neighbours, couplings, solved| {
                let own_size = couplings.len() / total(neighbours).max(1);
                for a in neighbours {
                    for b in neighbours.iter().filter(|b| b.f <= a.f) {
                        block.clear();
                        block.resize(a.size * b.size, T::ZERO);
                        for e in 0..own_size {
                            let of_a = &couplings[a.at + e * a.size..][..a.size];
                            let of_b = &solved[b.at + e * b.size..][..b.size];
                            block.chunks_exact_mut(b.size).zip(of_a).for_each(|(sums, &a)| add_scaled(sums, a, of_b));
                        }
                        visit(&block);
                    }
                }
            });
        }
    }

    /// The kept columns' part of a vector.
    pub(super) fn gather_columns(&self, structure: &BlockStructure, v: &[T], kept: &mut [T]) {
        for (f, &block) in self.kept.iter().enumerate() {
            kept[self.kept_range(f)].copy_from_slice(&v[structure.range(block)]);
        }
    }

    /// `product = S v` for a vector of the kept columns.
    pub(super) fn multiply(&mut self, DampedRows { rows, lambda, d }: DampedRows<'_, T>, v: &[T], product: &mut [T]) {
        for (f, &block) in self.kept.iter().enumerate() {
            let (own, d) = (self.kept_range(f), &d[rows.structure.range(block)]);
            let damped = d.iter().zip(&v[own.clone()]).map(|(&d, &v)| lambda * d * d * v);
            product[own].iter_mut().zip(damped).for_each(|(product, damped)| *product = damped);
        }
        self.run(Operation::Multiply, v);
        self.parts.iter().for_each(|part| add_scaled(product, T::ONE, &part.sums));
    }

    /// `reduced = b_F − H_FE H_EE⁻¹ b_E` for a vector of all columns.
    pub(super) fn reduce(&mut self, structure: &BlockStructure, b: &[T], reduced: &mut [T]) {
        self.gather_columns(structure, b, reduced);
        self.take_own(structure, b);
        self.run(Operation::Reduce, &[]);
        self.parts.iter().for_each(|part| add_scaled(reduced, T::ONE, &part.sums));
    }

    /// Overwrites `b` with the solution of the whole system, of which the kept columns' part is known: `x_E = H_EE⁻¹(b_E − H_EF x_F)`.
    pub(super) fn back_substitute(&mut self, structure: &BlockStructure, kept: &[T], b: &mut [T]) {
        self.take_own(structure, b);
        self.run(Operation::BackSubstitute, kept);
        let mut own = self.own.as_slice();
        for &block in &self.eliminated {
            let (of_block, others) = own.split_at(structure.size(block));
            b[structure.range(block)].copy_from_slice(of_block);
            own = others;
        }
        for (f, &block) in self.kept.iter().enumerate() {
            b[structure.range(block)].copy_from_slice(&kept[self.kept_range(f)]);
        }
    }

    /// Takes the eliminated columns' part of a vector.
    fn take_own(&mut self, structure: &BlockStructure, b: &[T]) {
        self.own.clear();
        self.eliminated.iter().for_each(|&block| self.own.extend_from_slice(&b[structure.range(block)]));
    }

    /// Carries out an operation on all parts. `kept` is a vector of the kept columns.
    fn run(&mut self, operation: Operation, kept: &[T]) {
        let Elimination { parts, pivots, own, .. } = self;
        let mut own = own.as_mut_slice();
        let tasks = parts.iter_mut().map(|part| {
            let own = take_first(&mut own, part.own_columns());
            RunPart { part, pivots, operation, kept, own }
        });
        parallel::for_each(tasks.collect(), simd::run);
    }
}

/// Number of the columns of all neighbours.
fn total(neighbours: &[Neighbour]) -> usize {
    neighbours.iter().map(|neighbour| neighbour.size).sum()
}
