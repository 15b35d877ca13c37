//! Rows of predictors that carry their observation.

/// A row of a fit with errors in the predictors: `x | σ_x | y | σ_y`.
#[derive(Debug, Clone, Copy)]
pub(in crate::curve) struct ObservedRow<'r, T> {
    pub(in crate::curve) x: &'r [T],
    pub(in crate::curve) sigma_x: &'r [T],
    pub(in crate::curve) y: &'r [T],
    /// Standard deviations of the responses; zero where they are no measurements, but conditions.
    pub(in crate::curve) sigma_y: &'r [T],
}

impl<'r, T> ObservedRow<'r, T> {
    pub(in crate::curve) fn of(row: &'r [T], predictors: usize) -> Self {
        let outputs = row.len() / 2 - predictors;
        let (x, row) = row.split_at(predictors);
        let (sigma_x, row) = row.split_at(predictors);
        let (y, sigma_y) = row.split_at(outputs);
        ObservedRow { x, sigma_x, y, sigma_y }
    }
}

/// Returns the number of entries in a row of so many predictors and responses.
pub(in crate::curve) fn observed_width(predictors: usize, outputs: usize) -> usize {
    2 * (predictors + outputs)
}

/// Appends a row.
pub(in crate::curve) fn push_observed<T: Copy>(
    rows: &mut Vec<T>,
    [x, sigma_x, y]: [&[T]; 3],
    sigma_y: impl Iterator<Item = T>,
) {
    [x, sigma_x, y].into_iter().for_each(|part| rows.extend_from_slice(part));
    rows.extend(sigma_y);
}
