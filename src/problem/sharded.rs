//! A problem whose rows are spread over ranks.

use super::forward::forward;
use super::{Capabilities, LeastSquares};
use crate::distributed::Communicator;
use crate::real::Real;

/// A problem whose rows are distributed over ranks; the inner problem has the rows of this rank. The numbers of rows may differ between
/// ranks and may be 0; the parameters and the start must be the same on all ranks.
///
/// Solvers and all other functions of a [`LeastSquares`] problem then use the rows of all ranks, and are collective. See
/// [`distributed`](crate::distributed). A sparse Jacobian is summed as a dense one: the forms for blocks need all rows on one rank, and are
/// refused ([`SolveError::SpreadOut`](crate::SolveError::SpreadOut)).
#[derive(Debug, Clone)]
pub struct Sharded<P> {
    problem: P,
    ranks: Communicator,
}

impl<P> Sharded<P> {
    /// This rank's rows of a problem.
    pub fn new(problem: P, ranks: &Communicator) -> Self {
        Sharded { problem, ranks: ranks.clone() }
    }

    /// This rank's rows.
    pub fn problem(&self) -> &P {
        &self.problem
    }

    /// This rank's rows, to change.
    pub fn problem_mut(&mut self) -> &mut P {
        &mut self.problem
    }
}

impl<T: Real, P: LeastSquares<T>> LeastSquares<T> for Sharded<P> {
    forward!(self => self.problem; parameter_count residual_count row_group residuals linearize domain parameter_name);

    fn capabilities(&mut self) -> &mut dyn Capabilities<T> {
        self
    }
}

/// Those of this rank's rows, but for blocks and products, which need all rows.
impl<T: Real, P: LeastSquares<T>> Capabilities<T> for Sharded<P> {
    forward!(self => self.problem.capabilities(); concurrent derivatives_are_cheap derivatives_are_rough
        keep_evaluations cost_of linearize_columns second_directional_derivative second_derivative_product transposed_product);

    fn communicator(&mut self) -> Option<&Communicator> {
        Some(&self.ranks)
    }
}
