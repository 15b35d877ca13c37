//! The engine of the Python package `marquardt`: fits over NumPy's arrays. What users meet is written in Python, over this module.

mod blocks;
mod callable;
mod errors;
mod fit;
mod global;
mod interval;
mod least_squares;
mod many;
mod minibatch;
mod model;
mod multi_start;
mod network;
mod options;
mod pose_graph;
mod prepare;
mod program;
mod run;
mod status;

/// Calls allocate and free megabytes; the system's allocator gives these back, and takes a page fault for each page of the next call.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use pyo3::prelude::*;

/// Names that the package's Python files import.
#[pymodule]
mod _engine {
    #[pymodule_export]
    use crate::blocks::BlockProblem;
    #[pymodule_export]
    use crate::fit::{Fit, compare, fit};
    #[pymodule_export]
    use crate::global::global_fit;
    #[pymodule_export]
    use crate::least_squares::least_squares;
    #[pymodule_export]
    use crate::many::{fit_many, fit_many_single};
    #[pymodule_export]
    use crate::minibatch::MinibatchSolver;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::multi_start::multi_start;
    #[pymodule_export]
    use crate::network::{predict_with_std, train_network};
    #[pymodule_export]
    use crate::pose_graph::pose_graph;
}
