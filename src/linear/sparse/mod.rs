//! Sparse linear systems: symmetric matrices of blocks, and their Cholesky factorisation.
//!
//! A [`BlockPattern`] is the structure of the normal equations of many small groups of variables, and a [`BlockMatrix`] has
//! the entries. [`SymbolicCholesky`] finds once in which order the blocks are eliminated and what fills in;
//! [`SparseCholesky`] factorises and solves for each damping.

mod assembly;
mod bayes_tree;
mod cholesky;
mod dissection;
mod elimination;
mod first_elimination;
mod front_sums;
mod inverse;
mod matrix;
mod ordering;
mod orthogonal;
mod pattern;
mod separator;
mod substitution;
mod symbolic;
mod tasks;
#[cfg(test)]
mod tests;

pub(crate) use bayes_tree::{BayesTree, Term};
pub(crate) use cholesky::SparseCholesky;
pub(crate) use inverse::InverseSubset;
pub(crate) use matrix::BlockMatrix;
pub(crate) use orthogonal::OrthogonalElimination;
pub(crate) use pattern::{BlockPattern, TooLarge};
pub(crate) use symbolic::SymbolicCholesky;
