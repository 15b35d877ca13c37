//! What numbers were made of.

use std::cell::RefCell;

use super::adjoint::Adjoint;
use crate::kernels::lanes::{Lanes, Register};
use crate::{Number, Real, Scalar};

/// A place on a tape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place(u32);

/// What has two places that it depends on.
#[derive(Debug, Clone, Copy)]
struct Node<T, R> {
    /// Its derivatives by them.
    derivatives: [Lanes<T, R>; 2],
    /// These places.
    of: [Place; 2],
}

/// The variables of a formula, and after them all its intermediate results that have two of them before it: a list that
/// [`Adjoint`] numbers write, and that is read backwards for the derivatives.
#[derive(Debug)]
pub(crate) struct Tape<T, R> {
    variables: usize,
    nodes: RefCell<Vec<Node<T, R>>>,
}

impl<T: Real, R: Register<T>> Tape<T, R> {
    /// For a formula of so many variables.
    pub(crate) fn new(variables: usize) -> Self {
        Tape { variables, nodes: RefCell::new(Vec::with_capacity(4 * variables)) }
    }

    /// The place of a variable.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn variable(&self, index: usize) -> Place {
        Place(index as u32)
    }

    /// Writes down what has these derivatives by these places.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn push(&self, of: [Place; 2], derivatives: [Lanes<T, R>; 2]) -> Place {
        let mut nodes = self.nodes.borrow_mut();
        let place = self.variables + nodes.len();
        nodes.push(Node { derivatives, of });
        Place(place as u32)
    }

    /// Works out the derivatives by all places of a result, those by the variables first, and forgets the nodes.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn differentiate(&self, result: Adjoint<'_, T, R>, adjoints: &mut Vec<Lanes<T, R>>) {
        let zero = Lanes::splat(T::ZERO);
        let mut nodes = self.nodes.borrow_mut();
        if adjoints.len() < self.variables + nodes.len() {
            adjoints.resize(self.variables + nodes.len(), zero);
        }
        for adjoint in &mut *adjoints {
            *adjoint = zero;
        }
        if let (slope, Some(Place(place))) = result.origin() {
            adjoints[place as usize] = slope;
        }
        for k in (0..nodes.len()).rev() {
            let (before, from) = adjoints.split_at_mut(self.variables + k);
            let (adjoint, Node { derivatives, of }) = (from[0], nodes[k]);
            let size = adjoint.abs();
            for side in 0..2 {
                // What a branch not taken has, possibly NaN, counts for nothing.
                let part = zero.select_less(size, adjoint * derivatives[side], size);
                before[of[side].0 as usize] += part;
            }
        }
        nodes.clear();
    }
}
