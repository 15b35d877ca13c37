//! Status of one fit of many.

use std::fmt;

/// Reason for the end of a fit. The best point is kept for every status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum FitStatus {
    /// Converged to a minimum: the undamped step predicts a reduction below [`ftol`](crate::FitMany::ftol) of the cost, and for each
    /// parameter that no bound holds the cosine between the residuals and its derivatives is at most `√ftol`, 10⁻⁶ for [`f64`],
    /// or hidden by rounding of the responses and parameters.
    Converged,
    /// Converged to a minimum at which the data do not determine some parameters: their standard errors are infinite.
    Undetermined,
    /// The limit of trial steps was reached.
    MaxIterations,
    /// No step lowers the cost, but the gradient is not zero.
    NoProgress,
    /// A datum is NaN or infinite; there was no fit.
    NonFiniteData,
    /// A count is negative; there was no fit.
    NegativeCount,
    /// A count is no integer; there was no fit.
    FractionalCount,
    /// The model is NaN or infinite at the start, or not positive although it is the mean of a count, or the start is NaN or infinite;
    /// there was no fit.
    NonFiniteStart,
    /// The squares of the residuals or of the derivatives overflow: choose other units. There was no fit.
    Overflow,
    /// The squares of nonzero residuals underflow, so that no result can be computed: choose other units.
    Underflow,
    /// The start is beyond the bounds; there was no fit.
    StartOutOfBounds,
    /// There are fewer points than parameters; there was no fit.
    TooFewPoints,
    /// Cancelled, possibly before the fit began.
    #[default]
    Cancelled,
}

impl FitStatus {
    /// The fit ended at a minimum.
    pub fn is_converged(self) -> bool {
        matches!(self, FitStatus::Converged | FitStatus::Undetermined)
    }
}

impl fmt::Display for FitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FitStatus::Converged => "converged",
            FitStatus::Undetermined => "converged, but some parameters are undetermined",
            FitStatus::MaxIterations => "the iterations were used up",
            FitStatus::NoProgress => "no step lowers the cost any further, though the gradient is not zero",
            FitStatus::NonFiniteData => "the data are not finite",
            FitStatus::NegativeCount => "a count is negative",
            FitStatus::FractionalCount => "a count is no integer",
            FitStatus::NonFiniteStart => "the model is not finite at the start",
            FitStatus::Overflow => "the sums of squares overflow",
            FitStatus::Underflow => "the sums of squares underflow",
            FitStatus::StartOutOfBounds => "the start is out of bounds",
            FitStatus::TooFewPoints => "there are fewer points than parameters",
            FitStatus::Cancelled => "cancelled",
        })
    }
}
