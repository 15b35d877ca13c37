//! Borrowed data.

use std::ops::Range;

use ndarray::{ArrayView2, Axis};

use crate::nn::{BatchError, Network, SampleArrays, Targets};
use crate::real::Real;
use crate::train::TrainError;
use crate::train::metrics::{class_count, target_class};

/// Inputs, targets and weights: a shard of them, where there are several ranks.
#[derive(Debug, Clone)]
pub(super) struct FitData<'d, T> {
    pub(super) inputs: Vec<ArrayView2<'d, T>>,
    pub(super) targets: Vec<ArrayView2<'d, T>>,
    pub(super) weights: Option<&'d [T]>,
    /// Range of the rows among all.
    pub(super) range: Range<usize>,
    /// Rows of all ranks.
    pub(super) total: usize,
}

impl<'d, T: Real> FitData<'d, T> {
    pub(super) fn new<'v: 'd>(
        inputs: &[ArrayView2<'v, T>],
        targets: &[ArrayView2<'v, T>],
        weights: Option<&'d [T]>,
    ) -> Self {
        let views =
            |arrays: &[ArrayView2<'v, T>]| -> Vec<_> { arrays.iter().map(|array| (*array).reborrow()).collect() };
        let total = inputs.first().or(targets.first()).map_or(1, |array| array.nrows());
        FitData { inputs: views(inputs), targets: views(targets), weights, range: 0..total, total }
    }

    /// Refuses data that do not fit the network.
    pub(super) fn check(&self, network: &Network<T>) -> Result<(), BatchError> {
        network.check_data(self.samples())
    }

    /// Refuses first targets that are no classes.
    pub(super) fn check_classes(&self, kind: Targets) -> Result<(), TrainError> {
        let refuse = |reason: String| Err(TrainError::NoClasses { reason });
        match kind {
            Targets::None => refuse("the loss compares with no target".to_owned()),
            Targets::NonNegative => refuse("the targets are counts".to_owned()),
            Targets::Labels | Targets::Probabilities => Ok(()),
            Targets::Values => match self.targets[0].iter().find(|&&target| target != T::ZERO && target != T::ONE) {
                Some(target) => refuse(format!("the target {target} is neither 0 nor 1")),
                None => Ok(()),
            },
        }
    }

    /// The weights of the samples times those of their classes.
    pub(super) fn class_weighted(&self, class_weights: &[T], network: &Network<T>) -> Result<Vec<T>, TrainError> {
        let refuse = |reason: String| Err(TrainError::NoClasses { reason });
        let terms: Vec<_> = network.term_targets().collect();
        let [(kind, width)] = terms[..] else {
            return refuse(format!("class weights are for networks with one loss, not {}", terms.len()));
        };
        self.check_classes(kind)?;
        let classes = class_count(kind, width);
        if class_weights.len() != classes {
            return refuse(format!("there are {} class weights for {classes} classes", class_weights.len()));
        }
        if let Some((class, weight)) =
            class_weights.iter().enumerate().find(|(_, weight)| !(**weight >= T::ZERO && weight.is_finite()))
        {
            return refuse(format!("the weight of class {class} is {weight}, which is no number from 0 on"));
        }
        let weight = |row: usize| self.weights.map_or(T::ONE, |weights| weights[row]);
        let rows = self.targets[0].rows().into_iter().enumerate();
        Ok(rows.map(|(row, targets)| weight(row) * class_weights[target_class(kind, &targets.to_vec())]).collect())
    }

    /// The arrays.
    pub(super) fn samples(&self) -> SampleArrays<'_, T> {
        SampleArrays { inputs: &self.inputs, targets: &self.targets, weights: self.weights }
    }

    /// Finds those of these rows of all ranks that are here, and where they are among these.
    pub(super) fn find(&self, wanted: &[usize], rows: &mut Vec<usize>, places: &mut Vec<usize>) {
        rows.clear();
        places.clear();
        for (place, row) in wanted.iter().enumerate().filter(|(_, row)| self.range.contains(row)) {
            rows.push(row - self.range.start);
            places.push(place);
        }
    }

    /// Splits the last rows of all ranks off, which are this fraction of them.
    pub(super) fn split(self, split: f64) -> Result<(Self, Self), TrainError> {
        let FitData { range, total: rows, .. } = self;
        let trained = (rows as f64 * (1.0 - split)).floor();
        if !(split > 0.0 && split < 1.0 && trained >= 1.0 && trained < rows as f64) {
            return Err(TrainError::ValidationSplit { split, rows });
        }
        let trained = trained as usize;
        let Range { start, end } = range;
        let first = trained.clamp(start, end) - start;
        let halves = |arrays: Vec<ArrayView2<'d, T>>| -> (Vec<_>, Vec<_>) {
            arrays.into_iter().map(|array| array.split_at(Axis(0), first)).unzip()
        };
        let ((inputs, other_inputs), (targets, other_targets)) = (halves(self.inputs), halves(self.targets));
        let (weights, other_weights) = self.weights.map(|weights| weights.split_at(first)).unzip();
        let validation = FitData {
            inputs: other_inputs,
            targets: other_targets,
            weights: other_weights,
            range: start.max(trained) - trained..end.max(trained) - trained,
            total: rows - trained,
        };
        Ok((FitData { inputs, targets, weights, range: start..start + first, total: trained }, validation))
    }
}
