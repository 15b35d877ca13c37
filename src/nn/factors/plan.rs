//! In which form each wanted variable's part of the Jacobian is kept.

use std::ops::Range;

use crate::nn::sweep::{WantedColumns, coming_from, leading_to, takes_stacks};
use crate::nn::tape::{Node, Operation, Tape};
use crate::nn::work::{SweepWork, forward_work, jacobian_work};
use crate::real::Real;
use crate::variables::Variable;

/// Flops of the elementwise product of two Gram matrices, for every number of it.
const HADAMARD: f64 = 2.0;

/// How many flops in long products take the time of one between two looked-up rows.
const SHORT_PRODUCT: usize = 4;

/// Parts that are kept for the products with some columns of the Jacobian.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    /// The parameters that it was made for; `None` before it was made.
    columns: Option<Vec<Range<usize>>>,
    /// Whether every variable is wanted whole or not at all.
    pub(super) is_whole: bool,
    /// How many columns are wanted.
    pub(super) count: usize,
    /// Dense layers, those of one weight side by side, and the nodes that go into them and come out.
    pub(super) dense: Vec<DenseUse>,
    pub(super) dense_nodes: Vec<[Node; 2]>,
    pub(super) tables: Vec<TableUse>,
    pub(super) table_nodes: Vec<[Node; 2]>,
    /// Which of the wanted columns are formed.
    pub(super) formed: Vec<Range<usize>>,
    /// The same, as columns of the whole Jacobian.
    pub(super) formed_columns: WantedColumns,
    /// Nodes that an adjoint has to pass, and whether stacks of adjoints can pass all of them.
    pub(super) marks: Vec<bool>,
    pub(super) takes_stacks: bool,
    /// Numbers kept for each sample, and for each residual.
    pub(super) per_sample: usize,
    pub(super) per_residual: usize,
    /// The forward sweep.
    pub(super) forward: SweepWork,
    /// The reverse sweeps, with the formed columns.
    pub(super) reverse: SweepWork,
    /// The reverse sweeps if all wanted columns were formed.
    pub(super) reverse_forming_all: SweepWork,
    variables: Vec<PlannedVariable>,
    /// Where the formed variables are in the flat vector.
    ranges: Vec<Range<usize>>,
    reached: Vec<bool>,
}

/// A dense layer whose weight's part of the Jacobian is kept as the layer's inputs and sensitivities.
#[derive(Debug, Clone, Copy)]
pub(super) struct DenseUse {
    /// Numbers that go into the layer, and that come out: columns and rows of its weight.
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// The first of the weight's columns among those that are wanted.
    pub(super) weight: usize,
    /// As `weight`, for a bias that goes along with it.
    pub(super) bias: Option<usize>,
    /// Numbers before the inputs in what is kept for a sample, and before the sensitivities in that for a residual.
    pub(super) inputs: usize,
    pub(super) sensitivities: usize,
}

/// A use of a table whose part of the Jacobian is kept as row numbers and sensitivities.
#[derive(Debug, Clone, Copy)]
pub(super) struct TableUse {
    /// Rows that a sample looks up.
    pub(super) numbers: usize,
    /// The first of the table's columns among those that are wanted.
    pub(super) table: usize,
    /// Rows of the table, and numbers in each.
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Numbers before the sensitivities in what is kept for a residual.
    pub(super) sensitivities: usize,
}

#[derive(Debug, Clone, Copy)]
struct PlannedVariable {
    variable: Variable,
    form: Form,
    /// The first of its columns among those that are wanted.
    start: usize,
}

/// The form of a variable's part of the Jacobian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Nobody asked for it, or no residual depends on it.
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

impl TableUse {
    /// Numbers that a sample looks up.
    pub(super) fn width(&self) -> usize {
        self.numbers * self.columns
    }
}

impl Plan {
    /// How many columns are formed.
    pub(super) fn formed_count(&self) -> usize {
        self.formed.iter().map(|range| range.len()).sum()
    }

    /// Whether it was made for these columns.
    pub(super) fn is_for(&self, columns: &[Range<usize>]) -> bool {
        self.columns.as_deref() == Some(columns)
    }

    /// Makes the plan for some columns, and for the outputs of loss terms.
    pub(super) fn make<T: Real>(
        &mut self,
        tape: &Tape<T>,
        variables: impl Iterator<Item = Variable>,
        outputs: impl Iterator<Item = Node> + Clone,
        group: usize,
        columns: &[Range<usize>],
    ) {
        let planned = self.columns.get_or_insert_default();
        planned.clear();
        planned.extend_from_slice(columns);
        leading_to(tape.records(), outputs.clone(), &mut self.marks);
        self.choose_forms(tape, variables, group, columns);
        self.place_uses(tape);
        self.forward = forward_work(tape, &self.marks);
        let form = |variable: Variable| self.variables[variable.index()].form;
        let (wanted, formed) = (|variable| form(variable) != Form::None, |variable| form(variable) == Form::Formed);
        coming_from(tape.records(), wanted, None, &mut self.marks);
        let mut passed = tape.records().iter().zip(&self.marks).filter(|(_, mark)| **mark);
        self.takes_stacks = self.formed.is_empty() && passed.all(|(record, _)| takes_stacks(&record.operation));
        self.reverse = jacobian_work(tape, outputs.clone(), &self.marks, formed, &mut self.reached);
        self.reverse_forming_all = jacobian_work(tape, outputs, &self.marks, wanted, &mut self.reached);
    }

    /// Expects the marks to be at the nodes that the losses are computed from.
    fn choose_forms<T: Real>(
        &mut self,
        tape: &Tape<T>,
        variables: impl Iterator<Item = Variable>,
        group: usize,
        columns: &[Range<usize>],
    ) {
        self.variables.clear();
        self.ranges.clear();
        (self.is_whole, self.count) = (true, 0);
        for variable in variables {
            let Range { start, end } = variable.range();
            let overlap = |wanted: &Range<usize>| wanted.end.min(end).saturating_sub(wanted.start.max(start));
            let wanted: usize = columns.iter().map(overlap).sum();
            self.is_whole &= wanted == 0 || wanted == variable.len();
            let form = if wanted > 0 { form_by_itself(tape, &self.marks, variable, group) } else { Form::None };
            self.variables.push(PlannedVariable { variable, form, start: self.count });
            self.count += wanted;
        }
        self.formed.clear();
        for index in 0..self.variables.len() {
            let PlannedVariable { variable, form, start } = self.variables[index];
            if form == Form::Formed && self.is_bias_of_factored_weight(tape, variable) {
                self.variables[index].form = Form::Fused;
            } else if form == Form::Formed {
                self.formed.push(start..start + variable.len());
                self.ranges.push(variable.range());
            }
        }
        self.formed_columns.set(self.variables.iter().map(|planned| planned.variable), &self.ranges);
    }

    /// Whether a variable is used only as the bias where one factored weight is used.
    fn is_bias_of_factored_weight<T: Real>(&self, tape: &Tape<T>, variable: Variable) -> bool {
        let mut partner = None;
        used_by(tape, &self.marks, variable).all(|(_, operation)| match *operation {
            Operation::Dense { weight, .. } => {
                let factored = self.variables[weight.index()].form == Form::Factored;
                factored && *partner.get_or_insert(weight) == weight
            }
            _ => false,
        })
    }

    /// Lists the uses of factored weights and of looked-up tables, and where what is kept for them goes.
    fn place_uses<T: Real>(&mut self, tape: &Tape<T>) {
        self.dense.clear();
        self.dense_nodes.clear();
        self.tables.clear();
        self.table_nodes.clear();
        (self.per_sample, self.per_residual) = (0, 0);
        for &PlannedVariable { variable, form, start } in &self.variables {
            if !matches!(form, Form::Factored | Form::LookedUp) {
                continue;
            }
            for (index, operation) in used_by(tape, &self.marks, variable) {
                let (y, sensitivities) = (tape.node(index), self.per_residual);
                match *operation {
                    Operation::Dense { x, bias, .. } => {
                        let bias = bias.map(|bias| &self.variables[bias.index()]);
                        let bias = bias.filter(|bias| bias.form == Form::Fused).map(|bias| bias.start);
                        let (columns, rows, inputs) = (x.width(), y.width(), self.per_sample);
                        self.dense.push(DenseUse { columns, rows, weight: start, bias, inputs, sensitivities });
                        self.dense_nodes.push([x, y]);
                        self.per_sample += x.width();
                    }
                    Operation::Embedding { x, table } => {
                        let (rows, columns, numbers) = (table.rows(), table.columns(), x.width());
                        self.tables.push(TableUse { numbers, table: start, rows, columns, sensitivities });
                        self.table_nodes.push([x, y]);
                    }
                    _ => continue,
                }
                self.per_residual += y.width();
            }
        }
    }
}

/// The marked nodes whose operation takes a variable.
fn used_by<'a, T: Real>(
    tape: &'a Tape<T>,
    marks: &'a [bool],
    variable: Variable,
) -> impl Iterator<Item = (usize, &'a Operation<T>)> {
    let operations = tape.records().iter().map(|record| &record.operation).enumerate();
    operations.filter(move |(index, operation)| marks[*index] && operation.variables().any(|used| used == variable))
}

/// The form of a wanted variable, biases aside.
fn form_by_itself<T: Real>(tape: &Tape<T>, marks: &[bool], variable: Variable, group: usize) -> Form {
    let (mut layers, mut numbers, mut columns) = (0, 0, None);
    for (_, operation) in used_by(tape, marks, variable) {
        match *operation {
            // The same numbers may be used as matrices of several shapes.
            Operation::Dense { x, weight, bias, positions: 1 }
                if weight == variable && bias != Some(variable) && *columns.get_or_insert(x.width()) == x.width() =>
            {
                layers += 1;
            }
            Operation::Embedding { x, .. } => numbers += x.width(),
            _ => return Form::Formed,
        }
    }
    match (columns, numbers) {
        (None, 0) => Form::None,
        (Some(columns), 0) if factors_are_cheaper(variable.len() / columns, columns, layers, group) => Form::Factored,
        (None, _) if look_up_is_cheaper(variable.rows(), numbers) => Form::LookedUp,
        _ => Form::Formed,
    }
}

/// Whether the Gram matrix of a table's rows of the Jacobian comes cheaper from the rows that samples look up than from its columns.
pub(super) fn look_up_is_cheaper(rows: usize, numbers: usize) -> bool {
    rows.pow(2) >= SHORT_PRODUCT * numbers.pow(2)
}

/// Whether the Gram matrix of a weight's rows of the Jacobian comes cheaper from the factors of its layers than from its
/// columns.
pub(super) fn factors_are_cheaper(rows: usize, columns: usize, layers: usize, group: usize) -> bool {
    let (rows, columns, pairs) = (rows as f64, columns as f64, (layers * layers) as f64);
    pairs * (rows + columns / (group * group) as f64 + HADAMARD) <= rows * columns
}
