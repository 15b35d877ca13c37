//! Flops of the sweeps, for each sample.

use crate::Real;
use crate::nn::sweep::leading_to;
use crate::nn::tape::{Node, Operation, Record, Tape};

/// Flops of an elementary function.
const FUNCTION: f64 = 20.0;

/// Flops of computing the wanted nodes.
pub(super) fn forward_flops<T: Real>(tape: &Tape<T>, wanted: &[bool]) -> f64 {
    let records = tape.records().iter().zip(wanted);
    records.filter(|(_, wanted)| **wanted).map(|(record, _)| flops(record)).sum()
}

/// Flops of all reverse sweeps, one for each number of each output, through the needed nodes.
pub(super) fn reverse_flops<T: Real>(
    tape: &Tape<T>,
    outputs: impl Iterator<Item = Node>,
    needed: &[bool],
    reached: &mut Vec<bool>,
) -> f64 {
    let of_output = |output: Node| {
        leading_to(tape.records(), std::iter::once(output), reached);
        let passes = |node: Node| needed[node.index()];
        let records = tape.records().iter().zip(&*reached).zip(needed);
        let passed = records
            .filter(|((record, reached), needed)| **reached && **needed && record.operation.arguments().any(passes));
        output.width() as f64 * passed.map(|((record, _), _)| flops(record)).sum::<f64>()
    };
    outputs.map(of_output).sum()
}

/// Flops of a node.
fn flops<T>(Record { operation, width }: &Record<T>) -> f64 {
    let each = match operation {
        Operation::Dense { weight, .. } => 2.0 * weight.columns() as f64,
        Operation::Apply { .. } => FUNCTION,
        _ => 1.0,
    };
    *width as f64 * each
}
