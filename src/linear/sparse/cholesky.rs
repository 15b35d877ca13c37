//! Sparse Cholesky factorisation of a symmetric matrix of blocks.

use super::matrix::BlockMatrix;
use super::pattern::{BlockPattern, Entry, TooLarge};
use super::symbolic::{SymbolicCholesky, inverse, update_numbers};
use crate::Real;
use crate::kernels::front::{Eliminate, ExtendAdd, Front, Run, SolveBackward, SolveForward, padded};
use crate::kernels::simd;
use crate::kernels::vector::dot;
use crate::linear::IllConditioned;

/// Supernodal multifrontal factorisation `P(H + λD²)Pᵀ = UᵀU` (Duff & Reid 1983; Liu 1992).
///
/// The order `P` and the structure of `U` are found once; factorisations and solutions allocate nothing.
#[derive(Debug, Clone)]
pub(crate) struct SparseCholesky<T> {
    pub(super) symbolic: SymbolicCholesky,
    /// Panels of the supernodes, one behind the other.
    pub(super) panels: Vec<T>,
    /// First number of each panel.
    pub(super) starts: Vec<usize>,
    /// Inverse diagonal of `U`.
    pub(super) inverses: Vec<T>,
    /// Ways of the blocks of `H` into the panels.
    scatter: Lists<Scatter>,
    /// Children of each supernode.
    children: Lists<u32>,
    /// Rows below each supernode, where they are in its parent's front.
    runs: Lists<Run>,
    /// Rows below each supernode, where they are in a vector: first number, and number of numbers.
    spans: Lists<(usize, usize)>,
    /// Updates that wait to be added, of supernodes at even and at odd distances from the root.
    stacks: [Vec<T>; 2],
    /// First number of each supernode's update in its stack.
    places: Vec<usize>,
    /// A vector in the order of elimination.
    permuted: Vec<T>,
    /// The part of a vector that belongs to a front.
    gathered: Vec<T>,
}

/// Lists, one behind the other.
#[derive(Debug, Clone)]
struct Lists<I> {
    starts: Vec<usize>,
    items: Vec<I>,
}

impl<I> Lists<I> {
    fn new() -> Self {
        Lists { starts: vec![0], items: Vec::new() }
    }

    /// Ends the last list.
    fn end(&mut self) {
        self.starts.push(self.items.len());
    }

    /// Items by the list that each belongs to, in their order.
    fn sorted(lists: usize, items: impl Iterator<Item = (usize, I)> + Clone) -> Self
    where
        I: Copy,
    {
        let mut starts = vec![0; lists + 1];
        items.clone().for_each(|(list, _)| starts[list + 1] += 1);
        for k in 0..lists {
            starts[k + 1] += starts[k];
        }
        let mut next = starts.clone();
        let mut sorted = Vec::new();
        if let Some((_, item)) = items.clone().next() {
            sorted.resize(starts[lists], item);
        }
        for (list, item) in items {
            sorted[next[list]] = item;
            next[list] += 1;
        }
        Lists { starts, items: sorted }
    }

    fn of(&self, list: usize) -> &[I] {
        &self.items[self.starts[list]..self.starts[list + 1]]
    }
}

/// Way of a block of the matrix into a panel.
#[derive(Debug, Clone, Copy)]
struct Scatter {
    /// First number of the block.
    from: usize,
    /// Its first number in the panel.
    to: usize,
    rows: u32,
    columns: u32,
    way: Way,
}

#[derive(Debug, Clone, Copy)]
enum Way {
    /// Rows stay rows.
    Plain,
    /// Rows become columns.
    Transposed,
    /// Rows of the lower triangle become columns of the upper.
    Diagonal,
}

impl<T: Real> SparseCholesky<T> {
    /// Room for factorisations of matrices of the pattern that the structure was made for.
    ///
    /// It takes [`SymbolicCholesky::numbers`] numbers, and some indices for each block of the matrix and of the factor.
    pub(crate) fn new(symbolic: SymbolicCholesky, pattern: &BlockPattern) -> Result<Self, TooLarge> {
        let nodes = &symbolic.supernodes;
        let n = symbolic.offsets[symbolic.order.len()];
        let mut starts = vec![0];
        let mut start = 0;
        for node in nodes {
            start += node.pivots * padded(node.size);
            starts.push(start);
        }
        let with_parent = nodes.iter().enumerate().filter(|(_, node)| node.parent < nodes.len());
        let children = Lists::sorted(nodes.len(), with_parent.map(|(s, node)| (node.parent, s as u32)));

        let mut supernode_of = vec![0; symbolic.order.len()];
        for (s, node) in nodes.iter().enumerate() {
            supernode_of[node.first..node.first + node.columns].fill(s);
        }
        let label = inverse(&symbolic.order);
        let first_label = |entry: &Entry| label[entry.i].min(label[entry.j]) as usize;
        let entries: Vec<_> = pattern.entries().map(|entry| (supernode_of[first_label(&entry)], entry)).collect();
        let entries = Lists::sorted(nodes.len(), entries.iter().copied());

        let (mut scatter, mut spans, mut runs) = (Lists::new(), Lists::new(), vec![Vec::new(); nodes.len()]);
        // Place of a block's first number in the front at hand.
        let mut position = vec![0_usize; symbolic.order.len()];
        for (s, node) in nodes.iter().enumerate() {
            let own = node.first..node.first + node.columns;
            own.clone().for_each(|b| position[b] = symbolic.offsets[b] - symbolic.offsets[node.first]);
            let mut at = node.pivots;
            for &row in &symbolic.rows[node.rows.clone()] {
                let row = row as usize;
                position[row] = at;
                let (offset, size) = (symbolic.offsets[row], symbolic.offsets[row + 1] - symbolic.offsets[row]);
                at += size;
                match spans.items[*spans.starts.last().unwrap_or(&0)..].last_mut() {
                    Some((start, len)) if *start + *len == offset => *len += size,
                    _ => spans.items.push((offset, size)),
                }
            }
            spans.end();
            let stride = padded(node.size);
            for &Entry { i, j, at } in entries.of(s) {
                let (row, column) = (label[i] as usize, label[j] as usize);
                let (pivot, other) = (row.min(column), row.max(column));
                let to = position[pivot] * stride + stride - node.size + position[other];
                let way = match row.cmp(&column) {
                    std::cmp::Ordering::Less => Way::Plain,
                    std::cmp::Ordering::Greater => Way::Transposed,
                    std::cmp::Ordering::Equal => Way::Diagonal,
                };
                let (rows, columns) = (pattern.size(i) as u32, pattern.size(j) as u32);
                scatter.items.push(Scatter { from: at, to, rows, columns, way });
            }
            scatter.end();
            for &child in children.of(s) {
                let runs = &mut runs[child as usize];
                let mut from = 0;
                for &row in &symbolic.rows[nodes[child as usize].rows.clone()] {
                    let row = row as usize;
                    let size = (symbolic.offsets[row + 1] - symbolic.offsets[row]) as u32;
                    let to = position[row] as u32;
                    match runs.last_mut() {
                        Some(Run { to: start, len, .. }) if *start + *len == to => *len += size,
                        _ => runs.push(Run { from, to, len: size }),
                    }
                    from += size;
                }
            }
        }
        let mut all_runs = Lists::new();
        for runs in runs {
            all_runs.items.extend(runs);
            all_runs.end();
        }
        let (mut heights, mut places) = ([0; 2], Vec::new());
        for (s, node) in nodes.iter().enumerate() {
            let odd = usize::from(node.odd);
            places.push(heights[odd]);
            heights[odd] += update_numbers(node.size - node.pivots)?;
            if let Some(&child) = children.of(s).first() {
                heights[1 - odd] = places[child as usize];
            }
        }
        let largest = nodes.iter().map(|node| node.size).max().unwrap_or(0);
        Ok(SparseCholesky {
            panels: vec![T::ZERO; symbolic.panels],
            starts,
            inverses: vec![T::ZERO; n],
            scatter,
            children,
            runs: all_runs,
            spans,
            stacks: symbolic.updates.map(|numbers| vec![T::ZERO; numbers]),
            places,
            permuted: vec![T::ZERO; n],
            gathered: vec![T::ZERO; largest],
            symbolic,
        })
    }

    /// The structure of the factor.
    pub(crate) fn symbolic(&self) -> &SymbolicCholesky {
        &self.symbolic
    }

    /// Factorises `H + λD²`, where `d` is the diagonal of `D`; without `d`, `H`.
    pub(crate) fn factorize(&mut self, h: &BlockMatrix<T>, lambda: T, d: &[T]) -> Result<(), IllConditioned> {
        let values = h.values();
        let SymbolicCholesky { order, offsets, supernodes, .. } = &self.symbolic;
        for (s, node) in supernodes.iter().enumerate() {
            let stride = padded(node.size);
            let panel = &mut self.panels[self.starts[s]..self.starts[s + 1]];
            panel.fill(T::ZERO);
            for block in self.scatter.of(s) {
                block.copy(values, panel, stride);
            }
            let diagonal = &mut self.inverses[offsets[node.first]..][..node.pivots];
            let mut p = 0;
            for &block in &order[node.first..node.first + node.columns] {
                for at in h.pattern().range(block as usize) {
                    let entry = &mut panel[p * stride + stride - node.size + p];
                    if let Some(&d) = d.get(at) {
                        *entry += lambda * d * d;
                    }
                    diagonal[p] = *entry;
                    p += 1;
                }
            }
            let [even, odd] = &mut self.stacks;
            let (own, of_children) = if node.odd { (odd, &*even) } else { (even, &*odd) };
            let side = padded(node.size - node.pivots);
            let update = &mut own[self.places[s]..][..side * side];
            update.fill(T::ZERO);
            for &child in self.children.of(s) {
                let child = child as usize;
                let size = supernodes[child].size - supernodes[child].pivots;
                simd::run(ExtendAdd {
                    front: Front { size: node.size, panel, update },
                    pivots: node.pivots,
                    child: &of_children[self.places[child]..][..padded(size) * padded(size)],
                    size,
                    runs: self.runs.of(child),
                });
            }
            let mut sound = false;
            simd::run(Eliminate { front: Front { size: node.size, panel, update }, diagonal, sound: &mut sound });
            if !sound {
                return Err(IllConditioned);
            }
        }
        Ok(())
    }

    /// Overwrites `b` with `(H + λD²)⁻¹b`, by the last factorisation.
    pub(crate) fn solve_in_place(&mut self, b: &mut [T]) {
        self.permute(b);
        self.forward();
        self.backward();
        self.permute_back(b);
    }

    /// `bᵀ(H + λD²)⁻¹b`, by the last factorisation.
    pub(crate) fn inverse_form(&mut self, b: &[T]) -> T {
        self.permute(b);
        self.forward();
        dot(&self.permuted, &self.permuted)
    }

    /// Copies a vector into the order of elimination.
    fn permute(&mut self, b: &[T]) {
        let SymbolicCholesky { order, offsets, natural, .. } = &self.symbolic;
        for (ends, &block) in offsets.windows(2).zip(order) {
            let from = natural[block as usize];
            self.permuted[ends[0]..ends[1]].copy_from_slice(&b[from..from + ends[1] - ends[0]]);
        }
    }

    /// Copies a vector out of the order of elimination.
    fn permute_back(&self, b: &mut [T]) {
        let SymbolicCholesky { order, offsets, natural, .. } = &self.symbolic;
        for (ends, &block) in offsets.windows(2).zip(order) {
            let to = natural[block as usize];
            b[to..to + ends[1] - ends[0]].copy_from_slice(&self.permuted[ends[0]..ends[1]]);
        }
    }

    /// Solves `Uᵀx = b` in the order of elimination.
    fn forward(&mut self) {
        let SymbolicCholesky { offsets, supernodes, .. } = &self.symbolic;
        for (s, node) in supernodes.iter().enumerate() {
            let own = offsets[node.first]..offsets[node.first] + node.pivots;
            let x = &mut self.gathered[..node.size];
            x[..node.pivots].copy_from_slice(&self.permuted[own.clone()]);
            x[node.pivots..].fill(T::ZERO);
            let panel = &self.panels[self.starts[s]..self.starts[s + 1]];
            simd::run(SolveForward { panel, inverses: &self.inverses[own.clone()], x });
            self.permuted[own].copy_from_slice(&x[..node.pivots]);
            let mut sums = &x[node.pivots..];
            for &(start, len) in self.spans.of(s) {
                let (of_span, others) = sums.split_at(len);
                self.permuted[start..start + len].iter_mut().zip(of_span).for_each(|(x, &sum)| *x += sum);
                sums = others;
            }
        }
    }

    /// Solves `Ux = b` in the order of elimination.
    fn backward(&mut self) {
        let SymbolicCholesky { offsets, supernodes, .. } = &self.symbolic;
        for (s, node) in supernodes.iter().enumerate().rev() {
            let own = offsets[node.first]..offsets[node.first] + node.pivots;
            let x = &mut self.gathered[..node.size];
            x[..node.pivots].copy_from_slice(&self.permuted[own.clone()]);
            let mut others = &mut x[node.pivots..];
            for &(start, len) in self.spans.of(s) {
                let (of_span, rest) = others.split_at_mut(len);
                of_span.copy_from_slice(&self.permuted[start..start + len]);
                others = rest;
            }
            let panel = &self.panels[self.starts[s]..self.starts[s + 1]];
            simd::run(SolveBackward { panel, inverses: &self.inverses[own.clone()], x });
            self.permuted[own].copy_from_slice(&x[..node.pivots]);
        }
    }
}

impl Scatter {
    /// Copies the block into its panel, whose rows have `stride` numbers.
    #[inline(always)]
    fn copy<T: Real>(&self, values: &[T], panel: &mut [T], stride: usize) {
        let (rows, columns) = (self.rows as usize, self.columns as usize);
        let block = &values[self.from..][..rows * columns];
        let panel = &mut panel[self.to..];
        for (i, row) in block.chunks_exact(columns).enumerate() {
            match self.way {
                Way::Plain => panel[i * stride..][..columns].copy_from_slice(row),
                Way::Transposed => row.iter().enumerate().for_each(|(j, &entry)| panel[j * stride + i] = entry),
                Way::Diagonal => row[..=i].iter().enumerate().for_each(|(j, &entry)| panel[j * stride + i] = entry),
            }
        }
    }
}
