//! Fits by the full engine, one after the other: those of more parameters than the lockstep takes, and those that it leaves open.

use ndarray::{ArrayView1, ArrayView2};

use super::data_sets::DataSets;
use super::erased_model::{ErasedModel, EvaluationMode};
use super::outcomes::{Outcomes, least_square};
use super::{CurveError, default_ftol};
use crate::curve::model_rows::backwards;
use crate::curve::models::GuessCache;
use crate::curve::{Curve, CurveFit};
use crate::kernels::vector::all_finite;
use crate::problem::Evaluated;
use crate::real::Real;
use crate::solver::lockstep::StoppingCriteria;
use crate::solver::{FitStatus, LevenbergMarquardt, SolveError, Status};
use crate::statistics::half_deviance;

/// A model as a curve, differentiated in reverse whatever the number of its parameters, as that is compiled for it anyway.
struct ReverseCurve<'s, 'a, T: Real> {
    model: &'s dyn ErasedModel<T>,
    data: &'s DataSets<'a, T>,
}

impl<T: Real> Curve<T> for ReverseCurve<'_, '_, T> {
    fn parameter_count(&self) -> usize {
        self.data.parameters
    }

    /// Two parameters of the model may have one name, unless options name parameters.
    fn parameter_name(&self, index: usize) -> String {
        self.data.map.as_ref().map_or_else(|| format!("b{index}"), |map| map.name(index).to_owned())
    }

    fn responses(&self, x: &[T], width: usize, b: &[T], y: &mut [T]) -> Evaluated {
        self.linearize(x, width, b, y, &mut [])
    }

    fn linearize(&self, x: &[T], width: usize, b: &[T], y: &mut [T], jacobian: &mut [T]) -> Evaluated {
        if self.model.evaluation() == EvaluationMode::OneByOne {
            return self.model.evaluate_one_by_one(x, width, b, y, jacobian);
        }
        backwards(self.model, x, width, b, y, jacobian);
        Ok(())
    }
}

/// Fits that the lockstep engine has left, one after the other.
pub(super) struct OneByOne<'s, 'a, 'o, T: Real> {
    pub(super) data: &'s DataSets<'a, T>,
    pub(super) model: &'s dyn ErasedModel<T>,
    pub(super) outcomes: &'s mut Outcomes<'o, T>,
}

impl<'s, 'a, T: Real> OneByOne<'s, 'a, '_, T> {
    pub(super) fn run(mut self) {
        let (mut start, cache) = (Vec::new(), GuessCache::new());
        for fit in self.outcomes.fits() {
            if !self.outcomes.is_open(fit) {
                continue;
            }
            start.resize(self.outcomes.n, T::ZERO);
            if self.data.is_cancelled() {
                break;
            }
            let begun = self.data.start(self.model, fit, &mut start, &cache);
            if let Err(status) = begun.and_then(|()| self.fit(fit, &start)) {
                self.outcomes.refuse(fit, status, &start);
            }
        }
    }

    /// Makes one fit.
    fn fit(&mut self, fit: usize, start: &[T]) -> Result<(), FitStatus> {
        let data = self.data;
        let (mut x, mut y, mut sigma) = (Vec::new(), Vec::new(), Vec::new());
        data.read(fit, |point| {
            x.extend(point.x.iter());
            y.push(point.y);
            sigma.push(point.weight.recip());
        })?;
        let rows = ArrayView2::from_shape((y.len(), data.x.width()), &x).map_err(|_| FitStatus::NonFiniteData)?;
        let (mut solver, mut options) = (Self::solver(data), data.options_of_one());
        let is_blank = !options.counts && y.iter().all(|&y| y == T::ZERO);
        if is_blank {
            // Responses and their rounding vanish with the residuals, and costs fall for ever. Residuals that vanish have no scale, and
            // no outliers.
            solver = solver.with_target_cost(least_square());
            options.robust = None;
        }
        let mut curve = CurveFit::curve(self.curve(), rows, &y, start).options(options).solver(solver).retry(false);
        curve = curve.guessed_if(data.is_guessed);
        if data.sigma.is_some() {
            curve = curve.sigma(&sigma);
        }
        let fitted = match curve.fit() {
            Ok(fitted) => fitted,
            Err(CurveError::NothingToFit) => return self.hold(fit, start, (&x, &y, &sigma)),
            Err(error) => return Err(status_of(&error)),
        };
        let report = fitted.report();
        let is_determined = fitted.covariance().undetermined().is_empty();
        let is_exact = report.cost > least_square() || is_reproduced(fitted.observed(), fitted.fitted());
        // Nothing is lower than zeros that are fitted as well as squares can tell.
        let is_converged = report.status.is_converged() || is_blank && report.cost <= least_square();
        let status = match report.status {
            _ if is_converged && !is_exact => FitStatus::Underflow,
            _ if is_converged && is_determined => FitStatus::Converged,
            _ if is_converged && self.is_differentiable(&x, &report.x) => FitStatus::Undetermined,
            Status::MaxIterations => FitStatus::MaxIterations,
            Status::Cancelled => FitStatus::Cancelled,
            _ => FitStatus::NoProgress,
        };
        self.outcomes.take_fitted(fit, status, &fitted);
        Ok(())
    }

    /// The chain rule finds all derivatives: a parameter without influence is none where intermediate results overflow.
    fn is_differentiable(&self, x: &[T], b: &[T]) -> bool {
        let width = self.data.x.width();
        let rows = x.len() / width.max(1);
        let (mut y, mut jacobian) = (vec![T::ZERO; rows], vec![T::ZERO; rows * b.len()]);
        self.curve().linearize(x, width, b, &mut y, &mut jacobian).is_ok() && all_finite(&jacobian)
    }

    /// A solver that ends when the lockstep would. Where that is early there is no polish.
    fn solver(data: &DataSets<'_, T>) -> LevenbergMarquardt<T> {
        let StoppingCriteria { ftol, max_iterations } = data.stopping;
        let solver = LevenbergMarquardt::new().with_log(false).with_max_iterations(max_iterations);
        let solver = solver.with_ftol(ftol).with_polish(ftol <= default_ftol());
        match &data.cancel {
            Some(token) => solver.with_cancel_token(token.clone()),
            None => solver,
        }
    }

    /// The model as a curve.
    fn curve(&self) -> ReverseCurve<'s, 'a, T> {
        ReverseCurve { model: self.model, data: self.data }
    }

    /// A fit whose bounds leave nothing to be fitted.
    fn hold(&mut self, fit: usize, start: &[T], (x, y, sigma): (&[T], &[T], &[T])) -> Result<(), FitStatus> {
        let mut responses = vec![T::ZERO; y.len()];
        let evaluated = self.curve().responses(x, self.data.x.width(), start, &mut responses);
        evaluated.map_err(|_| FitStatus::NonFiniteStart)?;
        let squares = responses.iter().zip(y.iter().zip(sigma)).map(|(&response, (&y, &sigma))| {
            let residual = (response - y) / sigma;
            if self.data.options.counts { half_deviance(y, response) } else { residual * residual * T::from_f64(0.5) }
        });
        let cost = squares.fold(T::ZERO, |sum, square| sum + square);
        if !cost.is_finite() {
            return Err(FitStatus::NonFiniteStart);
        }
        self.outcomes.hold(fit, start, cost, y.len());
        Ok(())
    }
}

/// The fitted responses are those observed but for rounding, or those observed are zero, which has no size to compare with.
fn is_reproduced<T: Real>(observed: ArrayView1<'_, T>, fitted: ArrayView1<'_, T>) -> bool {
    let size = observed.iter().fold(T::ZERO, |size, &y| size.max(y.abs()));
    let margin = T::from_f64(64.0) * T::EPSILON * size;
    size == T::ZERO || observed.iter().zip(fitted).all(|(&y, &fitted)| (y - fitted).abs() <= margin)
}

/// Returns the status for the error of a fit.
fn status_of(error: &CurveError) -> FitStatus {
    use SolveError::*;
    match error {
        CurveError::NonFiniteResponse { .. } | CurveError::NonPositiveMean { .. } => FitStatus::NonFiniteStart,
        CurveError::NonFiniteDatum { .. } | CurveError::NonPositiveSigma { .. } => FitStatus::NonFiniteData,
        CurveError::NoObservations | CurveError::TooFewObservations { .. } => FitStatus::TooFewPoints,
        CurveError::Solve(NonFiniteStart { .. } | NonFiniteResidual { .. } | NonFiniteDerivative { .. }) => {
            FitStatus::NonFiniteStart
        }
        CurveError::Solve(StartOutOfBounds { .. }) | CurveError::StartViolatesRelation { .. } => {
            FitStatus::StartOutOfBounds
        }
        CurveError::Solve(Underflow { .. }) => FitStatus::Underflow,
        CurveError::Solve(Overflow) => FitStatus::Overflow,
        _ => FitStatus::NoProgress,
    }
}
