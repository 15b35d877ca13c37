//! Observers of the trial steps of a curve fit, and of several fits.

use std::fmt;
use std::sync::Arc;

use super::CurrentCurve;
use crate::real::Real;
use crate::solver::IterationRecord;

/// Callback that receives the number of fits done, and that of all fits.
pub(super) type FitCounter<'a> = dyn Fn(usize, usize) + Send + Sync + 'a;

type Observe<T> = dyn Fn(&IterationRecord<T>, &CurrentCurve<'_, T>) + Send + Sync;

/// Function that is called after each trial step.
#[derive(Clone)]
pub(super) struct IterationObserver<T: Real>(Arc<Observe<T>>);

impl<T: Real> IterationObserver<T> {
    pub(super) fn new(observe: impl Fn(&IterationRecord<T>, &CurrentCurve<'_, T>) + Send + Sync + 'static) -> Self {
        IterationObserver(Arc::new(observe))
    }

    pub(super) fn observe(&self, record: &IterationRecord<T>, current: &CurrentCurve<'_, T>) {
        (self.0)(record, current);
    }
}

impl<T: Real> fmt::Debug for IterationObserver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IterationObserver")
    }
}
