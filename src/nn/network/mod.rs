//! A tape with a loss, bound to a batch: the objective of optimizers.

mod derivatives;
mod inference;
mod kronecker;
mod likelihood;
mod loss_sweeps;
mod loss_tile;
mod objective;
mod output_jacobian;
mod predictions;
mod products;
mod ranks;
mod sample_sets;
mod summary;

pub use predictions::Predictions;

use std::ops::Range;

use ndarray::ArrayView2;

use super::batch::{Batch, InputRule, SampleArrays, Schema, Selection, TargetRule, check_weights};
use super::error::{BatchError, TapeError};
use super::factor_plan::FactorPlan;
use super::factors::Factors;
use super::losses::{Loss, Reduction};
use super::sweep::{Masks, RowProgress, WantedColumns, Workspace, coming_from, leading_to};
use super::tape::{Node, Operation, Tape, TapeRecord};
use super::term::LossTerm;
use super::weighted_loss::LossBuffers;
use crate::distributed::Communicator;
use crate::real::Real;
use crate::variables::{Variable, Variables};
use loss_sweeps::LossSweeps;
use sample_sets::SampleSets;

/// A tape with a loss, bound to a batch.
///
/// It is an [`Objective`](crate::problem::Objective), for optimizers, and, where its losses allow it, a
/// [`LeastSquares`](crate::LeastSquares) problem, for [`LevenbergMarquardt`](crate::LevenbergMarquardt). The same network
/// is bound to one minibatch after the other; once its memory is large enough, nothing is allocated.
///
/// The loss is the sum over its terms of `weight · Σᵢ wᵢ lᵢ / rows`, with the losses `lᵢ` and the weights `wᵢ` of the
/// samples, and [`Reduction::Sum`](super::Reduction::Sum) terms not divided by the number of rows.
///
/// ```
/// use marquardt::{LevenbergMarquardt, Variables};
/// use marquardt::nn::{MeanSquaredError, Network, Tape};
/// use marquardt::problem::Objective;
/// use ndarray::array;
///
/// let mut variables = Variables::new();
/// let weight = variables.add("weight", array![[0.0]].view())?;
/// let bias = variables.add("bias", array![0.0].view())?;
///
/// let mut tape = Tape::new();
/// let x = tape.input(1);
/// let y = tape.dense(x, weight, Some(bias))?;
/// let mut line = Network::new(tape, &variables)?.with_loss(y, MeanSquaredError)?;
///
/// let (inputs, targets) = (array![[0.0], [1.0], [2.0]], array![[1.0], [3.0], [5.0]]);
/// line.batch(&[inputs.view()], &[targets.view()])?;
/// LevenbergMarquardt::new().minimize_variables(&mut line, &mut variables)?;
///
/// let at_four = line.predict(&variables, &[array![[4.0]].view()], y)?;
/// assert!((at_four[[0, 0]] - 9.0_f64).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Network<T> {
    sweeps: LossSweeps<T>,
    /// Names and places, not values.
    variables: Variables<T>,
    sets: SampleSets,
    schema: Schema,
    /// The tile at hand in evaluation mode.
    passing: Batch<T>,
    /// Nodes that the sweep at hand visits.
    marks: Vec<bool>,
    columns: WantedColumns,
    written: RowProgress,
    /// Loss of the rows that were evaluated last.
    cost: T,
    /// Layer inputs and output sensitivities, from which `Jv`, `Jᵀu` and `JJᵀ` are computed.
    factors: Factors<T>,
    /// Blocks of Kronecker factors; none before they are asked for.
    factor_plan: Option<FactorPlan>,
    /// Random signs of a tile's residuals, or their derivatives along directions.
    signs: Vec<T>,
    /// Communicator of the ranks that have the other rows of a batch.
    ranks: Communicator,
    /// Numbers sent to them.
    message: Vec<T>,
}

impl<T: Real> Network<T> {
    /// A tape that computes with these variables, without a loss yet.
    ///
    /// # Errors
    ///
    /// [`TapeError::ForeignNode`] and [`TapeError::ForeignVariable`] when the tape is not all its own or not all of these
    /// variables; [`TapeError::Empty`] for a node without columns; [`TapeError::NonFinite`] for a constant that is not
    /// finite.
    pub fn new(tape: Tape<T>, variables: &Variables<T>) -> Result<Self, TapeError> {
        let known: Vec<Variable> = variables.iter().collect();
        let mut inputs = Vec::new();
        for (index, TapeRecord { operation, width, .. }) in tape.records().iter().enumerate() {
            let name = operation.name();
            if !operation.arguments().all(|node| tape.holds(node) && node.index() < index) {
                return Err(TapeError::ForeignNode { operation: name });
            }
            if let Some(stranger) = operation.variables().find(|v| known.get(v.index()) != Some(v)) {
                let (index, rows, columns) = (stranger.index(), stranger.rows(), stranger.columns());
                return Err(TapeError::ForeignVariable { operation: name, index, rows, columns });
            }
            if *width == 0 {
                return Err(TapeError::Empty { operation: name });
            }
            match operation {
                Operation::Input(_) => inputs.push(InputRule { width: *width, table_rows: None, sets: None }),
                Operation::Constant(row) => {
                    if let Some((index, value)) = row.iter().enumerate().find(|(_, value)| !value.is_finite()) {
                        return Err(TapeError::NonFinite { operation: name, index, value: value.to_f64() });
                    }
                }
                Operation::Embedding { x, table } => {
                    if let Operation::Input(index) = tape.records()[x.index()].operation {
                        let rows = &mut inputs[index].table_rows;
                        *rows = Some(rows.map_or(table.rows(), |rows| rows.min(table.rows())));
                    }
                }
                _ => {}
            }
        }
        let marks = vec![false; tape.records().len()];
        let sweeps = LossSweeps {
            terms: Vec::new(),
            loss_nodes: vec![marks.clone()],
            batch: Batch::default(),
            masks: Masks { seed: 0, step: 0 },
            workspace: Workspace::new(&tape),
            buffers: LossBuffers::default(),
            residuals: Vec::new(),
            tape,
        };
        Ok(Network {
            sweeps,
            sets: SampleSets::new(),
            marks,
            variables: variables.clone(),
            schema: Schema { inputs, targets: Vec::new(), may_be_empty: false },
            passing: Batch::default(),
            columns: WantedColumns::default(),
            written: RowProgress::default(),
            cost: T::ZERO,
            factors: Factors::default(),
            factor_plan: None,
            signs: Vec::new(),
            ranks: Communicator::single(),
            message: Vec::new(),
        })
    }

    /// Adds a loss of one of the outputs. If it compares with a target, it takes the next of the target arrays.
    ///
    /// # Errors
    ///
    /// [`TapeError::ForeignNode`].
    pub fn with_loss(self, output: Node, loss: impl Loss<T> + 'static) -> Result<Self, TapeError> {
        self.with_weighted_loss(output, loss, T::ONE)
    }

    /// Adds a loss as [`with_loss`](Self::with_loss) does, with a weight in the sum of all losses.
    ///
    /// # Errors
    ///
    /// [`TapeError::ForeignNode`], or [`TapeError::LossWeight`] for a weight that is negative or not finite.
    pub fn with_weighted_loss(self, output: Node, loss: impl Loss<T> + 'static, weight: T) -> Result<Self, TapeError> {
        self.with_term(0, output, Box::new(loss), weight)
    }

    /// Adds a loss of the samples of one set.
    fn with_term(mut self, set: usize, output: Node, loss: Box<dyn Loss<T>>, weight: T) -> Result<Self, TapeError> {
        if !self.sweeps.tape.holds(output) {
            return Err(TapeError::ForeignNode { operation: loss.name() });
        }
        if !(weight >= T::ZERO && weight.is_finite()) {
            return Err(TapeError::LossWeight { loss: loss.name(), weight: weight.to_f64() });
        }
        let width = output.width();
        let target = TargetRule::of(loss.targets(), width).map(|rule| {
            self.schema.targets.push(rule);
            self.schema.targets.len() - 1
        });
        leading_to(self.sweeps.tape.records(), std::iter::once(output), &mut self.marks);
        let mut used = self.sweeps.tape.records().iter().zip(&self.marks).filter(|(_, used)| **used);
        let is_of_samples = used.any(|(record, _)| matches!(record.operation, Operation::Input(_)));
        let reduction = if is_of_samples { loss.reduction() } else { Reduction::Mean };
        let first_row = self.sweeps.rows_of_set(set);
        self.sweeps.terms.push(LossTerm { output, loss, reduction, weight, set, target, first_row });
        self.sweeps.buffers.reserve(self.sweeps.workspace.tile_rows(), width);
        self.sweeps.residuals.resize(self.sweeps.workspace.tile_rows() * self.rows_per_sample(), T::ZERO);
        self.mark_loss_nodes();
        // A batch that was bound before has no target for this loss, and plans of products do not contain it.
        self.sweeps.batch = Batch::default();
        self.factors = Factors::default();
        self.factor_plan = None;
        Ok(self)
    }

    /// Sets the seed of dropout's masks.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.sweeps.masks = Masks { seed, step: 0 };
        self.forget_values();
        self
    }

    /// Number of batches bound so far; it and the seed determine dropout's masks.
    pub fn mask_step(&self) -> u64 {
        self.sweeps.masks.step
    }

    /// Sets the number of batches that count as bound, to repeat or to resume a training with dropout.
    pub fn set_mask_step(&mut self, step: u64) {
        self.sweeps.masks.step = step;
        self.forget_values();
    }

    /// The values of the bound batch are to be computed anew.
    fn forget_values(&mut self) {
        self.sweeps.workspace.bind(self.sweeps.batch.rows(), self.variables.values().len());
    }

    /// The tape.
    pub fn tape(&self) -> &Tape<T> {
        &self.sweeps.tape
    }

    /// Outputs that the losses are of, in their order.
    pub fn outputs(&self) -> Vec<Node> {
        self.sweeps.terms.iter().map(|term| term.output).collect()
    }

    /// Rows of the bound batch, this rank's where there are several; zero before the first.
    pub fn rows(&self) -> usize {
        self.sweeps.batch.rows()
    }

    /// Binds a minibatch: an array for each input, and one for each loss that compares with a target.
    ///
    /// A network without inputs and targets, all of whose numbers are variables, is bound to no arrays, and has one row.
    ///
    /// # Errors
    ///
    /// [`BatchError`] says what is wrong with which array; the batch bound before stays bound.
    pub fn batch(
        &mut self,
        inputs: &[ArrayView2<'_, T>],
        targets: &[ArrayView2<'_, T>],
    ) -> Result<&mut Self, BatchError> {
        let samples = SampleArrays { inputs, targets, weights: None };
        self.bind(samples, &self.all_rows(samples), None)
    }

    /// Binds a minibatch with a weight for each sample.
    ///
    /// # Errors
    ///
    /// As [`batch`](Self::batch).
    pub fn weighted_batch(
        &mut self,
        inputs: &[ArrayView2<'_, T>],
        targets: &[ArrayView2<'_, T>],
        sample_weights: &[T],
    ) -> Result<&mut Self, BatchError> {
        let samples = SampleArrays { inputs, targets, weights: Some(sample_weights) };
        self.bind(samples, &self.all_rows(samples), None)
    }

    /// Binds these rows of a whole data set.
    ///
    /// # Errors
    ///
    /// As [`batch`](Self::batch), and [`BatchError::RowOutOfRange`].
    pub fn batch_rows(
        &mut self,
        inputs: &[ArrayView2<'_, T>],
        targets: &[ArrayView2<'_, T>],
        rows: &[usize],
    ) -> Result<&mut Self, BatchError> {
        self.bind(SampleArrays { inputs, targets, weights: None }, &Selection::Rows(rows), None)
    }

    /// Binds these rows of a whole data set, which has a weight for each of its rows.
    ///
    /// # Errors
    ///
    /// As [`batch_rows`](Self::batch_rows), and [`BatchError`] for weights that are too few, too many, negative or not
    /// finite.
    pub fn weighted_batch_rows(
        &mut self,
        inputs: &[ArrayView2<'_, T>],
        targets: &[ArrayView2<'_, T>],
        sample_weights: &[T],
        rows: &[usize],
    ) -> Result<&mut Self, BatchError> {
        let samples = SampleArrays { inputs, targets, weights: Some(sample_weights) };
        self.bind(samples, &Selection::Rows(rows), None)
    }

    /// Binds rows; with their places in the batch of all ranks, where these are not in the order of the ranks.
    pub(crate) fn bind(
        &mut self,
        samples: SampleArrays<'_, T>,
        selection: &Selection<'_>,
        places: Option<&[usize]>,
    ) -> Result<&mut Self, BatchError> {
        let share = self.share(self.check(samples, selection), selection.len())?;
        self.sets.sort(samples.inputs, selection);
        if self.sets.input.is_none() {
            self.sweeps.batch.fill(samples, selection);
            self.sweeps.batch.share(share, places);
        } else {
            let given: Vec<usize> = selection.iter().collect();
            let rows: Vec<usize> = self.sets.order.iter().map(|&place| given[place]).collect();
            let places: Option<Vec<usize>> = places.map(|p| self.sets.order.iter().map(|&place| p[place]).collect());
            self.sweeps.batch.fill(samples, &Selection::Rows(&rows));
            self.sweeps.batch.share(share, places.as_deref());
            self.sweeps.batch.divide(&self.sets.sizes);
        }
        // The masks repeat after 2⁶⁴ batches.
        self.sweeps.masks.step = self.sweeps.masks.step.wrapping_add(1);
        self.forget_values();
        Ok(self)
    }

    fn check(&self, samples: SampleArrays<'_, T>, selection: &Selection<'_>) -> Result<(), BatchError> {
        let (rows, SampleArrays { inputs, targets, weights }) = (samples.rows(), samples);
        self.schema.check_inputs(inputs, selection, rows)?;
        self.schema.check_targets(targets, selection, rows)?;
        weights.map_or(Ok(()), |weights| check_weights(weights, selection, rows))
    }

    /// Residuals of each sample, of all terms together.
    fn rows_per_sample(&self) -> usize {
        self.sweeps.rows_per_sample()
    }

    /// Finds the nodes that the losses of each set are computed from.
    fn mark_loss_nodes(&mut self) {
        let LossSweeps { tape, terms, loss_nodes, .. } = &mut self.sweeps;
        loss_nodes.resize(self.sets.count, Vec::new());
        for (set, nodes) in loss_nodes.iter_mut().enumerate() {
            let outputs = terms.iter().filter(|term| term.set == set).map(|term| term.output);
            leading_to(tape.records(), outputs, nodes);
        }
    }

    /// Sets up a sweep back to some entries of the flat vector.
    fn want_columns(&mut self, columns: &[Range<usize>]) {
        self.columns.set(self.variables.iter(), columns);
        coming_from(self.sweeps.tape.records(), |variable| self.columns.include(variable), None, &mut self.marks);
    }

    fn check_node(&self, node: Node) -> Result<(), BatchError> {
        if self.sweeps.tape.holds(node) { Ok(()) } else { Err(BatchError::ForeignNode) }
    }

    /// Checks that a node can be computed for inputs that are not bound; returns the number of samples.
    fn check_prediction(
        &self,
        variables: &Variables<T>,
        inputs: &[ArrayView2<'_, T>],
        output: Node,
    ) -> Result<usize, BatchError> {
        let rows = SampleArrays { inputs, targets: &[], weights: None }.rows();
        self.check_node(output)?;
        self.check_point(variables.values())?;
        self.schema.check_inputs(inputs, &Selection::Range(0..rows), rows)?;
        Ok(rows)
    }

    /// Refuses a flat vector of the wrong length.
    fn check_point(&self, x: &[T]) -> Result<(), BatchError> {
        let (expected, found) = (self.variables.values().len(), x.len());
        if expected == found { Ok(()) } else { Err(BatchError::Variables { expected, found }) }
    }

    /// Checks that a point can be evaluated on the bound batch.
    fn check_bound(&self, x: &[T]) -> Result<(), BatchError> {
        if self.sweeps.terms.is_empty() {
            return Err(BatchError::NoLoss);
        }
        if self.sweeps.batch.mean_over == 0 {
            return Err(BatchError::Unbound);
        }
        self.check_sets()?;
        self.check_point(x)
    }
}
