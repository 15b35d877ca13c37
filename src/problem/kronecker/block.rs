//! A layer's block of parameters.

use std::ops::Range;

/// A layer's parameters, given by the index of their first entry among all, and the form of their block of the Gauss–Newton matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KroneckerBlock {
    /// `y = x Wᵀ + b` at each of the positions of a sample. The input factor is of `[x 1]`.
    ///
    /// Several positions, of a convolution or of a weight that is used again, are assumed to be uncorrelated, as by Grosse &
    /// Martens (*A Kronecker-factored approximate Fisher matrix for convolution layers*, 2016).
    Dense {
        /// The weight, of `outputs × inputs` entries, row after row.
        weight: usize,
        /// The bias, with an entry for each output.
        bias: Option<usize>,
        /// Number of inputs at each position.
        inputs: usize,
        /// Number of outputs at each position.
        outputs: usize,
        /// Positions in a sample.
        positions: usize,
    },
    /// Rows of a table. The input factor is the diagonal of how often each row is looked up.
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
    /// Any other parameters, such as those of a normalisation: the diagonal of the Gauss–Newton matrix.
    Diagonal {
        /// The first of them.
        first: usize,
        /// Number of parameters.
        count: usize,
    },
}

impl KroneckerBlock {
    /// Size of the input factor; zero where there is none.
    pub fn input_size(&self) -> usize {
        match *self {
            KroneckerBlock::Dense { bias, inputs, .. } => inputs + usize::from(bias.is_some()),
            KroneckerBlock::Embedding { rows, .. } => rows,
            KroneckerBlock::Diagonal { .. } => 0,
        }
    }

    /// Size of the output factor.
    pub fn output_size(&self) -> usize {
        match *self {
            KroneckerBlock::Dense { outputs, .. } => outputs,
            KroneckerBlock::Embedding { columns, .. } => columns,
            KroneckerBlock::Diagonal { count, .. } => count,
        }
    }

    /// Positions of a sample that share the parameters.
    pub(crate) fn positions(&self) -> usize {
        match *self {
            KroneckerBlock::Dense { positions, .. } | KroneckerBlock::Embedding { positions, .. } => positions,
            KroneckerBlock::Diagonal { .. } => 1,
        }
    }

    /// Its parameters: of the weight or table, and of the bias.
    pub fn parameters(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let [first, second] = match *self {
            KroneckerBlock::Dense { weight, bias, inputs, outputs, .. } => {
                [Some(weight..weight + inputs * outputs), bias.map(|bias| bias..bias + outputs)]
            }
            KroneckerBlock::Embedding { table, rows, columns, .. } => [Some(table..table + rows * columns), None],
            KroneckerBlock::Diagonal { first, count } => [Some(first..first + count), None],
        };
        first.into_iter().chain(second)
    }

    /// Encodes the block as numbers, to save and to compare.
    pub(crate) fn to_numbers(self) -> [f64; 6] {
        match self {
            KroneckerBlock::Dense { weight, bias, inputs, outputs, positions } => {
                let bias = bias.map_or(-1.0, |bias| bias as f64);
                [0.0, weight as f64, bias, inputs as f64, outputs as f64, positions as f64]
            }
            KroneckerBlock::Embedding { table, rows, columns, positions } => {
                [1.0, table as f64, rows as f64, columns as f64, positions as f64, 0.0]
            }
            KroneckerBlock::Diagonal { first, count } => [2.0, first as f64, count as f64, 0.0, 0.0, 0.0],
        }
    }

    /// Decodes [numbers](Self::to_numbers), for this number of parameters; `None` for numbers that no block encodes to.
    pub(crate) fn from_numbers(numbers: [f64; 6], parameters: usize) -> Option<Self> {
        let limit = parameters.max(1) as f64;
        let is_count = |number: &f64| *number >= 0.0 && *number <= limit && number.fract() == 0.0;
        let [kind, first, rest @ ..] = numbers;
        let has_bias = kind == 0.0 && rest[0] != -1.0;
        // Positions may be more than there are parameters.
        let positions = if kind == 0.0 { rest[3] } else { rest[2] };
        let is_whole = |number: f64| (1.0..=1e9).contains(&number) && number.fract() == 0.0;
        let block = match kind {
            0.0 if [first, rest[1], rest[2]].iter().all(is_count)
                && (!has_bias || is_count(&rest[0]))
                && is_whole(positions) =>
            {
                KroneckerBlock::Dense {
                    weight: first as usize,
                    bias: has_bias.then_some(rest[0] as usize),
                    inputs: rest[1] as usize,
                    outputs: rest[2] as usize,
                    positions: positions as usize,
                }
            }
            1.0 if [first, rest[0], rest[1]].iter().all(is_count) && is_whole(positions) => KroneckerBlock::Embedding {
                table: first as usize,
                rows: rest[0] as usize,
                columns: rest[1] as usize,
                positions: positions as usize,
            },
            2.0 if [first, rest[0]].iter().all(is_count) => {
                KroneckerBlock::Diagonal { first: first as usize, count: rest[0] as usize }
            }
            _ => return None,
        };
        block.parameters().all(|range| range.end <= parameters).then_some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_read_as_they_were_written() {
        let blocks = [
            KroneckerBlock::Dense { weight: 3, bias: Some(9), inputs: 2, outputs: 3, positions: 40 },
            KroneckerBlock::Dense { weight: 0, bias: None, inputs: 2, outputs: 3, positions: 1 },
            KroneckerBlock::Embedding { table: 1, rows: 5, columns: 2, positions: 2 },
            KroneckerBlock::Diagonal { first: 4, count: 8 },
        ];
        for block in blocks {
            assert_eq!(KroneckerBlock::from_numbers(block.to_numbers(), 12), Some(block));
            assert_eq!(KroneckerBlock::from_numbers(block.to_numbers(), 5), None, "there are not as many parameters");
        }
        for kind in [-1.0, 3.0, 0.5, f64::NAN] {
            assert_eq!(KroneckerBlock::from_numbers([kind, 0.0, 1.0, 1.0, 1.0, 1.0], 12), None);
        }
    }
}
