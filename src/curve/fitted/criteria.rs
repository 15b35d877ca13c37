//! Information criteria of a fitted curve.

use std::f64::consts::PI;

use statrs::function::gamma::ln_gamma;

use super::FittedCurve;
use crate::curve::Criteria;
use crate::curve::criteria::NoiseKind;
use crate::distributed::CommunicatorError;
use crate::kernels::vector::all_finite;
use crate::real::Real;
use crate::statistics::distributions::chi_squared_tail;
use crate::statistics::{Test, half_deviance};

impl<T: Real> FittedCurve<'_, T> {
    /// Number of fitted responses and of priors; a prior counts as one observation of its parameter.
    pub fn number_of_observations(&self) -> usize {
        self.number_of_responses() + self.checked.map.priors().count()
    }

    /// Responses that were fitted, of all ranks.
    pub(super) fn number_of_responses(&self) -> usize {
        self.checked.data.all_rows() * self.checked.data.outputs()
    }

    /// Sum of the squares of the [whitened residuals](Self::whitened_residuals) and of the residuals of priors; for counts, Pearson's `Σ (y
    /// − μ)²/μ`.
    pub fn chi_square(&self) -> T {
        self.squares.whitened + self.prior_squares()
    }

    /// `χ²` test of the residuals against a known noise; the p-value is the probability of a larger [`χ²`](Self::chi_square). `None` if the
    /// noise is estimated from the residuals, or without degrees of freedom.
    pub fn goodness_of_fit(&self) -> Option<Test> {
        let (statistic, freedom) = (self.chi_square().to_f64(), self.degrees_of_freedom());
        let is_testable = self.covariance().is_absolute() && freedom > 0;
        is_testable.then(|| Test { statistic, p_value: chi_squared_tail(statistic, freedom as f64) })
    }

    /// Sum of the squared residuals of the responses, without weights.
    pub fn residual_sum_of_squares(&self) -> T {
        self.squares.residuals
    }

    /// Deviance: `−2 ln L` minus its value for a curve through all responses. It is [`χ²`](Self::chi_square), but `2 Σ (y ln(y/μ) − y + μ)`
    /// for counts.
    pub fn deviance(&self) -> T {
        self.totals().deviance + self.prior_squares()
    }

    /// Coefficient of determination `R² = 1 − S / S₀`, at most 1: `S` is the sum of squares about the curve, and `S₀` the sum of squares
    /// about the mean. Each response of a row has its own mean. Both sums and the mean are weighted by sigma or by the covariance of the
    /// data (as in R and statsmodels; lmfit computes the mean without weights). For counts, both sums are deviances. The data sets of a
    /// global fit have one common mean. `R²` is negative for a curve that describes the data worse than a constant, and `None` if all
    /// responses are equal.
    pub fn r_squared(&self) -> Option<T> {
        let (about_curve, about_mean) = (self.totals().deviance, self.totals().deviance_about_mean);
        (about_mean > T::ZERO).then(|| T::ONE - about_curve / about_mean)
    }

    /// `R²` adjusted for the number of parameters: mean squares replace the sums of squares. `None` if one of the mean squares has no
    /// degrees of freedom, or if `R²` is `None`. Priors are not counted.
    pub fn adjusted_r_squared(&self) -> Option<T> {
        let about_mean = self.number_of_responses() - self.checked.data.outputs();
        let about_curve = self.degrees_of_freedom().saturating_sub(self.checked.map.priors().count());
        let ratio = T::from_f64(about_mean as f64 / about_curve as f64);
        let r_squared = self.r_squared().filter(|_| about_curve > 0);
        r_squared.map(|r_squared| T::ONE - (T::ONE - r_squared) * ratio)
    }

    /// The logarithm of the likelihood, complete with its constants. With `Σ` for the squares of sigma on a diagonal, for the
    /// data's covariance, or for the unit matrix:
    ///
    /// - noise known: `−½ (χ² + n ln 2π + ln |Σ|)`,
    /// - noise estimated from the residuals: `−½ (n ln(2π χ²/n) + n + ln |Σ|)`, the maximum over the size of the noise; infinite for a
    ///   curve through all responses,
    /// - counts: `Σ (y ln μ − μ − ln y!)`.
    ///
    /// A robust fit does not maximise a likelihood. The second formula is used, with full weight of outliers; other parameters would have a
    /// larger value.
    pub fn log_likelihood(&self) -> T {
        let (totals, priors) = (self.totals(), self.checked.map.priors());
        let of_priors: f64 = priors.map(|(_, _, deviation)| 2.0 * deviation.to_f64().ln()).sum();
        let (gaussian, squares) = match self.checked.is_of_counts() {
            true => (self.checked.map.priors().count(), self.prior_squares()),
            false => (self.number_of_observations(), self.chi_square()),
        };
        let (gaussian, squares, log_determinant) =
            (gaussian as f64, squares.to_f64(), of_priors + totals.log_determinant);
        let scale = match self.checked.options.noise_kind() {
            NoiseKind::Relative | NoiseKind::Robust => gaussian * (squares / gaussian).ln() + gaussian,
            NoiseKind::Absolute | NoiseKind::Counts => squares,
        };
        T::from_f64(totals.log_likelihood_of_counts - 0.5 * (scale + gaussian * (2.0 * PI).ln() + log_determinant))
    }

    /// Criteria by which fits of different curves are [compared](crate::curve::Comparison).
    pub fn criteria(&self) -> Criteria<T> {
        let observations = self.number_of_observations();
        Criteria {
            observations,
            parameters: observations - self.degrees_of_freedom(),
            chi_square: self.chi_square(),
            log_likelihood: self.log_likelihood(),
            noise: self.checked.options.noise_kind(),
        }
    }

    fn prior_squares(&self) -> T {
        let x = &self.report.x;
        let residual = |(index, mean, deviation): (usize, T, T)| (x[index] - mean) / deviation;
        self.checked.map.priors().map(residual).map(|residual| residual * residual).sum()
    }

    /// Deviance and logarithm of the likelihood of the counts that are here.
    pub(super) fn of_counts(&self) -> [f64; 2] {
        if !all_finite(self.responses()) {
            return [f64::INFINITY, f64::NEG_INFINITY];
        }
        [self.deviance_from(self.responses()).to_f64(), self.log_likelihood_of_counts()]
    }

    fn log_likelihood_of_counts(&self) -> f64 {
        let pairs = self.checked.data.y().iter().zip(self.responses());
        let terms = pairs.map(|(&count, &mean)| {
            let (count, mean) = (count.to_f64(), mean.to_f64());
            count * mean.ln() - mean - ln_gamma(count + 1.0)
        });
        terms.sum()
    }

    fn deviance_from(&self, means: &[T]) -> T {
        // Where the mean of some counts is zero, so are they.
        let pairs = self.checked.data.y().iter().zip(means).filter(|&(_, mean)| *mean > T::ZERO);
        T::from_f64(2.0) * pairs.map(|(&count, &mean)| half_deviance(count, mean)).sum()
    }

    /// The deviance of counts from their mean, of each response its own. Collective.
    pub(super) fn counts_about_mean(&self) -> Result<T, CommunicatorError> {
        let (data, outputs) = (&self.checked.data, self.checked.data.outputs());
        let sum = |output| data.y().iter().skip(output).step_by(outputs).copied().sum::<T>();
        let mut sums: Vec<T> = (0..outputs).map(sum).collect();
        data.ranks().all_sum(&mut sums)?;
        let rows = T::from_f64(data.all_rows() as f64);
        let means: Vec<T> = sums.into_iter().map(|sum| sum / rows).collect();
        let mut deviance = [self.deviance_from(&means.repeat(data.rows()))];
        data.ranks().all_sum(&mut deviance)?;
        Ok(deviance[0])
    }
}
