//! The bootstrap: repeated fits to resampled data sets.

use std::sync::atomic::{AtomicUsize, Ordering};

use ndarray::Array2;
use thiserror::Error;

use super::FittedCurve;
use super::bootstrap::{Bootstrap, FailedReplicate};
use super::synthetic::{Draw, DrawSource, Scheme};
use crate::curve::FitFailure;
use crate::curve::iteration_observer::FitCounter;
use crate::curve::noise::Noise;
use crate::parallel;
use crate::problem::EvaluationError;
use crate::real::Real;
use crate::solver::{CancelToken, Status};

/// Replicates unless said otherwise.
const REPLICATES: usize = 1000;

/// A bootstrap of a [`FittedCurve`], ready to run; made by [`FittedCurve::bootstrap`].
///
/// | method | resampled | assumption |
/// |---|---|---|
/// | [`residuals`](Self::residuals) (the default) | residuals, put on the fitted curve | the curve is right, and the noise alike everywhere but for its sigma |
/// | [`cases`](Self::cases) | rows of the data | the rows are a random sample |
/// | [`parametric`](Self::parametric) (the default of counts, and with errors in x) | normal noise, or Poisson counts, about the fitted curve | the curve and the distribution are right |
pub struct Resampling<'f, 'a, T: Real> {
    fit: &'f FittedCurve<'a, T>,
    replicates: usize,
    scheme: Option<Scheme>,
    seed: u64,
    observer: Option<Box<FitCounter<'f>>>,
    cancel: Option<CancelToken>,
}

/// Reasons why there is no bootstrap.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BootstrapError {
    /// The number of replicates is zero.
    #[error("a bootstrap needs at least one replicate")]
    NoReplicates,
    /// The residuals of counts have different distributions.
    #[error("counts have no residuals that could be exchanged: draw cases, or from the Poisson distribution")]
    ResidualsOfCounts,
    /// Residuals of two directions cannot be exchanged.
    #[error("with errors in x, observations have residuals in two directions: draw cases, or normal noise")]
    ResidualsWithErrorsInX,
    /// Rows that are correlated cannot be drawn one by one.
    #[error("the covariance of the data ties its rows together: draw residuals, or normal noise")]
    CorrelatedCases,
    /// There are as many parameters as observations: the noise cannot be estimated.
    #[error("the size of the noise is unknown: no observations are in excess of the parameters")]
    NoDegreesOfFreedom,
    /// No rank has all rows to draw from.
    #[error("a bootstrap needs all rows on one rank, but {ranks} ranks share them")]
    SharedRows {
        /// Number of ranks that share the rows.
        ranks: usize,
    },
    /// The curve could not be evaluated at the fit.
    #[error("the curve could not be evaluated: {0}")]
    Evaluation(#[from] EvaluationError),
}

impl<'a, T: Real> FittedCurve<'a, T> {
    /// The uncertainty of the parameters by fits to resampled data (Efron 1979; Davison & Hinkley 1997, *Bootstrap methods
    /// and their application*), on all cores with the feature `rayon`.
    ///
    /// Each replicate has its own stream of random numbers, so that the result depends on the seed alone, not on the number of threads.
    /// Bounds, priors, and the scale of a robust loss stay as they are.
    ///
    /// ```
    /// let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0_f64];
    /// let y = [9.8, 6.3, 3.5, 2.4, 1.2, 0.9];
    /// let fit = marquardt::curve_fit(|x, [a, k]| a * (-k * x).exp(), &x, &y, [5.0, 1.0])?;
    /// let bootstrap = fit.bootstrap().replicates(200).seed(1).run().unwrap();
    /// let rate = bootstrap.percentile_interval("b2", 0.95).unwrap();
    /// assert!(rate.contains(fit.parameters()[1].value));
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn bootstrap(&self) -> Resampling<'_, 'a, T> {
        Resampling { fit: self, replicates: REPLICATES, scheme: None, seed: 0, observer: None, cancel: None }
    }
}

impl<'f, T: Real> Resampling<'f, '_, T> {
    /// Sets the number of data sets that are drawn; 1,000 by default.
    pub fn replicates(self, replicates: usize) -> Self {
        Resampling { replicates, ..self }
    }

    /// Draws from the residuals, whitened, freed from the leverage of their observations, and centred. Residuals of a row
    /// with several responses stay together.
    pub fn residuals(self) -> Self {
        Resampling { scheme: Some(Scheme::Residuals), ..self }
    }

    /// Draws rows of the data, with their sigma.
    pub fn cases(self) -> Self {
        Resampling { scheme: Some(Scheme::Cases), ..self }
    }

    /// Draws normal noise of the known or estimated size; Poisson counts where the fit is to counts.
    pub fn parametric(self) -> Self {
        Resampling { scheme: Some(Scheme::Parametric), ..self }
    }

    /// Seed of the random numbers.
    pub fn seed(self, seed: u64) -> Self {
        Resampling { seed, ..self }
    }

    /// Calls `observer` after each fit with the number of those done, and of all. The calls come from all threads, and not
    /// always in order.
    pub fn observe(self, observer: impl Fn(usize, usize) + Send + Sync + 'f) -> Self {
        Resampling { observer: Some(Box::new(observer)), ..self }
    }

    /// Draws a bar on the terminal, feature `progress`.
    #[cfg(feature = "progress")]
    pub fn progress(self) -> Self {
        self.observe(crate::curve::progress::bar())
    }

    /// Sets a token that ends the run early; fits that are not done then count as failed. A [token of the fit's
    /// solver](crate::LevenbergMarquardt::with_cancel_token) does so, too.
    pub fn cancel_token(self, token: CancelToken) -> Self {
        Resampling { cancel: Some(token), ..self }
    }

    /// Draws the data sets and fits them.
    ///
    /// # Errors
    ///
    /// [`BootstrapError`] if the scheme does not suit the data, or if ranks share the rows. A replicate whose fit fails is not an error;
    /// the result lists it.
    pub fn run(self) -> Result<Bootstrap<T>, BootstrapError> {
        let source = self.source()?;
        let checked = &self.fit.checked;
        let mut solver = checked.method.solver.clone().with_log(false);
        if let Some(token) = &self.cancel {
            solver = solver.with_cancel_token(token.clone());
        }
        let start = &self.fit.report.x;
        let replicate = |index: usize| {
            if solver.settings.is_cancelled() || checked.method.solver.settings.is_cancelled() {
                return Err(FitFailure::NotConverged(Status::Cancelled));
            }
            let data = source.draw(self.seed, index)?;
            FitFailure::unless_converged(checked.solve_by(&solver, &data, &checked.map, start)).map(|report| report.x)
        };
        let done = AtomicUsize::new(0);
        let results = parallel::map(self.replicates, |index| {
            let result = replicate(index);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            self.observer.iter().for_each(|observe| observe(done, self.replicates));
            result
        });
        Ok(self.gather(results))
    }

    fn source(&self) -> Result<DrawSource<'_, T>, BootstrapError> {
        let FittedCurve { checked, inference, .. } = self.fit;
        if self.replicates == 0 {
            return Err(BootstrapError::NoReplicates);
        }
        if checked.data.is_shared() {
            return Err(BootstrapError::SharedRows { ranks: checked.data.ranks().size() });
        }
        let counts = checked.is_of_counts();
        let has_errors_in_x = checked.data.has_errors_in_x();
        let default = if counts || has_errors_in_x { Scheme::Parametric } else { Scheme::Residuals };
        let scheme = self.scheme.unwrap_or(default);
        let (data, map) = (&checked.data, &checked.map);
        let draw = match scheme {
            Scheme::Residuals if counts => return Err(BootstrapError::ResidualsOfCounts),
            Scheme::Residuals if has_errors_in_x => return Err(BootstrapError::ResidualsWithErrorsInX),
            Scheme::Residuals if inference.degrees_of_freedom() == 0 => return Err(BootstrapError::NoDegreesOfFreedom),
            Scheme::Residuals => Draw::residuals(data, self.fit.whitened_residuals(), &self.fit.basis()?.leverages()),
            Scheme::Cases if matches!(data.noise, Noise::Correlated(_)) => return Err(BootstrapError::CorrelatedCases),
            Scheme::Cases => Draw::Cases { free: map.free().len().saturating_sub(map.priors().count()) },
            Scheme::Parametric if counts => Draw::Poisson,
            Scheme::Parametric => {
                Draw::Normal(inference.noise_variance().ok_or(BootstrapError::NoDegreesOfFreedom)?.sqrt())
            }
        };
        let (fitted, fitted_x) = match self.fit.points() {
            Some(points) => (&points.y[..], Some(&points.x)),
            None => (self.fit.responses(), None),
        };
        Ok(DrawSource { data, fitted, fitted_x, draw })
    }

    fn gather(&self, results: Vec<Result<Vec<T>, FitFailure>>) -> Bootstrap<T> {
        let names = self.fit.parameters().iter().map(|parameter| parameter.name.clone()).collect();
        let (mut flat, mut failed) = (Vec::new(), Vec::new());
        for (index, result) in results.into_iter().enumerate() {
            match result {
                Ok(parameters) => flat.extend(parameters),
                Err(reason) => failed.push(FailedReplicate { index, reason }),
            }
        }
        let optimum = self.fit.report.x.clone();
        let estimates =
            Array2::from_shape_fn((flat.len() / optimum.len(), optimum.len()), |(i, j)| flat[i * optimum.len() + j]);
        Bootstrap { names, optimum, estimates, failed }
    }
}
