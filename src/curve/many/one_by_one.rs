//! Fits of more parameters than lanes are worth, one after the other.

use ndarray::ArrayView2;

use super::outcomes::{Fitted, Outcomes};
use super::study::Study;
use crate::{CurveFit, FitStatus, LevenbergMarquardt, Model, Real, ScalarOf, Status};

/// A model that is evaluated for one point after the other.
struct PointByPoint<'m, M>(&'m M);

impl<T: Real, M: Model<T>> Model<T> for PointByPoint<'_, M> {
    const IN_LANES: bool = false;

    fn parameter_count(&self) -> usize {
        self.0.parameter_count()
    }

    fn response<S: ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> S {
        self.0.response(x, b)
    }

    fn parameter_name(&self, index: usize) -> String {
        self.0.parameter_name(index)
    }
}

/// Does consecutive fits by the full engine.
pub(super) struct OneByOne<'s, 'a, T: Real, M> {
    pub(super) study: &'s Study<'a, T, M>,
    pub(super) outcomes: Outcomes<'s, T>,
}

impl<T: Real, M: Model<T>> OneByOne<'_, '_, T, M> {
    pub(super) fn run(mut self) {
        let mut start = vec![T::ZERO; self.outcomes.n];
        for fit in self.outcomes.fits() {
            if self.study.is_cancelled() {
                break;
            }
            let outcome = self.study.start(fit, &mut start).and_then(|()| Self::fit(self.study, fit, &start));
            match outcome {
                Ok(fitted) => self.outcomes.take_fitted(fit, fitted),
                Err(status) => self.outcomes.refuse(fit, status, &start),
            }
        }
    }

    /// Does one fit.
    fn fit(study: &Study<'_, T, M>, fit: usize, start: &[T]) -> Result<Fitted<T>, FitStatus> {
        let (mut x, mut y, mut sigma) = (Vec::new(), Vec::new(), Vec::new());
        study.read(fit, |point| {
            x.extend(point.x.iter());
            y.push(point.y);
            sigma.push(point.weight.recip());
        })?;
        let x = ArrayView2::from_shape((y.len(), study.x.width()), &x).map_err(|_| FitStatus::NonFiniteData)?;
        let solver = LevenbergMarquardt::new().with_log(false).with_max_iterations(study.patience.max_iterations);
        let mut curve = CurveFit::model(PointByPoint(&study.model), x, &y, start).solver(solver);
        if study.sigma.is_some() {
            curve = curve.sigma(&sigma).absolute_sigma(study.absolute_sigma);
        }
        for (j, (&lower, &upper)) in study.bounds.iter().flat_map(|b| b.lower().iter().zip(b.upper())).enumerate() {
            let name = study.model.parameter_name(j);
            curve = if lower == upper { curve.fix_at(&name, lower) } else { curve.bounds(&name, lower..=upper) };
        }
        let fitted = curve.fit().map_err(|_| FitStatus::NonFiniteStart)?;
        let (parameters, report) = (fitted.parameters(), fitted.report());
        let is_determined = parameters.iter().all(|parameter| parameter.standard_error.is_finite());
        let status = match report.status {
            status if status.is_converged() && is_determined => FitStatus::Converged,
            status if status.is_converged() => FitStatus::Undetermined,
            Status::MaxIterations => FitStatus::MaxIterations,
            _ => FitStatus::NoProgress,
        };
        Ok(Fitted {
            parameters: parameters.iter().map(|parameter| (parameter.value, parameter.standard_error)).collect(),
            cost: report.cost,
            status,
            iterations: report.iterations,
        })
    }
}
