//! Samples of several sets in one batch, each with losses of its own.

use ndarray::ArrayView2;

use super::Network;
use crate::nn::batch::{Batch, Selection};
use crate::nn::losses::Loss;
use crate::nn::tape::{Node, Operation};
use crate::nn::{BatchError, TapeError};
use crate::real::Real;

/// Assignment of samples to sets.
#[derive(Debug, Clone, Default)]
pub(super) struct SampleSets {
    /// The input that holds the index of the set; without one, all samples are of set 0.
    pub(super) input: Option<usize>,
    /// Number of sets.
    pub(super) count: usize,
    /// Rows of a data set in the order of their sets, and how many of each set there are.
    pub(super) order: Vec<usize>,
    pub(super) sizes: Vec<usize>,
}

impl SampleSets {
    /// One set.
    pub(super) fn new() -> Self {
        SampleSets { input: None, count: 1, order: Vec::new(), sizes: Vec::new() }
    }

    /// Sorts the selected places of a data set by their sets; those of a set stay in order.
    pub(super) fn sort<T: Real>(&mut self, inputs: &[ArrayView2<'_, T>], selection: &Selection<'_>) {
        self.order.clear();
        self.sizes.clear();
        let Some(input) = self.input else {
            self.sizes.push(selection.len());
            return;
        };
        self.sizes.resize(self.count, 0);
        for set in 0..self.count {
            let before = self.order.len();
            let of_set = |&(_, row): &(usize, usize)| inputs[input][[row, 0]].to_f64() == set as f64;
            self.order.extend(selection.iter().enumerate().filter(of_set).map(|(place, _)| place));
            self.sizes[set] = self.order.len() - before;
        }
    }
}

impl<T: Real> Network<T> {
    /// Divides the samples into `count` sets, each with losses of its own. The numbers of `input`, of width 1, say which set a
    /// sample is of: 0, 1, …, `count − 1`.
    ///
    /// A sample goes through those nodes only that the losses of its set are computed from. Points inside a region and on its
    /// boundary are such sets, with different equations for the same network. All sets must have the same number of
    /// residuals for each sample. A bound batch has its samples in the order of the sets, and its rows of residuals, too.
    ///
    /// # Errors
    ///
    /// [`TapeError::ForeignNode`], [`TapeError::NotAnInput`] for what is no input of width 1, and [`TapeError::Empty`] for no sets.
    pub fn with_sample_sets(mut self, input: Node, count: usize) -> Result<Self, TapeError> {
        let operation = "sample sets";
        if !self.sweeps.tape.holds(input) {
            return Err(TapeError::ForeignNode { operation });
        }
        if count == 0 {
            return Err(TapeError::Empty { operation });
        }
        let source = &self.sweeps.tape.records()[input.index()].operation;
        let Operation::Input(index) = *source else {
            return Err(TapeError::NotAnInput { operation, found: source.name() });
        };
        let rule = &mut self.schema.inputs[index];
        if rule.width != 1 {
            return Err(TapeError::Widths { operation, left: rule.width, right: 1 });
        }
        rule.sets = Some(count);
        self.sets = SampleSets { input: Some(index), count, ..SampleSets::new() };
        self.mark_loss_nodes();
        self.sweeps.batch = Batch::default();
        Ok(self)
    }

    /// Adds a loss as [`with_weighted_loss`](Self::with_weighted_loss) does, for the samples of one set alone. A loss that is a
    /// mean is divided by the samples of all sets: weights of samples say otherwise.
    ///
    /// # Errors
    ///
    /// As [`with_weighted_loss`](Self::with_weighted_loss), and [`TapeError::SampleSet`] for a set that is not there.
    pub fn with_loss_of_set(
        self,
        set: usize,
        output: Node,
        loss: impl Loss<T> + 'static,
        weight: T,
    ) -> Result<Self, TapeError> {
        if set >= self.sets.count {
            return Err(TapeError::SampleSet { set, count: self.sets.count });
        }
        self.with_term(set, output, Box::new(loss), weight)
    }

    /// Refuses sets with different numbers of residuals.
    pub(super) fn check_sets(&self) -> Result<(), BatchError> {
        let expected = self.rows_per_sample();
        match (0..self.sets.count).map(|set| (set, self.sweeps.rows_of_set(set))).find(|(_, found)| *found != expected)
        {
            Some((set, found)) => Err(BatchError::SetResiduals { set, expected, found }),
            None => Ok(()),
        }
    }
}
