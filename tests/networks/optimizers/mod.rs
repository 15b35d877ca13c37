//! The optimizers: against Keras and PyTorch, against each other, and against bad input.

mod bad_input;
mod curvature;
mod pipeline;
mod problems;
mod references;
mod state;
mod wrappers;
