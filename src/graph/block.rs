//! Handles of blocks.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// Handle of a parameter block on a manifold of type `M`, in the problem that it was added to.
pub struct ParameterBlock<M> {
    pub(super) id: BlockId,
    manifold: PhantomData<fn() -> M>,
}

/// Place of a parameter block, whatever its manifold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockId {
    /// Number of the problem.
    pub(super) problem: u64,
    pub(super) index: u32,
}

/// Handle of a parameter block, whatever its manifold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AnyBlock(pub(super) BlockId);

/// Handle of a residual block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ResidualBlock {
    pub(super) problem: u64,
    pub(super) index: usize,
}

impl<M> ParameterBlock<M> {
    pub(super) fn new(id: BlockId) -> Self {
        ParameterBlock { id, manifold: PhantomData }
    }

    /// The handle without the type of its manifold, for lists of blocks.
    pub fn any(self) -> AnyBlock {
        AnyBlock(self.id)
    }

    /// Place among the parameter blocks of the problem, in the order in which they were added.
    pub fn index(&self) -> usize {
        self.id.index as usize
    }
}

impl ResidualBlock {
    /// Place among the residual blocks of the problem, in the order in which they were added.
    pub fn index(&self) -> usize {
        self.index
    }
}

impl<M> Clone for ParameterBlock<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for ParameterBlock<M> {}

impl<M> PartialEq for ParameterBlock<M> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<M> Eq for ParameterBlock<M> {}

impl<M> Hash for ParameterBlock<M> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl<M> fmt::Debug for ParameterBlock<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParameterBlock({})", self.id.index)
    }
}
