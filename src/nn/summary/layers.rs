//! The layers of a tape, and the operations between them.

use std::collections::HashMap;

use super::LayerSummary;
use crate::nn::tape::{Operation, Tape, TapeRecord};
use crate::real::Real;
use crate::variables::Variable;

/// The rows of a summary, as far as they are known.
#[derive(Default)]
struct SummaryRows {
    rows: Vec<LayerSummary>,
    /// The layers at hand, from the outermost to the innermost: their rows, and where on the tape they end.
    open: Vec<(usize, usize)>,
    /// Rows in which each variable that was used has been counted.
    counted: HashMap<usize, Vec<usize>>,
    /// Number of operations of each kind outside of layers.
    operations: HashMap<&'static str, usize>,
}

/// The layers of a tape, those within others after these, and the operations outside of layers; with the number of
/// parameters that they take together.
pub(crate) fn summarize_layers<T: Real>(tape: &Tape<T>) -> (Vec<LayerSummary>, usize) {
    let mut rows = SummaryRows::default();
    let mut layers = tape.layers().iter().peekable();
    for index in 0..=tape.records().len() {
        while let Some(layer) = layers.next_if(|layer| layer.records.start <= index) {
            rows.open.truncate(layer.depth);
            if let Some(output) = layer.output {
                rows.open.push((rows.rows.len(), layer.records.end));
                let (name, kind) = (layer.path.clone(), layer.kind.to_owned());
                rows.push(name, kind, output);
            }
        }
        let Some(record) = tape.records().get(index) else { break };
        while rows.open.pop_if(|(_, end)| *end <= index).is_some() {}
        rows.add(record);
    }
    let taken = rows.rows.iter().filter(|row| row.depth == 0).map(|row| row.parameters).sum();
    (rows.rows, taken)
}

impl SummaryRows {
    /// Adds a row for the innermost layer.
    fn push(&mut self, name: String, kind: String, output: crate::nn::Shape) {
        let depth = self.open.len() - 1;
        self.rows.push(LayerSummary { name, kind, depth, output, parameters: 0, shares_parameters: false });
    }

    /// Adds an operation to the layers that it is part of, or as a row of its own.
    fn add<T: Real>(&mut self, record: &TapeRecord<T>) {
        let is_by_itself = self.open.is_empty();
        if is_by_itself {
            let kind = kind(&record.operation);
            let before = self.operations.entry(kind).or_default();
            let name = if *before == 0 { kind.to_owned() } else { format!("{kind}_{before}") };
            *before += 1;
            self.open.push((self.rows.len(), 0));
            self.push(name, kind.to_owned(), record.shape);
        }
        record.operation.variables().for_each(|variable| self.count(variable));
        if is_by_itself {
            self.open.clear();
        }
    }

    /// Counts a variable in the layers at hand, if it was not counted before.
    fn count(&mut self, variable: Variable) {
        let open = self.open.iter().map(|(row, _)| *row);
        match self.counted.get(&variable.index()) {
            None => {
                open.clone().for_each(|row| self.rows[row].parameters += variable.len());
                self.counted.insert(variable.index(), open.collect());
            }
            Some(counted) => {
                open.filter(|row| !counted.contains(row)).for_each(|row| self.rows[row].shares_parameters = true);
            }
        }
    }
}

/// Name of an operation.
fn kind<T: Real>(operation: &Operation<T>) -> &'static str {
    match operation {
        Operation::Apply { function, .. } => function.name(),
        other => other.name(),
    }
}
