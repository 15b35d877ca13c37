//! Division of the elimination tree into tasks.

use std::ops::Range;

use super::pattern::TooLarge;
use super::symbolic::{Supernode, cost, update_len};
use crate::kernels::front::FEW;

/// Least time of a task, in units of [`cost`].
const LEAST: f64 = 3e6;

/// Most tasks of equal time.
const MOST: f64 = 32.0;

/// Tasks for each thread; fewer tasks keep updates in the cache.
const FOR_EACH_THREAD: f64 = 6.0;

/// Supernodes processed in sequence, after the subtrees below them.
///
/// The supernodes of a subtree and of all subtrees below it are consecutive, and so are the subtrees.
#[derive(Debug, Clone)]
pub(super) struct Subtree {
    /// Index of the first subtree below it; the others follow, up to this one.
    pub(super) first: usize,
    /// Its supernodes, and those of the subtrees below it.
    pub(super) nodes: Range<usize>,
}

/// Sizes of the updates of a task.
#[derive(Debug, Clone, Default)]
pub(super) struct Updates {
    /// Entries of the updates that wait to be added, of supernodes at even and at odd distances from the root, without leaves.
    pub(super) waiting: [usize; 2],
    /// Entries of the largest update of a leaf of more than [`FEW`] pivots.
    pub(super) leaf: usize,
}

/// The tasks of an elimination tree, in postorder. The entries of the factor do not depend on them.
#[derive(Debug, Clone)]
pub(super) struct Tasks {
    /// Supernodes of each task.
    pub(super) subtrees: Vec<Subtree>,
    pub(super) updates: Vec<Updates>,
    /// Task of each supernode.
    pub(super) of_node: Vec<u32>,
    /// First entry of each supernode's update in its stack; undefined for supernodes without one.
    pub(super) places: Vec<usize>,
}

impl Tasks {
    /// Divides a tree whose supernodes are in postorder, for `threads` threads. Leaves of a task other than their parent's are eliminated
    /// there.
    pub(super) fn new(supernodes: &mut [Supernode], threads: usize) -> Result<Self, TooLarge> {
        let own = |s: usize| cost(supernodes[s].pivots, supernodes[s].size);
        let total: f64 = (0..supernodes.len()).map(own).sum();
        let most = if threads == 1 { 1.0 } else { MOST.min(FOR_EACH_THREAD * threads as f64) };
        let subtrees = subtrees(supernodes, own, LEAST.max(total / most));
        let mut of_node = vec![0; supernodes.len()];
        for k in 0..subtrees.len() {
            for_each_part(&subtrees, k, |nodes| of_node[nodes].fill(k as u32), |_| ());
        }
        for s in 0..supernodes.len() {
            let parent = supernodes[s].parent;
            let is_elsewhere = supernodes.get(parent).is_some() && of_node[parent] != of_node[s];
            if supernodes[s].is_leaf && is_elsewhere {
                supernodes[s].is_leaf = false;
                supernodes[s].is_implicit = supernodes[s].pivots <= FEW;
            }
        }
        let updates = vec![Updates::default(); subtrees.len()];
        let mut tasks = Tasks { subtrees, updates, of_node, places: vec![0; supernodes.len()] };
        tasks.stack(supernodes)?;
        Ok(tasks)
    }

    /// Finds the places of the updates, and the heights of the stacks.
    fn stack(&mut self, supernodes: &[Supernode]) -> Result<(), TooLarge> {
        // First child of each supernode that is in the same task.
        let mut first_child = vec![usize::MAX; supernodes.len()];
        for (s, node) in supernodes.iter().enumerate().rev() {
            if let Some(child) =
                first_child.get_mut(node.parent).filter(|_| self.of_node[node.parent] == self.of_node[s])
            {
                *child = s;
            }
        }
        let mut heights = vec![[0_usize; 2]; self.updates.len()];
        for (s, node) in supernodes.iter().enumerate() {
            let k = self.of_node[s] as usize;
            let (updates, heights, odd) = (&mut self.updates[k], &mut heights[k], usize::from(node.odd));
            self.places[s] = heights[odd];
            let entries = update_len(node.size - node.pivots)?;
            if node.is_leaf && node.pivots > FEW {
                updates.leaf = updates.leaf.max(entries);
            }
            if !(node.is_leaf || node.is_implicit) {
                heights[odd] = heights[odd].checked_add(entries).ok_or(TooLarge)?;
                updates.waiting[odd] = updates.waiting[odd].max(heights[odd]);
            }
            if let Some(&place) = self.places.get(first_child[s]) {
                heights[1 - odd] = place;
            }
        }
        Ok(())
    }

    /// Entries of all updates that wait.
    pub(super) fn entry_count(&self) -> usize {
        let entries = self.updates.iter().flat_map(|updates| [updates.waiting[0], updates.waiting[1], updates.leaf]);
        entries.fold(0, usize::saturating_add)
    }
}

/// Calls `visit` for the ranges of a subtree's own supernodes, in their order, and `visit_child` for the subtrees between them.
pub(super) fn for_each_part(
    subtrees: &[Subtree],
    k: usize,
    mut visit: impl FnMut(Range<usize>),
    mut visit_child: impl FnMut(usize),
) {
    let mut start = subtrees[k].nodes.start;
    let mut before = subtrees[k].first;
    while before < k {
        // The outermost subtree that begins here or later: the last that has this one, or itself, as its first.
        let outer = (before..k).rev().find(|&outer| subtrees[outer].first <= before).unwrap_or(before);
        visit(start..subtrees[outer].nodes.start);
        visit_child(outer);
        start = subtrees[outer].nodes.end;
        before = outer + 1;
    }
    visit(start..subtrees[k].nodes.end);
}

/// Divides a tree of supernodes in postorder into subtrees that take about `limit` each.
///
/// A subtree whose cost exceeds `limit` is split: its children become subtrees of their own, or groups of consecutive children do.
pub(super) fn subtrees(supernodes: &[Supernode], own: impl Fn(usize) -> f64, limit: f64) -> Vec<Subtree> {
    let mut subtrees: Vec<Subtree> = Vec::new();
    for nodes in ranges(supernodes, own, limit) {
        // Subtrees within its range have no other parent.
        let within =
            subtrees.iter().rposition(|before| before.nodes.start < nodes.start).map_or(0, |before| before + 1);
        let first = subtrees.get(within).map_or(subtrees.len(), |before| before.first.min(within));
        subtrees.push(Subtree { first, nodes });
    }
    subtrees
}

/// The supernodes of each subtree and of the subtrees below it, in postorder.
fn ranges(supernodes: &[Supernode], own: impl Fn(usize) -> f64, limit: f64) -> Vec<Range<usize>> {
    let all = 0..supernodes.len();
    if all.clone().map(&own).sum::<f64>() <= limit {
        return Vec::from([all]);
    }
    // For each subtree: the time of its supernodes that are in no task yet, and its first supernode.
    let mut time: Vec<f64> = all.clone().map(own).collect();
    let mut first: Vec<usize> = (0..supernodes.len()).collect();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); supernodes.len()];
    let mut tasks = Vec::new();
    let mut close = |children: &[usize], time: &[f64], first: &[usize]| {
        let mut group: Option<(usize, f64)> = None;
        for (k, &child) in children.iter().enumerate() {
            let (start, sum) = group.map_or((first[child], time[child]), |(start, sum)| (start, sum + time[child]));
            let is_full = children.get(k + 1).is_none_or(|&next| sum + time[next] > limit);
            group = (!is_full).then_some((start, sum));
            if is_full {
                tasks.push(start..child + 1);
            }
        }
    };
    let mut roots = Vec::new();
    for s in 0..supernodes.len() {
        let open: f64 = children[s].iter().map(|&child| time[child]).sum();
        if let Some(&child) = children[s].first() {
            first[s] = first[child];
        }
        if time[s] + open > limit {
            close(&children[s], &time, &first);
        } else {
            time[s] += open;
        }
        children[s] = Vec::new();
        match children.get_mut(supernodes[s].parent) {
            Some(siblings) => siblings.push(s),
            None => roots.push(s),
        }
    }
    if roots.iter().map(|&root| time[root]).sum::<f64>() > limit {
        close(&roots, &time, &first);
    }
    tasks.sort_unstable_by_key(|nodes| nodes.end);
    if tasks.last() != Some(&all) {
        tasks.push(all);
    }
    tasks
}
