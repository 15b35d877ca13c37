//! Warnings of data far from the size that weights start for.

use ndarray::{ArrayView2, Axis};

use super::Trainer;
use super::data::FitData;
use crate::digits::number;
use crate::real::Real;

/// Half of the range of a column, and its middle over that, beyond which training suffers: a tenth of the variance or all of it was left.
const SMALL: f64 = 1e-3;
const LARGE: f64 = 100.0;
const OFFSET: f64 = 10.0;

impl<T: Real> Trainer<'_, T> {
    /// Warnings of inputs and targets that no normalisation brings to the size of one.
    pub(super) fn unit_warnings(&self, data: &FitData<'_, T>) -> Vec<String> {
        let [inputs, targets] = self.network.unscaled();
        let views = [("input", &data.inputs, inputs), ("target", &data.targets, targets)];
        let of = |(what, arrays, unscaled): (&str, &Vec<ArrayView2<'_, T>>, Vec<bool>)| -> Vec<String> {
            let pairs = arrays.iter().zip(unscaled).enumerate();
            let found = pairs
                .filter_map(|(index, (array, unscaled))| if unscaled { warning(what, index, array) } else { None });
            found.collect()
        };
        views.into_iter().flat_map(of).collect()
    }
}

/// The first column of an array that is far from the size of one.
fn warning<T: Real>(what: &str, index: usize, array: &ArrayView2<'_, T>) -> Option<String> {
    array.axis_iter(Axis(1)).enumerate().find_map(|(column, values)| {
        let bounds = values.iter().map(|x| x.to_f64()).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x), high.max(x))
        });
        let (half, middle) = ((bounds.1 - bounds.0) / 2.0, bounds.0 / 2.0 + bounds.1 / 2.0);
        let is_far = half > 0.0 && (!(SMALL..=LARGE).contains(&half) || middle.abs() > OFFSET * half);
        is_far.then(|| {
            let [low, high] = [bounds.0, bounds.1].map(|bound| number(bound, 3));
            format!(
                "column {column} of {what} {index} goes from {low} to {high}, and weights start for numbers of about 1: \
                 scale the data, or see Sequential::normalized"
            )
        })
    })
}
