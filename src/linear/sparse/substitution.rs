//! Forward and backward substitution with a sparse factor, branch by branch of the elimination tree.

use std::ops::Range;

use super::symbolic::SymbolicCholesky;
use super::tasks::{Subtree, for_each_part, subtrees};
use crate::kernels::front::{SolveBackward, SolveForward};
use crate::kernels::simd;
use crate::lists::Lists;
use crate::parallel;
use crate::real::Real;

/// Fewest entries of the factor in a branch.
const LEAST: f64 = 5e4;

/// Most branches of equal size.
const MOST: f64 = 16.0;

/// Solves with a factor `U`; independent branches run on all cores.
///
/// The branches follow from the factor's structure alone, and so do the sums, whatever the number of threads.
#[derive(Debug, Clone)]
pub(super) struct Substitution<T> {
    branches: Vec<Branch<T>>,
}

/// Supernodes processed in sequence, after the branches that they depend on in postorder.
#[derive(Debug, Clone)]
struct Branch<T> {
    /// First branch before it; those before it end with itself.
    first: usize,
    /// Its own supernodes, in ranges without gaps.
    nodes: Vec<Range<usize>>,
    /// Branches whose parent it is.
    children: Vec<usize>,
    /// Entries of its supernodes, and of those before them.
    entries: Range<usize>,
    /// Later entries that its supernodes have rows for.
    behind: Behind<T>,
    /// The part of a vector that belongs to a front.
    gathered: Vec<T>,
}

/// Entries of a vector, in spans.
#[derive(Debug, Clone)]
struct Behind<T> {
    /// Sorted, with gaps between them.
    spans: Vec<StoredSpan>,
    values: Vec<T>,
}

/// Consecutive entries.
#[derive(Debug, Clone, Copy)]
struct StoredSpan {
    /// The first of them.
    start: usize,
    len: usize,
    /// Index of the first among the values.
    place: usize,
}

/// A factor, as far as substitution needs it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Panels<'a, T> {
    pub(super) symbolic: &'a SymbolicCholesky,
    /// Panels of the supernodes, one behind the other.
    pub(super) panels: &'a [T],
    /// First entry of each panel.
    pub(super) starts: &'a [usize],
    /// Inverse diagonal of `U`.
    pub(super) inverses: &'a [T],
    /// Rows below each supernode, as ranges of a vector: first entry, and number of entries.
    pub(super) spans: &'a Lists<(usize, usize)>,
}

/// A supernode's part of a factor.
struct SupernodePanel<'a, T> {
    panel: &'a [T],
    inverses: &'a [T],
    /// The entries of its pivots.
    own: Range<usize>,
    /// Entries of its pivots, and below.
    size: usize,
}

impl<'a, T: Real> Panels<'a, T> {
    fn front(&self, s: usize) -> SupernodePanel<'a, T> {
        let node = &self.symbolic.supernodes[s];
        let start = self.symbolic.offsets[node.first];
        let own = start..start + node.pivots;
        let panel = &self.panels[self.starts[s]..self.starts[s + 1]];
        SupernodePanel { panel, inverses: &self.inverses[own.clone()], own, size: node.size }
    }
}

impl<T: Real> Substitution<T> {
    /// Divides the elimination tree of a factor with these first entries of its panels.
    pub(super) fn new(symbolic: &SymbolicCholesky, starts: &[usize], spans: &Lists<(usize, usize)>) -> Self {
        let all = starts[symbolic.supernodes.len()] as f64;
        Self::divided(symbolic, starts, spans, LEAST.max(all / MOST))
    }

    /// Divides the tree into branches of about `limit` entries of the factor.
    fn divided(symbolic: &SymbolicCholesky, starts: &[usize], spans: &Lists<(usize, usize)>, limit: f64) -> Self {
        let SymbolicCholesky { supernodes, offsets, .. } = symbolic;
        let subtrees = subtrees(supernodes, |s| (starts[s + 1] - starts[s]) as f64, limit);
        let offset = |s: usize| supernodes.get(s).map_or(offsets[symbolic.order.len()], |node| offsets[node.first]);
        let branches = subtrees.iter().enumerate().map(|(k, Subtree { first, nodes: all })| {
            let (mut nodes, mut children) = (Vec::new(), Vec::new());
            for_each_part(&subtrees, k, |own| nodes.push(own), |child| children.push(child));
            let entries = offset(all.start)..offset(all.end);
            let roots = all.clone().filter(|&s| supernodes[s].parent >= all.end);
            let behind = Behind::new(roots.flat_map(|s| spans.of(s)), entries.end);
            let largest = all.clone().map(|s| supernodes[s].size).max().unwrap_or(0);
            Branch { first: *first, nodes, children, entries, behind, gathered: vec![T::ZERO; largest] }
        });
        Substitution { branches: branches.collect() }
    }

    /// Overwrites `x` with `U⁻ᵀx`, in the order of elimination.
    pub(super) fn forward(&mut self, factor: Panels<'_, T>, x: &mut [T]) {
        self.on_all_cores(x, |group| forward(factor, group));
    }

    /// Overwrites `x` with `U⁻¹x`, in the order of elimination.
    pub(super) fn backward(&mut self, factor: Panels<'_, T>, x: &mut [T]) {
        self.on_all_cores(x, |group| backward(factor, group));
    }

    fn on_all_cores(&mut self, x: &mut [T], work: impl FnOnce(BranchGroup<'_, T>) + Send) {
        let group = BranchGroup { first: 0, branches: &mut self.branches, start: 0, x };
        if group.branches.len() == 1 { work(group) } else { parallel::in_pool(|| work(group)) }
    }
}

impl<T: Real> Behind<T> {
    /// Zeros for those entries of the spans that are not before `end`.
    fn new<'a>(spans: impl Iterator<Item = &'a (usize, usize)>, end: usize) -> Self {
        let mut all: Vec<_> = spans.map(|&(start, len)| start.max(end)..start + len).collect();
        all.retain(|range| !range.is_empty());
        all.sort_unstable_by_key(|range| range.start);
        let (mut spans, mut place): (Vec<StoredSpan>, usize) = (Vec::new(), 0);
        for range in all {
            match spans.last_mut() {
                Some(StoredSpan { start, len, .. }) if range.start <= *start + *len => {
                    let more = range.end.saturating_sub(*start + *len);
                    *len += more;
                    place += more;
                }
                _ => {
                    spans.push(StoredSpan { start: range.start, len: range.len(), place });
                    place += range.len();
                }
            }
        }
        Behind { spans, values: vec![T::ZERO; place] }
    }

    /// The values of entries from `start` on.
    fn at(&mut self, start: usize, len: usize) -> &mut [T] {
        let span = self.spans[self.spans.partition_point(|span| span.start <= start) - 1];
        &mut self.values[span.place + start - span.start..][..len]
    }
}

/// The entries of a branch, and the later ones that it touches.
struct BranchVector<'a, T> {
    /// The first of the branch's entries.
    first: usize,
    x: &'a mut [T],
    behind: &'a mut Behind<T>,
}

impl<T: Real> BranchVector<'_, T> {
    /// Calls `visit` with each span's part of `values`, and with the entries of that span.
    fn for_each_span(
        &mut self,
        spans: impl Iterator<Item = (usize, usize)>,
        mut values: &mut [T],
        visit: impl Fn(&mut [T], &mut [T]),
    ) {
        let end = self.first + self.x.len();
        for (start, len) in spans {
            let within = end.saturating_sub(start).min(len);
            let (inside, rest) = std::mem::take(&mut values).split_at_mut(within);
            let (outside, rest) = rest.split_at_mut(len - within);
            if !inside.is_empty() {
                visit(inside, &mut self.x[start - self.first..][..within]);
            }
            if !outside.is_empty() {
                visit(outside, self.behind.at(start + within, len - within));
            }
            values = rest;
        }
    }
}

/// Adds `values` to the entries.
fn add<T: Real>(values: &mut [T], entries: &mut [T]) {
    entries.iter_mut().zip(values).for_each(|(entry, &mut value)| *entry += value);
}

/// Copies the entries to `values`.
fn gather<T: Real>(values: &mut [T], entries: &mut [T]) {
    values.copy_from_slice(entries);
}

impl<T: Real> Branch<T> {
    /// Solves `Uᵀx = b`, after the branches before it.
    fn forward(&mut self, factor: Panels<'_, T>, before: BranchGroup<'_, T>) {
        let Branch { nodes, children, behind, gathered, .. } = self;
        behind.values.fill(T::ZERO);
        let mut branch = BranchVector { first: before.start, x: before.x, behind };
        for &child in &*children {
            let Behind { spans, values } = &mut before.branches[child - before.first].behind;
            branch.for_each_span(spans.iter().map(|span| (span.start, span.len)), values, add);
        }
        for s in nodes.iter().flat_map(Range::clone) {
            let SupernodePanel { panel, inverses, own, size } = factor.front(s);
            let own = own.start - branch.first..own.end - branch.first;
            let front = &mut gathered[..size];
            front[..own.len()].copy_from_slice(&branch.x[own.clone()]);
            front[own.len()..].fill(T::ZERO);
            simd::run(SolveForward { panel, inverses, x: front });
            let (pivots, below) = front.split_at_mut(own.len());
            branch.x[own].copy_from_slice(pivots);
            branch.for_each_span(factor.spans.of(s).iter().copied(), below, add);
        }
    }

    /// Solves `Ux = b`, and passes the solution to the branches that precede it.
    fn backward(&mut self, factor: Panels<'_, T>, before: BranchGroup<'_, T>) {
        let Branch { nodes, children, behind, gathered, .. } = self;
        let mut branch = BranchVector { first: before.start, x: before.x, behind };
        for s in nodes.iter().rev().flat_map(|nodes| nodes.clone().rev()) {
            let SupernodePanel { panel, inverses, own, size } = factor.front(s);
            let own = own.start - branch.first..own.end - branch.first;
            let front = &mut gathered[..size];
            let (pivots, below) = front.split_at_mut(own.len());
            pivots.copy_from_slice(&branch.x[own.clone()]);
            branch.for_each_span(factor.spans.of(s).iter().copied(), below, gather);
            simd::run(SolveBackward { panel, inverses, x: front });
            branch.x[own.clone()].copy_from_slice(&front[..own.len()]);
        }
        for &child in &*children {
            let Behind { spans, values } = &mut before.branches[child - before.first].behind;
            branch.for_each_span(spans.iter().map(|span| (span.start, span.len)), values, gather);
        }
    }
}

/// Branches that follow each other in postorder, and their entries.
struct BranchGroup<'a, T> {
    /// The first of the branches.
    first: usize,
    branches: &'a mut [Branch<T>],
    /// The first of the entries.
    start: usize,
    x: &'a mut [T],
}

impl<'a, T> BranchGroup<'a, T> {
    /// Splits off the last branch with those that it depends on. The other branches are independent of them.
    fn split_last(self) -> Option<(BranchGroup<'a, T>, &'a mut Branch<T>, BranchGroup<'a, T>)> {
        let BranchGroup { first, branches, start, x } = self;
        let (branch, others) = branches.split_last_mut()?;
        let (others, before) = others.split_at_mut(branch.first - first);
        let (x, own) = x.split_at_mut(branch.entries.start - start);
        let own = &mut own[..branch.entries.len()];
        let before = BranchGroup { first: branch.first, branches: before, start: branch.entries.start, x: own };
        Some((BranchGroup { first, branches: others, start, x }, branch, before))
    }

    /// Borrows the group for a shorter time.
    fn reborrow(&mut self) -> BranchGroup<'_, T> {
        BranchGroup { first: self.first, branches: self.branches, start: self.start, x: self.x }
    }
}

/// Solves `Uᵀx = b` in all branches of a group.
fn forward<T: Real>(factor: Panels<'_, T>, group: BranchGroup<'_, T>) {
    let Some((others, branch, mut before)) = group.split_last() else { return };
    parallel::join(
        || forward(factor, others),
        || {
            forward(factor, before.reborrow());
            branch.forward(factor, before);
        },
    );
}

/// Solves `Ux = b` in all branches of a group.
fn backward<T: Real>(factor: Panels<'_, T>, group: BranchGroup<'_, T>) {
    let Some((others, branch, mut before)) = group.split_last() else { return };
    // The last entries of the factor come first: after a forward solve, they are in the cache.
    parallel::join(
        || {
            branch.backward(factor, before.reborrow());
            backward(factor, before);
        },
        || backward(factor, others),
    );
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::cholesky::SparseCholesky;
    use super::super::tests::{Sample, samples};
    use super::*;

    impl<T: Real> Substitution<T> {
        pub(in super::super) fn branches(&self) -> usize {
            self.branches.len()
        }
    }

    proptest! {
        /// However the tree is divided, the solutions are those of one branch; those of `Ux = b` are the same bits.
        #[test]
        fn branches_solve_as_one_does(sample in samples(), limit in 1.0..200.0_f64) {
            let Sample { pattern, matrix, .. } = sample;
            let symbolic = SymbolicCholesky::new(&pattern).unwrap();
            let mut factor = SparseCholesky::new(symbolic, &pattern).unwrap();
            factor.factorize(&matrix, 0.0, &[]).unwrap();
            let b: Vec<f64> = (0..pattern.len()).map(|k| (k as f64).cos()).collect();
            let panels = factor.panels();
            let [one, many] = [f64::INFINITY, limit].map(|limit| {
                let (mut forward, mut backward) = (b.clone(), b.clone());
                let mut substitution = Substitution::divided(panels.symbolic, panels.starts, panels.spans, limit);
                // Twice, as what is behind the branches is there from the first time.
                substitution.forward(panels, &mut forward);
                forward.copy_from_slice(&b);
                substitution.forward(panels, &mut forward);
                substitution.backward(panels, &mut backward);
                [forward, backward]
            });
            let largest = one[0].iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
            prop_assert!(one[0].iter().zip(&many[0]).all(|(one, many)| (one - many).abs() <= 1e-12 * largest));
            prop_assert_eq!(&one[1], &many[1]);
        }
    }
}
