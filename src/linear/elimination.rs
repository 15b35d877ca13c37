//! Elimination of blocks of columns that no residual block shares: the Schur complement.

use super::block_jacobi::BlockJacobi;
use super::block_rows::{BlockRows, BlockStructure};
use super::model::IllConditioned;
use crate::kernels::simd::{self, Kernel};
use crate::kernels::vector::{add_scaled, dot};
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
    /// Residual blocks of each eliminated block, one list behind the other, and last those of none.
    residual_blocks: Vec<u32>,
    /// First of each list, and the end of the last.
    starts: Vec<usize>,
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
        let mut kept_offsets = vec![0];
        kept.iter().for_each(|&block| kept_offsets.push(kept_offsets[kept_offsets.len() - 1] + structure.size(block)));
        let list_of = |k: usize| {
            let mut own = structure.touched(k).iter().filter(|&&block| is_eliminated[block as usize]);
            own.next().map_or(eliminated.len(), |&block| places[block as usize] as usize)
        };
        let mut starts = vec![0; eliminated.len() + 2];
        (0..structure.residual_blocks()).for_each(|k| starts[list_of(k) + 1] += 1);
        for list in 0..=eliminated.len() {
            starts[list + 1] += starts[list];
        }
        let (mut residual_blocks, mut next) = (vec![0; structure.residual_blocks()], starts.clone());
        for k in 0..structure.residual_blocks() {
            let next = &mut next[list_of(k)];
            residual_blocks[*next] = k as u32;
            *next += 1;
        }
        let pivots = BlockJacobi::new(eliminated.iter().map(|&block| structure.size(block)));
        Elimination { eliminated, kept, places, is_eliminated, kept_offsets, residual_blocks, starts, pivots }
    }

    /// Blocks of columns that are kept.
    pub(super) fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Number of columns that are kept.
    pub(super) fn kept_columns(&self) -> usize {
        self.kept_offsets[self.kept.len()]
    }

    /// Residual blocks that touch eliminated block `e`; at the end of all, those that touch none.
    fn of(&self, e: usize) -> &[u32] {
        &self.residual_blocks[self.starts[e]..self.starts[e + 1]]
    }

    /// Factorises `H_EE` for the rows at a point and this damping.
    pub(super) fn factorize(
        &mut self,
        structure: &BlockStructure,
        rows: &BlockRows<T>,
        lambda: T,
        d: &[T],
    ) -> Result<(), IllConditioned> {
        for (e, &block) in self.eliminated.iter().enumerate() {
            self.pivots.fill(e, rows.diagonal_block(block), lambda, &d[structure.range(block)]);
            self.pivots.factorize(e)?;
        }
        Ok(())
    }

    /// Fills the blocks on the diagonal of `S`, and factorises them.
    pub(super) fn fill_diagonal(
        &self,
        structure: &BlockStructure,
        rows: &BlockRows<T>,
        (lambda, d): (T, &[T]),
        diagonal: &mut BlockJacobi<T>,
    ) -> Result<(), IllConditioned> {
        for (f, &block) in self.kept.iter().enumerate() {
            diagonal.fill(f, rows.diagonal_block(block), lambda, &d[structure.range(block)]);
        }
        simd::run(SubtractDiagonal { elimination: self, structure, rows, diagonal });
        (0..self.kept.len()).try_for_each(|f| diagonal.factorize(f))
    }

    /// Calls `visit` for each eliminated block with its kept neighbours and `H_EF`, a block of `E`'s rows for each of them, and with
    /// `H_EE⁻¹H_EF` in the same order.
    #[inline(always)]
    fn visit_couplings(
        &self,
        structure: &BlockStructure,
        rows: &BlockRows<T>,
        mut visit: impl FnMut(&[Neighbour], &[T], &[T]),
    ) {
        let mut slots = vec![NONE; self.kept.len()];
        let (mut neighbours, mut couplings) = (Vec::<Neighbour>::new(), Vec::new());
        let (mut solved, mut column) = (Vec::new(), Vec::new());
        for (e, &own) in self.eliminated.iter().enumerate() {
            let own_size = structure.size(own);
            neighbours.clear();
            couplings.clear();
            for &k in self.of(e) {
                let touched = structure.touched(k as usize);
                let width = structure.width(k as usize);
                let own_first = first_column(structure, touched, own);
                let mut first = 0;
                for &block in touched {
                    let size = structure.size(block as usize);
                    if block as usize != own {
                        let f = self.places[block as usize] as usize;
                        let slot = &mut slots[f];
                        if *slot == NONE {
                            *slot = neighbours.len() as u32;
                            neighbours.push(Neighbour { f, size, at: couplings.len() });
                            couplings.resize(couplings.len() + own_size * size, T::ZERO);
                        }
                        let sums = &mut couplings[neighbours[*slot as usize].at..][..own_size * size];
                        for row in rows.of(k as usize).chunks_exact(width) {
                            let (own, other) = (&row[own_first..own_first + own_size], &row[first..first + size]);
                            sums.chunks_exact_mut(size).zip(own).for_each(|(sums, &own)| add_scaled(sums, own, other));
                        }
                    }
                    first += size;
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
            for f in self.of(e).iter().flat_map(|&k| kept_of(k as usize)) {
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
    pub(super) fn visit_kept_products(
        &self,
        structure: &BlockStructure,
        rows: &BlockRows<T>,
        mut visit: impl FnMut(&[T]),
    ) {
        let mut product = Vec::new();
        for k in 0..structure.residual_blocks() {
            let touched = structure.touched(k);
            let width = structure.width(k);
            let mut first = 0;
            for (p, &i) in touched.iter().enumerate() {
                let size = structure.size(i as usize);
                let mut other_first = 0;
                for &j in &touched[..=p] {
                    let other_size = structure.size(j as usize);
                    if !(self.is_eliminated[i as usize] || self.is_eliminated[j as usize]) {
                        let (mut above, mut below) = ((first, size), (other_first, other_size));
                        if self.places[i as usize] < self.places[j as usize] {
                            (above, below) = (below, above);
                        }
                        product.clear();
                        product.resize(size * other_size, T::ZERO);
                        for row in rows.of(k).chunks_exact(width) {
                            let (a, b) = (&row[above.0..above.0 + above.1], &row[below.0..below.0 + below.1]);
                            product.chunks_exact_mut(below.1).zip(a).for_each(|(sums, &a)| add_scaled(sums, a, b));
                        }
                        visit(&product);
                    }
                    other_first += other_size;
                }
                first += size;
            }
        }
    }

    /// Calls `visit` with the product that each elimination subtracts from the Schur complement in each pair of kept blocks, by
    /// rows, those of the later block's columns.
    #[inline(always)]
    pub(super) fn visit_fill(&self, structure: &BlockStructure, rows: &BlockRows<T>, mut visit: impl FnMut(&[T])) {
        let mut block = Vec::new();
        self.visit_couplings(structure, rows, |neighbours, couplings, solved| {
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
            kept[self.kept_offsets[f]..self.kept_offsets[f + 1]].copy_from_slice(&v[structure.range(block)]);
        }
    }

    /// `product = S v` for a vector of the kept columns.
    pub(super) fn multiply(
        &self,
        structure: &BlockStructure,
        rows: &BlockRows<T>,
        (lambda, d): (T, &[T]),
        v: &[T],
        product: &mut [T],
    ) {
        for (f, &block) in self.kept.iter().enumerate() {
            let own = self.kept_offsets[f]..self.kept_offsets[f + 1];
            let damped = d[structure.range(block)].iter().zip(&v[own.clone()]).map(|(&d, &v)| lambda * d * d * v);
            product[own].iter_mut().zip(damped).for_each(|(product, damped)| *product = damped);
        }
        simd::run(Reduce { elimination: self, structure, rows, kept: v, rhs: None, product });
    }

    /// `reduced = b_F − H_FE H_EE⁻¹ b_E` for a vector of all columns.
    pub(super) fn reduce(&self, structure: &BlockStructure, rows: &BlockRows<T>, b: &[T], reduced: &mut [T]) {
        self.gather_columns(structure, b, reduced);
        simd::run(Reduce { elimination: self, structure, rows, kept: &[], rhs: Some(b), product: reduced });
    }

    /// Overwrites `b` with the solution of the whole system, of which the kept columns' part is known: `x_E = H_EE⁻¹(b_E − H_EF x_F)`.
    pub(super) fn back_substitute(&self, structure: &BlockStructure, rows: &BlockRows<T>, kept: &[T], b: &mut [T]) {
        for (f, &block) in self.kept.iter().enumerate() {
            b[structure.range(block)].copy_from_slice(&kept[self.kept_offsets[f]..self.kept_offsets[f + 1]]);
        }
        simd::run(BackSubstitute { elimination: self, structure, rows, kept, b });
    }

    /// Gathers the kept columns' parts of a vector, and zeros in place of eliminated ones; returns the width.
    #[inline(always)]
    fn gather_kept(&self, structure: &BlockStructure, touched: &[u32], kept: &[T], gathered: &mut Vec<T>) -> usize {
        gathered.clear();
        for &block in touched {
            let (block, size) = (block as usize, structure.size(block as usize));
            if kept.is_empty() || self.is_eliminated[block] {
                gathered.resize(gathered.len() + size, T::ZERO);
            } else {
                gathered.extend_from_slice(&kept[self.kept_offsets[self.places[block] as usize]..][..size]);
            }
        }
        gathered.len()
    }

    /// `sums = H_EF v` in eliminated block `e`.
    #[inline(always)]
    fn coupled(
        &self,
        structure: &BlockStructure,
        rows: &BlockRows<T>,
        (e, own): (usize, usize),
        kept: &[T],
        gathered: &mut Vec<T>,
        sums: &mut Vec<T>,
    ) {
        let size = structure.size(own);
        sums.clear();
        sums.resize(size, T::ZERO);
        for &k in self.of(e) {
            let touched = structure.touched(k as usize);
            let width = self.gather_kept(structure, touched, kept, gathered);
            let first = first_column(structure, touched, own);
            for row in rows.of(k as usize).chunks_exact(width) {
                add_scaled(sums, dot(row, gathered), &row[first..first + size]);
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

/// First column of a block in the rows of a residual block that touches it.
#[inline(always)]
fn first_column(structure: &BlockStructure, touched: &[u32], block: usize) -> usize {
    let before = touched.iter().take_while(|&&other| other as usize != block);
    before.map(|&other| structure.size(other as usize)).sum()
}

/// Subtracts the blocks on the diagonal of `H_FE H_EE⁻¹ H_EF`.
struct SubtractDiagonal<'a, T> {
    elimination: &'a Elimination<T>,
    structure: &'a BlockStructure,
    rows: &'a BlockRows<T>,
    diagonal: &'a mut BlockJacobi<T>,
}

impl<T: Real> Kernel for SubtractDiagonal<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const _FUSED: bool>(self) {
        let SubtractDiagonal { elimination, structure, rows, diagonal } = self;
        elimination.visit_couplings(structure, rows, |neighbours, couplings, solved| {
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
    structure: &'a BlockStructure,
    rows: &'a BlockRows<T>,
    /// `v`, empty for a right-hand side.
    kept: &'a [T],
    rhs: Option<&'a [T]>,
    product: &'a mut [T],
}

impl<T: Real> Kernel for Reduce<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const _FUSED: bool>(self) {
        let Reduce { elimination, structure, rows, kept, rhs, product } = self;
        let (mut gathered, mut sums, mut own_part) = (Vec::new(), Vec::new(), Vec::new());
        // Adds JᵀJ(v, −own_part), in the kept columns, of the rows of a list.
        let mut add = |list: &[u32], own: Option<(usize, &[T])>, gathered: &mut Vec<T>| {
            for &k in list {
                let touched = structure.touched(k as usize);
                let width = elimination.gather_kept(structure, touched, kept, gathered);
                if width == 0 {
                    continue;
                }
                if let Some((own, part)) = own {
                    let first = first_column(structure, touched, own);
                    gathered[first..first + part.len()].iter_mut().zip(part).for_each(|(entry, &part)| *entry = -part);
                }
                sums.clear();
                sums.resize(width, T::ZERO);
                for row in rows.of(k as usize).chunks_exact(width) {
                    add_scaled(&mut sums, dot(row, gathered), row);
                }
                let mut first = 0;
                for &block in touched {
                    let (block, size) = (block as usize, structure.size(block as usize));
                    if !elimination.is_eliminated[block] {
                        let to = elimination.kept_offsets[elimination.places[block] as usize];
                        add_scaled(&mut product[to..to + size], T::ONE, &sums[first..first + size]);
                    }
                    first += size;
                }
            }
        };
        for (e, &own) in elimination.eliminated.iter().enumerate() {
            match rhs {
                Some(b) => {
                    own_part.clear();
                    own_part.extend_from_slice(&b[structure.range(own)]);
                }
                None => elimination.coupled(structure, rows, (e, own), kept, &mut gathered, &mut own_part),
            }
            elimination.pivots.solve_block(e, &mut own_part);
            add(elimination.of(e), Some((own, &own_part)), &mut gathered);
        }
        if rhs.is_none() {
            add(elimination.of(elimination.eliminated.len()), None, &mut gathered);
        }
    }
}

/// Solves for the eliminated columns.
struct BackSubstitute<'a, T> {
    elimination: &'a Elimination<T>,
    structure: &'a BlockStructure,
    rows: &'a BlockRows<T>,
    kept: &'a [T],
    b: &'a mut [T],
}

impl<T: Real> Kernel for BackSubstitute<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const _FUSED: bool>(self) {
        let BackSubstitute { elimination, structure, rows, kept, b } = self;
        let (mut gathered, mut sums) = (Vec::new(), Vec::new());
        for (e, &own) in elimination.eliminated.iter().enumerate() {
            elimination.coupled(structure, rows, (e, own), kept, &mut gathered, &mut sums);
            let b = &mut b[structure.range(own)];
            add_scaled(b, -T::ONE, &sums);
            elimination.pivots.solve_block(e, b);
        }
    }
}
