//! Progress of many fits.

use marquardt::curve::{Curve, MultiStart, Resampling};

use crate::{host, interrupt};

fn report(done: usize, all: usize) {
    if host::progress(done, all as f64, f64::NAN) {
        interrupt::token().cancel();
    }
}

/// A search that says how far it is.
pub fn of_starts<'a, C: Curve<f64>>(search: MultiStart<'a, f64, C>) -> MultiStart<'a, f64, C> {
    search.observe(report)
}

/// Resampled fits that say how far they are.
pub fn of_replicates<'f, 'a>(fits: Resampling<'f, 'a, f64>) -> Resampling<'f, 'a, f64> {
    fits.observe(report)
}
