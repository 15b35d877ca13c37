//! Elimination of blocks of columns that no residual block shares: the Schur complement.

use std::ops::Range;

use super::block_jacobi::BlockJacobi;
use super::block_rows::{BlockRows, BlockStructure, DampedRows};
use super::model::IllConditioned;
use crate::kernels::simd::{self, Kernel};
use crate::kernels::vector::{add_scaled, dot};
use crate::lists::{Lists, prefix_sums};
use crate::real::Real;

/// No place.
const NONE: u32 = u32::MAX;

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
    /// First number of each kept block in a vector of the kept columns.
    kept_offsets: Vec<usize>,
    /// Residual blocks that touch each eliminated block, and last those that touch none.
    residual_blocks: Lists<u32>,
    /// `H_EE`.
    pivots: BlockJacobi<T>,
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
        let list_of = |k: usize| {
            let mut own = structure.touched(k).iter().filter(|&&block| is_eliminated[block as usize]);
            own.next().map_or(eliminated.len(), |&block| places[block as usize] as usize)
        };
        let lists = (0..structure.residual_blocks()).map(|k| (list_of(k), k as u32));
        let residual_blocks = Lists::sorted(eliminated.len() + 1, lists);
        let pivots = BlockJacobi::new(eliminated.iter().map(|&block| structure.size(block)));
        Elimination { eliminated, kept, places, is_eliminated, kept_offsets, residual_blocks, pivots }
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

    /// Factorises `H_EE`.
    pub(super) fn factorize(&mut self, system: DampedRows<'_, T>) -> Result<(), IllConditioned> {
        for (e, &block) in self.eliminated.iter().enumerate() {
            self.pivots.fill(e, system, block);
            self.pivots.factorize(e)?;
        }
        Ok(())
    }

    /// Fills the blocks on the diagonal of `S`, and factorises them.
    pub(super) fn fill_diagonal(
        &self,
        system: DampedRows<'_, T>,
        diagonal: &mut BlockJacobi<T>,
    ) -> Result<(), IllConditioned> {
        self.kept.iter().enumerate().for_each(|(f, &block)| diagonal.fill(f, system, block));
        simd::run(SubtractDiagonal { elimination: self, rows: system.rows, diagonal });
        (0..self.kept.len()).try_for_each(|f| diagonal.factorize(f))
    }

    /// Calls `visit` for each eliminated block with its kept neighbours and `H_EF`, a block of `E`'s rows for each of them, and with
    /// `H_EE⁻¹H_EF` in the same order.
    #[inline(always)]
    fn visit_couplings(&self, rows: &BlockRows<T>, mut visit: impl FnMut(&[Neighbour], &[T], &[T])) {
        let structure = &*rows.structure;
        let mut slots = vec![NONE; self.kept.len()];
        let (mut neighbours, mut couplings) = (Vec::<Neighbour>::new(), Vec::new());
        let (mut solved, mut column) = (Vec::new(), Vec::new());
        for (e, &own) in self.eliminated.iter().enumerate() {
            let own_size = structure.size(own);
            neighbours.clear();
            couplings.clear();
            for &k in self.residual_blocks.of(e) {
                let width = structure.width(k as usize);
                let own_columns = columns_of(structure, k as usize, own);
                for (block, columns) in structure.parts(k as usize).filter(|(block, _)| *block != own) {
                    let (f, size) = (self.places[block] as usize, columns.len());
                    let slot = &mut slots[f];
                    if *slot == NONE {
                        *slot = neighbours.len() as u32;
                        neighbours.push(Neighbour { f, size, at: couplings.len() });
                        couplings.resize(couplings.len() + own_size * size, T::ZERO);
                    }
                    let sums = &mut couplings[neighbours[*slot as usize].at..][..own_size * size];
                    for row in rows.of(k as usize).chunks_exact(width) {
                        let (own, other) = (&row[own_columns.clone()], &row[columns.clone()]);
                        sums.chunks_exact_mut(size).zip(own).for_each(|(sums, &own)| add_scaled(sums, own, other));
                    }
                }
            }
            solved.clear();
            solved.extend_from_slice(&couplings);
            for &Neighbour { f, size, at } in &neighbours {
                slots[f] = NONE;
                let block = &mut solved[at..at + own_size * size];
                for j in 0..size {
                    column.clear();
                    column.extend(block.iter().skip(j).step_by(size));
                    self.pivots.solve_block(e, &mut column);
                    block.iter_mut().skip(j).step_by(size).zip(&column).for_each(|(entry, &solved)| *entry = solved);
                }
            }
            visit(&neighbours, &couplings, &solved);
        }
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
    pub(super) fn visit_fill(&self, rows: &BlockRows<T>, mut visit: impl FnMut(&[T])) {
        let mut block = Vec::new();
        self.visit_couplings(rows, |neighbours, couplings, solved| {
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

    /// The kept columns' part of a vector.
    pub(super) fn gather_columns(&self, structure: &BlockStructure, v: &[T], kept: &mut [T]) {
        for (f, &block) in self.kept.iter().enumerate() {
            kept[self.kept_range(f)].copy_from_slice(&v[structure.range(block)]);
        }
    }

    /// `product = S v` for a vector of the kept columns.
    pub(super) fn multiply(&self, DampedRows { rows, lambda, d }: DampedRows<'_, T>, v: &[T], product: &mut [T]) {
        for (f, &block) in self.kept.iter().enumerate() {
            let (own, d) = (self.kept_range(f), &d[rows.structure.range(block)]);
            let damped = d.iter().zip(&v[own.clone()]).map(|(&d, &v)| lambda * d * d * v);
            product[own].iter_mut().zip(damped).for_each(|(product, damped)| *product = damped);
        }
        simd::run(Reduce { elimination: self, rows, kept: v, rhs: None, product });
    }

    /// `reduced = b_F − H_FE H_EE⁻¹ b_E` for a vector of all columns.
    pub(super) fn reduce(&self, rows: &BlockRows<T>, b: &[T], reduced: &mut [T]) {
        self.gather_columns(&rows.structure, b, reduced);
        simd::run(Reduce { elimination: self, rows, kept: &[], rhs: Some(b), product: reduced });
    }

    /// Overwrites `b` with the solution of the whole system, of which the kept columns' part is known: `x_E = H_EE⁻¹(b_E − H_EF x_F)`.
    pub(super) fn back_substitute(&self, rows: &BlockRows<T>, kept: &[T], b: &mut [T]) {
        for (f, &block) in self.kept.iter().enumerate() {
            b[rows.structure.range(block)].copy_from_slice(&kept[self.kept_range(f)]);
        }
        simd::run(BackSubstitute { elimination: self, rows, kept, b });
    }

    /// Gathers the kept columns' parts of a vector that residual block `k` touches, and zeros in place of eliminated ones; returns
    /// the width.
    #[inline(always)]
    fn gather_kept(&self, structure: &BlockStructure, k: usize, kept: &[T], gathered: &mut Vec<T>) -> usize {
        gathered.clear();
        for (block, columns) in structure.parts(k) {
            if kept.is_empty() || self.is_eliminated[block] {
                gathered.resize(columns.end, T::ZERO);
            } else {
                gathered.extend_from_slice(&kept[self.kept_offsets[self.places[block] as usize]..][..columns.len()]);
            }
        }
        gathered.len()
    }

    /// `sums = H_EF v` in eliminated block `e`.
    #[inline(always)]
    fn coupled(
        &self,
        rows: &BlockRows<T>,
        (e, own): (usize, usize),
        kept: &[T],
        gathered: &mut Vec<T>,
        sums: &mut Vec<T>,
    ) {
        sums.clear();
        sums.resize(rows.structure.size(own), T::ZERO);
        for &k in self.residual_blocks.of(e) {
            let width = self.gather_kept(&rows.structure, k as usize, kept, gathered);
            let columns = columns_of(&rows.structure, k as usize, own);
            for row in rows.of(k as usize).chunks_exact(width) {
                add_scaled(sums, dot(row, gathered), &row[columns.clone()]);
            }
        }
    }
}

/// A kept block of columns that shares residual blocks with an eliminated one.
#[derive(Debug, Clone, Copy)]
struct Neighbour {
    /// Its place among the kept blocks.
    f: usize,
    size: usize,
    /// First number of its block of `H_EF`.
    at: usize,
}

/// Number of the columns of all neighbours.
fn total(neighbours: &[Neighbour]) -> usize {
    neighbours.iter().map(|neighbour| neighbour.size).sum()
}

/// Columns of a block among those of the rows of a residual block that touches it.
#[inline(always)]
fn columns_of(structure: &BlockStructure, k: usize, block: usize) -> Range<usize> {
    structure.parts(k).find(|(other, _)| *other == block).map_or(0..0, |(_, columns)| columns)
}

/// Subtracts the blocks on the diagonal of `H_FE H_EE⁻¹ H_EF`.
struct SubtractDiagonal<'a, T> {
    elimination: &'a Elimination<T>,
    rows: &'a BlockRows<T>,
    diagonal: &'a mut BlockJacobi<T>,
}

impl<T: Real> Kernel for SubtractDiagonal<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const _FUSED: bool>(self) {
        let SubtractDiagonal { elimination, rows, diagonal } = self;
        elimination.visit_couplings(rows, |neighbours, couplings, solved| {
            let own_size = couplings.len() / total(neighbours).max(1);
            for &Neighbour { f, size, at } in neighbours {
                let block = diagonal.block_mut(f);
                for e in 0..own_size {
                    let range = at + e * size..at + (e + 1) * size;
                    let (coupling, solved) = (&couplings[range.clone()], &solved[range]);
                    block.chunks_exact_mut(size).zip(coupling).for_each(|(row, &a)| add_scaled(row, -a, solved));
                }
            }
        });
    }
}

/// Adds `(H_FF − λD² − H_FE H_EE⁻¹ H_EF)v`, or subtracts `H_FE H_EE⁻¹ b_E` for a right-hand side `b`.
struct Reduce<'a, T> {
    elimination: &'a Elimination<T>,
    rows: &'a BlockRows<T>,
    /// `v`, empty for a right-hand side.
    kept: &'a [T],
    rhs: Option<&'a [T]>,
    product: &'a mut [T],
}

impl<T: Real> Kernel for Reduce<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const _FUSED: bool>(self) {
        let Reduce { elimination, rows, kept, rhs, product } = self;
        let structure = &*rows.structure;
        let (mut gathered, mut sums, mut own_part) = (Vec::new(), Vec::new(), Vec::new());
        // Adds JᵀJ(v, −own_part), in the kept columns, of the rows of a list.
        let mut add = |list: &[u32], own: Option<(usize, &[T])>, gathered: &mut Vec<T>| {
            for &k in list {
                let width = elimination.gather_kept(structure, k as usize, kept, gathered);
                if width == 0 {
                    continue;
                }
                if let Some((own, part)) = own {
                    let own = &mut gathered[columns_of(structure, k as usize, own)];
                    own.iter_mut().zip(part).for_each(|(entry, &part)| *entry = -part);
                }
                sums.clear();
                sums.resize(width, T::ZERO);
                for row in rows.of(k as usize).chunks_exact(width) {
                    add_scaled(&mut sums, dot(row, gathered), row);
                }
                for (block, columns) in structure.parts(k as usize) {
                    if !elimination.is_eliminated[block] {
                        let own = elimination.kept_range(elimination.places[block] as usize);
                        add_scaled(&mut product[own], T::ONE, &sums[columns]);
                    }
                }
            }
        };
        for (e, &own) in elimination.eliminated.iter().enumerate() {
            match rhs {
                Some(b) => {
                    own_part.clear();
                    own_part.extend_from_slice(&b[structure.range(own)]);
                }
                None => elimination.coupled(rows, (e, own), kept, &mut gathered, &mut own_part),
            }
            elimination.pivots.solve_block(e, &mut own_part);
            add(elimination.residual_blocks.of(e), Some((own, &own_part)), &mut gathered);
        }
        if rhs.is_none() {
            add(elimination.residual_blocks.of(elimination.eliminated.len()), None, &mut gathered);
        }
    }
}

/// Solves for the eliminated columns.
struct BackSubstitute<'a, T> {
    elimination: &'a Elimination<T>,
    rows: &'a BlockRows<T>,
    kept: &'a [T],
    b: &'a mut [T],
}

impl<T: Real> Kernel for BackSubstitute<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const _FUSED: bool>(self) {
        let BackSubstitute { elimination, rows, kept, b } = self;
        let (mut gathered, mut sums) = (Vec::new(), Vec::new());
        for (e, &own) in elimination.eliminated.iter().enumerate() {
            elimination.coupled(rows, (e, own), kept, &mut gathered, &mut sums);
            let b = &mut b[rows.structure.range(own)];
            add_scaled(b, -T::ONE, &sums);
            elimination.pivots.solve_block(e, b);
        }
    }
}
