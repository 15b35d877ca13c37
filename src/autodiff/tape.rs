//! Tape of scalar operations.

use std::cell::Cell;
use std::fmt;

use super::adjoint::Adjoint;
use crate::kernels::lanes::{Lanes, Register};
use crate::number::Number;
use crate::real::Real;
use crate::scalar::Scalar;

/// Index of a node or a variable on a tape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeIndex(u32);

/// A node with two parents.
#[derive(Debug, Clone, Copy)]
struct AdjointNode<T, R> {
    /// Derivatives with respect to the parents.
    derivatives: [Lanes<T, R>; 2],
    /// The parents.
    of: [NodeIndex; 2],
}

/// The variables of a formula, followed by its intermediate results with two parents. [`Adjoint`] numbers record them; the tape is read
/// backwards for the derivatives.
///
/// Writing is in the inner loop, and the tape does not grow there: it counts the nodes that it has no capacity for, and
/// [`grown`](Self::grown) has the capacity for another evaluation.
pub(crate) struct AdjointTape<T, R> {
    variables: usize,
    nodes: Vec<Cell<AdjointNode<T, R>>>,
    /// Nodes written, and those that exceeded the capacity.
    count: Cell<usize>,
}

impl<T, R> fmt::Debug for AdjointTape<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdjointTape")
            .field("variables", &self.variables)
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

impl<T: Real, R: Register<T>> AdjointTape<T, R> {
    /// Creates a tape for a formula of `variables` variables.
    pub(crate) fn new(variables: usize) -> Self {
        Self::with_capacity(variables, 4 * variables)
    }

    /// Creates a tape with the capacity for all nodes that this one was asked to record.
    pub(crate) fn grown(&self) -> Self {
        Self::with_capacity(self.variables, self.count.get())
    }

    fn with_capacity(variables: usize, nodes: usize) -> Self {
        let blank = AdjointNode { derivatives: [Lanes::splat(T::ZERO); 2], of: [NodeIndex(0); 2] };
        AdjointTape { variables, nodes: vec![Cell::new(blank); nodes], count: Cell::new(0) }
    }

    /// The capacity was enough for all nodes.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn is_complete(&self) -> bool {
        self.count.get() <= self.nodes.len()
    }

    /// Number of variables and of nodes that fit the capacity.
    pub(crate) fn places(&self) -> usize {
        self.variables + self.nodes.len()
    }

    /// The place of a variable.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn variable(&self, index: usize) -> NodeIndex {
        NodeIndex(index as u32)
    }

    /// Records a node with two parents and its derivatives by them.
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn push(&self, of: [NodeIndex; 2], derivatives: [Lanes<T, R>; 2]) -> NodeIndex {
        let number = self.count.get();
        if let Some(node) = self.nodes.get(number) {
            node.set(AdjointNode { derivatives, of });
        }
        self.count.set(number + 1);
        NodeIndex((self.variables + number) as u32)
    }

    /// Computes the derivatives of a result by all [places](Self::places), those by the variables first, and forgets the nodes,
    /// which must be [complete](Self::is_complete).
    #[cfg_attr(not(any(debug_assertions, target_arch = "wasm32")), inline(always))]
    pub(crate) fn differentiate(&self, result: Adjoint<'_, T, R>, adjoints: &mut [Lanes<T, R>]) {
        let zero = Lanes::splat(T::ZERO);
        let nodes = &self.nodes[..self.count.get()];
        for adjoint in &mut adjoints[..self.variables + nodes.len()] {
            *adjoint = zero;
        }
        if let (slope, Some(NodeIndex(place))) = result.origin() {
            adjoints[place as usize] = slope;
        }
        for (k, node) in nodes.iter().enumerate().rev() {
            let AdjointNode { derivatives, of } = node.get();
            let adjoint = adjoints[self.variables + k];
            let size = adjoint.abs();
            for side in 0..2 {
                // The derivatives of a branch not taken are ignored; they may be NaN.
                let part = zero.select_less(size, adjoint * derivatives[side], size);
                adjoints[of[side].0 as usize] += part;
            }
        }
        self.count.set(0);
    }
}
