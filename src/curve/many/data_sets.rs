//! The data of many fits, fit by fit.

use ndarray::{ArrayView1, Axis, CowArray, Ix2};

use super::erased_model::ErasedModel;
use super::{FitManyError, PerFit, Predictors};
use crate::curve::map::ParameterMap;
use crate::curve::model_rows::backwards;
use crate::curve::models::GuessCache;
use crate::curve::parameter::{Parameter, Role};
use crate::curve::{CurveError, FitOptions, NanPolicy};
use crate::kernels::vector::dot;
use crate::problem::Bounds;
use crate::real::Real;
use crate::solver::lockstep::{BoxBounds, StoppingCriteria};
use crate::solver::{CancelToken, FitStatus};

/// Data and options of all fits, checked before they begin.
pub(super) struct DataSets<'a, T: Real> {
    /// Parameters of the model.
    pub(super) parameters: usize,
    pub(super) x: Predictors<'a, T>,
    pub(super) y: CowArray<'a, T, Ix2>,
    pub(super) start: Option<PerFit<'a, T>>,
    /// The model guesses the starts.
    pub(super) is_guessed: bool,
    pub(super) sigma: Option<PerFit<'a, T>>,
    pub(super) options: FitOptions<T>,
    /// Map from the free parameters to all, where options name some; the check makes it.
    pub(super) map: Option<ParameterMap<T>>,
    /// Bounds of all parameters, if some have any; the check makes them.
    pub(super) bounds: Option<Bounds<T>>,
    /// Covariances are asked for.
    pub(super) covariances: bool,
    pub(super) stopping: StoppingCriteria<T>,
    pub(super) cancel: Option<CancelToken>,
}

/// One point of a fit.
pub(super) struct Point<'p, T> {
    /// Its number.
    pub(super) index: usize,
    /// Its predictors.
    pub(super) x: ArrayView1<'p, T>,
    /// Its response.
    pub(super) y: T,
    /// The reciprocal of its standard deviation.
    pub(super) weight: T,
}

impl<T: Real> DataSets<'_, T> {
    /// The same data, owned.
    pub(super) fn into_owned(self) -> DataSets<'static, T> {
        DataSets {
            x: self.x.into_owned(),
            y: self.y.into_owned().into(),
            start: self.start.map(PerFit::into_owned),
            sigma: self.sigma.map(PerFit::into_owned),
            ..self
        }
    }

    /// Checks shapes and options, for a model whose parameters have these names.
    pub(super) fn check(&mut self, names: &[String]) -> Result<(), FitManyError> {
        let (fits, points) = self.y.dim();
        let parameters = self.parameters;
        if parameters == 0 {
            return Err(FitManyError::NoParameters);
        }
        let same_fits = |what, found: Option<usize>| match found {
            Some(found) if found != fits => Err(FitManyError::UnequalFits { what, expected: fits, found }),
            _ => Ok(()),
        };
        same_fits("x", self.x.fits())?;
        if self.x.width() == 0 {
            return Err(FitManyError::NoPredictors);
        }
        if self.x.len() != points {
            return Err(FitManyError::UnequalPoints { x: self.x.len(), y: points });
        }
        match &self.start {
            Some(start) => {
                same_fits("start", start.fits())?;
                if start.width() != parameters {
                    return Err(FitManyError::StartLength { parameters, found: start.width() });
                }
            }
            None if !self.is_guessed => return Err(FitManyError::NoStart),
            None => {}
        }
        if let Some(sigma) = &self.sigma {
            same_fits("sigma", sigma.fits())?;
            if sigma.width() != points {
                return Err(FitManyError::SigmaLength { sigma: sigma.width(), points });
            }
        }
        if !(self.stopping.ftol >= T::ZERO) {
            return Err(FitManyError::Tolerance(self.stopping.ftol.to_f64()));
        }
        if !self.options.derived().is_empty() {
            let (first, second) = ("many fits", "derived quantities");
            return Err(
                CurveError::Conflict { first, second, reason: "ManyFits::inference computes those of each" }.into()
            );
        }
        if self.options.names_parameters() {
            self.map = Some(self.checked_map(names)?);
        }
        self.bounds = self.map.as_ref().and_then(ParameterMap::all_bounds);
        Ok(self.options.check(self.sigma.is_some(), self.has_priors())?)
    }

    /// Returns the map of the free parameters that the options describe. Starts are those of each fit.
    fn checked_map(&self, names: &[String]) -> Result<ParameterMap<T>, CurveError> {
        let parameters =
            self.options.resolve(names.len(), |index| names[index].clone(), &vec![T::ZERO; names.len()], true)?;
        let map = ParameterMap::new(parameters)?.unscaled().with_relations(self.options.relations())?;
        if map.free().is_empty() { Err(CurveError::NothingToFit) } else { Ok(map) }
    }

    /// The map of the free parameters, unless all are free.
    pub(super) fn free_map(&self) -> Option<&ParameterMap<T>> {
        self.map.as_ref().filter(|map| !map.is_identity())
    }

    /// Fits are beyond the lockstep engine, which minimises sums over points alone.
    pub(super) fn needs_full_engine(&self) -> bool {
        self.has_priors() || self.map.as_ref().is_some_and(ParameterMap::has_relations)
    }

    /// Some parameters have priors.
    fn has_priors(&self) -> bool {
        self.map.as_ref().is_some_and(|map| map.priors().next().is_some())
    }

    /// The options of a single fit, in which bounds that leave no room hold a parameter.
    pub(super) fn options_of_one(&self) -> FitOptions<T> {
        let parameters = self.map.iter().flat_map(|map| &map.parameters);
        let is_held = |parameter: &Parameter<T>| {
            matches!(parameter.role, Role::Free) && parameter.lower == parameter.upper && parameter.prior.is_none()
        };
        let held = parameters.filter(|parameter| is_held(parameter));
        held.fold(self.options.clone(), |options, parameter| options.fix(&parameter.name))
    }

    /// Number of parameters that are fitted.
    pub(super) fn free_count(&self) -> usize {
        self.map.as_ref().map_or(self.parameters, |map| map.free().len())
    }

    /// A parameter is neither fixed nor tied.
    pub(super) fn is_free(&self, index: usize) -> bool {
        self.map.as_ref().is_none_or(|map| map.free().contains(&index))
    }

    /// The fits share predictors, and these are finite.
    pub(super) fn shares_finite_predictors(&self) -> bool {
        matches!(&self.x, PerFit::Same(x) if are_finite(x.iter()))
    }

    /// `½‖y‖²` of a fit of which every point takes part, given whether [predictors that are finite are
    /// shared](Self::shares_finite_predictors); `None` where one does not, or where it takes a look at each to know.
    pub(super) fn energy_of_whole(&self, fit: usize, shares_finite_predictors: bool) -> Option<T> {
        let are_predictors_finite = match &self.x {
            PerFit::Same(_) => shares_finite_predictors,
            PerFit::Own(_) => are_finite(self.x.of(fit).iter()),
        };
        let responses = self.y.row(fit);
        let energy = if self.options.counts {
            // One that is negative, or no integer, is looked at.
            let are_counts = responses.iter().all(|&y| y >= T::ZERO && y.to_f64().fract() == 0.0);
            if are_counts { responses.iter().map(|&y| self.energy_of(y)).sum() } else { T::INFINITY }
        } else {
            let squares = |y: &[T]| dot(y, y);
            responses.to_slice().map_or_else(|| squares(&responses.to_vec()), squares) * T::from_f64(0.5)
        };
        let mut sigma = self.sigma.iter().flat_map(|sigma| sigma.of(fit));
        let is_whole = energy.is_finite() && are_predictors_finite && sigma.all(|&sigma| is_deviation(sigma));
        is_whole.then_some(energy)
    }

    /// `½y²` of a response in units of its standard deviation; of a count, whose variance is its mean, half of it.
    pub(super) fn energy_of(&self, y: T) -> T {
        T::from_f64(0.5) * if self.options.counts { y } else { y * y }
    }

    /// Gives each point of a fit that takes part to `each`, in order.
    ///
    /// # Errors
    ///
    /// The status of a fit that cannot begin.
    pub(super) fn read(&self, fit: usize, mut each: impl FnMut(Point<'_, T>)) -> Result<(), FitStatus> {
        let sigma = self.sigma.as_ref().map(|sigma| sigma.of(fit));
        let (x, mut count) = (self.x.of(fit), 0);
        for (index, &y) in self.y.row(fit).iter().enumerate() {
            let x = x.index_axis(Axis(0), index);
            let sigma = sigma.map_or(T::ONE, |sigma| sigma[index]);
            if self.options.counts && y < T::ZERO {
                return Err(FitStatus::NegativeCount);
            }
            if self.options.counts && y.is_finite() && y.to_f64().fract() != 0.0 {
                return Err(FitStatus::FractionalCount);
            }
            if y.is_finite() && is_deviation(sigma) && are_finite(x.iter()) {
                count += 1;
                each(Point { index, x, y, weight: sigma.recip() });
            } else if self.options.nan_policy == NanPolicy::Raise {
                return Err(FitStatus::NonFiniteData);
            }
        }
        if count < self.free_count() { Err(FitStatus::TooFewPoints) } else { Ok(()) }
    }

    /// Fills in where a fit starts.
    ///
    /// # Errors
    ///
    /// The status of a fit that cannot begin.
    pub(super) fn start(
        &self,
        model: &dyn ErasedModel<T>,
        fit: usize,
        start: &mut [T],
        cache: &GuessCache,
    ) -> Result<(), FitStatus> {
        match &self.start {
            Some(given) => given.of(fit).iter().zip(&mut *start).for_each(|(&given, start)| *start = given),
            None => self.guess(model, fit, start, cache)?,
        }
        if let Some(map) = &self.map {
            self.expand(map, start);
        }
        if !start.iter().all(|start| start.is_finite()) {
            return Err(FitStatus::NonFiniteStart);
        }
        let is_outside = self.bounds.as_ref().is_some_and(|bounds| !bounds.contains(start));
        if is_outside { Err(FitStatus::StartOutOfBounds) } else { Ok(()) }
    }

    /// Fills in values that are given, and those of tied parameters.
    fn expand(&self, map: &ParameterMap<T>, start: &mut [T]) {
        for (name, value) in self.options.given_values() {
            map.index(name).into_iter().for_each(|index| start[index] = value);
        }
        let (_, mut derivative) = map.begin();
        let free: Vec<T> = map.free().iter().map(|&index| start[index]).collect();
        map.expand(&free, start, &mut derivative);
    }

    /// Fills in the start that the model guesses, moved within the bounds.
    fn guess(
        &self,
        model: &dyn ErasedModel<T>,
        fit: usize,
        start: &mut [T],
        cache: &GuessCache,
    ) -> Result<(), FitStatus> {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        self.read(fit, |point| {
            x.extend(point.x.iter());
            y.push(point.y);
        })?;
        start.copy_from_slice(&model.guess(&x, &y, cache).ok_or(FitStatus::NonFiniteStart)?);
        if let Some(bounds) = &self.bounds {
            bounds.project(start);
        }
        Ok(())
    }

    /// Residuals of a fit at these parameters, in units of the standard deviations; none where it has no data.
    pub(super) fn residuals(&self, model: &dyn ErasedModel<T>, fit: usize, parameters: &[T]) -> Vec<T> {
        let (mut x, mut y, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        let outcome = self.read(fit, |point| {
            x.extend(point.x.iter());
            y.push(point.y);
            weights.push(point.weight);
        });
        if outcome.is_err() {
            return Vec::new();
        }
        let mut residuals = vec![T::ZERO; y.len()];
        backwards(model, &x, self.x.width(), parameters, &mut residuals, &mut []);
        residuals.iter_mut().zip(y.iter().zip(&weights)).for_each(|(r, (&y, &weight))| *r = (*r - y) * weight);
        residuals
    }

    /// The bounds of up to `N` free parameters, if there are any.
    pub(super) fn box_bounds<const N: usize>(&self) -> Option<BoxBounds<T, N>> {
        let bounds = self.bounds.as_ref()?;
        let mut pairs = [[-T::INFINITY, T::INFINITY]; N];
        let free = (0..self.parameters).filter(|&index| self.is_free(index));
        for (pair, index) in pairs.iter_mut().zip(free) {
            *pair = [bounds.lower()[index], bounds.upper()[index]];
        }
        Some(pairs)
    }

    /// Points have weights: they have standard deviations, or may be left out.
    pub(super) fn has_weights(&self) -> bool {
        self.sigma.is_some() || self.options.nan_policy == NanPolicy::Omit
    }

    /// No fit is to go on.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(CancelToken::is_cancelled)
    }
}

/// A standard deviation is positive and finite.
fn is_deviation<T: Real>(sigma: T) -> bool {
    sigma > T::ZERO && sigma.is_finite() && sigma.recip().is_finite()
}

/// Returns true if none of these is NaN or infinite; computed without looking at each by itself.
fn are_finite<'n, T: Real>(numbers: impl IntoIterator<Item = &'n T>) -> bool {
    // What is not finite leaves NaN.
    numbers.into_iter().fold(T::ZERO, |nothing, &number| nothing + number * T::ZERO) == T::ZERO
}
