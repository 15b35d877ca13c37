//! Policies for missing data.

/// Policy for a row in which a number is NaN or infinite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NanPolicy {
    /// The fit is refused, and the error names the row.
    #[default]
    Raise,
    /// The row is left out, and counted in the report.
    Omit,
}
