//! Sums over residual blocks, for the normal equations of a Jacobian of blocks.

use std::ops::Range;

use super::block_rows::BlockStructure;
use super::kept_rows::KeptRows;
use super::sparse::BlockPattern;
use crate::kernels::simd::{self, Kernel};
use crate::kernels::vector::{add_scaled, add_scaled_sized};
use crate::lists::Lists;
use crate::parallel;
use crate::problem::{BlockJacobian, Evaluated};
use crate::real::Real;

/// Fewest residual blocks of a part.
const FEWEST: usize = 512;

/// No part.
const NONE: u32 = u32::MAX;

/// Mark of a block that several parts add to.
const SHARED: u32 = u32::MAX - 1;

/// `JᵀJ`, or the blocks on its diagonal, and `Jᵀr` as sums over residual blocks.
///
/// The residual blocks are summed in parts, which follow from their number, on all cores. A block of `JᵀJ` that only one part adds
/// to is in that part's range of the entries; the others, like the blocks of `Jᵀr`, are summed by each part for itself, and then
/// over the parts, in their order. So the sums do not depend on the number of threads.
pub(super) struct BlockSums<T> {
    parts: Vec<BlockPart<T>>,
    /// Entries of the blocks that more than one part adds to.
    shared: Range<usize>,
}

/// Consecutive residual blocks.
struct BlockPart<T> {
    structure: Structure,
    sums: PartSums<T>,
}

/// Positions of the products of a part's residual blocks.
struct Structure {
    /// The residual blocks.
    blocks: Range<usize>,
    /// True if only the products of each block with itself are stored.
    diagonal: bool,
    /// Blocks of columns of each residual block: first of the part's entries of `Jᵀr`, and number of columns.
    columns: Lists<(usize, usize)>,
    /// Places of the product of each pair of them, `(0, 0), (1, 0), (1, 1), (2, 0) …`, one list behind the other.
    places: Vec<ProductSlot>,
    /// Entries of `JᵀJ` that only this part adds to.
    own: Range<usize>,
    /// Places of the part's sums of the other blocks of `JᵀJ`, in their order.
    shared: Vec<Span>,
    /// Places of the part's sums of the blocks of `Jᵀr`, in their order.
    gradient: Vec<Span>,
}

/// Position of the product of two blocks of columns.
#[derive(Clone, Copy)]
struct ProductSlot {
    /// First entry.
    at: usize,
    /// True if the product with the rows of the second block is stored.
    is_transposed: bool,
    /// True if other parts add to it too.
    is_shared: bool,
}

/// Consecutive entries.
struct Span {
    start: usize,
    len: usize,
}

/// Sums of one part.
struct PartSums<T> {
    /// Sums of the blocks of `JᵀJ` that other parts add to.
    shared: Vec<T>,
    gradient: Vec<T>,
    squares: T,
    outcome: Evaluated<T>,
}

impl<T: Real> BlockSums<T> {
    /// Zero sums for this structure. The entries of the pattern, which has all pairs or none, are rearranged, part by part.
    pub(super) fn new(pattern: &mut BlockPattern, structure: &BlockStructure) -> Self {
        let parts: Vec<_> = parallel::parts(structure.residual_blocks(), FEWEST).collect();
        let owner = arrange(pattern, structure, &parts);
        let mut layout = SumLayout {
            pattern,
            structure,
            owner,
            columns: vec![(NONE, 0); pattern.blocks()],
            shared: vec![(NONE, 0); pattern.stored_blocks()],
            start: 0,
        };
        let parts = (0..).zip(parts).map(|(p, blocks)| {
            let structure = layout.part(p, blocks);
            let zeros = |spans: &[Span]| vec![T::ZERO; spans.iter().map(|span| span.len).sum()];
            let (shared, gradient) = (zeros(&structure.shared), zeros(&structure.gradient));
            BlockPart { structure, sums: PartSums { shared, gradient, squares: T::ZERO, outcome: Ok(T::ZERO) } }
        });
        let parts = parts.collect();
        BlockSums { parts, shared: layout.start..pattern.entry_count() }
    }

    /// Empty rows for each part.
    pub(super) fn rows(&self) -> Vec<KeptRows<T>> {
        self.parts.iter().map(|part| KeptRows::new(part.structure.blocks.clone())).collect()
    }

    /// Fills the entries of `JᵀJ` and `Jᵀr` with the sums over the residual blocks of a problem at `x`; returns their cost, and
    /// the sum of the squares of the rows. The rows are kept unless `rows` is empty.
    pub(super) fn sum(
        &mut self,
        problem: &mut dyn BlockJacobian<T>,
        x: &[T],
        (gram, gradient): (&mut [T], &mut [T]),
        rows: &mut [KeptRows<T>],
    ) -> Evaluated<(T, T)> {
        let (mut own, shared) = gram.split_at_mut(self.shared.start);
        let mut rows = rows.iter_mut();
        let additions = self.parts.iter_mut().map(|BlockPart { structure, sums }| {
            let (values, others) = std::mem::take(&mut own).split_at_mut(structure.own.len());
            own = others;
            Addition::new(structure, sums, values, rows.next())
        });
        let cost = match problem.concurrent(x) {
            Some(problem) => {
                parallel::for_each(additions.collect(), |mut addition| {
                    addition.clear();
                    let blocks = addition.structure.blocks.clone();
                    let cost = problem.linearize_range(x, blocks, &mut |r, jacobian| addition.add(r, jacobian));
                    addition.sums.outcome = cost.and_then(|cost| addition.finish().map(|()| cost));
                });
                // The first part that has failed.
                let costs = self.parts.iter_mut().map(|part| std::mem::replace(&mut part.sums.outcome, Ok(T::ZERO)));
                costs.sum::<Result<T, _>>()?
            }
            None => {
                let mut additions: Vec<_> = additions.collect();
                additions.iter_mut().for_each(Addition::clear);
                let mut part = 0;
                let cost = problem.linearize_blocks(x, &mut |r, jacobian| {
                    if additions[part].is_complete() && part + 1 < additions.len() {
                        part += 1;
                    }
                    additions[part].add(r, jacobian);
                })?;
                additions.iter().try_for_each(Addition::finish)?;
                cost
            }
        };
        let mut squares = T::ZERO;
        shared.fill(T::ZERO);
        gradient.fill(T::ZERO);
        for BlockPart { structure, sums } in &self.parts {
            squares += sums.squares;
            add_spans(gradient, &structure.gradient, &sums.gradient, 0);
            add_spans(shared, &structure.shared, &sums.shared, self.shared.start);
        }
        Ok((cost, squares))
    }
}

/// The pairs of blocks of columns of a residual block that are stored, in the order in which their products are added.
fn pairs(structure: &BlockStructure, k: usize, diagonal: bool) -> impl Iterator<Item = (usize, usize)> {
    let touched = structure.touched(k);
    let up_to = move |(p, &i): (usize, &u32)| {
        let first = if diagonal { p } else { 0 };
        touched[first..=p].iter().map(move |&j| (i as usize, j as usize))
    };
    touched.iter().enumerate().flat_map(up_to)
}

/// Index of the block of a pair among the stored blocks.
fn index(pattern: &BlockPattern, (i, j): (usize, usize)) -> usize {
    pattern.index(i.max(j), i.min(j)).expect("the pattern has all pairs")
}

/// Arranges the stored blocks by the part that adds to them. Returns that part for each, [`SHARED`] where there are several, and [`NONE`].
fn arrange(pattern: &mut BlockPattern, structure: &BlockStructure, parts: &[Range<usize>]) -> Vec<u32> {
    let (mut owner, diagonal) = (vec![NONE; pattern.stored_blocks()], pattern.is_diagonal());
    let mut order = Vec::with_capacity(owner.len());
    for (p, part) in (0..).zip(parts) {
        for pair in part.clone().flat_map(|k| pairs(structure, k, diagonal)) {
            let k = index(pattern, pair);
            if owner[k] == NONE {
                owner[k] = p;
                order.push(k);
            } else if owner[k] != p {
                owner[k] = SHARED;
            }
        }
    }
    order.extend((0..owner.len()).filter(|&k| owner[k] == NONE));
    // By part, and within a part in the order of the first addition: the sort is stable.
    order.sort_by_cached_key(|&k| owner[k].min(SHARED) as usize);
    pattern.arrange(&order);
    owner
}

/// Positions of the sums of the parts, found one part after the other.
struct SumLayout<'a> {
    pattern: &'a BlockPattern,
    structure: &'a BlockStructure,
    /// Part that adds to each stored block.
    owner: Vec<u32>,
    /// Last part that adds to each block of columns, and the position of its sums.
    columns: Vec<(u32, usize)>,
    /// Last part that adds to each shared block, and the position of its sums.
    shared: Vec<(u32, usize)>,
    /// First entry of `JᵀJ` that the parts so far do not own.
    start: usize,
}

impl SumLayout<'_> {
    /// The positions of part `p`, which has these residual blocks.
    fn part(&mut self, p: u32, blocks: Range<usize>) -> Structure {
        let (pattern, start) = (self.pattern, self.start);
        let (mut columns, mut places) = (Lists::new(), Vec::new());
        let (mut shared, mut gradient) = (Spans::default(), Spans::default());
        let mut end = start;
        for k in blocks.clone() {
            for &block in self.structure.touched(k) {
                let (range, own) = (pattern.range(block as usize), &mut self.columns[block as usize]);
                if own.0 != p {
                    *own = (p, gradient.len);
                    gradient.push(range.start, range.len());
                }
                columns.items.push((own.1, range.len()));
            }
            columns.end();
            for (i, j) in pairs(self.structure, k, self.pattern.is_diagonal()) {
                let (k, len) = (index(pattern, (i, j)), pattern.size(i) * pattern.size(j));
                let (place, is_shared) = (pattern.place(k), self.owner[k] == SHARED);
                if is_shared && self.shared[k].0 != p {
                    self.shared[k] = (p, shared.len);
                    shared.push(place, len);
                } else if !is_shared {
                    end = end.max(place + len);
                }
                let at = if is_shared { self.shared[k].1 } else { place - start };
                places.push(ProductSlot { at, is_transposed: i < j, is_shared });
            }
        }
        let own = std::mem::replace(&mut self.start, end)..end;
        let diagonal = pattern.is_diagonal();
        Structure { blocks, diagonal, columns, places, own, shared: shared.spans, gradient: gradient.spans }
    }
}

/// Spans, and their number of entries.
#[derive(Default)]
struct Spans {
    spans: Vec<Span>,
    len: usize,
}

impl Spans {
    /// Appends a span, or extends the last one where it follows that.
    fn push(&mut self, start: usize, len: usize) {
        self.len += len;
        match self.spans.last_mut() {
            Some(last) if last.start + last.len == start => last.len += len,
            _ => self.spans.push(Span { start, len }),
        }
    }
}

/// Adds entries, one after the other, at these spans; the first of `sums` is number `first`.
fn add_spans<T: Real>(sums: &mut [T], spans: &[Span], mut entries: &[T], first: usize) {
    for span in spans {
        let (of_span, others) = entries.split_at(span.len);
        let sums = &mut sums[span.start - first..][..span.len];
        sums.iter_mut().zip(of_span).for_each(|(sum, &entry)| *sum += entry);
        entries = others;
    }
}

/// A part whose residual blocks are being added.
struct Addition<'a, T> {
    structure: &'a Structure,
    sums: &'a mut PartSums<T>,
    /// Entries of `JᵀJ` that only this part adds to.
    values: &'a mut [T],
    /// The rows, where they are kept.
    rows: Option<&'a mut KeptRows<T>>,
    /// Number of residual blocks that have been added.
    block: usize,
    /// Places of the residual blocks that have not been added.
    places: std::slice::Iter<'a, ProductSlot>,
    /// First residual block that is not of the structure.
    contradiction: Option<usize>,
}

impl<'a, T: Real> Addition<'a, T> {
    fn new(
        structure: &'a Structure,
        sums: &'a mut PartSums<T>,
        values: &'a mut [T],
        rows: Option<&'a mut KeptRows<T>>,
    ) -> Self {
        let places = structure.places.iter();
        Addition { structure, sums, values, rows, block: 0, places, contradiction: None }
    }

    /// Sets all sums to zero.
    fn clear(&mut self) {
        self.values.fill(T::ZERO);
        self.sums.shared.fill(T::ZERO);
        self.sums.gradient.fill(T::ZERO);
        self.sums.squares = T::ZERO;
        self.rows.iter_mut().for_each(|rows| rows.clear());
    }

    /// Adds the next residual block.
    fn add(&mut self, r: &[T], jacobian: &[T]) {
        let columns = if self.is_complete() { &[] } else { self.structure.columns.of(self.block) };
        let width: usize = columns.iter().map(|&(_, size)| size).sum();
        if self.is_complete() || jacobian.len() != r.len() * width {
            self.contradiction.get_or_insert(self.block);
            return;
        }
        self.block += 1;
        self.sums.squares = r.iter().fold(self.sums.squares, |sum, &r| sum + r * r);
        self.rows.iter_mut().for_each(|rows| rows.push(r, jacobian));
        let PartSums { shared, gradient, .. } = &mut *self.sums;
        let diagonal = self.structure.diagonal;
        simd::run(AddBlock {
            r,
            diagonal,
            jacobian,
            columns,
            places: &mut self.places,
            values: self.values,
            shared,
            gradient,
        });
    }

    /// All residual blocks have been added.
    fn is_complete(&self) -> bool {
        self.block == self.structure.blocks.len()
    }

    /// Checks that the residual blocks were those of the structure.
    fn finish(&self) -> Evaluated {
        match self.contradiction.or((!self.is_complete()).then_some(self.block)) {
            None => Ok(()),
            Some(block) => {
                let block = self.structure.blocks.start + block;
                Err(format!("residual block {block} is not of the structure that was stated").into())
            }
        }
    }
}

/// Adds the products of the rows of one residual block.
struct AddBlock<'a, 'b, T> {
    r: &'a [T],
    jacobian: &'a [T],
    diagonal: bool,
    /// First entry of the gradient, and number of columns, of each block of columns.
    columns: &'a [(usize, usize)],
    places: &'a mut std::slice::Iter<'b, ProductSlot>,
    values: &'a mut [T],
    shared: &'a mut [T],
    gradient: &'a mut [T],
}

impl<T: Real> Kernel for AddBlock<'_, '_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const _FUSED: bool>(self) {
        let AddBlock { r, jacobian, diagonal, columns, places, values, shared, gradient } = self;
        let width = jacobian.len() / r.len().max(1);
        let mut first = 0;
        for (p, &(column, size)) in columns.iter().enumerate() {
            for (row, &r) in jacobian.chunks_exact(width).zip(r) {
                let (sums, row) = (&mut gradient[column..column + size], &row[first..first + size]);
                match size {
                    3 => add_scaled_sized::<T, 3>(sums, r, row),
                    6 => add_scaled_sized::<T, 6>(sums, r, row),
                    9 => add_scaled_sized::<T, 9>(sums, r, row),
                    _ => add_scaled(sums, r, row),
                }
            }
            let (before, mut other) = if diagonal { (p, first) } else { (0, 0) };
            for &(_, other_size) in &columns[before..=p] {
                if let Some(place) = places.next() {
                    let (rows, columns) = if place.is_transposed {
                        ((other, other_size), (first, size))
                    } else {
                        ((first, size), (other, other_size))
                    };
                    let sums = if place.is_shared { &mut *shared } else { &mut *values };
                    add_product(&mut sums[place.at..][..size * other_size], jacobian, width, rows, columns);
                }
                other += other_size;
            }
            first += size;
        }
    }
}

/// Adds `AᵀB` to a block, for columns `A` and `B` of rows of this width, each given by their first and their number.
#[inline(always)]
fn add_product<T: Real>(
    block: &mut [T],
    jacobian: &[T],
    width: usize,
    (first, rows): (usize, usize),
    (other, columns): (usize, usize),
) {
    match (rows, columns) {
        (3, 3) => add_sized_product::<T, 3, 3>(block, jacobian, width, first, other),
        (6, 6) => add_sized_product::<T, 6, 6>(block, jacobian, width, first, other),
        (9, 3) => add_sized_product::<T, 9, 3>(block, jacobian, width, first, other),
        (3, 9) => add_sized_product::<T, 3, 9>(block, jacobian, width, first, other),
        (9, 9) => add_sized_product::<T, 9, 9>(block, jacobian, width, first, other),
        _ => {
            for row in jacobian.chunks_exact(width) {
                let b = &row[other..other + columns];
                for (sums, &a) in block.chunks_exact_mut(columns).zip(&row[first..first + rows]) {
                    add_scaled(sums, a, b);
                }
            }
        }
    }
}

/// [`add_product`] for `M` and `N` columns.
#[inline(always)]
fn add_sized_product<T: Real, const M: usize, const N: usize>(
    block: &mut [T],
    jacobian: &[T],
    width: usize,
    first: usize,
    other: usize,
) {
    let Some(block) = block.as_chunks_mut::<N>().0.first_chunk_mut::<M>() else { return };
    for row in jacobian.chunks_exact(width) {
        // Copies tell the compiler that the slices do not overlap.
        let (Some(&a), Some(&b)) = (row[first..].first_chunk::<M>(), row[other..].first_chunk::<N>()) else { return };
        block.iter_mut().zip(&a).for_each(|(sums, &a)| add_scaled_sized::<T, N>(sums, a, &b));
    }
}
