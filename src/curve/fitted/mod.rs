//! The result of a curve fit.

mod bands;
mod basis;
mod bootstrap;
mod contour;
mod criteria;
mod data_sets;
mod derived;
mod influence;
mod intervals;
mod profile;
mod ray;
mod resampling;
mod residuals;
mod synthetic;

use std::fmt;

use ndarray::ArrayView1;

use super::Curve;
use super::likelihood::Likelihood;
use super::setting::Setting;
use super::{CurveError, Rows};
use crate::{Covariance, CovarianceError, EvaluationError, Real, Report};

pub use bands::BandPoint;
pub use bootstrap::{Bootstrap, FailedReplicate};
pub use contour::{Contour, ContourPoint};
pub use data_sets::FittedDataSet;
pub use influence::Influence;
pub use profile::{IntervalEnd, Profile, ProfileError, ProfileInterval, ProfilePoint};
pub use resampling::{BootstrapError, Resampling};

/// A fitted curve: parameters with standard errors, and how well the curve describes the data.
///
/// `Display` prints the report.
pub struct FittedCurve<'a, T: Real, C> {
    pub(super) setting: Setting<'a, T, C>,
    parameters: Vec<FittedParameter<T>>,
    report: Report<T>,
    covariance: Covariance<T>,
    /// Those of the curve to the predictors it was fitted to.
    responses: Vec<T>,
}

/// One parameter of a fitted curve.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedParameter<T> {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: T,
    /// Its standard error, from the scatter of the residuals; infinite where the data do not determine it.
    pub standard_error: T,
}

impl<'a, T: Real, C: Curve<T>> FittedCurve<'a, T, C> {
    pub(super) fn new(setting: Setting<'a, T, C>, report: Report<T>) -> Result<Self, CurveError> {
        let covariance = setting.covariance(&report)?;
        let values = report.x.iter().zip(covariance.standard_errors());
        let named = setting.map.parameters.iter().zip(values);
        let parameters = named.map(|(parameter, (&value, standard_error))| FittedParameter {
            name: parameter.name.clone(),
            value,
            standard_error,
        });
        let mut responses = vec![T::ZERO; setting.data.y().len()];
        let (x, width) = (setting.data.x(), setting.data.width());
        let evaluated = setting.curve.responses(x, width, &report.x, &mut responses);
        evaluated.map_err(CovarianceError::Evaluation)?;
        Ok(FittedCurve { parameters: parameters.collect(), setting, report, covariance, responses })
    }

    /// All parameters.
    pub fn parameters(&self) -> &[FittedParameter<T>] {
        &self.parameters
    }

    /// The parameter of that name.
    pub fn parameter(&self, name: &str) -> Option<&FittedParameter<T>> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// How the solve went and why it ended.
    pub fn report(&self) -> &Report<T> {
        &self.report
    }

    /// Covariance and correlation of the parameters.
    pub fn covariance(&self) -> &Covariance<T> {
        &self.covariance
    }

    /// `√(‖r‖² / degrees of freedom)`; `None` with as many parameters as observations.
    pub fn residual_standard_deviation(&self) -> Option<T> {
        self.covariance.residual_standard_deviation()
    }

    /// Observations in excess of the determined parameters.
    pub fn degrees_of_freedom(&self) -> usize {
        self.covariance.degrees_of_freedom()
    }

    /// Rows that were masked or had numbers missing, counted from 0 in the data as they came in.
    pub fn omitted_rows(&self) -> &[usize] {
        self.setting.data.omitted()
    }

    /// The responses observed, without those of omitted rows.
    pub fn observed(&self) -> ArrayView1<'_, T> {
        ArrayView1::from(self.setting.data.y())
    }

    /// The responses of the curve to the predictors it was fitted to.
    ///
    /// # Errors
    ///
    /// What the curve says when it cannot be evaluated.
    pub fn fitted(&self) -> Result<Vec<T>, EvaluationError> {
        Ok(self.responses.clone())
    }

    /// The responses of the curve to other predictors.
    ///
    /// # Errors
    ///
    /// What the curve says when it cannot be evaluated, or a message when the number of predictors in a row is another than
    /// in the fit.
    pub fn predict<'x>(&self, x: impl Into<Rows<'x, T>>) -> Result<Vec<T>, EvaluationError>
    where
        T: 'x,
    {
        let x: Rows<'x, T> = x.into();
        let (rows, found, width) = (x.count(), x.width(), self.setting.data.width());
        if found != width {
            return Err(format!("the curve has {width} predictors, not {found}").into());
        }
        self.respond(&x.into_flat(), rows)
    }

    fn respond(&self, x: &[T], rows: usize) -> Result<Vec<T>, EvaluationError> {
        let mut y = vec![T::ZERO; rows * self.setting.data.outputs()];
        self.setting.curve.responses(x, self.setting.data.width(), &self.report.x, &mut y)?;
        Ok(y)
    }
}

impl<T: Real, C> fmt::Debug for FittedCurve<'_, T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FittedCurve { parameters, report, covariance, .. } = self;
        f.debug_struct("FittedCurve")
            .field("parameters", parameters)
            .field("report", report)
            .field("covariance", covariance)
            .finish_non_exhaustive()
    }
}

impl<T: Real, C> FittedCurve<'_, T, C> {
    /// The scale `C` of the [robust](super::CurveFit::robust) loss, if there was one.
    pub fn robust_scale(&self) -> Option<T> {
        if let Likelihood::Robust(_, scale) = self.setting.likelihood { Some(scale) } else { None }
    }
}

impl<T: Real, C> fmt::Display for FittedCurve<'_, T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { status, iterations, evaluations, .. } = &self.report;
        let verdict = if status.is_converged() { "Converged" } else { "Not converged" };
        writeln!(f, "{verdict}: {status}")?;
        let all = evaluations.residuals + evaluations.jacobians;
        writeln!(f, "{iterations} iterations, {all} evaluations ({} with derivatives)", evaluations.jacobians)?;
        writeln!(f)?;
        let width = self.parameters.iter().map(|p| p.name.chars().count()).chain([9]).max().unwrap_or(9);
        writeln!(f, "{:<width$}  {:>18}  {:>14}  {:>8}", "parameter", "value", "standard error", "relative")?;
        for FittedParameter { name, value, standard_error } in &self.parameters {
            write!(f, "{name:<width$}  {value:>18.10e}  ")?;
            if standard_error.is_finite() {
                let percent = T::from_f64(100.0) * (*standard_error / *value).abs();
                writeln!(f, "{standard_error:>14.6e}  {percent:>7.2} %")?;
            } else {
                writeln!(f, "{:>14}", "undetermined")?;
            }
        }
        writeln!(f)?;
        writeln!(f, "observations                 {}", self.setting.data.y().len())?;
        writeln!(f, "degrees of freedom           {}", self.covariance.degrees_of_freedom())?;
        writeln!(f, "residual sum of squares      {:.10e}", self.report.sum_of_squares())?;
        match self.covariance.residual_standard_deviation() {
            Some(deviation) => write!(f, "residual standard deviation  {deviation:.10e}")?,
            None => write!(f, "residual standard deviation  unknown (no degrees of freedom)")?,
        }
        self.correlations(f)?;
        if !self.covariance.undetermined().is_empty() {
            write!(f, "\n\nthe data do not determine {}", self.covariance.undetermined().join(", "))?;
        }
        Ok(())
    }
}

/// Correlations weaker than this are not worth a line in the report.
const WORTH_PRINTING: f64 = 0.1;

impl<T: Real, C> FittedCurve<'_, T, C> {
    /// The stronger correlations, a line each, strongest first.
    fn correlations(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let correlation = self.covariance.correlation();
        let n = self.parameters.len();
        let mut pairs: Vec<_> = (0..n).flat_map(|j| (0..j).map(move |i| (i, j))).collect();
        pairs.retain(|&pair| correlation[pair].abs() >= T::from_f64(WORTH_PRINTING));
        pairs.sort_by(|&a, &b| correlation[b].abs().to_f64().total_cmp(&correlation[a].abs().to_f64()));
        if !pairs.is_empty() {
            write!(f, "\n\ncorrelations")?;
        }
        pairs.iter().try_for_each(|&(i, j)| {
            let (first, second) = (&self.parameters[i].name, &self.parameters[j].name);
            write!(f, "\n  {first}, {second}: {:+.4}", correlation[(i, j)])
        })
    }
}
