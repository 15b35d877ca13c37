//! Residuals of the curve, and tests of them.

use super::FittedCurve;
use crate::curve::checked_fit::CheckedFit;
use crate::curve::likelihood::Likelihood;
use crate::curve::noise::Noise;
use crate::problem::loss_at;
use crate::real::Real;
use crate::statistics::{self, Test};

impl<T: Real> FittedCurve<'_, T> {
    /// Observed minus [fitted](Self::fitted) responses, row after row; of this rank's rows.
    pub fn residuals(&self) -> Vec<T> {
        self.checked.data.y().iter().zip(self.fitted()).map(|(&observed, &fitted)| observed - fitted).collect()
    }

    /// The [residuals](Self::residuals), brought to equal variance: divided by sigma, or by the root of the mean of a count
    /// (Pearson's residuals), or multiplied by the inverse of the Cholesky factor of the data's covariance. With
    /// [errors in x](crate::CurveFit::sigma_x), they are the distances of the observations from the curve.
    pub fn whitened_residuals(&self) -> Vec<T> {
        let observed = self.checked.data.y().iter().zip(self.responses());
        let mut residuals: Vec<T> = observed.map(|(&observed, &fitted)| observed - fitted).collect();
        self.checked.whiten(0, self.responses(), &mut residuals);
        residuals
    }

    /// Standard deviations of the observations, row by row: sigma if it is [absolute](crate::CurveFit::absolute_sigma); otherwise sigma
    /// times its size estimated from the residuals. `None` for observations without sigma, and if the size cannot be estimated.
    ///
    /// ```
    /// use marquardt::CurveFit;
    /// use marquardt::models::Linear;
    ///
    /// let (x, y, sigma) = ([0.0, 1.0, 2.0, 3.0], [0.1, 0.9, 2.2, 2.9], [0.1, 0.1, 0.2, 0.2]);
    /// let fit = CurveFit::guessed(Linear, &x, &y).sigma(&sigma).absolute_sigma(true).fit()?;
    /// assert_eq!(fit.observation_errors().unwrap(), sigma);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn observation_errors(&self) -> Option<Vec<T>> {
        let (data, unit) = (&self.checked.data, self.inference.noise.unit()?);
        let sigma = |index| data.noise.sigma(index) * T::from_f64(unit);
        (!matches!(data.noise, Noise::Uniform)).then(|| (0..data.y().len()).map(sigma).collect())
    }

    /// Weights that the [robust](crate::CurveFit::robust) loss gives the observations, row by row, from 0 (no influence) to 1 (as in least
    /// squares). `None` for a fit without a robust loss.
    ///
    /// ```
    /// use marquardt::{CurveFit, Loss};
    /// use marquardt::models::Linear;
    ///
    /// let (x, y) = ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [0.1, 0.9, 2.1, 9.0, 3.9, 5.1]);
    /// let fit = CurveFit::guessed(Linear, &x, &y).robust(Loss::Tukey).f_scale(1.0).fit()?;
    /// let weights = fit.robust_weights().unwrap();
    /// assert!(weights[3] < 1e-3 && weights[0] > 0.9);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn robust_weights(&self) -> Option<Vec<T>> {
        let Likelihood::Robust(loss, scale) = &self.checked.likelihood else { return None };
        Some(self.whitened_residuals().into_iter().map(|residual| loss_at(&**loss, *scale, residual)[1]).collect())
    }

    /// Tests whether the signs of the residuals come in random order; see [`runs_test`](statistics::runs_test). Too few runs
    /// mean that the curve misses the shape of the data.
    ///
    /// This and the other tests are of the [whitened residuals](Self::whitened_residuals) in the order of the rows; several responses come
    /// one after the other. The p-value does not account for the fitted parameters and is slightly too small. `None` if ranks [share the
    /// rows](crate::CurveFit::communicator), because their order is then undefined, and for [replicates](crate::CurveFit::replicates) of
    /// which only mean and standard deviation are known.
    pub fn runs_test(&self) -> Option<Test> {
        statistics::runs_test(&self.series()?)
    }

    /// Durbin–Watson statistic: about 2 where the residuals of neighbouring rows are independent; see
    /// [`durbin_watson`](statistics::durbin_watson).
    pub fn durbin_watson(&self) -> Option<f64> {
        statistics::durbin_watson(&self.series()?)
    }

    /// Tests whether the residuals are normal; see [`shapiro_wilk`](statistics::shapiro_wilk).
    pub fn shapiro_wilk(&self) -> Option<Test> {
        statistics::shapiro_wilk(&self.series()?)
    }

    /// Tests whether the residuals are normal; see [`dagostino_pearson`](statistics::dagostino_pearson).
    pub fn dagostino_pearson(&self) -> Option<Test> {
        statistics::dagostino_pearson(&self.series()?)
    }

    /// Tests whether the residuals are normal; see [`jarque_bera`](statistics::jarque_bera).
    pub fn jarque_bera(&self) -> Option<Test> {
        statistics::jarque_bera(&self.series()?)
    }

    /// The whitened residuals, response after response, where all are here.
    fn series(&self) -> Option<Vec<T>> {
        let (residuals, outputs) = (self.whitened_residuals(), self.checked.data.outputs());
        let series = (0..outputs).flat_map(|output| residuals.iter().skip(output).step_by(outputs).copied());
        let is_known = !self.checked.data.is_shared() && !self.checked.data.has_means();
        is_known.then(|| series.collect())
    }
}

impl<T: Real> CheckedFit<'_, T> {
    /// Brings the residuals of responses `first..` to equal variance.
    pub(super) fn whiten(&self, first: usize, fitted: &[T], residuals: &mut [T]) {
        if self.is_of_counts() {
            residuals.iter_mut().zip(fitted).for_each(|(residual, &mean)| *residual /= mean.sqrt());
        } else {
            self.data.noise.whiten(first, residuals, &mut [], 1);
        }
    }

    pub(super) fn is_of_counts(&self) -> bool {
        matches!(self.likelihood, Likelihood::Poisson)
    }
}
