//! Residuals over named parameters, without a curve.

use super::data::Data;
use super::fit_options::{option_methods, parameter_methods};
use super::method::FitMethod;
use super::numeric_rows::FromNumericRows;
use super::residual_curve::{FromResiduals, fill_negatives};
use super::{Curve, CurveError, CurveFit, FitOptions, FittedCurve};
use crate::autodiff::{Difference, Dual};
use crate::problem::Evaluated;
use crate::real::Real;
use crate::solver::LevenbergMarquardt;

/// Named parameters of arbitrary residuals, such as distances, balances or several experiments at once, without a curve through data.
/// Parameters may have bounds and priors, and may be fixed or tied to others. The result is a [`FittedCurve`], with report, standard
/// errors, intervals, profiles and contours. Counterpart of `Parameters` and `Minimizer` of lmfit.
///
/// ```
/// use marquardt::{Parameters, tie};
///
/// // A circle as near as possible to these points.
/// let points = [[2.1, 0.9], [1.1, 2.0], [-0.1, 1.1], [0.9, 0.1], [1.8, 1.6], [0.3, 0.2]];
/// let parameters =
///     Parameters::new([("east", 0.8_f64), ("north", 0.8), ("radius", 1.0), ("area", 0.0)])
///         .bounds("radius", 0.0..)
///         .tie("area", tie!(|radius| 3.141592653589793 * radius * radius));
/// let fit = parameters.minimize(points.len(), |[east, north, radius, _], r| {
///     for (r, [x, y]) in r.iter_mut().zip(points) {
///         *r = (east - x).hypot(north - y) - radius;
///     }
/// })?;
/// println!("{fit}");
/// assert!((fit.parameter("area").unwrap().value - 3.14).abs() < 0.4);
/// let radius = fit.profile_interval("radius", 0.95)?;
/// assert!(radius.low < 1.0 && 1.0 < radius.high);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Standard errors are estimated from the residuals, unless [`absolute`](Self::absolute) sets their standard deviation to 1. In the result,
/// the observations are zeros, one for each residual; the [residuals](FittedCurve::residuals) are those of the closure; the predictors are
/// the indices of the residuals, counted from 0. `R²` is `None`, because zeros have no variance.
#[derive(Debug, Clone)]
pub struct Parameters<T: Real, const N: usize = 0> {
    names: Vec<String>,
    start: Vec<T>,
    options: FitOptions<T>,
    method: FitMethod<T>,
}

impl<T: Real> Parameters<T, 0> {
    /// Parameters whose names and number are given at run time, for residuals over plain floats.
    ///
    /// ```
    /// use marquardt::Parameters;
    /// use marquardt::autodiff::Difference;
    ///
    /// let targets = [("north", 3.0), ("east", -1.0), ("up", 0.5)];
    /// let parameters = Parameters::named(targets.map(|(name, _)| (format!("{name} (m)"), 0.0_f64)));
    /// let fit = parameters.minimize_numeric(3, Difference::Central, |b, r| {
    ///     r.iter_mut().zip(b).zip(targets).for_each(|((r, b), (_, target))| *r = b - target);
    ///     Ok(())
    /// })?;
    /// assert!((fit.parameter("east (m)").unwrap().value + 1.0).abs() < 1e-9);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn named<S: Into<String>>(named: impl IntoIterator<Item = (S, T)>) -> Self {
        Parameters::collect(named)
    }
}

impl<T: Real, const N: usize> Parameters<T, N> {
    /// Parameters with their names and starts.
    pub fn new<S: Into<String>>(named: [(S, T); N]) -> Self {
        Parameters::collect(named)
    }

    fn collect<S: Into<String>>(named: impl IntoIterator<Item = (S, T)>) -> Self {
        let (names, start) = named.into_iter().map(|(name, start)| (name.into(), start)).unzip();
        Parameters { names, start, options: FitOptions::new(), method: FitMethod::default() }
    }

    parameter_methods!();
    option_methods! {
        start(name: &str, start: T);
    }

    fn change_options(self, change: impl FnOnce(FitOptions<T>) -> FitOptions<T>) -> Self {
        Parameters { options: change(self.options), ..self }
    }

    /// Sets the standard deviation of the residuals to 1 (`true`; lmfit's `scale_covar=False`); with `false`, the default, it is estimated
    /// from the residuals.
    pub fn absolute(self, absolute: bool) -> Self {
        self.change_options(|options| options.absolute_sigma(absolute))
    }

    /// Sets the solver, with its tolerances, limits and damping.
    pub fn solver(self, solver: LevenbergMarquardt<T>) -> Self {
        Parameters { method: FitMethod { solver, ..self.method }, ..self }
    }

    /// Minimises `½‖r‖²` over `residuals` residuals, which the closure fills in. Parameters arrive in their order, as [`Dual`] numbers,
    /// so the derivatives are exact. A residual that is not filled in counts as NaN.
    ///
    /// # Errors
    ///
    /// [`CurveError`] names what is wrong with the parameters or the start. A solve that started always returns its best point; see
    /// [`FittedCurve::report`] for why it ended.
    pub fn minimize<'a>(
        self,
        residuals: usize,
        evaluate: impl Fn([Dual<T, N>; N], &mut [Dual<T, N>]) + Send + Sync + 'a,
    ) -> Result<FittedCurve<'a, T>, CurveError> {
        self.fit(FromResiduals::new(evaluate, residuals), residuals)
    }

    /// Minimises as [`minimize`](Self::minimize) does for residuals over plain floats, with derivatives by differences, which are taken on
    /// all cores with the feature `rayon`. An error ends the solve, NaN makes it take a shorter step.
    ///
    /// # Errors
    ///
    /// As [`minimize`](Self::minimize).
    ///
    /// ```
    /// use marquardt::Parameters;
    /// use marquardt::autodiff::Difference;
    ///
    /// let parameters = Parameters::new([("x", -1.2_f64), ("y", 1.0)]);
    /// let fit = parameters.minimize_numeric(2, Difference::Central, |b, r| {
    ///     r[0] = 10.0 * (b[1] - b[0] * b[0]);
    ///     r[1] = 1.0 - b[0];
    ///     Ok(())
    /// })?;
    /// assert!((fit.parameter("y").unwrap().value - 1.0).abs() < 1e-9);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn minimize_numeric<'a>(
        self,
        residuals: usize,
        difference: Difference,
        evaluate: impl Fn(&[T], &mut [T]) -> Evaluated + Send + Sync + 'a,
    ) -> Result<FittedCurve<'a, T>, CurveError> {
        let of_rows = move |x: &[T], b: &[T], y: &mut [T]| {
            let mut all = vec![T::from_f64(f64::NAN); residuals];
            evaluate(b, &mut all)?;
            fill_negatives(x, &all, y)
        };
        let parameters = self.start.len();
        self.fit(FromNumericRows::new(of_rows, parameters, 1, difference), residuals)
    }

    fn fit<'a>(self, curve: impl Curve<T> + 'a, residuals: usize) -> Result<FittedCurve<'a, T>, CurveError> {
        let Parameters { names, start, options, method } = self;
        if options.counts {
            let (first, second) = ("counts", "residuals that are no curve");
            return Err(CurveError::Conflict { first, second, reason: "there are no observations" });
        }
        let data = Data::zeros(residuals, options.absolute_sigma);
        CurveFit::of_parts(curve, data, start, options.names(names), method).fit()
    }
}
