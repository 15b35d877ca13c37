//! Thousands of small fits of one model.

mod block;
mod data_sets;
mod erased_model;
mod error;
mod fits;
mod free;
#[cfg(all(feature = "plot", not(target_arch = "wasm32")))]
mod maps;
mod normal_factors;
mod one_by_one;
mod outcomes;
mod per_fit;
mod point_sums;
mod robust_fits;
mod robust_rounds;

use std::sync::atomic::{AtomicUsize, Ordering};

use ndarray::ArrayView2;

use self::block::Block;
use self::data_sets::DataSets;
use self::erased_model::{ErasedModel, EvaluationMode, FORWARDS, GivenModel};
pub use self::error::FitManyError;
pub use self::fits::ManyFits;
use self::one_by_one::OneByOne;
use self::outcomes::Outcomes;
pub use self::per_fit::{PerFit, Predictors};
use super::fit_options::{data_methods, parameter_methods};
use super::iteration_observer::FitCounter;
use super::models::Guess;
use super::{CurveError, FitOptions};
use crate::curve::Model;
use crate::kernels::registers::Registers;
use crate::parallel;
use crate::precision::compile_once;
use crate::real::Real;
use crate::solver::CancelToken;
#[cfg(doc)]
use crate::solver::FitStatus;
use crate::solver::lockstep::StoppingCriteria;

/// Share of the cost that a step must predict as its reduction to be worth taking: the parameters are then within a hundred-thousandth of
/// their standard errors of the minimum.
const FTOL: f64 = 1e-12;

/// The most parameters of fits in lockstep.
const MOST: usize = 32;

/// Fits that a thread does between two reports of progress, at least and at most.
const BLOCK: [usize; 2] = [64, 1024];

/// Fits of one model to many data sets: the pixels of an image, the wells of a plate, the spectra of a run.
///
/// Several fits run in lockstep, one in each lane of the widest vector registers of the processor (AVX-512, AVX2, SSE2 or NEON); with the
/// feature `rayon` they run on all cores. The result of a fit depends neither on the other fits nor on the number of threads, to the last
/// bit. Derivatives are exact. A fit that converges in lockstep allocates no memory.
///
/// The model is a formula ([`model!`](crate::model!)), one of the [library](crate::models), or your own [`Model`], of up to 32 parameters.
/// Models of more parameters are fitted one after the other by [`CurveFit`](crate::CurveFit), with the points of a fit in the lanes.
///
/// Under a [robust](Self::robust) loss whose scale follows from the residuals, a fit repeats until its scale is settled, in three rounds: by
/// least absolute deviations, under the loss from there, and under the loss from the start; the smaller scale of the latter two wins.
///
/// A fit ends at a point where the Gauss–Newton step predicts a reduction of the cost by less than `ftol` of it; standard errors are
/// computed there. A fit that does not reach such a point in lockstep, or whose normal equations are too close to singular, is repeated
/// from its start by [`CurveFit`](crate::CurveFit), so that its result is that of a single fit. A fit that ends badly is not [tried
/// again](crate::CurveFit::retry). An error in the data of one fit is in its [`FitStatus`](crate::solver::FitStatus), and does not affect
/// the other fits.
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
    data: DataSets<'a, T>,
    progress: Option<Box<FitCounter<'a>>>,
}

impl<'a, T: Real, M: Model<T> + Sync> FitMany<'a, T, M> {
    /// Fits of a model to the rows of `y`, one a fit.
    ///
    /// `x` has one dimension (a slice, a vector or an array) if all fits share one predictor, two dimensions with a row for each fit, or
    /// three dimensions with a row of predictors for each point of each fit. [`Predictors::shared`] is for several predictors that all fits
    /// share.
    pub fn new(model: M, x: impl Into<Predictors<'a, T>>, y: impl Into<ArrayView2<'a, T>>) -> Self {
        let data = DataSets {
            parameters: model.parameter_count(),
            x: x.into(),
            y: y.into().into(),
            start: None,
            is_guessed: false,
            sigma: None,
            options: FitOptions::new(),
            map: None,
            bounds: None,
            covariances: false,
            stopping: StoppingCriteria { ftol: default_ftol(), max_iterations: 200 },
            cancel: None,
        };
        FitMany { model: GivenModel { model, guess: None }, data, progress: None }
    }

    parameter_methods!();
    data_methods!();

    fn change_options(self, change: impl FnOnce(FitOptions<T>) -> FitOptions<T>) -> Self {
        FitMany { data: DataSets { options: change(self.data.options), ..self.data }, ..self }
    }

    /// Sets the start of the fits: one start for all (one dimension), or a row for each fit (two).
    pub fn start(mut self, start: impl Into<PerFit<'a, T>>) -> Self {
        self.data.start = Some(start.into());
        self
    }

    /// Starts each fit at the [guess](Guess::guess) of the model, moved within the bounds. A guess takes 10 to 20 times as long as the fit
    /// if all fits share `x`, and 100 times as long if each fit has its own. For a [`Formula`](crate::Formula), it takes about 1 ms for
    /// each fit.
    pub fn guessed(mut self) -> Self
    where
        M: Guess<T>,
    {
        self.data.start = None;
        self.data.is_guessed = true;
        self.model.guess = Some(M::guess_with);
        self
    }

    /// Standard deviations of the responses, the same for all fits or a row for each. A fit with a sigma that is not positive and finite is
    /// treated as a fit with a response that is not finite.
    pub fn sigma(mut self, sigma: impl Into<PerFit<'a, T>>) -> Self {
        self.data.sigma = Some(sigma.into());
        self
    }

    /// Enables [`ManyFits::covariances`]; disabled by default, because they take `n²` entries for each fit of `n` parameters.
    pub fn covariances(mut self, covariances: bool) -> Self {
        self.data.covariances = covariances;
        self
    }

    /// Sets the tolerance of the cost: a fit ends at a point where the undamped step predicts a reduction by less than this fraction of the
    /// cost. Default 1e-12, or a tenth of the float's epsilon if that is larger.
    pub fn ftol(mut self, ftol: T) -> Self {
        self.data.stopping.ftol = ftol;
        self
    }

    /// Sets the largest number of trial steps of a fit; default 200. A fit that is repeated one by one may take the same number again.
    pub fn max_iterations(mut self, iterations: usize) -> Self {
        self.data.stopping.max_iterations = iterations;
        self
    }

    /// Calls `progress(done, total)` at intervals, from any thread.
    pub fn progress(mut self, progress: impl Fn(usize, usize) + Send + Sync + 'a) -> Self {
        self.progress = Some(Box::new(progress));
        self
    }

    /// Copies the data that the fits borrow. They can then be returned from a function or moved to another thread, if their model borrows
    /// nothing. The function of [`progress`](Self::progress) is dropped, because it may borrow; set it again.
    ///
    /// ```
    /// use marquardt::{FitMany, model};
    /// use ndarray::array;
    ///
    /// let fits = {
    ///     let y = array![[0.1, 2.0, 3.9], [1.0, 0.6, -0.1]];
    ///     let line = model!(|x; a, b| a + b * x);
    ///     FitMany::new(line, &[0.0, 1.0, 2.0], &y).start(&[0.0, 0.0]).into_owned()
    /// };
    /// let found = std::thread::spawn(move || fits.fit()).join().expect("it does not panic")?;
    /// assert_eq!(found.converged(), 2);
    /// # Ok::<(), marquardt::curve::FitManyError>(())
    /// ```
    pub fn into_owned(self) -> FitMany<'static, T, M> {
        FitMany { model: self.model, data: self.data.into_owned(), progress: None }
    }

    /// Sets a token that ends all fits when it is cancelled; fits that are not done keep their best point.
    pub fn cancel_token(mut self, token: CancelToken) -> Self {
        self.data.cancel = Some(token);
        self
    }

    /// Fits.
    ///
    /// # Errors
    ///
    /// [`FitManyError`] if shapes do not match or an option is invalid. The error of a single fit is in its status.
    pub fn fit(self) -> Result<ManyFits<T>, FitManyError> {
        if self.model.model.as_parts().is_some() {
            return Err(FitManyError::ComplexModel);
        }
        let names: Vec<String> =
            (0..self.data.parameters).map(|index| self.model.model.parameter_name(index)).collect();
        fit_all(AllFits { model: &self.model, data: self.data, progress: self.progress, names })
    }
}

compile_once! { fit_all(AllFits<'m, 'a>) -> Result<ManyFits, FitManyError> }

/// The fits, and their model.
struct AllFits<'m, 'a, T: Real> {
    model: &'m dyn ErasedModel<T>,
    data: DataSets<'a, T>,
    progress: Option<Box<FitCounter<'a>>>,
    /// Names of the parameters.
    names: Vec<String>,
}

impl<T: Real> AllFits<'_, '_, T> {
    fn run(mut self) -> Result<ManyFits<T>, FitManyError> {
        self.data.check(&self.names)?;
        if let Some(map) = &self.data.map {
            self.names = map.parameters.iter().map(|parameter| parameter.name.clone()).collect();
        }
        let fits = self.data.y.nrows();
        let block = (fits / (16 * parallel::threads())).clamp(BLOCK[0], BLOCK[1]);
        let done = AtomicUsize::new(0);
        let mut found = ManyFits::none_yet(&self.data, self.names.clone());
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
        let (model, data) = (self.model, &self.data);
        let (outcomes, registers) = (&mut outcomes, Registers::of_lanes());
        let is_one_by_one = model.evaluation() == EvaluationMode::OneByOne || data.needs_full_engine();
        let most = if is_one_by_one { 0 } else { MOST };
        if data.parameters <= FEW.min(most) {
            T::run_in(registers, Block::<T, FEW> { data, model, registers, outcomes });
        } else if data.parameters <= SOME.min(most) {
            T::run_in(registers, Block::<T, SOME> { data, model, registers, outcomes });
        } else if data.parameters <= most {
            T::run_in(registers, Block::<T, MOST> { data, model, registers, outcomes });
        }
        OneByOne { data, model, outcomes }.run();
    }
}

/// [`FTOL`], or a tenth of the float's epsilon if that is larger.
fn default_ftol<T: Real>() -> T {
    T::from_f64(FTOL).max(T::from_f64(0.1) * T::EPSILON)
}
