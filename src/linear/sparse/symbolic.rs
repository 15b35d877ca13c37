//! Symbolic factorisation: fill-reducing order, elimination tree and supernodes.

use super::dissection::nested_dissection;
use super::first_elimination::FirstElimination;
use super::ordering::{is_dense, minimum_degree, neighbours};
use super::pattern::{BlockPattern, TooLarge};
use super::tasks::Tasks;
use crate::kernels::front::padded;
use crate::lists::{Lists, prefix_sums};
use crate::parallel;

/// No node.
const NONE: usize = usize::MAX;

/// Flops of a factorisation per block and neighbour beyond which nested dissection is tried: it takes less time than one such
/// factorisation.
const WORTHWHILE: f64 = 2e4;

/// Columns of blocks that are eliminated together, from one front.
///
/// The front has first the supernode's own columns, and then the rows below, in the order of elimination.
#[derive(Debug, Clone)]
pub(super) struct Supernode {
    /// First of its columns, in the order of elimination.
    pub(super) first: usize,
    /// Number of its columns.
    pub(super) columns: usize,
    /// Rows below its columns: a range of [`SymbolicCholesky::rows`].
    pub(super) rows: std::ops::Range<usize>,
    /// Entries of its columns.
    pub(super) pivots: usize,
    /// Entries of its front.
    pub(super) size: usize,
    /// The supernode of the first row below; `usize::MAX` for a root.
    pub(super) parent: usize,
    /// Its distance from the root is odd.
    pub(super) odd: bool,
    /// True for a supernode with a parent and without children: it is eliminated right before its parent, and its update is not kept.
    pub(super) is_leaf: bool,
    /// True for a supernode without children and with few pivots, whose parent is in another [task](Tasks): its update is not
    /// formed.
    pub(super) is_implicit: bool,
}

/// Structure of the Cholesky factor of a matrix, and the work that the factorisation takes.
#[derive(Debug, Clone)]
pub(crate) struct SymbolicCholesky {
    /// Blocks in the order of elimination.
    pub(super) order: Vec<u32>,
    /// First entry of each block in that order.
    pub(super) offsets: Vec<usize>,
    /// Place of each block in that order.
    pub(super) label: Vec<u32>,
    /// First entry of each block in its natural order.
    pub(super) natural: Vec<usize>,
    /// Supernodes, children before their parents.
    pub(super) supernodes: Vec<Supernode>,
    /// Rows below the supernodes' columns, by their place in the order.
    pub(super) rows: Vec<u32>,
    /// Entries of all panels.
    pub(super) panels: usize,
    /// Division of the factorisation into tasks.
    pub(super) tasks: Tasks,
    /// Entries of the updates that are kept until they are added, with the largest useful number of threads.
    updates: usize,
}

/// Estimated time of a front in units of one operation in registers. Supernodes are chosen to minimise its sum.
pub(super) fn cost(pivots: usize, size: usize) -> f64 {
    const FRONT: f64 = 3000.0;
    const PANEL: f64 = 6.0;
    const UPDATE: f64 = 8.0;
    let (k, others) = (pivots as f64, padded(size - pivots) as f64);
    let stride = padded(size) as f64;
    FRONT + k * (stride * (k + PANEL) + others * (others + 8.0)) + UPDATE * others * others
}

/// A supernode under construction.
struct Draft {
    /// First and last column; columns of a supernode are chained.
    first: usize,
    last: usize,
    parent: usize,
    rows: std::ops::Range<usize>,
    pivots: usize,
    size: usize,
}

impl SymbolicCholesky {
    /// The structure for matrices of a pattern, in a fill-reducing order.
    ///
    /// `O(p log p)` for the order of `p` pairs, mostly, and as much time as there are blocks in the factor.
    pub(crate) fn new(pattern: &BlockPattern) -> Result<Self, TooLarge> {
        // Places in a front are counted in 32 bits.
        u32::try_from(pattern.len()).map_err(|_| TooLarge)?;
        let graph = neighbours(pattern);
        let first = FirstElimination::new(&graph, |i| pattern.size(i));
        let rest = first.as_ref().map_or(&graph, |first| &first.graph);
        let size = |i: usize| pattern.size(first.as_ref().map_or(i, |first| first.other(i)));
        let is_taken = |i: usize| !is_dense(rest, i);
        let in_sets = |sets: &Lists<u32>| {
            let order = minimum_degree(rest, size, sets);
            Self::in_order(
                pattern,
                &graph,
                match &first {
                    Some(first) => first.followed_by(&order),
                    None => order,
                },
            )
        };
        let structure = in_sets(&one_set(rest.len(), is_taken))?;
        if structure.flops() < WORTHWHILE * (rest.len() + rest.items.len()) as f64 {
            return Ok(structure);
        }
        let dissected = in_sets(&nested_dissection(rest, size, is_taken))?;
        Ok(if dissected.flops() < structure.flops() { dissected } else { structure })
    }

    /// The structure for matrices of a pattern, in an order that reduces the fill and has some blocks at its end.
    pub(super) fn with_last(pattern: &BlockPattern, is_last: impl Fn(usize) -> bool) -> Result<Self, TooLarge> {
        u32::try_from(pattern.len()).map_err(|_| TooLarge)?;
        let graph = neighbours(pattern);
        let is_taken = |i: usize| !(is_last(i) || is_dense(&graph, i));
        let order = minimum_degree(&graph, |i| pattern.size(i), &one_set(graph.len(), is_taken));
        Self::in_order(pattern, &graph, order)
    }

    /// The structure with blocks eliminated in an order, or in one that is equivalent.
    fn in_order(pattern: &BlockPattern, graph: &Lists<u32>, order: Vec<u32>) -> Result<Self, TooLarge> {
        let n = order.len();
        let mut place = inverse(&order);
        let tree = elimination_tree(graph, &order, &place);
        let postorder = postorder(&tree);
        let mut label = vec![0; n];
        postorder.iter().enumerate().for_each(|(k, &old)| label[old as usize] = k as u32);
        let order: Vec<u32> = postorder.iter().map(|&old| order[old as usize]).collect();
        place.iter_mut().for_each(|place| *place = label[*place as usize]);
        let mut parents = vec![NONE; n];
        for (old, &parent) in tree.iter().enumerate() {
            if parent != NONE {
                parents[label[old] as usize] = label[parent] as usize;
            }
        }
        let size = |j: usize| pattern.size(order[j] as usize);

        let (mut drafts, mut rows, mut chain) = fundamental(graph, &order, &place, &parents, size);
        amalgamate(&mut drafts, &mut chain);
        Self::arranged(pattern, &order, &drafts, &mut rows, &chain)
    }

    /// Puts the columns of each supernode behind each other, and children before their parents.
    fn arranged(
        pattern: &BlockPattern,
        order: &[u32],
        drafts: &[Draft],
        rows: &mut [u32],
        chain: &[usize],
    ) -> Result<Self, TooLarge> {
        let (order, label, mut supernodes) = sequence(order, drafts, chain);
        let (rows, panels) = renumber(&mut supernodes, rows, &label)?;
        let offsets = prefix_sums(order.iter().map(|&block| pattern.size(block as usize)));
        // The reported memory must not depend on the number of threads.
        let updates = Tasks::new(&mut supernodes.clone(), usize::MAX)?.entry_count();
        let tasks = Tasks::new(&mut supernodes, parallel::threads())?;
        let label = inverse(&order);
        let natural = (0..order.len()).map(|i| pattern.range(i).start).collect();
        Ok(SymbolicCholesky { order, offsets, label, natural, supernodes, rows, panels, tasks, updates })
    }

    /// Number of entries of a block of a vector.
    pub(super) fn size(&self, label: usize) -> usize {
        self.offsets[label + 1] - self.offsets[label]
    }

    /// Entries of a block in the order of the problem.
    pub(super) fn natural_range(&self, label: usize) -> std::ops::Range<usize> {
        let start = self.natural[self.order[label] as usize];
        start..start + self.size(label)
    }

    /// Rows below the pivots of a supernode, by blocks.
    pub(super) fn rows_below(&self, node: &Supernode) -> impl Iterator<Item = usize> {
        self.rows[node.rows.clone()].iter().map(|&row| row as usize)
    }

    /// Finds the position of each block in a supernode's front.
    pub(super) fn find_positions(&self, node: &Supernode, positions: &mut [usize]) {
        let mut at = 0;
        for label in (node.first..node.first + node.columns).chain(self.rows_below(node)) {
            positions[label] = at;
            at += self.size(label);
        }
    }

    /// The supernode of each block, by its place in the order.
    pub(super) fn supernode_of_all(&self) -> Vec<usize> {
        let mut supernode_of = vec![0; self.order.len()];
        for (s, node) in self.supernodes.iter().enumerate() {
            supernode_of[node.first..node.first + node.columns].fill(s);
        }
        supernode_of
    }

    /// Floating-point operations of a factorisation: `Σ (m − i)²` over the pivots `i` of fronts of `m` rows.
    pub(crate) fn flops(&self) -> f64 {
        let of_node = |k: f64, m: f64| k * m * m - m * k * (k - 1.0) + k * (k - 1.0) * (2.0 * k - 1.0) / 6.0;
        self.supernodes.iter().map(|node| of_node(node.pivots as f64, node.size as f64)).sum()
    }

    /// Entries on and above the diagonal of the factor, those that are zero in supernodes included.
    #[cfg(test)]
    pub(crate) fn nonzeros(&self) -> f64 {
        let of_node = |k: f64, m: f64| k * m - k * (k - 1.0) / 2.0;
        self.supernodes.iter().map(|node| of_node(node.pivots as f64, node.size as f64)).sum()
    }

    /// Entries of the factor.
    pub(crate) fn panel_entries(&self) -> usize {
        self.panels
    }

    /// Entries that a factorisation keeps in memory.
    pub(crate) fn entry_count(&self) -> usize {
        let n = self.offsets[self.order.len()];
        [self.panels, self.updates, n, n, n].into_iter().fold(0, usize::saturating_add)
    }
}

/// Returns the length of an update of a number of rows.
pub(super) fn update_len(others: usize) -> Result<usize, TooLarge> {
    padded(others).checked_mul(padded(others)).ok_or(TooLarge)
}

/// One set with the blocks that are taken.
fn one_set(blocks: usize, is_taken: impl Fn(usize) -> bool) -> Lists<u32> {
    let mut sets = Lists::new();
    sets.items.extend((0..blocks).filter(|&i| is_taken(i)).map(|i| i as u32));
    sets.end();
    sets
}

/// The place of each block in an order.
fn inverse(order: &[u32]) -> Vec<u32> {
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(k, &i)| place[i as usize] = k as u32);
    place
}

/// Parent of each place in the order: the first row below the diagonal of the factor's column (Liu 1990).
fn elimination_tree(graph: &Lists<u32>, order: &[u32], place: &[u32]) -> Vec<usize> {
    let n = order.len();
    let (mut parents, mut ancestors) = (vec![NONE; n], vec![NONE; n]);
    for (j, &block) in order.iter().enumerate() {
        for &neighbour in graph.of(block as usize) {
            let mut i = place[neighbour as usize] as usize;
            while i < j {
                let ancestor = std::mem::replace(&mut ancestors[i], j);
                if ancestor == NONE {
                    parents[i] = j;
                    break;
                }
                i = ancestor;
            }
        }
    }
    parents
}

/// Nodes of a forest in postorder.
fn postorder(parents: &[usize]) -> Vec<u32> {
    let n = parents.len();
    let children = Lists::children(parents.iter().copied());
    let mut next = children.starts.clone();
    let mut order = Vec::with_capacity(n);
    let mut stack = Vec::new();
    for root in (0..n).filter(|&node| parents[node] == NONE) {
        stack.push(root);
        while let Some(&node) = stack.last() {
            if next[node] == children.starts[node + 1] {
                stack.pop();
                order.push(node as u32);
            } else {
                stack.push(children.items[next[node]] as usize);
                next[node] += 1;
            }
        }
    }
    order
}

/// Puts the columns of each supernode behind each other, and children before their parents. Returns the blocks in that order, the new
/// place of each column, and the supernodes, with the rows of their drafts.
fn sequence(order: &[u32], drafts: &[Draft], chain: &[usize]) -> (Vec<u32>, Vec<u32>, Vec<Supernode>) {
    let n = order.len();
    let alive: Vec<usize> = (0..drafts.len()).filter(|&s| drafts[s].size > 0).collect();
    let mut number = vec![NONE; drafts.len()];
    alive.iter().enumerate().for_each(|(k, &s)| number[s] = k);
    let parents: Vec<usize> =
        alive.iter().map(|&s| if drafts[s].parent == NONE { NONE } else { number[drafts[s].parent] }).collect();
    let sequence = postorder(&parents);
    let mut rank = vec![0; alive.len()];
    sequence.iter().enumerate().for_each(|(k, &s)| rank[s as usize] = k);

    let mut label = vec![0_u32; n];
    let mut arranged = Vec::with_capacity(n);
    let mut supernodes: Vec<Supernode> = Vec::with_capacity(alive.len());
    for &s in &sequence {
        let draft = &drafts[alive[s as usize]];
        let first = arranged.len();
        let mut column = draft.first;
        while column != NONE {
            label[column] = arranged.len() as u32;
            arranged.push(order[column]);
            column = chain[column];
        }
        let parent = parents[s as usize];
        supernodes.push(Supernode {
            first,
            columns: arranged.len() - first,
            rows: draft.rows.clone(),
            pivots: draft.pivots,
            size: draft.size,
            parent: if parent == NONE { NONE } else { rank[parent] },
            odd: false,
            is_leaf: parent != NONE,
            is_implicit: false,
        });
    }
    for s in 0..supernodes.len() {
        let parent = supernodes[s].parent;
        if parent != NONE {
            supernodes[parent].is_leaf = false;
        }
    }
    (arranged, label, supernodes)
}

/// Collects the rows of the supernodes, renumbered by `label` and sorted, and sets the parity of the distances from the root. Returns the
/// rows, and the number of entries of all panels.
fn renumber(supernodes: &mut [Supernode], rows: &mut [u32], label: &[u32]) -> Result<(Vec<u32>, usize), TooLarge> {
    let (mut all_rows, mut panels) = (Vec::new(), 0_usize);
    for s in (0..supernodes.len()).rev() {
        let parent = supernodes[s].parent;
        let odd = parent != NONE && !supernodes[parent].odd;
        let node = &mut supernodes[s];
        node.odd = odd;
        let panel = node.pivots.checked_mul(padded(node.size)).ok_or(TooLarge)?;
        panels = panels.checked_add(panel).ok_or(TooLarge)?;
        let range = all_rows.len()..all_rows.len() + node.rows.len();
        let rows = &mut rows[std::mem::replace(&mut node.rows, range)];
        rows.iter_mut().for_each(|row| *row = label[*row as usize]);
        rows.sort_unstable();
        all_rows.extend_from_slice(rows);
    }
    Ok((all_rows, panels))
}

/// Supernodes of columns that have the same rows below, their rows, and for each column the next of its supernode. Columns
/// are in postorder.
fn fundamental(
    graph: &Lists<u32>,
    order: &[u32],
    place: &[u32],
    parents: &[usize],
    size: impl Fn(usize) -> usize,
) -> (Vec<Draft>, Vec<u32>, Vec<usize>) {
    let n = order.len();
    let children = Lists::children(parents.iter().copied());
    let mut drafts: Vec<Draft> = Vec::new();
    let (mut rows, mut chain) = (Vec::with_capacity(graph.items.len()), vec![NONE; n]);
    let (mut supernode_of, mut mark) = (vec![NONE; n], vec![NONE; n]);
    let mut below: Vec<u32> = Vec::new();
    for j in 0..n {
        let children = || children.of(j).iter().rev().map(|&child| supernode_of[child as usize]);
        let neighbours = graph.of(order[j] as usize).iter().map(|&block| place[block as usize]);
        let of_children = children().flat_map(|s| &rows[drafts[s].rows.clone()]).copied();
        let entries = neighbours.filter(|&i| i as usize > j).chain(of_children);
        mark[j] = j;
        below.clear();
        below.extend(entries.filter(|&i| std::mem::replace(&mut mark[i as usize], j) != j));
        let same = children().find(|&s| drafts[s].rows.len() == below.len() + 1);
        supernode_of[j] = same.unwrap_or(drafts.len());
        if let Some(s) = same {
            let draft = &mut drafts[s];
            draft.rows.end -= 1;
            rows[draft.rows.clone()].copy_from_slice(&below);
            chain[draft.last] = j;
            draft.last = j;
            draft.pivots += size(j);
        } else {
            let (start, pivots) = (rows.len(), size(j));
            rows.extend_from_slice(&below);
            let others: usize = below.iter().map(|&i| size(i as usize)).sum();
            let rows = start..rows.len();
            drafts.push(Draft { first: j, last: j, parent: NONE, rows, pivots, size: pivots + others });
        }
    }
    for draft in &mut drafts {
        if parents[draft.last] != NONE {
            draft.parent = supernode_of[parents[draft.last]];
        }
    }
    (drafts, rows, chain)
}

/// Merges supernodes with their parents where that lowers the [`cost`]. Merged drafts have the size zero.
fn amalgamate(drafts: &mut [Draft], chain: &mut [usize]) {
    // A parent is visited after its children, by its last column.
    let mut sequence: Vec<usize> = (0..drafts.len()).collect();
    sequence.sort_by_cached_key(|&s| drafts[s].last);
    let mut children = Lists::children(drafts.iter().map(|draft| draft.parent));
    for &p in &sequence {
        let own = children.of_mut(p);
        // Largest first: the fewest zeros.
        own.sort_unstable_by_key(|&c| (std::cmp::Reverse(drafts[c as usize].size), c));
        for c in own.iter().map(|&c| c as usize) {
            let (child, parent) = (&drafts[c], &drafts[p]);
            let merged = cost(child.pivots + parent.pivots, child.pivots + parent.size);
            if merged > cost(child.pivots, child.size) + cost(parent.pivots, parent.size) {
                continue;
            }
            let (pivots, first, last) = (child.pivots, child.first, child.last);
            drafts[c].size = 0;
            drafts[c].parent = p;
            chain[last] = drafts[p].first;
            drafts[p].first = first;
            drafts[p].pivots += pivots;
            drafts[p].size += pivots;
        }
    }
    // The parent of a grandchild becomes the supernode that its old parent was merged with.
    for &s in sequence.iter().rev() {
        let parent = drafts[s].parent;
        if parent != NONE && drafts[parent].size == 0 {
            drafts[s].parent = drafts[parent].parent;
        }
    }
}
