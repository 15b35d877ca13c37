//! Bars of progress on the terminal.

use marquardt::curve::{Curve, MultiStart, Resampling};

/// A search that draws a bar.
pub fn of_starts<'a, C: Curve<f64>>(search: MultiStart<'a, f64, C>) -> MultiStart<'a, f64, C> {
    search.progress()
}

/// Resampled fits that draw a bar.
pub fn of_replicates<'f, 'a>(fits: Resampling<'f, 'a, f64>) -> Resampling<'f, 'a, f64> {
    fits.progress()
}
