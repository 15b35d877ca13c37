//! Limit of memory.

use clap::{Args, value_parser};
use marquardt::graph::GraphError;
use marquardt::{LevenbergMarquardt, SolveError};

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

/// The least value of the option with which the memory of an error is allowed; empty for other errors. A later stage may need more.
pub fn memory_option(error: &GraphError) -> String {
    match error {
        GraphError::Solve(SolveError::MemoryBudget { needed, .. }) => {
            format!("; --memory {} or more is needed", needed.div_ceil(1 << 30))
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_is_at_least_what_is_needed() {
        let of = |needed| memory_option(&SolveError::MemoryBudget { needed, budget: 1, rows_that_fit: 0 }.into());
        assert_eq!(of(3 << 30), "; --memory 3 or more is needed");
        assert_eq!(of((3 << 30) + 1), "; --memory 4 or more is needed");
        assert_eq!(memory_option(&SolveError::ColumnBlocks.into()), "");
    }
}
