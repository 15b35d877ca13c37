//! A response as a plot shows it.

/// A response.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::curve) struct PlotPoint {
    /// The number of its data set; 0 where there is one only.
    pub(in crate::curve) set: usize,
    pub(in crate::curve) x: f64,
    pub(in crate::curve) y: f64,
    /// Standard deviation of `x`, of the last predictor of its row.
    pub(in crate::curve) x_error: Option<f64>,
    /// Standard deviation of `y`.
    pub(in crate::curve) error: Option<f64>,
    pub(in crate::curve) residual: f64,
    pub(in crate::curve) is_outlier: bool,
}
