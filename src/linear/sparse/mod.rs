//! Sparse linear systems: symmetric matrices of blocks, and their Cholesky factorisation.
//!
//! A [`BlockPattern`] is the structure of the normal equations of many small groups of variables, and a [`BlockMatrix`] has
//! the numbers. [`SymbolicCholesky`] finds once in which order the blocks are eliminated and what fills in;
//! [`SparseCholesky`] factorises and solves for each damping.
// Used by the sparse door.
#![allow(dead_code)]

mod cholesky;
mod matrix;
mod ordering;
mod pattern;
mod symbolic;

#[allow(unused_imports)]
pub(crate) use cholesky::SparseCholesky;
#[allow(unused_imports)]
pub(crate) use matrix::BlockMatrix;
#[allow(unused_imports)]
pub(crate) use pattern::{BlockPattern, TooLarge};
#[allow(unused_imports)]
pub(crate) use symbolic::SymbolicCholesky;
