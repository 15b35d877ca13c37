//! Results of a bootstrap.

use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

use crate::curve::estimate::check_level;
use crate::curve::{FitFailure, Interval, StatisticsError, Tie};
use crate::real::Real;
use crate::statistics::sample_quantile;

/// The result of a bootstrap: the parameters of all replicates, their spread and intervals.
#[derive(Debug)]
pub struct Bootstrap<T> {
    pub(super) names: Vec<String>,
    /// The parameters of the fit itself.
    pub(super) optimum: Vec<T>,
    pub(super) estimates: Array2<T>,
    pub(super) failed: Vec<FailedReplicate>,
}

/// A replicate that could not be fitted.
#[derive(Debug)]
pub struct FailedReplicate {
    /// Index of the replicate, from 0.
    pub index: usize,
    /// Reason why its fit failed.
    pub reason: FitFailure,
}

impl<T: Real> Bootstrap<T> {
    /// The names of the parameters.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The parameters of each replicate that was fitted, a row each.
    pub fn estimates(&self) -> ArrayView2<'_, T> {
        self.estimates.view()
    }

    /// The replicates that could not be fitted.
    pub fn failed(&self) -> &[FailedReplicate] {
        &self.failed
    }

    /// Standard deviations of the parameters among the replicates; NaN for fewer than two.
    pub fn standard_errors(&self) -> Array1<T> {
        self.covariance().diag().mapv(|variance| variance.sqrt())
    }

    /// Covariance of the parameters among the replicates; NaN for fewer than two.
    pub fn covariance(&self) -> Array2<T> {
        let count = T::from_f64(self.estimates.nrows() as f64);
        let means = self.means();
        Array2::from_shape_fn((means.len(), means.len()), |(i, j)| {
            let rows = self.estimates.rows().into_iter();
            rows.map(|row| (row[i] - means[i]) * (row[j] - means[j])).sum::<T>() / (count - T::ONE).max(T::ZERO)
        })
    }

    /// Bias of the parameters: their means over the replicates minus their fitted values; NaN without replicates.
    pub fn bias(&self) -> Array1<T> {
        self.means() - Array1::from(self.optimum.clone())
    }

    fn means(&self) -> Array1<T> {
        let count = T::from_f64(self.estimates.nrows() as f64);
        self.estimates.columns().into_iter().map(|column| column.iter().copied().sum::<T>() / count).collect()
    }

    /// Percentile interval of a parameter: it contains the middle fraction `level`, such as 0.95, of the replicates. Quantiles are
    /// interpolated as in NumPy and R; without replicates they are NaN.
    ///
    /// # Errors
    ///
    /// [`StatisticsError`] for a level that is not between 0 and 1, or a name that no parameter has.
    pub fn percentile_interval(&self, name: &str, level: f64) -> Result<Interval<T>, StatisticsError> {
        check_level(level)?;
        let column = self.estimates.column(self.index(name)?);
        Ok(middle(column.iter().map(|value| value.to_f64()).collect(), level))
    }

    /// Percentile interval of a quantity that is computed from the parameters of each replicate. A replicate whose quantity is not finite
    /// counts as an extreme value.
    ///
    /// # Errors
    ///
    /// As [`percentile_interval`](Self::percentile_interval).
    pub fn derived_interval(&self, quantity: &Tie<T>, level: f64) -> Result<Interval<T>, StatisticsError> {
        check_level(level)?;
        let of = quantity.of().iter().map(|name| self.index(name)).collect::<Result<Vec<_>, _>>()?;
        let value = |row: ArrayView1<'_, T>| {
            let at: Vec<T> = of.iter().map(|&index| row[index]).collect();
            quantity.value(&at, None).to_f64()
        };
        Ok(middle(self.estimates.rows().into_iter().map(value).collect(), level))
    }

    /// Basic bootstrap interval: the percentile interval mirrored at the fitted value, `2θ̂ − (high, low)`. It assumes that the error of
    /// the fit is distributed as the deviations of the replicates from the fit.
    ///
    /// # Errors
    ///
    /// As [`percentile_interval`](Self::percentile_interval).
    pub fn basic_interval(&self, name: &str, level: f64) -> Result<Interval<T>, StatisticsError> {
        let twice = T::from_f64(2.0) * self.optimum[self.index(name)?];
        let Interval { low, high } = self.percentile_interval(name, level)?;
        Ok(Interval { low: twice - high, high: twice - low })
    }

    fn index(&self, name: &str) -> Result<usize, StatisticsError> {
        let index = self.names.iter().position(|known| known == name);
        index.ok_or_else(|| StatisticsError::NoSuchParameter { name: name.into(), known: self.names.clone() })
    }
}

/// The interval that holds the middle share of these values.
fn middle<T: Real>(mut values: Vec<f64>, level: f64) -> Interval<T> {
    values.sort_by(f64::total_cmp);
    let tail = 0.5 - 0.5 * level;
    let [low, high] = [tail, 1.0 - tail].map(|p| T::from_f64(sample_quantile(&values, p)));
    Interval { low, high }
}
