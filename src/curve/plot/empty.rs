//! The plot of a fit before its series are drawn.

use super::Plot;
use crate::curve::inference::{ResponseKind, ResponseNoise};
use crate::real::Real;

impl<T: Real> ResponseNoise<T> {
    /// An empty plot with the residuals' label, and the strip of their noise.
    pub(in crate::curve) fn empty_plot(&self) -> Plot {
        match (self.unit(), self.kind) {
            (Some(_), _) if self.is_weighted() => Plot::new().residual_label("residual / σ").residual_band(1.0),
            (Some(unit), ResponseKind::Uniform) => Plot::new().residual_band(unit),
            _ => Plot::new(),
        }
    }
}
