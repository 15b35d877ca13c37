//! One minibatch.

use ndarray::ArrayView2;

use super::Trainer;
use super::data::FitData;
use super::run::FitRun;
use crate::nn::{SampleArrays, Selection};
use crate::optim::StepReport;
use crate::real::Real;
use crate::train::TrainError;

impl<T: Real> Trainer<'_, T> {
    /// One step on these rows of the data. As Keras' `train_on_batch`; metrics go on from their last reset, by [`fit`](Self::fit) or
    /// [`evaluate`](Self::evaluate). With several ranks, each rank passes its rows of the minibatch.
    ///
    /// # Errors
    ///
    /// [`TrainError::Data`] or [`TrainError::Optimizer`]; nothing is changed in this case.
    pub fn train_step(
        &mut self,
        inputs: &[ArrayView2<'_, T>],
        targets: &[ArrayView2<'_, T>],
        rows: &[usize],
    ) -> Result<StepReport<T>, TrainError> {
        self.step(SampleArrays { inputs, targets, weights: self.sample_weights }, rows, None)
    }

    /// One step of an epoch, on these rows of all ranks.
    pub(super) fn step_on(
        &mut self,
        data: &FitData<'_, T>,
        rows: &[usize],
        run: &mut FitRun,
    ) -> Result<StepReport<T>, TrainError> {
        if self.network.several_ranks().is_none() {
            return self.step(data.samples(), rows, None);
        }
        data.find(rows, &mut run.rows, &mut run.places);
        self.step(data.samples(), &run.rows, Some(&run.places))
    }

    fn step(
        &mut self,
        samples: SampleArrays<'_, T>,
        rows: &[usize],
        places: Option<&[usize]>,
    ) -> Result<StepReport<T>, TrainError> {
        let Trainer { network, variables, optimizer, metrics, .. } = self;
        let mask_step = network.mask_step();
        network.bind(samples, &Selection::Rows(rows), places)?;
        if !metrics.is_empty() {
            metrics.iter_mut().for_each(|measured| measured.save());
            network.visit_bound(variables, |predictions| {
                metrics.iter_mut().for_each(|measured| measured.update(&predictions));
            })?;
        }
        optimizer.step(&mut **network, variables).map_err(|error| {
            // As if the minibatch had never been bound.
            network.set_mask_step(mask_step);
            metrics.iter_mut().for_each(|measured| measured.go_back());
            error.into()
        })
    }
}
