//! Products with the rows that touch consecutive eliminated blocks.

use std::ops::Range;

use super::block_jacobi::BlockJacobi;
use super::block_rows::BlockRows;
use crate::kernels::simd::Kernel;
use crate::kernels::vector::{add_scaled, add_scaled_sized, dot_sized};
use crate::lists::{Lists, take_first};
use crate::real::Real;

/// No place.
const NONE: u32 = u32::MAX;

/// Consecutive eliminated blocks, and a copy of the rows that touch them: products read memory from the first entry to the last.
#[derive(Debug, Clone)]
pub(super) struct EliminationPart<T> {
    /// The eliminated blocks. Those from the number of pivots on are empty.
    pub(super) blocks: Range<usize>,
    /// First of the residual blocks of each, and the number of all.
    starts: Vec<usize>,
    /// Number of columns of each.
    sizes: Vec<usize>,
    /// Kept blocks of each residual block.
    spans: Lists<Span>,
    /// Rows of each residual block: the eliminated columns, then the kept ones.
    rows: Lists<T>,
    /// Number of eliminated and of kept columns of each residual block, if all have the same and one kept block.
    shape: Option<(usize, usize)>,
    /// Sum over the residual blocks, a vector of the kept columns.
    pub(super) sums: Vec<T>,
}

/// A kept block of columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    /// Its place among the kept blocks.
    pub(super) f: u32,
    pub(super) size: u32,
    /// First entry in a vector of the kept columns.
    pub(super) start: usize,
}

/// A kept block of columns that shares residual blocks with an eliminated one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Neighbour {
    /// Its place among the kept blocks.
    pub(super) f: usize,
    pub(super) size: usize,
    /// First entry of its block of `H_EF`.
    pub(super) at: usize,
}

/// A system with the eliminated columns `E` and the kept columns `F`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// Sums `(H_FF − λD² − H_FE H_EE⁻¹ H_EF)v`.
    Multiply,
    /// Sums `−H_FE H_EE⁻¹ b`.
    Reduce,
    /// Overwrites `b` with `H_EE⁻¹(b − H_EF v)`.
    BackSubstitute,
}

impl<T: Real> EliminationPart<T> {
    /// Eliminated blocks of these sizes, with the numbers of their residual blocks and the kept blocks of these.
    pub(super) fn new(
        blocks: Range<usize>,
        sizes: Vec<usize>,
        starts: Vec<usize>,
        spans: Lists<Span>,
        kept_columns: usize,
    ) -> Self {
        let kept = |k: usize| match spans.of(k) {
            [span] => Some(span.size as usize),
            _ => None,
        };
        let own = sizes.first().copied().filter(|own| sizes.iter().all(|size| size == own));
        let shape = own.zip((0..spans.len()).next().and_then(kept));
        let shape = shape.filter(|shape| (0..spans.len()).all(|k| kept(k) == Some(shape.1)));
        EliminationPart { blocks, starts, sizes, spans, rows: Lists::new(), shape, sums: vec![T::ZERO; kept_columns] }
    }

    /// Number of the eliminated columns.
    pub(super) fn own_columns(&self) -> usize {
        self.sizes.iter().sum()
    }

    /// Copies the rows of the residual blocks of each eliminated block, which `block` finds.
    pub(super) fn take_rows(
        &mut self,
        rows: &BlockRows<T>,
        residual_blocks: &Lists<u32>,
        block: impl Fn(usize) -> Option<usize>,
    ) {
        self.rows.clear();
        for e in self.blocks.clone() {
            let own = block(e);
            for &k in residual_blocks.of(e) {
                let k = k as usize;
                for row in rows.of(k).chunks_exact(rows.structure.width(k).max(1)) {
                    for is_own in [true, false] {
                        let parts = rows.structure.parts(k).filter(|(block, _)| (Some(*block) == own) == is_own);
                        parts.for_each(|(_, columns)| self.rows.items.extend_from_slice(&row[columns]));
                    }
                }
                self.rows.end();
            }
        }
    }

    /// Calls `visit` for each eliminated block with its kept neighbours and `H_EF`, a block of `E`'s rows for each of them, and with
    /// `H_EE⁻¹H_EF` in the same order. There are so many kept blocks.
    #[inline(always)]
    pub(super) fn visit_couplings(
        &self,
        pivots: &BlockJacobi<T>,
        kept_blocks: usize,
        mut visit: impl FnMut(&[Neighbour], &[T], &[T]),
    ) {
        let mut slots = vec![NONE; kept_blocks];
        let (mut neighbours, mut couplings, mut solved) = (Vec::<Neighbour>::new(), Vec::new(), Vec::new());
        for (p, e) in self.blocks.clone().enumerate().filter(|&(p, _)| self.sizes[p] > 0) {
            let own_size = self.sizes[p];
            neighbours.clear();
            couplings.clear();
            for k in self.starts[p]..self.starts[p + 1] {
                let spans = self.spans.of(k);
                let width = own_size + width(spans);
                let mut first = own_size;
                for &Span { f, size, .. } in spans {
                    let (slot, size) = (&mut slots[f as usize], size as usize);
                    if *slot == NONE {
                        *slot = neighbours.len() as u32;
                        neighbours.push(Neighbour { f: f as usize, size, at: couplings.len() });
                        couplings.resize(couplings.len() + own_size * size, T::ZERO);
                    }
                    let sums = &mut couplings[neighbours[*slot as usize].at..][..own_size * size];
                    match (own_size, size) {
                        (3, 9) => add_couplings::<T, 3, 9>(sums, self.rows.of(k), width, first),
                        (3, 6) => add_couplings::<T, 3, 6>(sums, self.rows.of(k), width, first),
                        _ => {
                            for row in self.rows.of(k).chunks_exact(width) {
                                let other = &row[first..][..size];
                                for (sums, &own) in sums.chunks_exact_mut(size).zip(row) {
                                    add_scaled(sums, own, other);
                                }
                            }
                        }
                    }
                    first += size;
                }
            }
            solved.clear();
            solved.extend_from_slice(&couplings);
            for &Neighbour { f, size, at } in &neighbours {
                slots[f] = NONE;
                pivots.solve_rows(e, &mut solved[at..][..own_size * size], size);
            }
            visit(&neighbours, &couplings, &solved);
        }
    }
}

/// Number of columns of some blocks.
#[inline(always)]
fn width(spans: &[Span]) -> usize {
    spans.iter().map(|span| span.size as usize).sum()
}

/// Adds `EᵀF` for the first `OWN` columns `E` of rows of this width, and the `KEPT` from `first` on.
#[inline(always)]
fn add_couplings<T: Real, const OWN: usize, const KEPT: usize>(sums: &mut [T], rows: &[T], width: usize, first: usize) {
    let sums = sums.as_chunks_mut::<KEPT>().0;
    for row in rows.chunks_exact(width) {
        let kept = &row[first..][..KEPT];
        for i in 0..OWN {
            for j in 0..KEPT {
                sums[i][j] += row[i] * kept[j];
            }
        }
    }
}

/// Work on a part that is compiled for the common numbers of columns.
trait OfShape: Sized {
    /// The work for this number of eliminated and of kept columns of each residual block; zero if they differ.
    fn run_sized<const OWN: usize, const KEPT: usize>(self);

    #[inline(always)]
    fn run_for(self, shape: Option<(usize, usize)>) {
        match shape {
            Some((3, 9)) => self.run_sized::<3, 9>(),
            Some((3, 6)) => self.run_sized::<3, 6>(),
            _ => self.run_sized::<0, 0>(),
        }
    }
}

/// Carries out an operation on a part. `kept` is `v`, and `own` is the part of `b` for its eliminated blocks.
pub(super) struct RunPart<'a, T> {
    pub(super) part: &'a mut EliminationPart<T>,
    pub(super) pivots: &'a BlockJacobi<T>,
    pub(super) operation: Operation,
    pub(super) kept: &'a [T],
    pub(super) own: &'a mut [T],
}

impl<T: Real> Kernel for RunPart<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const _FUSED: bool>(self) {
        let shape = self.part.shape;
        self.run_for(shape);
    }
}

impl<T: Real> OfShape for RunPart<'_, T> {
    #[inline(always)]
    fn run_sized<const OWN: usize, const KEPT: usize>(self) {
        let RunPart { part, pivots, operation, kept, mut own } = self;
        let EliminationPart { blocks, starts, sizes, spans, rows, sums, .. } = part;
        sums.fill(T::ZERO);
        let (mut solved, mut along) = (Vec::new(), Vec::new());
        for (p, e) in blocks.clone().enumerate() {
            let size = if OWN == 0 { sizes[p] } else { OWN };
            let residual_blocks = starts[p]..starts[p + 1];
            let b = take_first(&mut own, size);
            solved.clear();
            along.clear();
            if operation == Operation::Reduce {
                solved.extend_from_slice(b);
            } else {
                solved.resize(size, T::ZERO);
                for k in residual_blocks.clone() {
                    for row in rows_of::<T, OWN, KEPT>(rows, spans, k, size) {
                        let along_row = dot_spans::<T, KEPT>(&row[size..], spans.of(k), kept);
                        add_scaled_sized::<T, OWN>(&mut solved[..size], along_row, &row[..size]);
                        along.push(along_row);
                    }
                }
            }
            if operation == Operation::BackSubstitute {
                add_scaled(b, -T::ONE, &solved);
                solved.copy_from_slice(b);
            }
            if size > 0 {
                pivots.solve_block(e, &mut solved[..size]);
            }
            if operation == Operation::BackSubstitute {
                b.copy_from_slice(&solved);
                continue;
            }
            let mut along = along.iter();
            for k in residual_blocks {
                for row in rows_of::<T, OWN, KEPT>(rows, spans, k, size) {
                    let along = along.next().copied().unwrap_or(T::ZERO);
                    let rest = along - dot_sized::<T, OWN>(&row[..size], &solved[..size]);
                    add_spans::<T, KEPT>(sums, spans.of(k), rest, &row[size..]);
                }
            }
        }
    }
}

/// Adds a part's share of the blocks on the diagonal of `H_FE H_EE⁻¹ H_EF`, whose first entries are given. Of a kept block that shares several
/// residual blocks with an eliminated one, each counts by itself: less is subtracted, so that the rest stays positive definite.
pub(super) struct DiagonalSums<'a, T> {
    pub(super) part: &'a EliminationPart<T>,
    pub(super) pivots: &'a BlockJacobi<T>,
    pub(super) starts: &'a [usize],
    pub(super) sums: &'a mut [T],
}

impl<T: Real> Kernel for DiagonalSums<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const _FUSED: bool>(self) {
        let shape = self.part.shape;
        self.run_for(shape);
    }
}

impl<T: Real> OfShape for DiagonalSums<'_, T> {
    #[inline(always)]
    fn run_sized<const OWN: usize, const KEPT: usize>(self) {
        let DiagonalSums { part, pivots, starts, sums } = self;
        let EliminationPart { blocks, starts: residual_blocks, sizes, spans, rows, .. } = part;
        let (mut inverse, mut solved, mut mixed) = (Vec::new(), Vec::new(), Vec::new());
        for (p, e) in blocks.clone().enumerate().filter(|&(p, _)| sizes[p] > 0) {
            let size = if OWN == 0 { sizes[p] } else { OWN };
            inverse.clear();
            inverse.resize(size * size, T::ZERO);
            for (i, column) in inverse.chunks_exact_mut(size).enumerate() {
                column[i] = T::ONE;
                pivots.solve_block(e, column);
            }
            for k in residual_blocks[p]..residual_blocks[p + 1] {
                for row in rows_of::<T, OWN, KEPT>(rows, spans, k, size) {
                    solved.clear();
                    solved.extend(inverse.chunks_exact(size).map(|column| dot_sized::<T, OWN>(column, &row[..size])));
                    // The row of `E H_EE⁻¹ Eᵀ F`.
                    mixed.clear();
                    mixed.resize(row.len() - size, T::ZERO);
                    for other in rows_of::<T, OWN, KEPT>(rows, spans, k, size) {
                        let along = dot_sized::<T, OWN>(&other[..size], &solved[..size]);
                        add_scaled_sized::<T, KEPT>(&mut mixed, along, &other[size..]);
                    }
                    let (mut row, mut mixed) = (&row[size..], mixed.as_slice());
                    for span in spans.of(k) {
                        let kept = if KEPT == 0 { span.size as usize } else { KEPT };
                        add_outer::<T, KEPT>(&mut sums[starts[span.f as usize]..], &row[..kept], &mixed[..kept]);
                        (row, mixed) = (&row[kept..], &mixed[kept..]);
                    }
                }
            }
        }
    }
}

/// Adds `abᵀ` to a matrix of `N` columns; of as many as `b` has if `N` is zero.
#[inline(always)]
fn add_outer<T: Real, const N: usize>(sums: &mut [T], a: &[T], b: &[T]) {
    if N == 0 {
        return sums.chunks_exact_mut(b.len().max(1)).zip(a).for_each(|(sums, &a)| add_scaled(sums, a, b));
    }
    let sums = sums.as_chunks_mut::<N>().0.first_chunk_mut::<N>();
    let (Some(sums), Some(&a), Some(&b)) = (sums, a.first_chunk::<N>(), b.first_chunk::<N>()) else { return };
    sums.iter_mut().zip(&a).for_each(|(sums, &a)| add_scaled_sized::<T, N>(sums, a, &b));
}

/// Rows of residual block `k`.
#[inline(always)]
fn rows_of<'a, T, const OWN: usize, const KEPT: usize>(
    rows: &'a Lists<T>,
    spans: &Lists<Span>,
    k: usize,
    size: usize,
) -> std::slice::ChunksExact<'a, T> {
    let width = if KEPT == 0 { size + width(spans.of(k)) } else { OWN + KEPT };
    rows.of(k).chunks_exact(width.max(1))
}

/// Product of a row's kept columns with their part of a vector.
#[inline(always)]
fn dot_spans<T: Real, const KEPT: usize>(mut row: &[T], spans: &[Span], kept: &[T]) -> T {
    if KEPT > 0 {
        return dot_sized::<T, KEPT>(row, &kept[spans[0].start..]);
    }
    spans.iter().fold(T::ZERO, |sum, span| {
        let (own, others) = row.split_at(span.size as usize);
        row = others;
        sum + dot_sized::<T, 0>(own, &kept[span.start..][..own.len()])
    })
}

/// Adds a multiple of a row's kept columns to their part of a vector.
#[inline(always)]
fn add_spans<T: Real, const KEPT: usize>(sums: &mut [T], spans: &[Span], factor: T, mut row: &[T]) {
    if KEPT > 0 {
        return add_scaled_sized::<T, KEPT>(&mut sums[spans[0].start..], factor, row);
    }
    for span in spans {
        let (own, others) = row.split_at(span.size as usize);
        row = others;
        add_scaled(&mut sums[span.start..][..own.len()], factor, own);
    }
}
