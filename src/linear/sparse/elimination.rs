//! Multifrontal elimination of the supernodes, task by task.

use std::ops::Range;

use super::assembly::Assembly;
use super::symbolic::Supernode;
use super::tasks::for_each_part;
use crate::kernels::front::{Eliminate, ExtendAdd, FEW, Front, IndexRun, SubtractProducts, padded};
use crate::kernels::simd;
use crate::linear::IllConditioned;
use crate::lists::Lists;
use crate::parallel;
use crate::real::Real;

/// Number of rows from which a front is divided among all cores.
const LARGE: usize = 160;

/// Multifrontal elimination of a matrix. Independent tasks and parts of large fronts run on all cores, with the same bits.
pub(super) struct MultifrontalElimination<'a, T> {
    pub(super) assembly: Assembly<'a, T>,
    /// First entry of each supernode's panel.
    pub(super) starts: &'a [usize],
    /// Children of each supernode.
    pub(super) children: &'a Lists<u32>,
    /// Positions of the rows below each child in its parent's front, in the order of the lists of children.
    pub(super) runs: &'a Lists<IndexRun>,
    /// Parts of the rows of a large front.
    pub(super) parts: usize,
}

/// The factor from supernode `first` on.
pub(super) struct FactorPart<'a, T> {
    pub(super) first: usize,
    pub(super) panels: &'a mut [T],
    pub(super) inverses: &'a mut [T],
}

/// Update matrices of a task.
#[derive(Debug, Clone)]
pub(super) struct TaskWorkspace<T> {
    /// Updates that wait to be added, of supernodes at even and at odd distances from the root, without leaves.
    pub(super) stacks: [Vec<T>; 2],
    /// Update of one leaf, which is added to its parent's front immediately.
    pub(super) leaf_update: Vec<T>,
}

impl<T: Real> MultifrontalElimination<'_, T> {
    /// Runs consecutive tasks in postorder, with their part of the factor and their workspaces.
    pub(super) fn tasks(
        &self,
        tasks: Range<usize>,
        factor: FactorPart<'_, T>,
        workspaces: &mut [TaskWorkspace<T>],
    ) -> Result<(), IllConditioned> {
        let Some(last) = tasks.clone().last() else { return Ok(()) };
        let first = self.assembly.symbolic.tasks.subtrees[last].first;
        let (workspaces_before, workspaces) = workspaces.split_at_mut(first - tasks.start);
        if workspaces_before.is_empty() {
            return self.task(last, factor, workspaces);
        }
        let (before, own) = self.split(factor, self.assembly.symbolic.tasks.subtrees[last].nodes.start);
        let mut outcomes = [Ok(()); 2];
        let [of_before, of_last] = &mut outcomes;
        parallel::join(
            || *of_before = self.tasks(tasks.start..first, before, workspaces_before),
            || *of_last = self.task(last, own, workspaces),
        );
        outcomes.into_iter().collect()
    }

    /// The factor before supernode `s` and from it on.
    fn split<'b>(&self, factor: FactorPart<'b, T>, s: usize) -> (FactorPart<'b, T>, FactorPart<'b, T>) {
        let FactorPart { first, panels, inverses } = factor;
        let pivot = |s: usize| self.assembly.symbolic.offsets[self.assembly.symbolic.supernodes[s].first];
        let (panels, panels_behind) = panels.split_at_mut(self.starts[s] - self.starts[first]);
        let (inverses, inverses_behind) = inverses.split_at_mut(pivot(s) - pivot(first));
        let before = FactorPart { first, panels, inverses };
        (before, FactorPart { first: s, panels: panels_behind, inverses: inverses_behind })
    }

    /// Runs a task after those that it depends on. The last of the workspaces is its own.
    fn task(
        &self,
        k: usize,
        mut factor: FactorPart<'_, T>,
        workspaces: &mut [TaskWorkspace<T>],
    ) -> Result<(), IllConditioned> {
        let tasks = &self.assembly.symbolic.tasks;
        let first = tasks.subtrees[k].first;
        let Some((workspace, workspaces_before)) = workspaces.split_last_mut() else { return Ok(()) };
        self.tasks(first..k, factor.reborrow(), workspaces_before)?;
        let workspaces_before = &*workspaces_before;
        let mut outcome = Ok(());
        let eliminate = |nodes: Range<usize>| {
            for s in nodes {
                if outcome.is_ok() && !self.assembly.symbolic.supernodes[s].is_leaf {
                    outcome = self.supernode(s, &mut factor, workspace, |task| &workspaces_before[task - first]);
                }
            }
        };
        for_each_part(&tasks.subtrees, k, eliminate, |_| ());
        outcome
    }

    /// Eliminates the columns of a supernode, and of its children that are leaves of the same task.
    fn supernode<'b>(
        &self,
        s: usize,
        factor: &mut FactorPart<'_, T>,
        workspace: &mut TaskWorkspace<T>,
        workspace_of: impl Fn(usize) -> &'b TaskWorkspace<T> + Sync,
    ) -> Result<(), IllConditioned>
    where
        T: 'b,
    {
        let symbolic = self.assembly.symbolic;
        let node = &symbolic.supernodes[s];
        if node.is_implicit {
            return self.leaf(s, factor, &mut []);
        }
        let (mut before, mut own) = self.split(factor.reborrow(), s);
        let (panel, diagonal) = self.own(s, &mut own);
        let TaskWorkspace { stacks: [even, odd], leaf_update } = workspace;
        let (stack, of_children) = if node.odd { (odd, &*even) } else { (even, &*odd) };
        let side = padded(node.size - node.pivots);
        let update = &mut stack[symbolic.tasks.places[s]..][..side * side];
        let parts = if node.size < LARGE { 1 } else { self.parts };
        let mut front = Front::new(node.size, node.pivots, panel, update);
        front.reborrow().for_each_part(parts, &|mut front| front.clear());
        self.assembly.assemble(s, front.panel(), diagonal);

        let task_of = |child: usize| symbolic.tasks.of_node[child] as usize;
        let update_of = |child: usize| {
            let Supernode { size, pivots, odd, is_implicit, .. } = symbolic.supernodes[child];
            let side = if is_implicit { 0 } else { padded(size - pivots) };
            let stack = match task_of(child) {
                own if own == task_of(s) => of_children,
                other => &workspace_of(other).stacks[usize::from(odd)],
            };
            &stack[if is_implicit { 0 } else { symbolic.tasks.places[child] }..][..side * side]
        };
        let children = || (self.children.starts[s]..).zip(self.children.of(s)).map(|(k, &child)| (k, child as usize));
        if children().any(|(_, child)| symbolic.supernodes[child].is_leaf) {
            for (k, child) in children() {
                let Supernode { is_leaf, pivots, size, .. } = symbolic.supernodes[child];
                if is_leaf {
                    let side = if pivots <= FEW { 0 } else { padded(size - pivots) };
                    self.leaf(child, &mut before, &mut leaf_update[..side * side])?;
                    self.add(k, child, front.reborrow(), &before, &leaf_update[..side * side]);
                } else {
                    self.add(k, child, front.reborrow(), &before, update_of(child));
                }
            }
        } else {
            let before = &before;
            front.reborrow().for_each_part(parts, &|mut front| {
                children().for_each(|(k, child)| self.add(k, child, front.reborrow(), before, update_of(child)));
            });
        }
        eliminate(front, diagonal, parts)
    }

    /// Eliminates the columns of a supernode without children. An empty `update` is not formed.
    fn leaf(&self, s: usize, factor: &mut FactorPart<'_, T>, update: &mut [T]) -> Result<(), IllConditioned> {
        let node = &self.assembly.symbolic.supernodes[s];
        let (panel, diagonal) = self.own(s, factor);
        let mut front = Front::new(node.size, node.pivots, panel, update);
        front.clear();
        self.assembly.assemble(s, front.panel(), diagonal);
        eliminate(front, diagonal, 1)
    }

    /// Adds the update of a child, or the products of its panel where it has few pivots and no children, to rows of a front.
    fn add(&self, k: usize, child: usize, front: Front<'_, T>, before: &FactorPart<'_, T>, update: &[T]) {
        let Supernode { size, pivots, is_leaf, is_implicit, .. } = self.assembly.symbolic.supernodes[child];
        let (size, runs) = (size - pivots, self.runs.of(k));
        if is_implicit || is_leaf && pivots <= FEW {
            let start = self.starts[before.first];
            let panel = &before.panels[self.starts[child] - start..self.starts[child + 1] - start];
            simd::run(SubtractProducts { front, panel, child_pivots: pivots, size, runs });
        } else {
            simd::run(ExtendAdd { front, child: update, size, runs });
        }
    }

    /// Panel and inverse diagonal of a supernode.
    fn own<'b>(&self, s: usize, factor: &'b mut FactorPart<'_, T>) -> (&'b mut [T], &'b mut [T]) {
        let symbolic = self.assembly.symbolic;
        let offset = |s: usize| symbolic.offsets[symbolic.supernodes[s].first];
        let (panel, pivot) = (self.starts[s] - self.starts[factor.first], offset(s) - offset(factor.first));
        let node = &symbolic.supernodes[s];
        let panel = &mut factor.panels[panel..][..node.pivots * padded(node.size)];
        (panel, &mut factor.inverses[pivot..][..node.pivots])
    }
}

impl<T> FactorPart<'_, T> {
    /// Borrows the factor for a shorter time.
    fn reborrow(&mut self) -> FactorPart<'_, T> {
        FactorPart { first: self.first, panels: self.panels, inverses: self.inverses }
    }
}

/// Eliminates the pivots of a front; `diagonal` is overwritten with the inverse diagonal of `U`.
#[inline]
fn eliminate<T: Real>(front: Front<'_, T>, diagonal: &mut [T], parts: usize) -> Result<(), IllConditioned> {
    let mut sound = false;
    let elimination = Eliminate { front, diagonal, sound: &mut sound };
    if parts > 1 {
        elimination.in_parts(parts)
    } else {
        simd::run(elimination)
    }
    if sound { Ok(()) } else { Err(IllConditioned) }
}
