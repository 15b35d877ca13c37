//! Residuals over named parameters that are no curve.

use std::ops::RangeBounds;
use std::sync::Arc;

use super::data::Data;
use super::numeric_rows::FromNumericRows;
use super::parameter::ParameterOption;
use super::residual_curve::{FromResiduals, fill_negatives};
use super::robust::Robustness;
use super::{Curve, CurveError, CurveFit, FittedCurve, Tie};
use crate::autodiff::{Difference, Dual};
use crate::problem::{EvaluationError, Loss, RobustLoss};
use crate::real::Real;
use crate::solver::LevenbergMarquardt;

/// Named parameters of residuals that are no curve through data: distances, balances, several experiments at once. They have bounds,
/// may be fixed or tied to others, and have priors; the result is a [`FittedCurve`], with report, standard errors, intervals, profiles and
/// contours. It is what lmfit calls `Parameters` and `Minimizer`.
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
/// Standard errors are judged by the residuals, unless [`absolute`](Self::absolute) says that these have a standard deviation of one. In
/// the result the observations are zeros, one for each residual, the [residuals](FittedCurve::residuals) are those of the closure, and
/// the predictors their numbers, counted from 0. As zeros have no variance, there is no `R²`.
#[derive(Debug, Clone)]
pub struct Parameters<T: Real, const N: usize> {
    named: [(String, T); N],
    options: Vec<(String, ParameterOption<T>)>,
    is_absolute: bool,
    robust: Option<Robustness<T>>,
    solver: LevenbergMarquardt<T>,
}

impl<T: Real, const N: usize> Parameters<T, N> {
    /// Parameters with their names and starts.
    pub fn new<S: Into<String>>(named: [(S, T); N]) -> Self {
        Parameters {
            named: named.map(|(name, start)| (name.into(), start)),
            options: Vec::new(),
            is_absolute: false,
            robust: None,
            solver: LevenbergMarquardt::new(),
        }
    }

    /// Bounds of a parameter, as [`CurveFit::bounds`].
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

    /// Computes a parameter from others, in place of its start. The residuals need not depend on it: so the report has a quantity
    /// that follows from the fit, with its standard error.
    pub fn tie(self, name: &str, tie: Tie<T>) -> Self {
        self.option(name, ParameterOption::Tie(tie))
    }

    /// Adds a Gaussian prior of a parameter, with this mean and standard deviation. The residuals have to be
    /// [`absolute`](Self::absolute), or nothing says how much they weigh against it.
    pub fn prior(self, name: &str, mean: T, standard_deviation: T) -> Self {
        self.option(name, ParameterOption::Prior(mean, standard_deviation))
    }

    /// The typical size of a parameter, as [`CurveFit::scale`].
    pub fn scale(self, name: &str, scale: T) -> Self {
        self.option(name, ParameterOption::Scale(scale))
    }

    /// Says that residuals have a standard deviation of one (`true`; lmfit's `scale_covar=False`), instead of one that is
    /// estimated from them (`false`, the default).
    pub fn absolute(self, absolute: bool) -> Self {
        Parameters { is_absolute: absolute, ..self }
    }

    /// Sets a robust loss, which limits the influence of outliers, as [`CurveFit::robust`].
    pub fn robust(self, loss: impl RobustLoss<T> + 'static) -> Self {
        let scale = self.robust.and_then(|robust| robust.scale);
        Parameters { robust: Some(Robustness { loss: Arc::new(loss), scale }), ..self }
    }

    /// The scale of a robust loss, as [`CurveFit::f_scale`].
    pub fn f_scale(self, scale: T) -> Self {
        let loss = self.robust.map_or_else(|| Arc::new(Loss::Huber) as Arc<dyn RobustLoss<T>>, |robust| robust.loss);
        Parameters { robust: Some(Robustness { loss, scale: Some(scale) }), ..self }
    }

    /// The solver, with settings of one's own.
    pub fn solver(self, solver: LevenbergMarquardt<T>) -> Self {
        Parameters { solver, ..self }
    }

    fn option(mut self, name: &str, option: ParameterOption<T>) -> Self {
        self.options.push((name.to_owned(), option));
        self
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
        evaluate: impl Fn(&[T], &mut [T]) -> Result<(), EvaluationError> + Send + Sync + 'a,
    ) -> Result<FittedCurve<'a, T>, CurveError> {
        let of_rows = move |x: &[T], b: &[T], y: &mut [T]| {
            let mut all = vec![T::from_f64(f64::NAN); residuals];
            evaluate(b, &mut all)?;
            fill_negatives(x, &all, y)
        };
        self.fit(FromNumericRows::new(of_rows, N, 1, difference), residuals)
    }

    fn fit<'a>(self, curve: impl Curve<T> + 'a, residuals: usize) -> Result<FittedCurve<'a, T>, CurveError> {
        let Parameters { named, options, is_absolute, robust, solver } = self;
        let (names, start): (Vec<String>, Vec<T>) = named.into_iter().unzip();
        let data = Data::zeros(residuals, is_absolute);
        CurveFit::of_residuals(curve, data, (names, start), options, robust)
            .absolute_sigma(is_absolute)
            .solver(solver)
            .fit()
    }
}
