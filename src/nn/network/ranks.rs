//! One network over several ranks.

use std::fmt;

use super::Network;
use crate::distributed::{Communicator, RankError};
use crate::nn::BatchError;
use crate::nn::batch::{Batch, SampleArrays, Selection, Share};
use crate::real::Real;

impl<T: Real> Network<T> {
    /// The network as one of several ranks, which are bound to this rank's rows of every batch. Other ranks may have more or
    /// fewer, or none.
    ///
    /// The loss, its gradient and Levenberg–Marquardt's steps are then those of the rows of all ranks, to the same bits on
    /// every rank; rows, residuals, predictions and derivatives of single samples are this rank's. Binding a batch,
    /// evaluating a loss and every step are [collective](Communicator), and what goes wrong on one rank is an error on all.
    /// The variables have to be the [same](crate::Variables::mirror) on all ranks.
    ///
    /// ```
    /// use marquardt::Variables;
    /// use marquardt::distributed::Communicator;
    /// use marquardt::nn::{MeanSquaredError, Sequential};
    /// use marquardt::optim::{Adam, Optimizer};
    /// use ndarray::Array2;
    ///
    /// let ranks = Communicator::world()?;
    /// let rows: Vec<f64> = ranks.shard(100).map(|row| row as f64 / 50.0 - 1.0).collect();
    /// let x = Array2::from_shape_vec((rows.len(), 1), rows)?;
    /// let y = x.mapv(|x| x * x);
    ///
    /// let mut variables = Variables::new();
    /// let layers = Sequential::new(1).dense(4).tanh().dense(1);
    /// let mut network =
    ///     layers.compile(&mut variables, 0, MeanSquaredError)?.with_communicator(&ranks);
    /// let mut optimizer = Adam::new(0.05);
    /// network.batch(&[x.view()], &[y.view()])?;
    /// for _ in 0..200 {
    ///     optimizer.step(&mut network, &mut variables)?;
    /// }
    /// assert!(network.evaluate(&variables, &[x.view()], &[y.view()])? < 0.01);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_communicator(mut self, ranks: &Communicator) -> Self {
        self.ranks = ranks.clone();
        self.schema.may_be_empty = ranks.size() > 1;
        // What was bound was bound without the others.
        self.sweeps.batch = Batch::default();
        self
    }

    /// The ranks that have the rows of a batch; a rank alone unless set.
    pub fn communicator(&self) -> &Communicator {
        &self.ranks
    }

    /// The ranks, where there are several.
    pub(crate) fn several_ranks(&self) -> Option<&Communicator> {
        (self.ranks.size() > 1).then_some(&self.ranks)
    }

    /// Returns the number of rows of these arrays. Without arrays there is one row, and the first rank has it.
    pub(crate) fn own_rows(&self, samples: SampleArrays<'_, T>) -> usize {
        let has_arrays = !(samples.inputs.is_empty() && samples.targets.is_empty());
        if has_arrays { samples.rows() } else { usize::from(self.ranks.is_root()) }
    }

    /// All rows of these arrays.
    pub(super) fn all_rows(&self, samples: SampleArrays<'_, T>) -> Selection<'static> {
        Selection::Range(0..self.own_rows(samples))
    }

    /// Returns the place of this rank's `rows` among those of all ranks, if all ranks have found theirs in order. Collective.
    pub(super) fn share(&self, checked: Result<(), BatchError>, rows: usize) -> Result<Share, BatchError> {
        let Some(ranks) = self.several_ranks() else {
            return checked.map(|()| Share { before: 0, total: rows });
        };
        let mut counts = vec![0.0; ranks.size()];
        counts[ranks.rank()] = rows as f64;
        ranks.try_all_sum(&mut counts, checked)?;
        let sum = |counts: &[f64]| counts.iter().sum::<f64>() as usize;
        match sum(&counts) {
            0 => Err(BatchError::Empty),
            total => Ok(Share { before: sum(&counts[..ranks.rank()]), total }),
        }
    }

    /// Returns the sum of all ranks' numbers, if none has failed. Collective.
    pub(super) fn sum<E: fmt::Display>(
        &self,
        own: Result<T, E>,
        rank_error: impl FnOnce(RankError) -> E,
    ) -> Result<T, E> {
        let Some(ranks) = self.several_ranks() else { return own };
        let (mut sum, own) = own.map_or_else(|error| (T::ZERO, Err(error)), |own| (own, Ok(())));
        ranks.try_all_sum(std::slice::from_mut(&mut sum), own).map_err(rank_error)?;
        Ok(sum)
    }
}
