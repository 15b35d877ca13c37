//! Progress of a fit.

use marquardt::FittedCurve;
use marquardt::curve::CurrentCurve;
use marquardt::solver::IterationRecord;
use ndarray::ArrayView2;

use crate::arguments::OutputArguments;
use crate::failure::Failure;
use crate::selected_data::SelectedData;
use crate::{host, interrupt};

/// Groups whose progress is reported.
pub const MOST_GROUPS: usize = 1_000_000_000;

/// Observer of a fit.
pub struct LivePicture;

/// Accepts all curves.
pub fn check(_: &OutputArguments, _: &[String]) -> Result<(), Failure> {
    Ok(())
}

impl LivePicture {
    pub fn asked(_: &OutputArguments, _: &SelectedData, _: &str) -> Option<Self> {
        Some(LivePicture)
    }

    /// Reports each step, and cancels the fit if that is asked for.
    pub fn observer(&self) -> impl Fn(&IterationRecord<f64>, &CurrentCurve<'_, f64>) + Send + Sync + 'static {
        let token = interrupt::token();
        move |record, _| {
            if host::progress(record.iteration, f64::NAN, record.cost) {
                token.cancel();
            }
        }
    }

    pub fn finish(self: &LivePicture, _: &FittedCurve<'_, f64>) {}

    pub fn finish_by(&self, _: &FittedCurve<'_, f64>, _: impl Fn(ArrayView2<'_, f64>) -> Option<Vec<f64>>) {}
}
