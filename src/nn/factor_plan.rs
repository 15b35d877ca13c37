//! Which variables of a tape belong to which block of Kronecker factors.

use std::ops::Range;

use super::tape::{Operation, Record, Tape};
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
    /// Biases that go with a weight, with its block.
    joined: Vec<(Variable, usize)>,
    /// Blocks with variables that are adjusted.
    pub(crate) active: Vec<bool>,
    /// Rows that factors were estimated from last: tiles begin and end with them.
    pub(crate) sampled: Range<usize>,
}

/// How a variable is used.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Use {
    Weight { variable: Variable, bias: Option<Variable>, positions: usize },
    Bias,
    Table { positions: usize },
    Row,
}

impl Use {
    fn name(self) -> String {
        match self {
            Use::Weight { variable, .. } => format!("a weight of {} × {}", variable.rows(), variable.columns()),
            Use::Bias => "a bias".to_owned(),
            Use::Table { .. } => "a table".to_owned(),
            Use::Row => "a row".to_owned(),
        }
    }
}

impl FactorPlan {
    /// The blocks of the variables that the wanted nodes are computed from.
    pub(crate) fn new<T: Real>(
        tape: &Tape<T>,
        variables: &Variables<T>,
        wanted: &[bool],
    ) -> Result<Self, NotKroneckerFactored> {
        let mut uses: Vec<Vec<Use>> = vec![Vec::new(); variables.len()];
        for (Record { operation, width, .. }, _) in tape.records().iter().zip(wanted).filter(|(_, wanted)| **wanted) {
            match *operation {
                Operation::Dense { weight, bias, positions, .. } => {
                    let variable = weight.with_rows(width / positions);
                    uses[weight.index()].push(Use::Weight { variable, bias, positions });
                    if let Some(bias) = bias {
                        uses[bias.index()].push(Use::Bias);
                    }
                }
                Operation::Variable(variable) => uses[variable.index()].push(Use::Row),
                Operation::Embedding { x, table } => {
                    uses[table.index()].push(Use::Table { positions: x.width() });
                }
                _ => {}
            }
        }
        let mut plan = FactorPlan {
            blocks: Vec::new(),
            of_variable: vec![None; variables.len()],
            joined: Vec::new(),
            active: Vec::new(),
            sampled: 0..0,
        };
        for variable in variables.iter() {
            let name = || variables.name(variable).to_owned();
            if let Some(block) = plan.block(variable, &uses, name)? {
                plan.of_variable[variable.index()] = Some(plan.blocks.len());
                plan.blocks.push(block);
            }
        }
        for &(bias, _) in &plan.joined {
            plan.of_variable[bias.index()] = None;
        }
        plan.drop_unused();
        plan.active = vec![false; plan.blocks.len()];
        Ok(plan)
    }

    /// The block of a variable, from all its uses.
    fn block(
        &mut self,
        variable: Variable,
        uses: &[Vec<Use>],
        name: impl Fn() -> String,
    ) -> Result<Option<KroneckerBlock>, NotKroneckerFactored> {
        let own = &uses[variable.index()];
        let Some(&first) = own.first() else { return Ok(None) };
        let same_kind = |other: &&Use| match (first, **other) {
            (Use::Weight { variable: a, .. }, Use::Weight { variable: b, .. }) => a == b,
            (Use::Table { .. }, Use::Table { .. }) => true,
            (Use::Bias | Use::Row, Use::Bias | Use::Row) => true,
            _ => false,
        };
        if let Some(other) = own.iter().find(|other| !same_kind(other)) {
            return Err(NotKroneckerFactored::TwoUses { variable: name(), first: first.name(), second: other.name() });
        }
        let offset = variable.range().start;
        Ok(Some(match first {
            Use::Weight { variable: weight, bias, .. } => {
                let of_use = |used: &Use| match *used {
                    Use::Weight { bias, positions, .. } => (bias, positions),
                    _ => (None, 0),
                };
                let goes_along = |bias: Variable| {
                    uses[bias.index()].len() == own.len() && own.iter().all(|used| of_use(used).0 == Some(bias))
                };
                let bias = bias.filter(|&bias| goes_along(bias));
                self.joined.extend(bias.map(|bias| (bias, self.blocks.len())));
                KroneckerBlock::Dense {
                    weight: offset,
                    bias: bias.map(|bias| bias.range().start),
                    inputs: weight.columns(),
                    outputs: weight.rows(),
                    positions: own.iter().map(|used| of_use(used).1).sum(),
                }
            }
            Use::Table { .. } => {
                let positions = own.iter().map(|used| if let Use::Table { positions } = used { *positions } else { 0 });
                let (rows, columns) = (variable.rows(), variable.columns());
                KroneckerBlock::Embedding { table: offset, rows, columns, positions: positions.sum() }
            }
            Use::Bias | Use::Row => KroneckerBlock::Diagonal { first: offset, count: variable.len() },
        }))
    }

    /// Removes the blocks of biases that go with a weight, which may come before or after it.
    fn drop_unused(&mut self) {
        let mut places = Vec::with_capacity(self.blocks.len());
        let mut kept = Vec::with_capacity(self.blocks.len());
        for (index, &block) in self.blocks.iter().enumerate() {
            let is_used = self.of_variable.contains(&Some(index));
            places.push(kept.len());
            if is_used {
                kept.push(block);
            }
        }
        self.of_variable.iter_mut().flatten().for_each(|block| *block = places[*block]);
        self.joined.iter_mut().for_each(|(_, block)| *block = places[*block]);
        self.blocks = kept;
    }

    /// Marks the blocks of the variables that are adjusted.
    pub(crate) fn activate(&mut self, adjusted: impl Iterator<Item = Variable>) {
        let FactorPlan { of_variable, joined, active, .. } = self;
        active.fill(false);
        for variable in adjusted {
            let joined = joined.iter().find(|(bias, _)| *bias == variable).map(|&(_, block)| block);
            if let Some(block) = of_variable[variable.index()].or(joined) {
                active[block] = true;
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
