//! Paths through a tape: the nodes that a sweep has to visit.

use crate::nn::tape::{Node, TapeRecord};
use crate::real::Real;
use crate::variables::Variable;

/// Marks the nodes that these outputs are computed from, and the outputs.
pub(crate) fn leading_to<T: Real>(
    records: &[TapeRecord<T>],
    outputs: impl Iterator<Item = Node>,
    marks: &mut Vec<bool>,
) {
    marks.clear();
    marks.resize(records.len(), false);
    for output in outputs {
        marks[output.index()] = true;
    }
    for (index, record) in records.iter().enumerate().rev() {
        if marks[index] {
            for argument in record.operation.arguments() {
                marks[argument.index()] = true;
            }
        }
    }
}

/// Marks the nodes that are computed from one of the wanted variables, or from the wanted node, and that node: the nodes whose
/// adjoints a reverse sweep needs.
pub(crate) fn coming_from<T: Real>(
    records: &[TapeRecord<T>],
    wanted: impl Fn(Variable) -> bool,
    node: Option<Node>,
    marks: &mut Vec<bool>,
) {
    marks.clear();
    for (index, TapeRecord { operation, .. }) in records.iter().enumerate() {
        let mark = operation.variables().any(&wanted)
            || operation.arguments().any(|argument| marks[argument.index()])
            || node.is_some_and(|node| node.index() == index);
        marks.push(mark);
    }
}
