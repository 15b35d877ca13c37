//! Assignment of a tape's variables to blocks of Kronecker factors.

use std::ops::Range;

use super::RecordedLayer;
use super::layer_blocks::LayerBlocks;
use super::tape::Tape;
use crate::problem::{KroneckerBlock, NotKroneckerFactored};
use crate::real::Real;
use crate::variables::{Variable, Variables};

/// The blocks of a tape's variables.
#[derive(Debug, Clone)]
pub(crate) struct FactorPlan {
    pub(crate) blocks: Vec<KroneckerBlock>,
    /// The block of each variable; `None` for those that the loss does not depend on, and for a bias that goes with its
    /// weight.
    pub(crate) of_variable: Vec<Option<usize>>,
    /// Blocks with variables that are adjusted.
    pub(crate) active: Vec<bool>,
    /// Rows that factors were estimated from last: tiles begin and end with them.
    pub(crate) sampled: Range<usize>,
}

impl FactorPlan {
    /// The blocks of the variables that the wanted nodes are computed from.
    pub(crate) fn new<T: Real>(
        tape: &Tape<T>,
        variables: &Variables<T>,
        wanted: &[bool],
    ) -> Result<Self, NotKroneckerFactored> {
        let records = tape.records().iter().zip(wanted).filter(|(_, wanted)| **wanted);
        let layers: Vec<_> = records.filter_map(|(record, _)| RecordedLayer::of_record(record)).collect();
        let name = |start| {
            let variable = variables.iter().find(|variable| variable.range().contains(&start));
            variable.map_or_else(String::new, |variable| variables.name(variable).to_owned())
        };
        let LayerBlocks { blocks, .. } = LayerBlocks::new(&layers, name)?;
        let of_variable =
            |variable: Variable| blocks.iter().position(|block| block.parameters().next() == Some(variable.range()));
        let (of_variable, active) = (variables.iter().map(of_variable).collect(), vec![false; blocks.len()]);
        Ok(FactorPlan { blocks, of_variable, active, sampled: 0..0 })
    }

    /// Marks the blocks of the variables that are adjusted.
    pub(crate) fn activate(&mut self, adjusted: impl Iterator<Item = Variable>) {
        self.active.fill(false);
        for variable in adjusted {
            for (active, block) in self.active.iter_mut().zip(&self.blocks) {
                *active |= block.parameters().any(|range| range == variable.range());
            }
        }
    }

    /// The rows of a batch before those of the factors, those, and the rows after them.
    pub(crate) fn parts(&self, rows: usize) -> [Range<usize>; 3] {
        let Range { start, end } = self.sampled;
        let (start, end) = (start.min(rows), end.min(rows));
        [0..start, start..end, end..rows]
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2};

    use super::*;

    /// Records a tape on variables of these names and shapes, and plans its factors.
    fn plan(record: impl FnOnce(&mut Tape<f64>, &[Variable])) -> Result<FactorPlan, NotKroneckerFactored> {
        let mut variables = Variables::new();
        let handles = [
            variables.add("bias", Array1::<f64>::zeros(3).view()).unwrap(),
            variables.add("weight", Array2::<f64>::zeros((3, 3)).view()).unwrap(),
            variables.add("row", Array1::<f64>::zeros(3).view()).unwrap(),
        ];
        let mut tape = Tape::new();
        record(&mut tape, &handles);
        FactorPlan::new(&tape, &variables, &vec![true; tape.records().len()])
    }

    #[test]
    fn a_bias_goes_with_its_weight_wherever_it_is() {
        let plan = plan(|tape, v| {
            let x = tape.input(3);
            let y = tape.dense(x, v[1], Some(v[0])).unwrap();
            let y = tape.dense(y, v[1], Some(v[0])).unwrap();
            let row = tape.variable(v[2]);
            tape.mul(y, row).unwrap();
        });
        let plan = plan.unwrap();
        let dense = KroneckerBlock::Dense { weight: 3, bias: Some(0), inputs: 3, outputs: 3, positions: 2 };
        assert_eq!(plan.blocks, [dense, KroneckerBlock::Diagonal { first: 12, count: 3 }]);
        assert_eq!(plan.of_variable, [None, Some(0), Some(1)]);
    }

    #[test]
    fn a_bias_of_several_weights_stands_alone() {
        let plan = plan(|tape, v| {
            let x = tape.input(3);
            let y = tape.dense(x, v[1], Some(v[0])).unwrap();
            tape.dense(y, v[1], None).unwrap();
        });
        let plan = plan.unwrap();
        let dense = KroneckerBlock::Dense { weight: 3, bias: None, inputs: 3, outputs: 3, positions: 2 };
        assert_eq!(plan.blocks, [KroneckerBlock::Diagonal { first: 0, count: 3 }, dense]);
        assert_eq!(plan.of_variable, [Some(0), Some(1), None]);
    }

    #[test]
    fn a_variable_with_two_roles_is_refused_by_name() {
        let refused = plan(|tape, v| {
            let x = tape.input(3);
            tape.dense(x, v[1], None).unwrap();
            let numbers = tape.input(1);
            tape.embedding(numbers, v[1]).unwrap();
        });
        let message = refused.unwrap_err().to_string();
        assert_eq!(
            message,
            "weight is used as a weight of 3 × 3 and as a table, which no single pair of Kronecker factors describes"
        );
    }
}
