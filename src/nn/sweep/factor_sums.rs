//! Second moments of layers' inputs and of the adjoints of their outputs: Kronecker factors.

use super::forward::row_number;
use super::reverse::Sink;
use crate::problem::KroneckerFactors;
use crate::real::Real;
use crate::variables::Variable;

/// Adds to the factors of the blocks that variables belong to.
pub(crate) struct FactorSums<'a, T> {
    pub(crate) factors: &'a mut KroneckerFactors<T>,
    /// The block of each variable that is used in a way of its own; `None` also for a bias that goes with its weight.
    pub(crate) of_variable: &'a [Option<usize>],
    /// Blocks with parameters that are adjusted.
    pub(crate) active: &'a [bool],
    /// Square roots of the weights of the tile's samples.
    pub(crate) root_weights: &'a [T],
}

impl<T: Real> FactorSums<'_, T> {
    fn block(&self, variable: Variable) -> Option<usize> {
        self.of_variable[variable.index()].filter(|&block| self.active[block])
    }
}

impl<T: Real> Sink<T> for FactorSums<'_, T> {
    fn wants(&self, variable: Variable) -> bool {
        self.block(variable).is_some()
    }

    fn product(&mut self, weight: Variable, delta: &[T], x: &[T]) {
        if let Some(block) = self.block(weight) {
            self.factors.add_inputs(block, x, self.root_weights);
            self.factors.add_sensitivities(block, delta);
        }
    }

    fn row(&mut self, variable: Variable, delta: &[T]) {
        if let Some(block) = self.block(variable) {
            self.factors.add_gradients(block, delta, self.root_weights.len());
        }
    }

    fn look_up(&mut self, table: Variable, numbers: &[T], delta: &[T]) {
        if let Some(block) = self.block(table) {
            let rows = numbers.iter().map(|&number| row_number(number));
            self.factors.add_look_ups(block, rows, self.root_weights);
            self.factors.add_sensitivities(block, delta);
        }
    }
}
