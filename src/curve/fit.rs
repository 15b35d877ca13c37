//! A curve fit: the curve, the data, the start and the method of solution.

use std::borrow::Cow;

use ndarray::ArrayView2;

use super::checked_fit::CheckedFit;
use super::data::Data;
use super::errors_in_x::PredictorSigma;
use super::fit_options::{data_methods, option_methods, parameter_methods};
use super::iteration_observer::IterationObserver;
use super::likelihood::Likelihood;
use super::map::ParameterMap;
use super::method::FitMethod;
use super::noise::{Noise, Whitening};
use super::parameter::Parameter;
use super::ranks::agreed;
use super::remembering_curve::RememberingCurve;
use super::replicates::Replicates;
use super::row_options::RowOptions;
use super::second_attempt::best_attempt;
use super::{AnyCurve, CurrentCurve, Curve, CurveError, ErrorsInX, FitOptions, FittedCurve, Rows, Tie};
use crate::distributed::Communicator;
use crate::precision::compile_once;
use crate::real::Real;
use crate::solver::{IterationRecord, LevenbergMarquardt};

/// A curve fit, ready to run.
///
/// | the curve is | take | derivatives |
/// |---|---|---|
/// | a closure of one predictor | [`CurveFit::new`] | exact |
/// | a closure of several predictors | [`CurveFit::with_predictors`] | exact |
/// | a closure of several responses | [`CurveFit::with_responses`] | exact |
/// | a [`Model`](crate::Model) | [`CurveFit::model`] | exact |
/// | a closure of complex values | [`CurveFit::complex`] | exact |
/// | a closure over plain floats | [`CurveFit::numeric`] | differences |
/// | a system of differential equations (feature `ode`) | `CurveFit::differential_equations` | exact |
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
    guess: Option<StartFinder<T, C>>,
    /// The start is a guess, which is moved within bounds.
    is_guessed: bool,
    options: FitOptions<T>,
    rows: Option<Box<RowOptions<'a, T>>>,
    method: FitMethod<T>,
}

/// Function that finds a start for predictors and responses.
type StartFinder<T, C> = fn(&C, &[T], &[T]) -> Vec<T>;

compile_once! {
    fit_any<'a>(fit: CurveFit<'a, T, AnyCurve<'a, T>>) -> Result<FittedCurve<'a, T>, CurveError> = fit.fit_boxed()
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
            options: FitOptions::new(),
            rows: None,
            method: FitMethod::default(),
        }
    }

    parameter_methods!();
    data_methods!();
    option_methods! {
        start(name: &str, start: T);
        derive(name: &str, quantity: Tie<T>);
    }

    fn change_rows(self, change: impl FnOnce(&mut RowOptions<'a, T>)) -> Self {
        let mut rows = self.rows.unwrap_or_default();
        change(&mut rows);
        CurveFit { rows: Some(rows), ..self }
    }

    fn change_options(self, change: impl FnOnce(FitOptions<T>) -> FitOptions<T>) -> Self {
        CurveFit { options: change(self.options), ..self }
    }

    /// Names of the responses, for the legend of a plot of a curve with several responses; default `y1`, `y2`, ….
    pub fn response_names<S: Into<String>>(self, names: impl IntoIterator<Item = S>) -> Self {
        CurveFit { data: self.data.with_response_names(names.into_iter().map(Into::into).collect()), ..self }
    }

    /// Standard deviations of the responses, in the unit of `y`: one for each response, or one for each row. As in SciPy, they are relative
    /// unless [`absolute_sigma`](Self::absolute_sigma) is set.
    pub fn sigma(self, sigma: impl Into<Rows<'a, T>>) -> Self {
        CurveFit { data: self.data.with_sigma(sigma.into()), ..self }
    }

    /// Covariance matrix of the responses, with a row and a column for each response; relative unless
    /// [`absolute_sigma`](Self::absolute_sigma) is set. Residuals are whitened by its Cholesky factor, which takes `m³/3` flops once and
    /// `m²n` flops in each linearisation, for `m` responses and `n` parameters.
    pub fn data_covariance<'c>(self, covariance: impl Into<ArrayView2<'c, T>>) -> Self {
        self.change_rows(|rows| rows.data_covariance = Some(covariance.into().to_owned()))
    }

    /// Weights of the responses, in place of [`sigma`](Self::sigma): one for each response, or one for each row. The sum of `weight ·
    /// residual²` is minimised, as with `sigma = 1/√weight`. Rows of weight 0 are left out.
    ///
    /// ```
    /// use marquardt::CurveFit;
    /// use marquardt::models::Linear;
    ///
    /// let (x, y) = ([1.0, 2.0, 4.0, 8.0, 16.0], [1.1, 1.9, 4.3, 7.8, 16.9_f64]);
    /// // Relative errors: all responses are equally precise in percent.
    /// let weights = y.map(|y| y.powi(-2));
    /// let fit = CurveFit::guessed(Linear, &x, &y).weights(&weights).fit()?;
    /// assert!((fit.parameter("slope").unwrap().value - 1.0).abs() < 0.1);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn weights(self, weights: impl Into<Rows<'a, T>>) -> Self {
        let weights = self.data.for_responses(weights.into());
        self.change_rows(|rows| rows.weights = Some(weights))
    }

    /// Weights each row by the modulus of its responses, `1/|y|²`, as is usual for impedances: all [complex](Self::complex) responses then
    /// have the same relative precision.
    ///
    /// ```
    /// use marquardt::{Complex, CurveFit};
    ///
    /// let omega = [10.0, 100.0, 1e3, 1e4, 1e5];
    /// let z = [(110.0, -1.0), (109.1, -9.9), (59.8, -50.1), (11.1, -9.8), (10.1, -1.1)];
    /// let z = z.map(|(re, im)| Complex::new(re, im));
    /// let randles = CurveFit::complex(
    ///     |w, [r0, r1, c]| r0 + r1 / (1.0 + Complex::i() * (w * r1 * c)),
    ///     &omega,
    ///     &z,
    ///     [1.0, 50.0, 2e-6],
    /// );
    /// let fit = randles.names(["r0", "r1", "c"]).weight_by_modulus().fit()?;
    /// assert!((fit.parameter("r0").unwrap().value - 10.0_f64).abs() < 0.3, "{fit}");
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn weight_by_modulus(self) -> Self {
        let weights = self.data.weights_by_modulus();
        self.change_rows(|rows| rows.weights = Some(weights.into()))
    }

    /// Declares the responses to be means of replicates. `counts` has the number of replicates of each row, at least 1; `deviations` has
    /// the standard deviation of the replicates (with the divisor `n − 1`) of each response, and is ignored for a single replicate. The fit
    /// equals a fit of the replicates themselves, in all estimates, standard errors, criteria, degrees of freedom and in the [test of lack
    /// of fit](FittedCurve::lack_of_fit), because the sums of squares depend only on means and standard deviations. A
    /// [`sigma`](Self::sigma) is that of a single replicate.
    ///
    /// [`observed`](FittedCurve::observed), residuals and fitted responses have a row for each replicate, at the mean and on either side of
    /// it. Tests of residuals are `None`, because the order and the distribution of the replicates are unknown. Plots show means with
    /// standard deviations.
    ///
    /// ```
    /// use marquardt::CurveFit;
    /// use marquardt::models::Linear;
    ///
    /// let (x, means) = ([1.0, 2.0, 3.0], [1.1, 1.9, 3.2_f64]);
    /// let fit = CurveFit::guessed(Linear, &x, &means).replicates(&[2, 3, 1], &[0.2, 0.1, 0.0]).fit()?;
    /// assert_eq!((fit.number_of_observations(), fit.degrees_of_freedom()), (6, 4));
    /// assert!(fit.lack_of_fit().expect("there are replicates").p_value > 0.05);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    ///
    /// Robust losses, counts, errors in x, a covariance of the data and the removal of outliers are refused: they take single responses.
    pub fn replicates(self, counts: impl Into<Cow<'a, [usize]>>, deviations: impl Into<Rows<'a, T>>) -> Self {
        let replicates = Replicates { counts: counts.into(), deviations: deviations.into().into_flat() };
        self.change_rows(|rows| rows.replicates = Some(replicates))
    }

    /// Standard deviations of the predictors, in the unit of `x`: a row of them for each row of the data, or one row for all. 0 stands for
    /// an exact predictor. The fit minimises [orthogonal distances](ErrorsInX::OrthogonalDistance), unless
    /// [`errors_in_x`](Self::errors_in_x) selects effective variances.
    ///
    /// They are relative or absolute as [`sigma`](Self::sigma) is, whose default here is 1. A row has one residual for each response: the
    /// distance of the observation from the curve in units of both standard deviations. A [robust](Self::robust) loss and the statistics
    /// use these residuals; [`FittedCurve::fitted_x`] returns the nearest points. Standard errors are those of the linearised problem with
    /// the shifts as further unknowns (ODRPACK's `sd_beta`). Derivatives with respect to the predictors are differences over a small
    /// fraction of `sigma_x`, so that one evaluation of the residuals takes about ten evaluations of the curve. [Prediction
    /// bands](FittedCurve::prediction_band) assume exact predictors.
    ///
    /// ```
    /// use marquardt::CurveFit;
    ///
    /// // Data of Pearson (1901) with weights of York (1966).
    /// let x = [0.0, 0.9, 1.8, 2.6, 3.3, 4.4, 5.2, 6.1, 6.5, 7.4];
    /// let y = [5.9, 5.4, 4.4, 4.6, 3.5, 3.7, 2.8, 2.8, 2.4, 1.5];
    /// let weights_x = [1000.0, 1000.0, 500.0, 800.0, 200.0, 80.0, 60.0, 20.0, 1.8, 1.0_f64];
    /// let weights_y = [1.0, 1.8, 4.0, 8.0, 20.0, 20.0, 70.0, 70.0, 100.0, 500.0_f64];
    /// let sigma = |weights: [f64; 10]| weights.map(|weight| weight.sqrt().recip());
    /// let (sigma_x, sigma_y) = (sigma(weights_x), sigma(weights_y));
    /// let line = CurveFit::new(|x, [slope, intercept]| slope * x + intercept, &x, &y, [-1.0, 5.0]);
    /// let fit = line.sigma(&sigma_y).sigma_x(&sigma_x).fit()?;
    /// assert!((fit.parameters()[0].value + 0.480533).abs() < 1e-6);
    /// assert!((fit.parameters()[1].value - 5.479910).abs() < 1e-6);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn sigma_x(self, sigma: impl Into<Rows<'a, T>>) -> Self {
        self.change_rows(|rows| rows.predictor_errors.sigma = Some(PredictorSigma::new(sigma.into())))
    }

    /// Method by which [errors in the predictors](Self::sigma_x) are taken into account.
    pub fn errors_in_x(self, method: ErrorsInX) -> Self {
        self.change_rows(|rows| rows.predictor_errors.method = method)
    }

    /// Marks the curve as a condition that the true predictors meet.
    pub(super) fn for_condition(self) -> Self {
        let fit = self.change_rows(|rows| rows.predictor_errors.is_implicit = true);
        CurveFit { data: fit.data.with_zero_responses(), ..fit }
    }

    /// Selects the rows to fit: those that are `true`.
    pub fn mask(self, mask: impl Into<Cow<'a, [bool]>>) -> Self {
        self.change_rows(|rows| rows.mask = Some(mask.into()))
    }

    /// Finds the parameters in which the curve is linear and eliminates them, by [variable
    /// projection](LevenbergMarquardt::minimize_separable); default `false`. The result is the same, usually after fewer iterations, and
    /// the starts of the eliminated parameters do not matter. Parameters with bounds are not eliminated. Counts and robust losses are
    /// refused, because their cost is not a sum of squares.
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
        CurveFit { method: FitMethod { variable_projection: eliminate, ..self.method }, ..self }
    }

    /// Enables further attempts after a fit with a bad end; default `true`. The end is bad if
    ///
    /// - one of its [warnings](FittedCurve::warnings) is another than those of rounding and of bounds, unless a limit that was set ended it, or
    /// - the curve is no better than the mean of the data: with `n` free parameters and `m − n` degrees of freedom, `(S₀ − S) / S < 4 (n −
    ///   1)/(m − n)`, where `S` is the sum of squares about the curve and `S₀` that about the mean.
    ///
    /// The further attempts are [variable projection](Self::variable_projection), two other damping policies, and up to eight other starts,
    /// at which the parameters have sizes derived from the predictors. The first result is kept unless another attempt lowers the cost by
    /// more than 10⁻⁶ of it (7·10⁻⁵ in single precision), or ends well at a cost that is no higher. Attempts stop once two of them end well
    /// at the lowest cost. [`FittedCurve::attempts`] returns their number and the one that was kept.
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
        CurveFit { method: FitMethod { retry, ..self.method }, ..self }
    }

    /// Distributes the rows over ranks that run the same fit: `x`, `y`, `sigma` and everything else given by rows hold this rank's rows.
    /// Ranks may have different numbers of rows, or none. Names, starts, bounds and all other options of parameters must be the same on all
    /// ranks. The result is the same on all ranks, bit for bit; so is an error, on whichever rank it occurred.
    ///
    /// Fitting is collective, as are [profiles](FittedCurve::profile) and [contours](FittedCurve::contour): all ranks call
    /// them, in the same order. Everything else about a [`FittedCurve`] can be asked on one rank alone. With a communicator of
    /// one rank, nothing changes.
    ///
    /// A [guessed](CurveFit::guessed) start uses the rows of all ranks; of more than 100,000 rows, it uses an evenly spaced sample. A
    /// [covariance of the data](Self::data_covariance) and [variable projection](Self::variable_projection) need all rows on one rank.
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

    /// Copies the data that the fit borrows. The fit can then be returned from a function or moved to another thread, if its curve borrows
    /// nothing.
    ///
    /// ```
    /// use marquardt::models::ExponentialDecay;
    /// use marquardt::{CurveFit, CurveError};
    ///
    /// let fit = {
    ///     let (x, y) = ([0.0, 1.0, 2.0, 3.0, 4.0], [10.1, 6.1, 3.6, 2.2, 1.4]);
    ///     CurveFit::guessed(ExponentialDecay, &x, &y).into_owned()
    /// };
    /// let fitted = std::thread::spawn(move || fit.fit()).join().expect("it does not panic")?;
    /// assert!(fitted.report().is_converged());
    /// # Ok::<(), CurveError>(())
    /// ```
    pub fn into_owned(self) -> CurveFit<'static, T, C> {
        let CurveFit { curve, data, start, guess, is_guessed, options, rows, method } = self;
        let (data, rows) = (data.into_owned(), rows.map(|rows| Box::new(rows.into_owned())));
        CurveFit { curve, data, start, guess, is_guessed, options, rows, method }
    }

    /// Sets the solver, with its tolerances, limits and damping.
    pub fn solver(self, solver: LevenbergMarquardt<T>) -> Self {
        CurveFit { method: FitMethod { solver, ..self.method }, ..self }
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
        self.observe_curve(move |record, _| observer(record))
    }

    /// Calls a function after each trial step, as [`observe`](Self::observe) does, and also passes the curve at the current point, for a
    /// plot while the fit runs.
    ///
    /// ```
    /// use marquardt::CurveFit;
    /// use marquardt::models::ExponentialDecay;
    ///
    /// let (x, y) = ([0.0, 1.0, 2.0, 3.0, 4.0], [10.1, 6.1, 3.6, 2.2, 1.4]);
    /// let fit = CurveFit::guessed(ExponentialDecay, &x, &y).observe_curve(|record, current| {
    ///     let middle = current.predict(&[2.0]).map_or(f64::NAN, |y| y[0]);
    ///     println!("{}: {:?}, {middle} at 2", record.iteration, current.parameters());
    /// });
    /// # fit.fit()?;
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn observe_curve(
        self,
        observer: impl Fn(&IterationRecord<T>, &CurrentCurve<'_, T>) + Send + Sync + 'static,
    ) -> Self {
        let observer = Some(IterationObserver::new(observer));
        CurveFit { method: FitMethod { observer, ..self.method }, ..self }
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
        fit_any(self.boxed()?)
    }

    /// Changes the curve.
    pub(super) fn with_curve(mut self, change: impl FnOnce(&mut C)) -> Self {
        change(&mut self.curve);
        self
    }

    /// The fit of data that are complete, by options and a method that are.
    pub(super) fn of_parts(
        curve: C,
        data: Data<'a, T>,
        start: Vec<T>,
        options: FitOptions<T>,
        method: FitMethod<T>,
    ) -> Self {
        CurveFit { data, start, options, method, ..CurveFit::curve(curve, &[], &[], &[]) }
    }

    /// Its start is a guess, to be moved within bounds.
    pub(super) fn with_guess(self, guess: StartFinder<T, C>) -> Self {
        CurveFit { guess: Some(guess), is_guessed: true, ..self }
    }

    /// Returns true if the start is a guess.
    pub(super) fn is_guessed(&self) -> bool {
        self.is_guessed
    }

    /// Says whether its start is a guess, to be moved within bounds and relations.
    pub(super) fn guessed_if(self, is_guessed: bool) -> Self {
        CurveFit { is_guessed, ..self }
    }

    /// Returns true if the fit has a robust loss.
    pub(super) fn is_robust(&self) -> bool {
        self.options.robust.is_some()
    }

    /// Boxes the curve, and fixes a start that was a guess. Collective.
    pub(super) fn boxed(self) -> Result<CurveFit<'a, T, AnyCurve<'a, T>>, CurveError>
    where
        C: 'a,
    {
        let CurveFit { curve, data, mut start, guess, is_guessed, options, rows, method } = self;
        if let Some(guess) = guess {
            let is_given = |index| options.given_values().any(|(name, _)| name == curve.parameter_name(index));
            start = vec![T::ONE; curve.parameter_count()];
            if !(0..start.len()).all(is_given) {
                let [x, y] = data.sample()?;
                start = guess(&curve, &x, &y);
                let mut means = vec![T::ZERO; x.len() / data.width().max(1)];
                // The mean of a count is positive.
                let is_possible = !options.counts
                    || curve.responses(&x, data.width(), &start, &mut means).is_ok()
                        && means.iter().all(|mean| *mean > T::ZERO);
                if !is_possible {
                    start.fill(T::ONE);
                }
            }
        }
        let curve: AnyCurve<'a, T> = Box::new(curve);
        Ok(CurveFit { curve, data, start, guess: None, is_guessed, options, rows, method })
    }
}

impl<'a, T: Real> CurveFit<'a, T, AnyCurve<'a, T>> {
    /// Fits.
    fn fit_boxed(self) -> Result<FittedCurve<'a, T>, CurveError> {
        let mut checked = self.checked()?;
        let start: Vec<T> = checked.map.parameters.iter().map(|parameter| parameter.start).collect();
        let solved = checked.solve_under_loss(&start);
        let report = solved.map_err(|error| checked.explain(error, &start))?;
        let retry = checked.method.retry;
        checked.method.observer = None;
        let fit = FittedCurve::new(checked, report)?;
        if retry { best_attempt(fit) } else { Ok(fit) }
    }

    /// Checks everything. Collective.
    pub(super) fn checked(self) -> Result<CheckedFit<'a, T>, CurveError> {
        let checked = self.unchecked()?;
        checked.check_equal()?;
        checked.check()?;
        agreed(checked.data.ranks(), checked.check_counts())?;
        Ok(checked)
    }

    /// Checks each part for itself. Collective.
    pub(super) fn unchecked(self) -> Result<CheckedFit<'a, T>, CurveError> {
        let ranks = self.data.ranks().clone();
        let checked = agreed(&ranks, self.own_checked())?;
        Ok(CheckedFit { data: checked.data.counted()?, ..checked })
    }

    /// Checks the data and options of this rank.
    fn own_checked(self) -> Result<CheckedFit<'a, T>, CurveError> {
        let CurveFit { curve, mut data, rows, options, method, .. } = self;
        let RowOptions { data_covariance, predictor_errors, weights, mut mask, replicates } = *rows.unwrap_or_default();
        if let Some(weights) = weights {
            (data, mask) = data.with_weights(&weights, mask)?;
        }
        let (mut curve, mut data) = predictor_errors.apply(curve, data)?;
        let names = |index: usize| curve.parameter_name(index);
        let parameters = options.resolve(curve.parameter_count(), names, &self.start, self.is_guessed)?;
        if let Some(covariance) = data_covariance {
            let second = "a covariance of the data";
            if data.is_shared() {
                let (first, reason) = ("several ranks", "it ties rows together, and no rank has all");
                return Err(CurveError::Conflict { first, second, reason });
            }
            if matches!(data.noise, Noise::Sigma(_)) {
                let (first, reason) = ("sigma", "the diagonal of the covariance is the squares of sigma");
                return Err(CurveError::Conflict { first, second, reason });
            }
            data = data.with_whitening(Whitening::new(covariance.view())?);
        }
        let counted = replicates.as_ref().map_or(Ok(()), |replicates| replicates.check(data.rows(), data.outputs()));
        let data = data.check(mask.as_deref(), options.nan_policy)?;
        counted?;
        let data = match replicates {
            Some(replicates) => replicates.apply(&data)?,
            None => data,
        };
        options.check_derived(&parameters)?;
        let is_given = |name: &str| options.given_values().any(|(given, _)| given == name);
        let map = ParameterMap::new(parameters)?.with_relations(options.relations())?;
        let map = map.start_within_relations(|name| self.is_guessed && !is_given(name))?;
        let (lower, upper): (Vec<T>, Vec<T>) = map.parameters.iter().map(Parameter::range).unzip();
        curve.keep_within(&lower, &upper);
        curve.note_start(&map.parameters.iter().map(|parameter| parameter.start).collect::<Vec<T>>());
        // The curves of several data sets remember by themselves.
        if !curve.derivatives_are_cheap() && curve.as_global().is_none() {
            curve = Box::new(RememberingCurve::new(curve, data.x(), data.y().len()));
        }
        let likelihood = if options.counts { Likelihood::Poisson } else { Likelihood::Gaussian };
        Ok(CheckedFit { curve, data, map, likelihood, options, method })
    }
}
