//! Plan of a factored Jacobian: the form in which the columns of each array of parameters are kept.

use std::ops::Range;

use super::taped::Taped;
use crate::nn::RecordedLayer;
use crate::nn::work::SweepWork;

/// Flops of the elementwise product of two Gram matrices, for every entry of it.
const HADAMARD: f64 = 2.0;

/// Ratio of the time of a flop in the product of two looked-up rows to that of a flop in a long product.
const SHORT_PRODUCT: usize = 4;

/// Parts that are kept for the products with some columns of the Jacobian, from the layers that the outputs are computed by: those of a
/// tape, or those that another library has recorded.
#[derive(Debug, Clone, Default)]
pub(super) struct JacobianPlan {
    /// The parameters that it was made for; `None` before it was made.
    pub(super) columns: Option<Vec<Range<usize>>>,
    /// True if every array is wanted whole or not at all.
    pub(super) is_whole: bool,
    /// Number of wanted columns.
    pub(super) count: usize,
    pub(super) layers: Vec<RecordedLayer>,
    /// Arrays of parameters that layers use, in ascending order.
    pub(super) arrays: Vec<PlannedArray>,
    /// Dense layers, those of one weight side by side.
    pub(super) dense: Vec<DenseUse>,
    pub(super) tables: Vec<TableUse>,
    /// Indices of the wanted columns that are formed.
    pub(super) formed: Vec<Range<usize>>,
    /// Entries kept for each sample, and for each residual.
    pub(super) per_sample: usize,
    pub(super) per_residual: usize,
    /// The forward sweep.
    pub(super) forward: SweepWork,
    /// The reverse sweeps, with the formed columns.
    pub(super) reverse: SweepWork,
    /// The reverse sweeps if all wanted columns were formed.
    pub(super) reverse_forming_all: SweepWork,
    /// The layers on a tape, unless another library has recorded them.
    pub(super) taped: Taped,
}

/// A dense layer whose weight's part of the Jacobian is kept as the layer's inputs and sensitivities.
#[derive(Debug, Clone, Copy)]
pub(super) struct DenseUse {
    /// Its place among the layers.
    pub(super) layer: usize,
    /// Entries that go into the layer, and that come out: columns and rows of its weight.
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// The first of the weight's columns among those that are wanted.
    pub(super) weight: usize,
    /// First of the bias's columns among those that are wanted, for a bias that goes with the weight.
    pub(super) bias: Option<usize>,
    /// Offset of the inputs among the kept entries of a sample, and of the sensitivities among those of a residual.
    pub(super) inputs: usize,
    pub(super) sensitivities: usize,
}

/// A use of a table whose part of the Jacobian is kept as row numbers and sensitivities.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableUse {
    /// Its place among the layers.
    pub(super) layer: usize,
    /// Rows that a sample looks up.
    pub(super) numbers: usize,
    /// The first of the table's columns among those that are wanted.
    pub(super) table: usize,
    /// Rows of the table, and numbers in each.
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Offset of the sensitivities among the kept entries of a residual.
    pub(super) sensitivities: usize,
}

impl TableUse {
    /// Entries that a sample looks up.
    pub(super) fn width(&self) -> usize {
        self.numbers * self.columns
    }
}

/// An array of parameters, and the form of its part of the Jacobian.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlannedArray {
    /// The first of its entries among all parameters, and how many there are.
    pub(super) start: usize,
    pub(super) len: usize,
    pub(super) form: JacobianForm,
    /// The first of its columns among those that are wanted.
    column: usize,
}

impl PlannedArray {
    /// Its entries among all parameters.
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.start + self.len
    }
}

/// The form of an array's part of the Jacobian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JacobianForm {
    /// Not wanted.
    None,
    /// A weight: its layers' inputs and sensitivities.
    Factored,
    /// A bias of a factored weight alone: that weight's layers' sensitivities.
    Fused,
    /// A table: row numbers and sensitivities.
    LookedUp,
    /// Its columns, formed.
    Formed,
}

impl JacobianPlan {
    /// Number of formed columns.
    pub(super) fn formed_count(&self) -> usize {
        self.formed.iter().map(|range| range.len()).sum()
    }

    /// Returns true if the plan was made for these columns.
    pub(super) fn is_for(&self, columns: &[Range<usize>]) -> bool {
        self.columns.as_deref() == Some(columns)
    }

    /// Plans for some columns, with the layers that it holds and residuals of `group` entries for each sample.
    pub(super) fn plan_layers(&mut self, columns: &[Range<usize>], group: usize) {
        let planned = self.columns.get_or_insert_default();
        planned.clear();
        planned.extend_from_slice(columns);
        self.count = columns.iter().map(|range| range.len()).sum();
        self.list_arrays(columns);
        self.choose_forms(group);
        self.place_uses();
    }

    /// Lists the arrays that the layers use, and how much of them is wanted.
    fn list_arrays(&mut self, columns: &[Range<usize>]) {
        let wanted = |of: &Range<usize>| -> usize {
            let overlap = |wanted: &Range<usize>| wanted.end.min(of.end).saturating_sub(wanted.start.max(of.start));
            columns.iter().map(overlap).sum()
        };
        self.is_whole = true;
        self.arrays.clear();
        for range in self.layers.iter().flat_map(RecordedLayer::parameters) {
            let (start, len, count) = (range.start, range.len(), wanted(&range));
            self.is_whole &= count == 0 || count == len;
            let form = if count > 0 { JacobianForm::Formed } else { JacobianForm::None };
            self.arrays.push(PlannedArray { start, len, form, column: wanted(&(0..start)) });
        }
        self.arrays.sort_unstable_by_key(|array| (array.start, array.len));
        self.arrays.dedup_by_key(|array| (array.start, array.len));
    }

    /// Finds the wanted arrays that need not be formed.
    fn choose_forms(&mut self, group: usize) {
        for index in 0..self.arrays.len() {
            if self.arrays[index].form == JacobianForm::Formed {
                self.arrays[index].form = self.form_by_itself(self.arrays[index], group);
            }
        }
        self.formed.clear();
        for index in 0..self.arrays.len() {
            let PlannedArray { start, len, form, column } = self.arrays[index];
            if form == JacobianForm::Formed && self.is_bias_of_factored_weight(start) {
                self.arrays[index].form = JacobianForm::Fused;
            } else if form == JacobianForm::Formed {
                self.formed.push(column..column + len);
            }
        }
    }

    /// The layers that use the array which begins at `start`, with their places.
    fn layers_of(&self, start: usize) -> impl Iterator<Item = (usize, &RecordedLayer)> {
        self.layers.iter().enumerate().filter(move |(_, layer)| layer.arrays().contains(&Some(start)))
    }

    /// The form of a wanted array that is no bias.
    fn form_by_itself(&self, PlannedArray { start, len, .. }: PlannedArray, group: usize) -> JacobianForm {
        let (mut uses, mut numbers, mut columns, mut table_rows) = (0, 0, None, 0);
        for (_, layer) in self.layers_of(start) {
            match *layer {
                // The same entries may be used as matrices of several shapes.
                RecordedLayer::Dense { weight, bias, inputs, positions: 1, .. }
                    if weight == start && bias != Some(start) && *columns.get_or_insert(inputs) == inputs =>
                {
                    uses += 1;
                }
                RecordedLayer::Embedding { rows, positions, .. } => {
                    numbers += positions;
                    table_rows = rows;
                }
                _ => return JacobianForm::Formed,
            }
        }
        match (columns, numbers) {
            (Some(columns), 0) if factors_are_cheaper(len / columns, columns, uses, group) => JacobianForm::Factored,
            (None, 1..) if look_up_is_cheaper(table_rows, numbers) => JacobianForm::LookedUp,
            _ => JacobianForm::Formed,
        }
    }

    /// Returns true if an array is used only as the bias of one factored weight.
    fn is_bias_of_factored_weight(&self, start: usize) -> bool {
        let mut partner = None;
        self.layers_of(start).all(|(_, layer)| match *layer {
            RecordedLayer::Dense { weight, .. } => {
                self.form_of(weight) == JacobianForm::Factored && *partner.get_or_insert(weight) == weight
            }
            _ => false,
        })
    }

    /// The array that begins at `start`.
    fn array(&self, start: usize) -> Option<&PlannedArray> {
        let place = self.arrays.binary_search_by_key(&start, |array| array.start);
        place.ok().map(|place| &self.arrays[place])
    }

    /// The form of the array that begins at `start`; none where no layer uses it.
    pub(super) fn form_of(&self, start: usize) -> JacobianForm {
        self.array(start).map_or(JacobianForm::None, |array| array.form)
    }

    /// Returns the first column of a formed array among all that are formed.
    pub(super) fn formed_place(&self, start: usize) -> Option<usize> {
        let column = self.array(start).filter(|array| array.form == JacobianForm::Formed)?.column;
        let before = self.formed.iter().take_while(|range| range.start < column);
        Some(before.map(|range| range.len()).sum())
    }

    /// Lists the uses of factored weights and of looked-up tables, and the offsets of what is kept for them.
    fn place_uses(&mut self) {
        self.dense.clear();
        self.tables.clear();
        (self.per_sample, self.per_residual) = (0, 0);
        for index in 0..self.arrays.len() {
            let PlannedArray { start, form, column, .. } = self.arrays[index];
            if !matches!(form, JacobianForm::Factored | JacobianForm::LookedUp) {
                continue;
            }
            for layer in 0..self.layers.len() {
                let sensitivities = self.per_residual;
                match self.layers[layer] {
                    RecordedLayer::Dense { weight, bias, inputs: columns, outputs: rows, .. } if weight == start => {
                        let bias =
                            bias.and_then(|bias| self.array(bias)).filter(|bias| bias.form == JacobianForm::Fused);
                        let (bias, inputs) = (bias.map(|bias| bias.column), self.per_sample);
                        self.dense.push(DenseUse { layer, columns, rows, weight: column, bias, inputs, sensitivities });
                        self.per_sample += columns;
                    }
                    RecordedLayer::Embedding { table, rows, columns, positions: numbers } if table == start => {
                        self.tables.push(TableUse { layer, numbers, table: column, rows, columns, sensitivities });
                    }
                    _ => continue,
                }
                self.per_residual += self.layers[layer].outputs();
            }
        }
    }
}

/// Returns true if the Gram matrix of a table's rows of the Jacobian comes cheaper from the rows that samples look up than from
/// its columns.
fn look_up_is_cheaper(rows: usize, numbers: usize) -> bool {
    rows.pow(2) >= SHORT_PRODUCT * numbers.pow(2)
}

/// Returns true if the Gram matrix of a weight's rows of the Jacobian comes cheaper from the factors of its layers than from its
/// columns.
fn factors_are_cheaper(rows: usize, columns: usize, layers: usize, group: usize) -> bool {
    let (rows, columns, pairs) = (rows as f64, columns as f64, (layers * layers) as f64);
    pairs * (rows + columns / (group * group) as f64 + HADAMARD) <= rows * columns
}
