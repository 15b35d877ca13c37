//! Borrowed data.

use ndarray::{ArrayView2, Axis};

use crate::Real;
use crate::nn::{BatchError, Network};
use crate::train::TrainError;

/// Inputs, targets and weights.
#[derive(Debug, Clone)]
pub(super) struct Data<'d, T> {
    pub(super) inputs: Vec<ArrayView2<'d, T>>,
    pub(super) targets: Vec<ArrayView2<'d, T>>,
    pub(super) weights: Option<&'d [T]>,
}

impl<'d, T: Real> Data<'d, T> {
    pub(super) fn new<'v: 'd>(
        inputs: &[ArrayView2<'v, T>],
        targets: &[ArrayView2<'v, T>],
        weights: Option<&'d [T]>,
    ) -> Self {
        let views = |arrays: &[ArrayView2<'v, T>]| arrays.iter().map(|array| (*array).reborrow()).collect();
        Data { inputs: views(inputs), targets: views(targets), weights }
    }

    /// For as long as the slices are there.
    pub(super) fn borrow(
        inputs: &'d [ArrayView2<'_, T>],
        targets: &'d [ArrayView2<'_, T>],
        weights: Option<&'d [T]>,
    ) -> Self {
        let views = |arrays: &'d [ArrayView2<'_, T>]| arrays.iter().map(|array| array.view()).collect();
        Data { inputs: views(inputs), targets: views(targets), weights }
    }

    /// Refuses data that do not fit the network.
    pub(super) fn check(&self, network: &Network<T>) -> Result<(), BatchError> {
        network.check_data(&self.inputs, &self.targets, self.weights)
    }

    pub(super) fn rows(&self) -> usize {
        self.inputs.first().or(self.targets.first()).map_or(1, |array| array.nrows())
    }

    /// Splits the last rows off, which are this fraction of all.
    pub(super) fn split(self, split: f64) -> Result<(Self, Self), TrainError> {
        let rows = self.rows();
        let first = (rows as f64 * (1.0 - split)).floor();
        if !(split > 0.0 && split < 1.0 && first >= 1.0 && first < rows as f64) {
            return Err(TrainError::ValidationSplit { split, rows });
        }
        let first = first as usize;
        let halves = |arrays: Vec<ArrayView2<'d, T>>| -> (Vec<_>, Vec<_>) {
            arrays.into_iter().map(|array| array.split_at(Axis(0), first)).unzip()
        };
        let ((inputs, other_inputs), (targets, other_targets)) = (halves(self.inputs), halves(self.targets));
        let (weights, other_weights) = self.weights.map(|weights| weights.split_at(first)).unzip();
        let validation = Data { inputs: other_inputs, targets: other_targets, weights: other_weights };
        Ok((Data { inputs, targets, weights }, validation))
    }
}
