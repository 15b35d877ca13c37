//! Division of the elimination tree into tasks.

use std::ops::Range;

use super::pattern::TooLarge;
use super::symbolic::{Supernode, cost, update_numbers};
use crate::kernels::front::FEW;

/// Least time of a task, in units of [`cost`].
const LEAST: f64 = 3e6;

/// Most tasks that the time of all would suffice for.
const MOST: f64 = 32.0;

/// Tasks for each thread: with fewer tasks, updates are in the cache.
const FOR_EACH_THREAD: f64 = 6.0;

/// Supernodes that are eliminated one after the other, and the tasks that come before them.
///
/// The supernodes of a task and of all tasks before it follow each other; `nodes` are these without gaps. So do the tasks.
#[derive(Debug, Clone)]
pub(super) struct Task {
    /// First task before it; those before it end with itself.
    pub(super) first: usize,
    /// Its supernodes, and those of the tasks before it.
    pub(super) nodes: Range<usize>,
    /// Numbers of the updates that wait to be added, of supernodes at even and at odd distances from the root, without leaves.
    pub(super) updates: [usize; 2],
    /// Numbers of the largest update of a leaf of more than [`FEW`] pivots.
    pub(super) leaf_update: usize,
}

/// The tasks of an elimination tree, in postorder. The numbers of the factor do not depend on them.
#[derive(Debug, Clone)]
pub(super) struct Tasks {
    pub(super) tasks: Vec<Task>,
    /// Task of each supernode.
    pub(super) of_node: Vec<u32>,
    /// First number of each supernode's update in its stack; of no meaning for those without.
    pub(super) places: Vec<usize>,
}

impl Tasks {
    /// Divides a tree whose supernodes are in postorder, for `threads` threads. Leaves of a task other than their parent's are eliminated
    /// there.
    pub(super) fn new(supernodes: &mut [Supernode], threads: usize) -> Result<Self, TooLarge> {
        let ends = task_ends(supernodes, threads);
        let mut of_node = vec![0; supernodes.len()];
        let mut tasks: Vec<Task> = Vec::new();
        for range in ends {
            // Those within its range are not part of another one.
            let within = tasks.iter().rposition(|task| task.nodes.start < range.start).map_or(0, |before| before + 1);
            let first = tasks.get(within).map_or(tasks.len(), |task| task.first.min(within));
            tasks.push(Task { first, nodes: range, updates: [0; 2], leaf_update: 0 });
        }
        for k in 0..tasks.len() {
            own_nodes(&tasks, k, |nodes| of_node[nodes].fill(k as u32));
        }
        for s in 0..supernodes.len() {
            let parent = supernodes[s].parent;
            let is_elsewhere = supernodes.get(parent).is_some() && of_node[parent] != of_node[s];
            if supernodes[s].is_leaf && is_elsewhere {
                supernodes[s].is_leaf = false;
                supernodes[s].is_implicit = supernodes[s].pivots <= FEW;
            }
        }
        let mut tasks = Tasks { tasks, of_node, places: vec![0; supernodes.len()] };
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
        let mut heights = vec![[0_usize; 2]; self.tasks.len()];
        for (s, node) in supernodes.iter().enumerate() {
            let k = self.of_node[s] as usize;
            let (task, heights, odd) = (&mut self.tasks[k], &mut heights[k], usize::from(node.odd));
            self.places[s] = heights[odd];
            let numbers = update_numbers(node.size - node.pivots)?;
            if node.is_leaf && node.pivots > FEW {
                task.leaf_update = task.leaf_update.max(numbers);
            }
            if !(node.is_leaf || node.is_implicit) {
                heights[odd] = heights[odd].checked_add(numbers).ok_or(TooLarge)?;
                task.updates[odd] = task.updates[odd].max(heights[odd]);
            }
            if let Some(&place) = self.places.get(first_child[s]) {
                heights[1 - odd] = place;
            }
        }
        Ok(())
    }

    /// Numbers of all updates that wait.
    pub(super) fn numbers(&self) -> usize {
        let numbers = self.tasks.iter().flat_map(|task| [task.updates[0], task.updates[1], task.leaf_update]);
        numbers.fold(0, usize::saturating_add)
    }

    /// Calls `visit` for the ranges of a task's own supernodes.
    pub(super) fn own_nodes(&self, k: usize, visit: impl FnMut(Range<usize>)) {
        own_nodes(&self.tasks, k, visit);
    }
}

/// Calls `visit` for the ranges of a task's own supernodes, in their order.
fn own_nodes(tasks: &[Task], k: usize, mut visit: impl FnMut(Range<usize>)) {
    let mut start = tasks[k].nodes.start;
    let mut before = tasks[k].first;
    while before < k {
        // The outermost task that begins here or later: the last that has this one, or itself, as its first.
        let outer = (before..k).rev().find(|&outer| tasks[outer].first <= before).unwrap_or(before);
        visit(start..tasks[outer].nodes.start);
        start = tasks[outer].nodes.end;
        before = outer + 1;
    }
    visit(start..tasks[k].nodes.end);
}

/// The supernodes of each task and of those before it, in postorder.
///
/// A task ends where what is to be done one after the other would take too long: there, the subtrees of the children are tasks, or
/// several that follow each other are one.
fn task_ends(supernodes: &[Supernode], threads: usize) -> Vec<Range<usize>> {
    let own = |node: &Supernode| cost(node.pivots, node.size);
    let total: f64 = supernodes.iter().map(own).sum();
    let tasks = if threads == 1 { 1.0 } else { MOST.min(FOR_EACH_THREAD * threads as f64) };
    let limit = LEAST.max(total / tasks);
    let all = 0..supernodes.len();
    if total <= limit {
        return Vec::from([all]);
    }
    // Of each subtree: time of what is not in tasks yet, and first supernode.
    let mut time: Vec<f64> = supernodes.iter().map(own).collect();
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
