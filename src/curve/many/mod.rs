//! Thousands of small fits of one model.

mod any_model;
mod block;
mod error;
mod fits;
mod free;
mod normal_equations;
mod one_by_one;
mod outcomes;
mod per_fit;
mod point_sums;
mod predictors;
mod specification;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ndarray::ArrayView2;

use self::any_model::{AnyModel, Evaluation, FORWARDS, GivenModel};
use self::block::Block;
pub use self::error::FitManyError;
pub use self::fits::ManyFits;
use self::one_by_one::OneByOne;
use self::outcomes::Outcomes;
pub use self::per_fit::PerFit;
pub use self::predictors::Predictors;
use self::specification::Specification;
use super::models::Guess;
use super::parameter::ParameterOption;
use super::robust::Robustness;
use super::{CurveError, NanPolicy};
use crate::curve::{Model, Tie};
use crate::kernels::registers::Registers;
use crate::parallel;
use crate::precision::compile_once;
use crate::problem::{Bounds, Loss, RobustLoss};
use crate::real::Real;
use crate::solver::CancelToken;
#[cfg(doc)]
use crate::solver::FitStatus;
use crate::solver::lockstep::StoppingCriteria;

/// Share of the cost that a step must predict as its reduction to be worth taking: the parameters are then within a hundred-thousandth of
/// their standard errors of the minimum.
const FTOL: f64 = 1e-12;

/// The most parameters of fits in lockstep.
const MOST: usize = 16;

/// Fits that a thread does between two reports of progress, at least and at most.
const BLOCK: [usize; 2] = [64, 1024];

/// Fits of one model to many data sets: the pixels of an image, the wells of a plate, the spectra of a run.
///
/// Several fits are done in lockstep, one in each lane of the widest vector registers that the processor turns out to have (AVX-512,
/// AVX2, SSE2 or NEON); with the feature `rayon` on all cores. What becomes of a fit does not depend on the others, nor on the
/// number of threads, to the last bit. Derivatives are exact. Nothing is allocated for a fit that converges in lockstep.
///
/// The model is a formula ([`model!`](crate::model!)), one of the [library](crate::models), or a [`Model`] of one's own, of up to
/// 16 parameters. Fits of more are done one after the other by [`CurveFit`](crate::CurveFit), each with its points in the lanes.
///
/// A fit ends where the Gauss–Newton step predicts a reduction of less than `ftol` of the cost; standard errors are computed there. A fit
/// that does not come there in lockstep, or where the normal equations are too close to singular to tell, is repeated from its
/// start by [`CurveFit`](crate::CurveFit): each result is then that of a single fit. A fit that ends badly is not
/// [tried again](crate::CurveFit::retry). What is wrong with the data of one fit is said by its
/// [`FitStatus`](crate::solver::FitStatus), and does not affect the others.
///
/// ```
/// use marquardt::{FitMany, model};
/// use ndarray::{Array2, array};
///
/// let x: Vec<f64> = (0..40).map(|i| 0.1 * i as f64).collect();
/// let peaks = array![[5.0, 1.0, 0.3], [3.0, 2.0, 0.5], [4.0, 3.1, 0.2]];
/// let y = Array2::from_shape_fn((3, 40), |(fit, i)| {
///     let u = (x[i] - peaks[[fit, 1]]) / peaks[[fit, 2]];
///     peaks[[fit, 0]] * (-0.5 * u * u).exp()
/// });
/// let start = array![[4.0, 1.2, 0.4], [4.0, 1.8, 0.4], [4.0, 3.0, 0.4]];
/// let gaussian =
///     model!(|x; height, center, sigma| height * exp(-((x - center) / sigma).powi(2) / 2));
/// let fits = FitMany::new(gaussian, &x, &y).start(&start).fit()?;
/// assert_eq!(fits.converged(), 3);
/// assert!(
///     fits.parameters
///         .iter()
///         .zip(&peaks)
///         .all(|(found, true_value)| (found - true_value).abs() < 1e-9)
/// );
/// # Ok::<(), marquardt::curve::FitManyError>(())
/// ```
pub struct FitMany<'a, T: Real, M> {
    model: GivenModel<T, M>,
    specification: Specification<'a, T>,
    progress: Option<Box<Progress<'a>>>,
}

/// Callback that receives the number of fits done, and that of all fits.
type Progress<'a> = dyn Fn(usize, usize) + Sync + 'a;

impl<'a, T: Real, M: Model<T> + Sync> FitMany<'a, T, M> {
    /// Fits of a model to the rows of `y`, one a fit.
    ///
    /// `x` is what all fits share (a slice, a vector, an array of one dimension), or has a row for each fit (two
    /// dimensions), or a row of predictors for each point of each fit (three dimensions). [`Predictors::shared`] is for
    /// several predictors that all fits share.
    pub fn new(model: M, x: impl Into<Predictors<'a, T>>, y: impl Into<ArrayView2<'a, T>>) -> Self {
        let specification = Specification {
            parameters: model.parameter_count(),
            x: x.into(),
            y: y.into(),
            start: None,
            is_guessed: false,
            sigma: None,
            absolute_sigma: false,
            of_counts: false,
            robust: None,
            bounds: None,
            options: Vec::new(),
            map: None,
            covariances: false,
            nan_policy: NanPolicy::default(),
            stopping: StoppingCriteria { ftol: default_ftol(), max_iterations: 200 },
            cancel: None,
        };
        FitMany { model: GivenModel { model, guess: None }, specification, progress: None }
    }

    /// Sets the start of the fits: one start for all (one dimension), or a row for each fit (two).
    pub fn start(mut self, start: impl Into<PerFit<'a, T>>) -> Self {
        self.specification.start = Some(start.into());
        self
    }

    /// Each fit starts where the model [guesses](Guess::guess), within the bounds if there are any. That takes many times longer
    /// than the fit.
    pub fn guessed(mut self) -> Self
    where
        M: Guess<T>,
    {
        self.specification.start = None;
        self.specification.is_guessed = true;
        self.model.guess = Some(M::guess);
        self
    }

    /// Standard deviations of the responses, the same for all fits or a row for each. A fit with one that is not positive and finite
    /// is as one with a response that is not finite.
    pub fn sigma(mut self, sigma: impl Into<PerFit<'a, T>>) -> Self {
        self.specification.sigma = Some(sigma.into());
        self
    }

    /// Says that the standard deviations, which must then be given, are absolute; by default they are known up to a factor, which
    /// each fit estimates from its residuals.
    pub fn absolute_sigma(mut self, absolute: bool) -> Self {
        self.specification.absolute_sigma = absolute;
        self
    }

    /// The responses are counts, and the model gives their means: the Poisson likelihood is maximised, as for photons in the pixels
    /// of a camera. The cost is half the deviance, and standard errors are those of the Fisher information. Means are
    /// positive; a start at which one is not ends as [`NonFiniteStart`](FitStatus::NonFiniteStart).
    ///
    /// T. A. Laurence and B. A. Chromy, Efficient maximum likelihood estimator fitting of histograms, Nature Methods 7
    /// (2010) 338.
    ///
    /// ```
    /// use marquardt::{FitMany, model};
    ///
    /// let time: Vec<f64> = (0..32).map(|i| 0.25 * i as f64).collect();
    /// let counts = ndarray::array![[
    ///     9., 7., 9., 4., 6., 5., 3., 2., 3., 1., 2., 1., 2., 0., 1., 1., 0., 1., 1., 0., 0., 2.,
    ///     1., 0., 0., 1., 0., 1., 0., 0., 1., 0.
    /// ],];
    /// let decay = model!(|t; height, rate, dark| height * exp(-rate * t) + dark);
    /// let fits = FitMany::new(decay, &time, &counts).start(&[10.0, 1.0, 0.5]).counts().fit()?;
    /// assert_eq!(fits.converged(), 1);
    /// assert!((fits.parameters[[0, 1]] - 0.9).abs() < 3.0 * fits.standard_errors[[0, 1]]);
    /// # Ok::<(), marquardt::curve::FitManyError>(())
    /// ```
    pub fn counts(mut self) -> Self {
        self.specification.of_counts = true;
        self
    }

    /// Sets a robust loss, which limits the influence of outliers, as [`CurveFit::robust`](crate::CurveFit::robust) does: the
    /// scale of each fit is judged by its residuals, unless [`f_scale`](Self::f_scale) gives it. Such fits are done one by one,
    /// at ten to a hundred times the cost of least squares.
    ///
    /// ```
    /// use marquardt::{FitMany, Loss, model};
    ///
    /// let x: Vec<f64> = (0..20).map(f64::from).collect();
    /// let mut y = ndarray::Array2::from_shape_fn((3, 20), |(fit, i)| {
    ///     fit as f64 + 0.5 * x[i] + 0.01 * (7.0 * x[i]).sin()
    /// });
    /// y[[1, 4]] = 300.0;
    /// let fits = FitMany::new(model!(|x; a, b| a + b * x), &x, &y)
    ///     .start(&[0.0, 1.0])
    ///     .robust(Loss::Huber)
    ///     .fit()?;
    /// assert!((fits.parameters[[1, 1]] - 0.5).abs() < 0.01);
    /// # Ok::<(), marquardt::curve::FitManyError>(())
    /// ```
    pub fn robust(mut self, loss: impl RobustLoss<T> + 'static) -> Self {
        let scale = self.specification.robust.and_then(|robust| robust.scale);
        self.specification.robust = Some(Robustness { loss: Arc::new(loss), scale });
        self
    }

    /// The scale of a [robust](Self::robust) loss: the residual, divided by its sigma, at which it begins to differ from least squares.
    /// Without a loss, Huber's is taken.
    pub fn f_scale(mut self, scale: T) -> Self {
        let huber = || -> Arc<dyn RobustLoss<T>> { Arc::new(Loss::Huber) };
        let loss = self.specification.robust.map_or_else(huber, |robust| robust.loss);
        self.specification.robust = Some(Robustness { loss, scale: Some(scale) });
        self
    }

    /// Keeps a parameter of every fit where that fit starts.
    ///
    /// ```
    /// use marquardt::{FitMany, Tie, model};
    ///
    /// let x: Vec<f64> = (0..30).map(|i| 0.2 * f64::from(i)).collect();
    /// let peaks = model!(|x; a, b, first, second, width|
    ///     a * exp(-((x - first) / width).powi(2)) + b * exp(-((x - second) / width).powi(2)));
    /// let y = ndarray::Array2::from_shape_fn((4, 30), |(fit, i)| {
    ///     let at = |center: f64| (-((x[i] - center) / 0.6).powi(2)).exp();
    ///     (1.0 + fit as f64) * at(2.0) + 3.0 * at(4.0)
    /// });
    /// let fits = FitMany::new(peaks, &x, &y).start(&[1.0, 1.0, 1.9, 0.0, 0.6]);
    /// let fits = fits.fix("width").tie("second", Tie::parse("2 * first")?).covariances(true).fit()?;
    /// assert_eq!(fits.converged(), 4);
    /// assert!(
    ///     (fits.parameters[[3, 0]] - 4.0).abs() < 1e-9
    ///         && (fits.parameters[[3, 3]] - 4.0).abs() < 1e-9
    /// );
    /// assert_eq!(fits.standard_errors[[3, 4]], 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fix(self, name: &str) -> Self {
        self.option(name, ParameterOption::Fix(None))
    }

    /// Fixes a parameter of every fit at a value, in place of its start.
    pub fn fix_at(self, name: &str, value: T) -> Self {
        self.option(name, ParameterOption::Fix(Some(value)))
    }

    /// Makes a parameter of every fit follow from others. Its number in the start is not looked at.
    pub fn tie(self, name: &str, tie: Tie<T>) -> Self {
        self.option(name, ParameterOption::Tie(tie))
    }

    fn option(mut self, name: &str, option: ParameterOption<T>) -> Self {
        self.specification.options.push((name.to_owned(), option));
        self
    }

    /// Enables [`ManyFits::covariances`]; off by default, as they take as many numbers for each fit as there are pairs of
    /// parameters.
    pub fn covariances(mut self, covariances: bool) -> Self {
        self.specification.covariances = covariances;
        self
    }

    /// Bounds on the parameters of every fit.
    pub fn bounds(mut self, bounds: Bounds<T>) -> Self {
        self.specification.bounds = Some(bounds);
        self
    }

    /// Policy for points with a number that is not finite: the fit is refused
    /// ([`NonFiniteData`](crate::solver::FitStatus::NonFiniteData)), or they are left out.
    pub fn nan_policy(mut self, policy: NanPolicy) -> Self {
        self.specification.nan_policy = policy;
        self
    }

    /// A fit ends where the undamped step predicts a reduction of less than this share of the cost; 1e-12, or a tenth of the float's
    /// epsilon if that is larger, by default.
    pub fn ftol(mut self, ftol: T) -> Self {
        self.specification.stopping.ftol = ftol;
        self
    }

    /// The most trial steps that a fit may take, 200 by default; as many again where it is repeated one by one.
    pub fn max_iterations(mut self, iterations: usize) -> Self {
        self.specification.stopping.max_iterations = iterations;
        self
    }

    /// Calls `progress(done, total)` from time to time, from any thread.
    pub fn progress(mut self, progress: impl Fn(usize, usize) + Sync + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Ends all fits when the token says so; those that are not done keep their best point.
    pub fn cancel_token(mut self, token: CancelToken) -> Self {
        self.specification.cancel = Some(token);
        self
    }

    /// Fits.
    ///
    /// # Errors
    ///
    /// [`FitManyError`] where shapes do not match. What is wrong with a single fit is in its status.
    pub fn fit(self) -> Result<ManyFits<T>, FitManyError> {
        let names = (0..self.specification.parameters).map(|index| self.model.model.parameter_name(index)).collect();
        fit_all(AllFits { model: &self.model, specification: self.specification, progress: self.progress, names })
    }
}

compile_once! { fit_all(AllFits<'m, 'a>) -> Result<ManyFits, FitManyError> }

/// The fits, and their model.
struct AllFits<'m, 'a, T: Real> {
    model: &'m dyn AnyModel<T>,
    specification: Specification<'a, T>,
    progress: Option<Box<Progress<'a>>>,
    /// Names of the parameters.
    names: Vec<String>,
}

impl<T: Real> AllFits<'_, '_, T> {
    fn run(mut self) -> Result<ManyFits<T>, FitManyError> {
        self.specification.check(&self.names)?;
        self.specification.bounds = self.specification.bounds.take().filter(|bounds| !bounds.is_unbounded());
        let fits = self.specification.y.nrows();
        let block = (fits / (16 * parallel::threads())).clamp(BLOCK[0], BLOCK[1]);
        let done = AtomicUsize::new(0);
        let mut found = ManyFits::none_yet(self.names.clone(), fits, self.specification.covariances);
        parallel::for_each(found.blocks(block), |outcomes| {
            let count = outcomes.fits().len();
            self.fit_block(outcomes);
            if let Some(progress) = &self.progress {
                progress(done.fetch_add(count, Ordering::Relaxed) + count, fits);
            }
        });
        Ok(found)
    }

    /// Makes consecutive fits: in lockstep where there are few parameters; the full engine makes those that are left.
    fn fit_block(&self, mut outcomes: Outcomes<'_, T>) {
        const FEW: usize = FORWARDS[0];
        const SOME: usize = FORWARDS[1];
        let (model, specification) = (self.model, &self.specification);
        let (outcomes, registers) = (&mut outcomes, Registers::of_lanes());
        let is_one_by_one = model.evaluation() == Evaluation::OneByOne || specification.robust.is_some();
        let most = if is_one_by_one { 0 } else { MOST };
        if specification.parameters <= FEW.min(most) {
            T::run_in(registers, Block::<T, FEW> { specification, model, registers, outcomes });
        } else if specification.parameters <= SOME.min(most) {
            T::run_in(registers, Block::<T, SOME> { specification, model, registers, outcomes });
        } else if specification.parameters <= most {
            T::run_in(registers, Block::<T, MOST> { specification, model, registers, outcomes });
        }
        OneByOne { specification, model, outcomes }.run();
    }
}

/// [`FTOL`], or a tenth of the float's epsilon if that is larger.
fn default_ftol<T: Real>() -> T {
    T::from_f64(FTOL).max(T::from_f64(0.1) * T::EPSILON)
}
