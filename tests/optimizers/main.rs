//! The optimizers: against Keras and PyTorch, against each other, and against bad input.

mod common;
mod references;
