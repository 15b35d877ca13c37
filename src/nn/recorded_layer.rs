//! A layer with parameters, whose part of the Jacobian follows from its inputs and the sensitivities of its outputs.

use std::ops::Range;

use super::arithmetic::put;
use super::sweep::row_number;
use super::tape::{Operation, TapeRecord};
use super::work::SweepWork;
use crate::kernels::Factor;
use crate::kernels::vector::add_scaled;
use crate::real::Real;
use crate::variables::Variable;

/// A layer whose inputs and sensitivities are known. Parameters are given by the place of their first entry among all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordedLayer {
    /// `y = x Wᵀ + b` at each of the positions of a sample: of a plain dense layer one, of a sequence its length, of a convolution
    /// as many as its outputs have pixels, with the patches of the image for `x`.
    Dense {
        /// The weight, of `outputs × inputs` entries, row after row.
        weight: usize,
        /// The bias, of an entry for each output.
        bias: Option<usize>,
        /// Entries that go in at each position.
        inputs: usize,
        /// Entries that come out at each position.
        outputs: usize,
        /// Positions in a sample.
        positions: usize,
    },
    /// Rows of a table, whose numbers are the inputs.
    Embedding {
        /// The table, of `rows × columns` entries.
        table: usize,
        /// Rows of the table.
        rows: usize,
        /// Entries in a row.
        columns: usize,
        /// Rows that a sample looks up.
        positions: usize,
    },
    /// `y = w ⊙ x + b` at each of the positions: the last part of a normalisation.
    Scale {
        /// The weight.
        weight: Option<usize>,
        /// The bias.
        bias: Option<usize>,
        /// Entries at each position.
        width: usize,
        /// Positions in a sample.
        positions: usize,
    },
}

impl RecordedLayer {
    /// Entries that go in for each sample.
    pub fn inputs(&self) -> usize {
        let width = match *self {
            RecordedLayer::Dense { inputs, .. } => inputs,
            RecordedLayer::Embedding { .. } => 1,
            RecordedLayer::Scale { width, .. } => width,
        };
        width * self.positions()
    }

    /// Entries that come out for each sample.
    pub fn outputs(&self) -> usize {
        self.width() * self.positions()
    }

    /// Entries that come out at each position.
    fn width(&self) -> usize {
        match *self {
            RecordedLayer::Dense { outputs: width, .. }
            | RecordedLayer::Embedding { columns: width, .. }
            | RecordedLayer::Scale { width, .. } => width,
        }
    }

    /// Positions in a sample.
    pub(crate) fn positions(&self) -> usize {
        match *self {
            RecordedLayer::Dense { positions, .. }
            | RecordedLayer::Embedding { positions, .. }
            | RecordedLayer::Scale { positions, .. } => positions,
        }
    }

    /// The layer that a tape's operation is, unless it has no parameters.
    pub(crate) fn of_record<T: Real>(TapeRecord { operation, width, .. }: &TapeRecord<T>) -> Option<Self> {
        let start = |variable: Variable| variable.range().start;
        match *operation {
            Operation::Dense { x, weight, bias, positions } => {
                let (inputs, outputs) = (x.width() / positions, width / positions);
                Some(RecordedLayer::Dense { weight: start(weight), bias: bias.map(start), inputs, outputs, positions })
            }
            Operation::Embedding { x, table } => {
                let (rows, columns, positions) = (table.rows(), table.columns(), x.width());
                Some(RecordedLayer::Embedding { table: start(table), rows, columns, positions })
            }
            // A row that is the same for all samples.
            Operation::Variable(row) => {
                Some(RecordedLayer::Scale { weight: None, bias: Some(start(row)), width: *width, positions: 1 })
            }
            _ => None,
        }
    }

    /// Its arrays of parameters, as ranges of all parameters: the weight or table, and the bias.
    fn ranges(&self) -> [Option<Range<usize>>; 2] {
        let (first, len, second) = match *self {
            RecordedLayer::Dense { weight, bias, inputs, outputs, .. } => (Some(weight), inputs * outputs, bias),
            RecordedLayer::Embedding { table, rows, columns, .. } => (Some(table), rows * columns, None),
            RecordedLayer::Scale { weight, bias, width, .. } => (weight, width, bias),
        };
        [first.map(|start| start..start + len), second.map(|start| start..start + self.width())]
    }

    /// Its arrays of parameters, as ranges of all parameters.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = Range<usize>> {
        self.ranges().into_iter().flatten()
    }

    /// Offsets of its arrays of parameters: the weight or table, and the bias.
    pub(crate) fn arrays(&self) -> [Option<usize>; 2] {
        self.ranges().map(|range| range.map(|range| range.start))
    }

    /// Work for each sample of a forward pass, and of forming the columns of one residual.
    pub(crate) fn work(&self) -> (SweepWork, SweepWork) {
        match *self {
            RecordedLayer::Dense { inputs, outputs, positions, .. } => {
                let columns = SweepWork::elementwise(inputs * outputs, 2.0 * positions as f64, 1.0);
                (SweepWork::product(positions, inputs, outputs), columns)
            }
            _ => {
                let pass = SweepWork::elementwise(self.outputs(), 2.0, 2.0);
                (pass, pass)
            }
        }
    }

    /// Adds one sample's columns of a row of the Jacobian to those of its arrays that have a place in the row, from the sample's
    /// inputs and its sensitivities.
    pub(crate) fn add_columns<T: Real>(&self, places: [Option<usize>; 2], inputs: &[T], deltas: &[T], row: &mut [T]) {
        let [first, second] = places;
        match *self {
            RecordedLayer::Dense { inputs: columns, outputs, positions, .. } => {
                if let Some(place) = first {
                    let weight = &mut row[place..place + outputs * columns];
                    T::multiply(weight, true, Factor::Transposed(deltas), inputs, positions, columns);
                }
            }
            RecordedLayer::Embedding { columns, .. } => {
                if let Some(table) = first {
                    for (&number, deltas) in inputs.iter().zip(deltas.chunks_exact(columns)) {
                        let place = table + row_number(number) * columns;
                        add_scaled(&mut row[place..place + columns], T::ONE, deltas);
                    }
                }
            }
            RecordedLayer::Scale { width, .. } => {
                if let Some(place) = first {
                    for (inputs, deltas) in inputs.chunks_exact(width).zip(deltas.chunks_exact(width)) {
                        let products = inputs.iter().zip(deltas).map(|(&input, &delta)| input * delta);
                        put(&mut row[place..place + width], true, products);
                    }
                }
            }
        }
        if let Some(place) = second {
            let bias = self.width();
            deltas.chunks_exact(bias).for_each(|deltas| add_scaled(&mut row[place..place + bias], T::ONE, deltas));
        }
    }
}
