//! Responses that are means of replicates.

use std::borrow::Cow;
use std::iter::zip;

use super::CurveError;
use super::data::Data;
use super::noise::Noise;
use crate::real::Real;

/// Numbers of replicates, one to each row, and their standard deviations, one to each response.
#[derive(Debug, Clone)]
pub(super) struct Replicates<'a, T: Real> {
    pub(super) counts: Cow<'a, [usize]>,
    pub(super) deviations: Cow<'a, [T]>,
}

impl<T: Real> Replicates<'_, T> {
    /// The same, which borrow nothing.
    pub(super) fn into_owned(self) -> Replicates<'static, T> {
        let Replicates { counts, deviations } = self;
        Replicates { counts: Cow::Owned(counts.into_owned()), deviations: Cow::Owned(deviations.into_owned()) }
    }

    /// Checks that the counts and standard deviations match the rows and the number of responses.
    pub(super) fn check(&self, rows: usize, outputs: usize) -> Result<(), CurveError> {
        let lengths = [("numbers of replicates", self.counts.len(), rows)];
        let lengths =
            lengths.into_iter().chain([("standard deviations of replicates", self.deviations.len(), rows * outputs)]);
        match lengths.into_iter().find(|(_, found, expected)| found != expected) {
            Some((of, found, expected)) => Err(CurveError::ReplicatesLength { of, found, expected }),
            None => Ok(()),
        }
    }

    /// Replaces each row of means by as many rows as it has replicates, with the same means and standard deviations. All sums of squares are
    /// those of the replicates themselves.
    pub(super) fn apply(&self, means: &Data<'_, T>) -> Result<Data<'static, T>, CurveError> {
        let conflict =
            |second, reason| Err(CurveError::Conflict { first: "standard deviations of replicates", second, reason });
        if let Noise::Correlated(_) = means.noise {
            return conflict("a covariance of the data", "replicates are independent");
        }
        if means.is_shared() {
            return conflict("several ranks", "a rank may have no means");
        }
        let (outputs, mut rows, mut y) = (means.outputs(), Vec::new(), Vec::new());
        for (row, mean) in means.y().chunks_exact(outputs).enumerate() {
            let original = means.original_row(row);
            let count = self.counts[original];
            let deviations = &self.deviations[original * outputs..(original + 1) * outputs];
            if count == 0 {
                return Err(CurveError::NoReplicates { row: original });
            }
            let is_right = |deviation: &&T| count == 1 || **deviation >= T::ZERO && deviation.is_finite();
            if let Some(deviation) = deviations.iter().find(|deviation| !is_right(deviation)) {
                return Err(CurveError::ReplicateDeviation { row: original, value: deviation.to_f64() });
            }
            // Two lie apart, and the others at the mean.
            let half_distance = (T::from_f64(0.5) * T::from_f64((count - 1) as f64)).sqrt();
            let signs = [T::ONE, -T::ONE].into_iter().take(if count > 1 { 2 } else { 0 });
            for sign in signs.chain(std::iter::repeat(T::ZERO)).take(count) {
                rows.push(row);
                y.extend(zip(mean, deviations).map(|(&mean, &deviation)| match sign == T::ZERO {
                    true => mean,
                    false => mean + sign * half_distance * deviation,
                }));
            }
        }
        means.taken_apart(rows, y)
    }
}
