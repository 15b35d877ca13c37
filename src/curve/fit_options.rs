//! Options of a fit: its parameters, its noise and its loss.

use std::ops::RangeBounds;
use std::sync::Arc;

use super::criteria::NoiseKind;
use super::parameter::{Parameter, ParameterOption, Role, parameters};
use super::robust::Robustness;
use super::{CurveError, NanPolicy, Relation, Tie};
use crate::problem::{Loss, RobustLoss, RobustScaleError};
use crate::real::Real;
use crate::solver::SolveError;

/// Options of a fit: parameters, noise of the data, and loss.
///
/// [`CurveFit`](crate::CurveFit), [`Parameters`](crate::Parameters) and [`FitMany`](crate::FitMany) have these methods, too. Options that
/// several fits have in common are stated once, and given to each by its method `options`.
///
/// ```
/// use marquardt::curve::FitOptions;
/// use marquardt::models::ExponentialDecayOffset;
/// use marquardt::{CurveFit, FitMany};
///
/// let options = FitOptions::new().bounds("decay", 0.0..).fix_at("offset", 1.0);
/// let x: Vec<f64> = (0..20).map(|i| 0.2 * f64::from(i)).collect();
/// let y = ndarray::Array2::from_shape_fn((3, 20), |(row, i)| {
///     1.0 + (2.0 + row as f64) * (-0.7 * x[i]).exp()
/// });
/// let all = FitMany::new(ExponentialDecayOffset, &x, &y).options(options.clone()).guessed().fit()?;
/// let one = CurveFit::guessed(ExponentialDecayOffset, &x, y.row(2)).options(options).fit()?;
/// assert!((all.parameters[[2, 0]] - one.parameters()[0].value).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct FitOptions<T: Real> {
    /// Names of the parameters; those of the curve unless they are given.
    names: Option<Vec<String>>,
    /// Options of parameters, by name.
    parameters: Vec<(String, ParameterOption<T>)>,
    /// Quantities that are computed from parameters, by name.
    derived: Vec<(String, Tie<T>)>,
    /// Linear inequalities between parameters.
    relations: Vec<Relation<T>>,
    /// Bounds of those that are given none of their own.
    other_bounds: Option<ParameterOption<T>>,
    /// Sigma is the standard deviation of the noise itself.
    pub(super) absolute_sigma: bool,
    /// Responses are counts.
    pub(super) counts: bool,
    pub(super) robust: Option<Robustness<T>>,
    pub(super) nan_policy: NanPolicy,
}

impl<T: Real> FitOptions<T> {
    /// Default options: all parameters are free, sigma is relative, and the cost is a sum of squares.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the names of the parameters, for reports and for all other options.
    pub fn names<S: Into<String>>(self, names: impl IntoIterator<Item = S>) -> Self {
        FitOptions { names: Some(names.into_iter().map(Into::into).collect()), ..self }
    }

    /// Sets the start of a parameter.
    pub fn start(self, name: &str, start: T) -> Self {
        self.option(name, ParameterOption::Start(start))
    }

    /// Sets the bounds of a parameter, ends included: `0.0..=1.0`, `0.0..` or `..=1.0`. No evaluation is outside of the bounds, and the fit
    /// ends at the minimum within them.
    pub fn bounds(self, name: &str, bounds: impl RangeBounds<T>) -> Self {
        self.option(name, ParameterOption::within(bounds))
    }

    /// Bounds of all parameters (SciPy's `bounds=(0, inf)`), except for those that are fixed, tied, or have [bounds](Self::bounds) of
    /// their own.
    ///
    /// ```
    /// use marquardt::CurveFit;
    ///
    /// // The line through these points crosses zero before x = 0; within the bounds, it ends there.
    /// let (x, y) = ([1.0, 2.0, 3.0, 4.0_f64], [0.8, 2.1, 2.9, 4.3]);
    /// let line = CurveFit::new(|x, [a, b]| a + b * x, &x, &y, [1.0, 1.0]);
    /// let fit = line.bounds_of_all(0.0..).fit()?;
    /// assert!(fit.parameters()[0].value == 0.0 && fit.parameters()[1].value > 1.0);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn bounds_of_all(self, bounds: impl RangeBounds<T>) -> Self {
        FitOptions { other_bounds: Some(ParameterOption::within(bounds)), ..self }
    }

    /// Keeps a parameter at its start.
    pub fn fix(self, name: &str) -> Self {
        self.option(name, ParameterOption::Fix(None))
    }

    /// Keeps a parameter at a value.
    pub fn fix_at(self, name: &str, value: T) -> Self {
        self.option(name, ParameterOption::Fix(Some(value)))
    }

    /// Computes a parameter from other parameters. A tied parameter cannot be fixed or bounded, and its start is not used. The curve need
    /// not depend on it: the report then has its value and standard error as those of a derived quantity.
    pub fn tie(self, name: &str, tie: Tie<T>) -> Self {
        self.option(name, ParameterOption::Tie(tie))
    }

    /// Adds a quantity that is computed from parameters, such as a half-life, to the report: its value, its standard error by the delta
    /// method, and its interval. [`FittedCurve::derived_quantities`](crate::FittedCurve::derived_quantities) returns it as numbers, and
    /// [`FittedCurve::profile_interval`](crate::FittedCurve::profile_interval) returns its profile-likelihood interval.
    /// [`FitInference::derived`](crate::curve::FitInference::derived) computes further quantities after the fit.
    /// [`FitMany`](crate::FitMany) refuses derived quantities.
    ///
    /// ```
    /// use marquardt::{CurveFit, Tie};
    ///
    /// let x = [0.0, 1.0, 2.0, 3.0, 4.0_f64];
    /// let y = [10.1, 6.1, 3.6, 2.2, 1.4];
    /// let fit = CurveFit::new(|x, [a, k]| a * (-k * x).exp(), &x, &y, [5.0, 1.0])
    ///     .names(["a", "k"])
    ///     .derive("half_life", Tie::parse("ln(2) / k")?)
    ///     .fit()?;
    /// let half_life = &fit.derived_quantities()[0].estimate;
    /// assert!((half_life.value - 1.386).abs() < 2.0 * half_life.standard_error);
    /// assert!(fit.to_string().contains("half_life"));
    /// let by_likelihood = fit.profile_interval("half_life", 0.95)?;
    /// assert!(by_likelihood.low < half_life.value && half_life.value < by_likelihood.high);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn derive(mut self, name: &str, quantity: Tie<T>) -> Self {
        self.derived.push((name.to_owned(), quantity));
        self
    }

    /// Adds a linear inequality between parameters, such as `c1 <= c2` or `a + b <= 1`. It may contain tied parameters that are linear
    /// functions of free ones. Relations are kept as [bounds](Self::bounds) are: the curve is evaluated only where they hold, except for
    /// rounding and for the steps of numerical derivatives, and the fit ends at the minimum within them. A given start must satisfy them; a
    /// guess is moved. If the fit would be better beyond a relation, the result has a [warning](crate::curve::Warning::AtRelation), and
    /// standard errors are those of the fit with that relation as an equation. Relations and [variable
    /// projection](crate::CurveFit::variable_projection) exclude each other.
    ///
    /// ```
    /// use marquardt::CurveFit;
    /// use marquardt::curve::Relation;
    ///
    /// let x = [0.0, 1.0, 2.0, 3.0_f64];
    /// let y = [0.2, 1.3, 2.1, 3.4];
    /// let line = CurveFit::new(|x, [a, b]| a + b * x, &x, &y, [0.0, 0.0]).names(["a", "b"]);
    /// let fit = line.constrain(Relation::parse("a + b <= 1")?).fit()?;
    /// let [a, b] = fit.parameters() else { unreachable!() };
    /// assert!((a.value + b.value - 1.0).abs() < 1e-12 && a.standard_error > 0.0);
    /// assert_eq!(fit.warnings()[0].to_string(), "the relation a + b <= 1 holds the fit at its limit");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn constrain(mut self, relation: Relation<T>) -> Self {
        self.relations.push(relation);
        self
    }

    /// Linear inequalities between parameters.
    pub(super) fn relations(&self) -> &[Relation<T>] {
        &self.relations
    }

    /// Replaces the linear inequalities.
    pub(super) fn with_relations(self, relations: Vec<Relation<T>>) -> Self {
        FitOptions { relations, ..self }
    }

    /// Quantities that are computed from parameters.
    pub(super) fn derived(&self) -> &[(String, Tie<T>)] {
        &self.derived
    }

    /// Replaces the quantities that are computed from parameters.
    pub(super) fn with_derived(self, derived: Vec<(String, Tie<T>)>) -> Self {
        FitOptions { derived, ..self }
    }

    /// Checks that quantities have names of their own, and are computed from parameters.
    pub(super) fn check_derived(&self, parameters: &[Parameter<T>]) -> Result<(), CurveError> {
        let is_parameter = |name: &String| parameters.iter().any(|parameter| parameter.name == *name);
        for (index, (name, quantity)) in self.derived.iter().enumerate() {
            if is_parameter(name) || self.derived[..index].iter().any(|(other, _)| other == name) {
                return Err(CurveError::DuplicateName { name: name.clone() });
            }
            if let Some(of) = quantity.of().iter().find(|of| !is_parameter(of)) {
                return Err(CurveError::UnknownInQuantity { name: name.clone(), of: of.clone() });
            }
        }
        Ok(())
    }

    /// Adds a Gaussian prior of a parameter, with a mean and a standard deviation in the unit of the parameter. It needs data with an
    /// [absolute sigma](Self::absolute_sigma) or [counts](Self::counts): with relative noise, the weight of the data against the prior is
    /// unknown.
    pub fn prior(self, name: &str, mean: T, standard_deviation: T) -> Self {
        self.option(name, ParameterOption::Prior(mean, standard_deviation))
    }

    /// Sets the typical size of a parameter (SciPy's `x_scale`), a positive number; it is rounded to a power of 2. It has an effect only if
    /// the solver's [scaling](crate::solver::Scaling) does not follow the columns of the Jacobian. The default scaling does.
    pub fn scale(self, name: &str, scale: T) -> Self {
        self.option(name, ParameterOption::Scale(scale))
    }

    /// Adds an option of a parameter.
    pub(super) fn option(mut self, name: &str, option: ParameterOption<T>) -> Self {
        self.parameters.push((name.to_owned(), option));
        self
    }

    /// Sets the meaning of sigma; default `false`. With `true`, sigma is the standard deviation of the noise, and must be given. With
    /// `false`, only its ratios count: the size of the noise is estimated from the residuals, and standard errors are scaled by it.
    pub fn absolute_sigma(self, absolute: bool) -> Self {
        FitOptions { absolute_sigma: absolute, ..self }
    }

    /// Treats the responses as counts whose mean is the curve, and maximises the Poisson likelihood. Counts are integers of 0 or more.
    /// Standard errors follow from the expected Fisher information. The curve must be positive at the start.
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
    pub fn counts(self) -> Self {
        FitOptions { counts: true, ..self }
    }

    /// Sets a robust loss, which limits the influence of outliers: one of [`Loss`](crate::Loss), or your own. Its scale is estimated from
    /// the residuals, as [`mad_scale`](crate::problem::mad_scale) times the loss's tuning constant, unless [`f_scale`](Self::f_scale) sets
    /// it. Standard errors are those of M-estimation (Huber 1981, §7.6).
    ///
    /// Without `f_scale`, the fit takes about 10 to 100 solves, each from the end of the last one, until the scale settles. The report's
    /// iterations, evaluations and time are the totals; its log, initial cost and status are those of the solve that is returned. The
    /// solver's limits of time and evaluations hold for all solves together; its limit of iterations holds for each solve, and four times
    /// that limit for all. A fit whose scale does not settle is not converged.
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
        FitOptions { robust: Some(Robustness { loss: Arc::new(loss), scale }), ..self }
    }

    /// Sets the scale `C` of a [`robust`](Self::robust) loss (SciPy's `f_scale`), a positive number: the size of a residual, divided by its
    /// sigma, above which the loss differs from least squares. If no loss is set, Huber's is used.
    pub fn f_scale(self, scale: T) -> Self {
        let loss = self.robust.map_or_else(|| Arc::new(Loss::Huber) as Arc<dyn RobustLoss<T>>, |robust| robust.loss);
        FitOptions { robust: Some(Robustness { loss, scale: Some(scale) }), ..self }
    }

    /// Sets the policy for rows with a missing value, which is NaN or infinite: an error (the default), or such rows are left out.
    pub fn nan_policy(self, policy: NanPolicy) -> Self {
        FitOptions { nan_policy: policy, ..self }
    }

    /// The noise model.
    pub(super) fn noise_kind(&self) -> NoiseKind {
        match self {
            FitOptions { counts: true, .. } => NoiseKind::Counts,
            FitOptions { robust: Some(_), .. } => NoiseKind::Robust,
            FitOptions { absolute_sigma: true, .. } => NoiseKind::Absolute,
            _ => NoiseKind::Relative,
        }
    }

    /// Returns true if any parameter has an option.
    pub(super) fn names_parameters(&self) -> bool {
        let are_named = self.names.is_some() || !self.parameters.is_empty() || !self.relations.is_empty();
        are_named || self.other_bounds.is_some()
    }

    /// Returns the values that parameters are given, whether they are fixed there or only start there.
    pub(super) fn given_values(&self) -> impl Iterator<Item = (&str, T)> {
        self.parameters.iter().filter_map(|(name, option)| match option {
            ParameterOption::Start(value) | ParameterOption::Fix(Some(value)) => Some((name.as_str(), *value)),
            _ => None,
        })
    }

    /// The options of these parameters in place of those by name; the start of each is that of the parameter.
    pub(super) fn with_parameters(self, parameters: &[Parameter<T>]) -> Self {
        let options = |parameter: &Parameter<T>| {
            let name = parameter.name.clone();
            parameter.options().into_iter().map(move |option| (name.clone(), option))
        };
        FitOptions { names: None, parameters: parameters.iter().flat_map(options).collect(), ..self }
    }

    /// Returns `count` parameters with their options; `known` are their names unless others are given. A start that is a guess is moved
    /// within the bounds.
    pub(super) fn resolve(
        &self,
        count: usize,
        known: impl Fn(usize) -> String,
        start: &[T],
        is_guessed: bool,
    ) -> Result<Vec<Parameter<T>>, CurveError> {
        let names: Vec<String> = match &self.names {
            Some(names) if names.len() != count => {
                return Err(CurveError::WrongNameCount { parameters: count, names: names.len() });
            }
            Some(names) => names.clone(),
            None => (0..count).map(known).collect(),
        };
        if start.len() != count {
            return Err(SolveError::WrongStartLength { expected: count, found: start.len() }.into());
        }
        let mut parameters = parameters(names, start, &self.parameters)?;
        if let Some(bounds) = &self.other_bounds {
            let others = parameters.iter_mut().filter(|parameter| matches!(parameter.role, Role::Free));
            others.filter(|parameter| !self.bounds_by_name(&parameter.name)).for_each(|other| other.apply(bounds));
        }
        let is_given = |parameter: &Parameter<T>| self.given_values().any(|(name, _)| name == parameter.name);
        for parameter in parameters.iter_mut().filter(|parameter| is_guessed && !is_given(parameter)) {
            parameter.start = parameter.start.max(parameter.lower).min(parameter.upper);
        }
        Ok(parameters)
    }

    /// Returns true if a parameter has bounds of its own.
    fn bounds_by_name(&self, parameter: &str) -> bool {
        let mut options = self.parameters.iter();
        options.any(|(name, option)| name == parameter && matches!(option, ParameterOption::Bounds(..)))
    }

    /// Checks that noise, priors and loss go together.
    pub(super) fn check(&self, has_sigma: bool, has_priors: bool) -> Result<(), CurveError> {
        let conflict = |first, second, reason| Err(CurveError::Conflict { first, second, reason });
        match &self.robust {
            _ if self.counts && has_sigma => conflict("counts", "sigma", "the variance of a count is its mean"),
            _ if self.counts && self.absolute_sigma => {
                conflict("counts", "an absolute sigma", "the variance of a count is its mean")
            }
            _ if self.absolute_sigma && !has_sigma => Err(CurveError::AbsoluteWithoutSigma),
            _ if has_priors && !(self.absolute_sigma || self.counts) => {
                conflict("a prior", "a relative sigma", "how much the data weigh against it is then unknown")
            }
            Some(Robustness { scale: Some(scale), .. }) if !(*scale > T::ZERO && scale.is_finite()) => {
                Err(RobustScaleError { value: scale.to_f64() }.into())
            }
            Some(_) if self.counts => {
                conflict("counts", "a robust loss", "the likelihood of counts is not made of residuals of one size")
            }
            Some(_) if has_priors => {
                conflict("a prior", "a robust loss", "what the data then weigh against it is unknown")
            }
            _ => Ok(()),
        }
    }
}

/// Gives a fit the methods of its [`FitOptions`]; `change_options` of the fit applies them.
macro_rules! option_methods {
    ($($method:ident($($argument:ident: $type:ty),*);)*) => { $(
        #[doc = concat!("See [`FitOptions::", stringify!($method), "`](crate::curve::FitOptions::", stringify!($method), ").")]
        pub fn $method(self, $($argument: $type),*) -> Self {
            self.change_options(|options| options.$method($($argument),*))
        }
    )* };
}

/// Options of parameters, and the loss: those of every fit.
macro_rules! parameter_methods {
    () => {
        /// Replaces all options that were set before.
        pub fn options(self, options: crate::curve::FitOptions<T>) -> Self {
            self.change_options(|_| options)
        }

        crate::curve::fit_options::option_methods! {
            bounds(name: &str, bounds: impl std::ops::RangeBounds<T>);
            bounds_of_all(bounds: impl std::ops::RangeBounds<T>);
            fix(name: &str);
            fix_at(name: &str, value: T);
            tie(name: &str, tie: crate::curve::Tie<T>);
            constrain(relation: crate::curve::Relation<T>);
            prior(name: &str, mean: T, standard_deviation: T);
            scale(name: &str, scale: T);
            robust(loss: impl crate::problem::RobustLoss<T> + 'static);
            f_scale(scale: T);
        }
    };
}

/// Options of the data: those of fits that have observations.
macro_rules! data_methods {
    () => {
        crate::curve::fit_options::option_methods! {
            names(names: impl IntoIterator<Item = impl Into<String>>);
            absolute_sigma(absolute: bool);
            counts();
            nan_policy(policy: crate::curve::NanPolicy);
        }
    };
}

pub(super) use {data_methods, option_methods, parameter_methods};
