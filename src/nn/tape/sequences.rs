//! Sequences: masks of their steps, entries taken in another order, and products of a sample's own matrices.

use super::{Node, Operation, Tape};
use crate::nn::pooling::{Pooling, Windows};
use crate::nn::sample_product::ProductSizes;
use crate::nn::{Shape, TapeError};
use crate::real::Real;

impl<T: Real> Tape<T> {
    /// Sets the mask of a sequence: a node with an entry for each step, 1 where the step counts and 0 where it does not.
    ///
    /// Layers that mix steps heed it: recurrent layers, [`MultiHeadAttention`](crate::nn::MultiHeadAttention) and
    /// [`GlobalAveragePooling1D`](crate::nn::GlobalAveragePooling1D). Layers that keep the steps pass it on.
    ///
    /// # Errors
    ///
    /// [`TapeError::NotASequence`], [`TapeError::ForeignNode`], or [`TapeError::Reshape`] for a mask of another length.
    pub fn set_mask(&mut self, x: Node, mask: Node) -> Result<(), TapeError> {
        let operation = "mask";
        self.check(operation, x)?;
        self.check(operation, mask)?;
        let [steps, _] = steps_and_features(operation, x)?;
        if mask.width() != steps {
            return Err(TapeError::Reshape { expected: Shape::Row { width: steps }, found: mask.shape });
        }
        self.masks.insert(x.index, mask);
        Ok(())
    }

    /// Returns the mask of a sequence; `None` if all of its steps count.
    pub fn mask(&self, x: Node) -> Option<Node> {
        let Shape::Sequence { steps, .. } = x.shape else { return None };
        self.masks.get(&x.index).copied().filter(|mask| mask.width() == steps)
    }

    /// Gives a layer's output the mask of its input, if it has as many steps and no mask of its own.
    pub(crate) fn carry_mask(&mut self, x: Node, y: Node) {
        if let (Some(mask), Shape::Sequence { steps, .. }) = (self.mask(x), y.shape)
            && mask.width() == steps
        {
            self.masks.entry(y.index).or_insert(mask);
        }
    }

    /// The entries of `x` at these places.
    pub(crate) fn take(
        &mut self,
        x: Node,
        places: impl Iterator<Item = usize>,
        shape: Shape,
    ) -> Result<Node, TapeError> {
        self.reduce(Pooling::Take, x, places, 1, shape)
    }

    /// A number of each of the groups of `size` places: their entry, mean or maximum.
    pub(crate) fn reduce(
        &mut self,
        kind: Pooling,
        x: Node,
        places: impl Iterator<Item = usize>,
        size: usize,
        shape: Shape,
    ) -> Result<Node, TapeError> {
        let operation = kind.name();
        self.check(operation, x)?;
        if shape.numbers().saturating_mul(size) >= Windows::MOST || x.width() >= Windows::MOST {
            return Err(TapeError::TooLarge { operation, found: x.shape });
        }
        Ok(self.pool(kind, x, Windows::new(places.map(Some), size), shape))
    }

    /// Products of the matrices that two nodes hold for each sample.
    pub(crate) fn product(&mut self, a: Node, b: Node, sizes: ProductSizes, shape: Shape) -> Node {
        self.record(Operation::Product { a, b, sizes }, shape)
    }
}

/// Steps of a sequence, and entries at each.
pub(crate) fn steps_and_features(operation: &'static str, x: Node) -> Result<[usize; 2], TapeError> {
    match x.shape {
        Shape::Sequence { steps, features } => Ok([steps, features]),
        found => Err(TapeError::NotASequence { operation, found }),
    }
}
