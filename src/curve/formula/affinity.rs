//! Parameters in which a formula is affine.

use super::program::{Address, Instruction, Operator, Program};
use crate::problem::largest_clique;

/// Largest number of parameters that are analysed: one bit each.
pub(super) const MOST_PARAMETERS: usize = 64;

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
                _ => arguments.iter().fold(0, |mask, &slot| mask | all.depends[slot]),
            };
            let mut pairs = vec![0; parameters];
            for (j, mask) in pairs.iter_mut().enumerate() {
                *mask = arguments.iter().fold(0, |mask, &slot| mask | all.pairs[slot][j]);
            }
            let mut multiply = |one: u64, other: u64| {
                for (j, mask) in pairs.iter_mut().enumerate() {
                    let has = |of: u64| of >> j & 1 == 1;
                    *mask |= if has(one) { other } else { 0 } | if has(other) { one } else { 0 };
                }
            };
            match *instruction {
                Instruction::Join(Operator::Add | Operator::Subtract, ..) | Instruction::Negate(_) => {}
                Instruction::Join(Operator::Multiply, a, b) => multiply(all.depends[a], all.depends[b]),
                Instruction::Join(Operator::Divide, _, b) => multiply(depends, all.depends[b]),
                Instruction::SelectLess([a, b, ..]) => multiply(all.depends[a] | all.depends[b], depends),
                Instruction::Constant(_) | Instruction::Predictor(_) | Instruction::Parameter(_) => {}
                _ => multiply(depends, depends),
            }
            all.depends.push(depends);
            all.pairs.push(pairs);
        }
        all
    }

    /// Mask of the parameters that a result depends on.
    pub(super) fn depends(&self, slot: Address) -> u64 {
        self.depends[slot]
    }

    /// The largest set of parameters in which all of these results are jointly affine, ascending.
    pub(super) fn linear_in(&self, slots: &[Address], parameters: usize) -> Vec<usize> {
        let pairs = |j: usize| slots.iter().fold(0, |mask, &slot| mask | self.pairs[slot][j]);
        let occurs = |j: &usize| slots.iter().any(|&slot| self.depends[slot] >> j & 1 == 1);
        let candidates = (0..parameters).filter(|j| occurs(j) && pairs(*j) >> j & 1 == 0).collect();
        largest_clique(candidates, |j, k| pairs(j) >> k & 1 == 0)
    }
}
