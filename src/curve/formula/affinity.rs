//! Parameters in which a formula is affine.

use super::program::{Address, Instruction, Operator, Program};
use crate::problem::largest_clique;

/// Largest number of parameters that are analysed: one bit each.
pub(super) const MOST_PARAMETERS: usize = 63;

/// Bit of the predictors.
pub(super) const PREDICTORS: u64 = 1 << MOST_PARAMETERS;

/// Parameters that each result of a [`Program`] depends on, and pairs of them whose second derivative may differ from zero.
///
/// Parameter `j` is bit `j` of a mask.
pub(super) struct Affinity {
    depends: Vec<u64>,
    /// For each result, a mask for each parameter `j`: those of its nonlinear pairs `(j, k)`.
    pairs: Vec<Vec<u64>>,
}

impl Affinity {
    /// Analyses a program of up to [`MOST_PARAMETERS`] parameters.
    pub(super) fn of(program: &Program, parameters: usize) -> Self {
        let mut all = Affinity { depends: Vec::new(), pairs: Vec::new() };
        for instruction in &program.instructions {
            let arguments = instruction.arguments();
            let depends = match *instruction {
                Instruction::Parameter(index) => 1 << index,
                Instruction::Predictor(_) => PREDICTORS,
                _ => arguments.iter().fold(0, |mask, &slot| mask | all.depends[slot]),
            };
            let (one, other) = match *instruction {
                Instruction::Join(Operator::Add | Operator::Subtract, ..) | Instruction::Negate(_) => (0, 0),
                Instruction::Join(Operator::Multiply, a, b) => (all.depends[a], all.depends[b]),
                Instruction::Join(Operator::Divide, _, b) => (all.depends[b], depends),
                Instruction::SelectLess([a, b, ..]) => (all.depends[a] | all.depends[b], depends),
                Instruction::Constant(_) | Instruction::Predictor(_) | Instruction::Parameter(_) => (0, 0),
                _ => (depends, depends),
            };
            let pairs = (0..parameters).map(|j| {
                let products = if one >> j & 1 == 1 { other } else { 0 } | if other >> j & 1 == 1 { one } else { 0 };
                arguments.iter().fold(products, |mask, &slot| mask | all.pairs[slot][j])
            });
            let pairs = pairs.collect();
            all.depends.push(depends);
            all.pairs.push(pairs);
        }
        all
    }

    /// Mask of the parameters that a result depends on, with [`PREDICTORS`] if it differs from row to row.
    pub(super) fn depends(&self, slot: Address) -> u64 {
        self.depends[slot]
    }

    /// The largest set of parameters in which the last result is jointly affine, ascending.
    pub(super) fn linear_parameters(&self) -> Vec<usize> {
        let (Some(depends), Some(pairs)) = (self.depends.last(), self.pairs.last()) else { return Vec::new() };
        let is_linear = |&j: &usize| depends >> j & 1 == 1 && pairs[j] >> j & 1 == 0;
        largest_clique((0..pairs.len()).filter(is_linear).collect(), |j, k| pairs[j] >> k & 1 == 0)
    }
}
