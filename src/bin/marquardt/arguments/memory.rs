//! Limit of memory.

use clap::{Args, value_parser};
use marquardt::LevenbergMarquardt;

/// Limit of the memory of linear systems.
#[derive(Debug, Args)]
pub struct MemoryArguments {
    /// Most memory of the matrices of the linear systems, in GiB. Default: 4
    #[arg(long, value_name = "GIB", value_parser = value_parser!(u32).range(1..))]
    pub memory: Option<u32>,
}

impl MemoryArguments {
    /// Sets the budget of a solver.
    pub fn limit(&self, solver: LevenbergMarquardt<f64>) -> LevenbergMarquardt<f64> {
        match self.memory {
            Some(memory) => solver.with_memory_budget((memory as usize).saturating_mul(1 << 30)),
            None => solver,
        }
    }
}
