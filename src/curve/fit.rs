//! A curve fit: the curve, the data, the start, and how to solve.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::RangeBounds;
use std::sync::Arc;

use ndarray::{Array2, ArrayView2};

use super::checked_fit::CheckedFit;
use super::data::Data;
use super::iteration_observer::IterationObserver;
use super::likelihood::Likelihood;
use super::map::ParameterMap;
use super::noise::{Noise, Whitening};
use super::parameter::{Parameter, ParameterOption, parameters};
use super::ranks::agreed;
use super::robust::Robustness;
use super::second_attempt::best_attempt;
use super::{AnyCurve, Curve, CurveError, FittedCurve, NanPolicy, Rows, Tie};
use crate::distributed::Communicator;
use crate::precision::Compiled;
use crate::problem::{Loss, RobustLoss};
use crate::real::Real;
use crate::solver::{IterationRecord, LevenbergMarquardt, SolveError};

/// A curve fit, ready to run.
///
/// | the curve is | take | derivatives |
/// |---|---|---|
/// | a closure of one predictor | [`CurveFit::new`] | exact |
/// | a closure of several predictors | [`CurveFit::with_predictors`] | exact |
/// | a closure of several responses | [`CurveFit::with_responses`] | exact |
/// | a [`Model`](crate::Model) | [`CurveFit::model`] | exact |
/// | a closure over plain floats | [`CurveFit::numeric`] | differences |
/// | a simulator that gives all responses at once | [`CurveFit::numeric_rows`] | differences |
/// | your own [`Curve`] | [`CurveFit::curve`] | by hand |
///
/// ```
/// use marquardt::CurveFit;
///
/// let x = [0.0, 1.0, 2.0, 3.0, 4.0_f64];
/// let y = [10.1, 6.1, 3.6, 2.2, 1.4];
/// let fit = CurveFit::new(|x, [a, k]| a * (-k * x).exp(), &x, &y, [5.0, 1.0])
///     .names(["amplitude", "rate"])
///     .fit()?;
/// let rate = fit.parameter("rate").unwrap();
/// assert!((rate.value - 0.5).abs() < 3.0 * rate.standard_error);
/// # Ok::<(), marquardt::CurveError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CurveFit<'a, T: Real, C> {
    curve: C,
    data: Data<'a, T>,
    start: Vec<T>,
    /// Function that finds the start, without knowing of bounds.
    guess: Option<Guess<T, C>>,
    /// The start is a guess, which is moved within bounds.
    is_guessed: bool,
    names: Option<Vec<String>>,
    /// Names of the responses of a row; empty unless they are given.
    response_names: Vec<String>,
    /// Options of parameters, by name.
    options: Vec<(String, ParameterOption<T>)>,
    /// A covariance of the responses, looked at when fitting.
    data_covariance: Option<Array2<T>>,
    absolute_sigma: bool,
    mask: Option<Cow<'a, [bool]>>,
    nan_policy: NanPolicy,
    likelihood: Likelihood<T>,
    robust: Option<Robustness<T>>,
    variable_projection: bool,
    /// A fit that ends badly is tried again in other ways.
    retry: bool,
    solver: LevenbergMarquardt<T>,
    observer: Option<IterationObserver<T>>,
}

/// A start from predictors and responses.
type Guess<T, C> = fn(&C, &[T], &[T]) -> Vec<T>;

/// The checked fit, and the robust loss that was asked for.
type CheckedRobust<'a, T> = (CheckedFit<'a, T>, Option<Robustness<T>>);

/// Fits of any curve, compiled once for each float.
struct Fits<'a>(PhantomData<&'a ()>);

impl<'a> Compiled for Fits<'a> {
    type Call<T: Real> = CurveFit<'a, T, AnyCurve<'a, T>>;
    type Output<T: Real> = Result<FittedCurve<'a, T>, CurveError>;

    fn in_single(fit: Self::Call<f32>) -> Self::Output<f32> {
        fit.fit_boxed()
    }

    fn in_double(fit: Self::Call<f64>) -> Self::Output<f64> {
        fit.fit_boxed()
    }
}

impl<'a, T: Real, C: Curve<T>> CurveFit<'a, T, C> {
    /// Fits any [`Curve`].
    pub fn curve(curve: C, x: impl Into<Rows<'a, T>>, y: impl Into<Rows<'a, T>>, start: &[T]) -> CurveFit<'a, T, C> {
        CurveFit {
            curve,
            data: Data::new(x.into(), y.into()),
            start: start.to_vec(),
            guess: None,
            is_guessed: false,
            names: None,
            response_names: Vec::new(),
            options: Vec::new(),
            data_covariance: None,
            absolute_sigma: false,
            mask: None,
            nan_policy: NanPolicy::default(),
            likelihood: Likelihood::Gaussian,
            robust: None,
            variable_projection: false,
            retry: true,
            solver: LevenbergMarquardt::new(),
            observer: None,
        }
    }

    /// Names of the parameters, in reports and here.
    pub fn names<S: Into<String>>(self, names: impl IntoIterator<Item = S>) -> Self {
        CurveFit { names: Some(names.into_iter().map(Into::into).collect()), ..self }
    }

    /// Names of the responses of a curve that has several, in the legend of a plot; `y1`, `y2`, … unless they are given.
    pub fn response_names<S: Into<String>>(self, names: impl IntoIterator<Item = S>) -> Self {
        CurveFit { response_names: names.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets the start of a parameter.
    pub fn start(self, name: &str, start: T) -> Self {
        self.option(name, ParameterOption::Start(start))
    }

    /// Bounds of a parameter: `0.0..=1.0`, `0.0..` or `..=1.0`. The ends belong to them. They are honoured at every evaluation,
    /// and the fit ends at the minimum within.
    pub fn bounds(self, name: &str, bounds: impl RangeBounds<T>) -> Self {
        self.option(name, ParameterOption::within(bounds))
    }

    /// Keeps a parameter at its start.
    pub fn fix(self, name: &str) -> Self {
        self.option(name, ParameterOption::Fix(None))
    }

    /// Keeps a parameter at a value.
    pub fn fix_at(self, name: &str, value: T) -> Self {
        self.option(name, ParameterOption::Fix(Some(value)))
    }

    /// Makes a parameter follow from others. It is then neither fixed nor bounded, and has no start of its own.
    pub fn tie(self, name: &str, tie: Tie<T>) -> Self {
        self.option(name, ParameterOption::Tie(tie))
    }

    /// Adds a Gaussian prior of a parameter, with this mean and standard deviation. The data have to have an [absolute
    /// sigma](Self::absolute_sigma), or nothing says how much they weigh against it.
    pub fn prior(self, name: &str, mean: T, standard_deviation: T) -> Self {
        self.option(name, ParameterOption::Prior(mean, standard_deviation))
    }

    /// The typical size of a parameter (SciPy's `x_scale`), rounded to a power of two. It matters only where the solver's
    /// [scaling](crate::solver::Scaling) is not by the columns of the Jacobian, as it is by default.
    pub fn scale(self, name: &str, scale: T) -> Self {
        self.option(name, ParameterOption::Scale(scale))
    }

    fn option(mut self, name: &str, option: ParameterOption<T>) -> Self {
        self.options.push((name.to_owned(), option));
        self
    }

    /// Standard deviations of the responses, one each. As in SciPy, they are relative unless
    /// [`absolute_sigma`](Self::absolute_sigma) says otherwise.
    pub fn sigma(self, sigma: impl Into<Rows<'a, T>>) -> Self {
        CurveFit { data: self.data.with_sigma(sigma.into()), ..self }
    }

    /// Covariance of the responses, a row and a column each, relative unless [`absolute_sigma`](Self::absolute_sigma) says
    /// otherwise. Residuals are whitened by its Cholesky factor: `m³/3` flops once, and `m²n` a linearisation.
    pub fn data_covariance<'c>(self, covariance: impl Into<ArrayView2<'c, T>>) -> Self
    where
        T: 'c,
    {
        CurveFit { data_covariance: Some(covariance.into().to_owned()), ..self }
    }

    /// Says what sigma means: the standard deviation of the noise itself (`true`; sigma must then be given), or only the noise of
    /// the responses relative to each other (`false`, the default): then its size is estimated from the residuals, and standard
    /// errors are scaled by it.
    pub fn absolute_sigma(self, absolute: bool) -> Self {
        CurveFit { absolute_sigma: absolute, ..self }
    }

    /// Takes the responses for counts, with the curve as their mean, and maximises the Poisson likelihood. They are
    /// integers, and not negative. Standard errors are those of the expected Fisher information. The curve must be positive at the start.
    pub fn counts(self) -> Self {
        CurveFit { likelihood: Likelihood::Poisson, ..self }
    }

    /// Sets a robust loss, which limits the influence of outliers: one of [`Loss`](crate::Loss) or of one's own. Its scale is
    /// judged by the residuals, as [`mad_scale`](crate::problem::mad_scale) times the loss's tuning constant, unless
    /// [`f_scale`](Self::f_scale) gives it. Standard errors are those of M-estimation (Huber 1981, §7.6), from the scatter of the
    /// residuals that count.
    ///
    /// A scale that is not given takes several solves, some ten to a hundred, each from where the last one ended. The report's
    /// iterations, evaluations and time are those of all of them; its log, its initial cost and its status are those of the
    /// one that is returned. The solver's time limit and evaluations hold for all of them together, and its iterations for
    /// each, with four times as many in all. A fit whose scale does not settle is not converged.
    ///
    /// ```
    /// use marquardt::{CurveFit, Loss};
    ///
    /// let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0_f64];
    /// let y = [0.1, 0.9, 2.1, 3.0, 30.0, 4.9, 6.1, 7.0];
    /// let fit = CurveFit::new(|x, [a, b]| a + b * x, &x, &y, [0.0, 0.0]).robust(Loss::Tukey).fit()?;
    /// assert!((fit.parameters()[1].value - 1.0).abs() < 0.02);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn robust(self, loss: impl RobustLoss<T> + 'static) -> Self {
        let scale = self.robust.and_then(|robust| robust.scale);
        CurveFit { robust: Some(Robustness { loss: Arc::new(loss), scale }), ..self }
    }

    /// The scale `C` of a [`robust`](Self::robust) loss (SciPy's `f_scale`): the residual, divided by its sigma, at which it
    /// begins to differ from least squares. Without a loss, Huber's is taken.
    pub fn f_scale(self, scale: T) -> Self {
        let loss = self.robust.map_or_else(|| Arc::new(Loss::Huber) as Arc<dyn RobustLoss<T>>, |robust| robust.loss);
        CurveFit { robust: Some(Robustness { loss, scale: Some(scale) }), ..self }
    }

    /// Sets the robust loss together with its scale.
    pub(super) fn robustness(self, robust: Robustness<T>) -> Self {
        CurveFit { robust: Some(robust), ..self }
    }

    /// Selects the rows to fit: those that are `true`.
    pub fn mask(self, mask: impl Into<Cow<'a, [bool]>>) -> Self {
        CurveFit { mask: Some(mask.into()), ..self }
    }

    /// Policy for rows in which a number is missing, that is NaN, or infinite.
    pub fn nan_policy(self, policy: NanPolicy) -> Self {
        CurveFit { nan_policy: policy, ..self }
    }

    /// Finds the parameters in which the curve is linear and eliminates them, by
    /// [variable projection](LevenbergMarquardt::minimize_separable): the fit is the same, mostly in fewer iterations, and
    /// the starts of those parameters do not matter. Parameters with bounds stay. Not for counts and robust losses, which
    /// are no sums of squares.
    ///
    /// ```
    /// use marquardt::{CurveFit, model};
    ///
    /// let x: Vec<f64> = (0..25).map(|i| 0.2 * i as f64).collect();
    /// let y: Vec<f64> = x.iter().map(|x| 3.0 * (-0.4 * x).exp() + 1.5 * (-3.0 * x).exp()).collect();
    /// let decays = model!(|x; a, slow, b, fast| a * exp(-slow * x) + b * exp(-fast * x));
    /// let fit =
    ///     CurveFit::model(decays, &x, &y, &[0.0, 0.1, 0.0, 1.0]).variable_projection(true).fit()?;
    /// assert!((fit.parameter("fast").unwrap().value - 3.0).abs() < 1e-9);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    #[doc(alias = "separable")]
    pub fn variable_projection(self, eliminate: bool) -> Self {
        CurveFit { variable_projection: eliminate, ..self }
    }

    /// Says whether a fit that ends badly is tried again in other ways; `true` by default. It ends badly if
    ///
    /// - one of its [warnings](FittedCurve::warnings) is another than those of rounding and of bounds, unless a limit that was set ended it, or
    /// - the curve is no better than the mean of the data: with `n` free parameters and `m − n` degrees of freedom, the squares that it
    ///   leaves out of those about the mean are fewer than `4 (n − 1)/(m − n)` of those that it leaves.
    ///
    /// The other ways are [variable projection](Self::variable_projection), two other damping policies, and up to eight starts, at which
    /// parameters have the sizes that the predictors suggest. The first result is kept unless another has a cost that is lower by more
    /// than 10⁻⁶ of it (7·10⁻⁵ in single precision), or ends well at a cost that is no higher. Two attempts that end well at the lowest
    /// cost are enough.
    /// [`FittedCurve::attempts`] says how many there were, and which was kept.
    ///
    /// The report's iterations, evaluations and time are those of all attempts, its initial cost is that of the given start, and the
    /// rest is that of the kept attempt. The solver's evaluations and time limit hold for all attempts together, and so does a limit of
    /// iterations. Where none is set, a further attempt takes at most a quarter of the default, and all together at most four times it.
    ///
    /// ```
    /// use marquardt::CurveFit;
    ///
    /// let concentration = [0.02, 0.02, 0.06, 0.06, 0.11, 0.11, 0.22, 0.22, 0.56, 0.56, 1.10, 1.10];
    /// let rate = [76., 47., 97., 107., 123., 139., 159., 152., 191., 201., 207., 200.];
    /// // From this start, the sum of squares falls towards a km without end.
    /// let fit =
    ///     || CurveFit::new(|x, [vmax, km]| vmax * x / (km + x), &concentration, &rate, [1.0, 1.0]);
    /// let (first, best) = (fit().retry(false).fit()?, fit().fit()?);
    /// assert!(first.r_squared() < Some(0.0) && best.r_squared() > Some(0.9));
    /// assert!(best.attempts().count > 1);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn retry(self, retry: bool) -> Self {
        CurveFit { retry, ..self }
    }

    /// Shares the rows with other ranks, which do the same fit: x, y, and all that comes with rows, are this rank's share of
    /// them. There may be more on one rank than on another, and none on some; all that is said of parameters is the same on
    /// all ranks. So is the result, bit for bit, and so is an error, wherever it comes from.
    ///
    /// Fitting is collective, as are [profiles](FittedCurve::profile) and [contours](FittedCurve::contour): all ranks call
    /// them, in the same order. Everything else about a [`FittedCurve`] can be asked on one rank alone. With a communicator of
    /// one rank, nothing changes.
    ///
    /// A [guessed](CurveFit::guessed) start is made of the rows of all ranks, or, where these are more than 100,000, of some
    /// evenly spread over them. A [covariance of the data](Self::data_covariance) and
    /// [variable projection](Self::variable_projection) need all rows on one rank.
    ///
    /// ```
    /// use marquardt::CurveFit;
    /// use marquardt::distributed::Communicator;
    ///
    /// let ranks = Communicator::world()?;
    /// let rows = ranks.shard(1000);
    /// let x: Vec<f64> = rows.map(|row| 0.01 * row as f64).collect();
    /// let y: Vec<f64> = x.iter().map(|x| 3.0 * (-0.5 * x).exp()).collect();
    /// let fit = CurveFit::new(|x, [a, k]| a * (-k * x).exp(), &x, &y, [1.0, 1.0])
    ///     .communicator(&ranks)
    ///     .fit()?;
    /// assert_eq!(fit.number_of_observations(), 1000);
    /// if ranks.is_root() {
    ///     println!("{fit}");
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn communicator(self, ranks: &Communicator) -> Self {
        CurveFit { data: self.data.shared(ranks), ..self }
    }

    /// The solver, with settings of one's own.
    pub fn solver(self, solver: LevenbergMarquardt<T>) -> Self {
        CurveFit { solver, ..self }
    }

    /// Calls a function after each trial step of the fit, to show its progress while it runs. Fits of resampled data and from
    /// many starts, profiles, [further attempts](Self::retry), and fits by [variable projection](Self::variable_projection) call nothing.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// use marquardt::CurveFit;
    /// use marquardt::models::ExponentialDecay;
    ///
    /// static TRIALS: AtomicUsize = AtomicUsize::new(0);
    /// let (x, y) = ([0.0, 1.0, 2.0, 3.0, 4.0], [10.1, 6.1, 3.6, 2.2, 1.4]);
    /// let fit = CurveFit::guessed(ExponentialDecay, &x, &y).observe(|record| {
    ///     TRIALS.fetch_add(1, Ordering::Relaxed);
    ///     println!("{record}");
    /// });
    /// assert_eq!(fit.fit()?.report().iterations, TRIALS.load(Ordering::Relaxed));
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn observe(self, observer: impl Fn(&IterationRecord<T>) + Send + Sync + 'static) -> Self {
        CurveFit { observer: Some(IterationObserver::new(observer)), ..self }
    }

    /// Fits.
    ///
    /// # Errors
    ///
    /// [`CurveError`] names what is wrong with the data, the parameters or the start. A solve that started always returns
    /// its best point; see [`FittedCurve::report`] for why it ended.
    pub fn fit(self) -> Result<FittedCurve<'a, T>, CurveError>
    where
        C: 'a,
    {
        T::run_compiled::<Fits<'a>>(self.boxed()?)
    }

    /// Changes the curve.
    pub(super) fn with_curve(mut self, change: impl FnOnce(&mut C)) -> Self {
        change(&mut self.curve);
        self
    }

    /// The fit of these parameters, which may be set further.
    pub(super) fn of_parts(
        curve: C,
        data: Data<'a, T>,
        parameters: Vec<Parameter<T>>,
        likelihood: Likelihood<T>,
    ) -> Self {
        let options = |parameter: &Parameter<T>| {
            let name = parameter.name.clone();
            parameter.options().into_iter().map(move |option| (name.clone(), option))
        };
        CurveFit {
            data,
            start: parameters.iter().map(|parameter| parameter.start).collect(),
            options: parameters.iter().flat_map(options).collect(),
            likelihood,
            ..CurveFit::curve(curve, &[], &[], &[])
        }
    }

    /// The fit of residuals over named parameters, of which this is said.
    pub(super) fn of_residuals(
        curve: C,
        data: Data<'a, T>,
        (names, start): (Vec<String>, Vec<T>),
        options: Vec<(String, ParameterOption<T>)>,
        robust: Option<Robustness<T>>,
    ) -> Self {
        CurveFit { data, names: Some(names), start, options, robust, ..CurveFit::curve(curve, &[], &[], &[]) }
    }

    /// Its start is a guess, to be moved within bounds.
    pub(super) fn with_guess(self, guess: Guess<T, C>) -> Self {
        CurveFit { guess: Some(guess), is_guessed: true, ..self }
    }

    /// Returns true if the fit has a robust loss.
    pub(super) fn is_robust(&self) -> bool {
        self.robust.is_some()
    }

    /// Boxes the curve, and fixes a start that was a guess. Collective.
    pub(super) fn boxed(mut self) -> Result<CurveFit<'a, T, AnyCurve<'a, T>>, CurveError>
    where
        C: 'a,
    {
        if let Some(guess) = self.guess {
            let [x, y] = self.data.sample()?;
            self.start = guess(&self.curve, &x, &y);
        }
        Ok(CurveFit {
            curve: Box::new(self.curve),
            data: self.data,
            start: self.start,
            guess: None,
            is_guessed: self.is_guessed,
            names: self.names,
            response_names: self.response_names,
            options: self.options,
            data_covariance: self.data_covariance,
            absolute_sigma: self.absolute_sigma,
            mask: self.mask,
            nan_policy: self.nan_policy,
            likelihood: self.likelihood,
            robust: self.robust,
            variable_projection: self.variable_projection,
            retry: self.retry,
            solver: self.solver,
            observer: self.observer,
        })
    }
}

impl<'a, T: Real> CurveFit<'a, T, AnyCurve<'a, T>> {
    /// Fits.
    fn fit_boxed(self) -> Result<FittedCurve<'a, T>, CurveError> {
        let retry = self.retry;
        let (mut checked, robust) = self.checked()?;
        let start: Vec<T> = checked.map.parameters.iter().map(|parameter| parameter.start).collect();
        let solved = checked.solve_under(robust.clone(), &start);
        let report = solved.map_err(|error| checked.explain(error, &start))?;
        checked.observer = None;
        let fit = FittedCurve::new(checked, report)?;
        if retry { best_attempt(fit, robust.as_ref()) } else { Ok(fit) }
    }

    /// Checks everything. Collective.
    pub(super) fn checked(mut self) -> Result<CheckedRobust<'a, T>, CurveError> {
        let robust = self.robust.take();
        let checked = self.unchecked()?;
        checked.check_equal(robust.as_ref())?;
        checked.check()?;
        robust.iter().try_for_each(|robust| checked.check_robust(robust))?;
        agreed(checked.data.ranks(), checked.check_counts())?;
        Ok((checked, robust))
    }

    /// Checks each part for itself. Collective.
    pub(super) fn unchecked(self) -> Result<CheckedFit<'a, T>, CurveError> {
        let ranks = self.data.ranks().clone();
        let checked = agreed(&ranks, self.own_checked())?;
        Ok(CheckedFit { data: checked.data.counted()?, ..checked })
    }

    /// Checks the data and options of this rank.
    fn own_checked(self) -> Result<CheckedFit<'a, T>, CurveError> {
        let parameters = self.parameters()?;
        let CurveFit { mut curve, mut data, data_covariance, mask, nan_policy, .. } = self;
        let CurveFit { absolute_sigma, likelihood, variable_projection, solver, observer, response_names, .. } = self;
        let (responses, names) = (data.outputs(), response_names.len());
        if names > 0 && names != responses {
            return Err(CurveError::ResponseNameCount { responses, names });
        }
        if data.is_shared() && data_covariance.is_some() {
            let (first, second) = ("a covariance of the data", "several ranks");
            return Err(CurveError::Conflict { first, second, reason: "it ties rows together, and no rank has all" });
        }
        if data_covariance.is_some() && matches!(data.noise, Noise::Sigma(_)) {
            let (first, second) = ("sigma", "a covariance of the data");
            return Err(CurveError::Conflict {
                first,
                second,
                reason: "the diagonal of the covariance is the squares of sigma",
            });
        }
        if let Some(covariance) = data_covariance {
            data = data.with_whitening(Whitening::new(covariance.view())?);
        }
        let data = data.check(mask.as_deref(), nan_policy)?;
        let map = ParameterMap::new(parameters)?;
        let (lower, upper): (Vec<T>, Vec<T>) = map.parameters.iter().map(Parameter::range).unzip();
        curve.keep_within(&lower, &upper);
        Ok(CheckedFit {
            curve,
            data,
            response_names,
            map,
            likelihood,
            absolute_sigma,
            variable_projection,
            solver,
            observer,
        })
    }

    /// Returns the parameters with their options.
    fn parameters(&self) -> Result<Vec<Parameter<T>>, CurveError> {
        let count = self.curve.parameter_count();
        let known: Vec<String> = match &self.names {
            Some(names) if names.len() != count => {
                return Err(CurveError::WrongNameCount { parameters: count, names: names.len() });
            }
            Some(names) => names.clone(),
            None => (0..count).map(|index| self.curve.parameter_name(index)).collect(),
        };
        if self.start.len() != count {
            return Err(SolveError::WrongStartLength { expected: count, found: self.start.len() }.into());
        }
        let mut parameters = parameters(known, &self.start, &self.options)?;
        let was_said = |name: &str| {
            self.options.iter().any(|(of, option)| {
                of == name && matches!(option, ParameterOption::Start(_) | ParameterOption::Fix(Some(_)))
            })
        };
        for parameter in parameters.iter_mut().filter(|parameter| self.is_guessed && !was_said(&parameter.name)) {
            parameter.start = parameter.start.max(parameter.lower).min(parameter.upper);
        }
        Ok(parameters)
    }
}
