//! The result of a curve fit.

mod basis;
mod bootstrap;
mod contour;
mod criteria;
mod data_sets;
mod derived;
mod fitted_points;
mod held;
mod influence;
mod noise;
#[cfg(feature = "plot")]
mod plot;
#[cfg(any(feature = "plot", feature = "serde"))]
mod plot_points;
mod profile;
mod ray;
mod replicates;
mod resampling;
mod residuals;
mod runaways;
mod squares;
#[cfg(feature = "serde")]
mod stored;
mod summary;
#[cfg(all(feature = "plot", not(target_arch = "wasm32")))]
mod surface;
mod synthetic;
mod totals;
mod usable;
mod warnings;

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::OnceLock;

use ndarray::ArrayView1;

use super::checked_fit::CheckedFit;
use super::inference::{ResponseNoise, UncertainCurve, inference_methods};
use super::likelihood::Likelihood;
use super::robust_sums::RobustSums;
use super::{Attempts, BandPoint, CurveError, FitInference, FittedParameter, Rows, StatisticsError, Warning};
use crate::problem::Evaluated;
use crate::real::Real;
use crate::solver::{CovarianceError, Report};

pub use bootstrap::{Bootstrap, FailedReplicate};
pub use contour::{Contour, ContourPoint};
pub use data_sets::FittedDataSet;
pub use derived::DerivedQuantity;
use fitted_points::FittedPoints;
pub use influence::Influence;
pub use profile::{IntervalEnd, Profile, ProfileError, ProfileInterval, ProfilePoint};
pub use resampling::{BootstrapError, Resampling};
use squares::Squares;
use totals::Totals;

/// A fitted curve: parameters with standard errors, and how well the curve describes the data.
///
/// `Display` prints the report, [`summary`](Self::summary), with as many digits as the standard errors leave meaningful; `{:.12}` prints 12
/// significant digits of each number.
///
/// # On several ranks
///
/// Where [ranks share the rows](super::CurveFit::communicator), parameters, covariance, criteria, intervals and bands are of all rows, and
/// the same on all ranks. Results with one entry for each row, such as residuals or the points of a plot, cover the rows of this rank only.
/// [Profiles](Self::profile) and [contours](Self::contour) are collective. [Influence](Self::influence), the [bootstrap](Self::bootstrap)
/// and tests of residuals need all rows on one rank, and are not available.
pub struct FittedCurve<'a, T: Real> {
    pub(super) checked: CheckedFit<'a, T>,
    /// On the heap, as fits are moved often.
    inference: Box<FitInference<T>>,
    pub(super) report: Report<T>,
    /// The attempts that led here.
    pub(super) attempts: Attempts,
    /// Reason why nothing is known of the covariance.
    covariance_error: Option<Box<CovarianceError>>,
    /// Sums of squares over all responses.
    squares: Squares<T>,
    /// The responses of the curve to the predictors it was fitted to, evaluated when they are asked for; with errors in x, the observed
    /// responses moved by their distances.
    responses: OnceLock<Vec<T>>,
    /// Points of the curve that are nearest to the observations, where there are errors in x.
    points: OnceLock<Option<Box<FittedPoints<T>>>>,
    /// Sums that standard errors under a robust loss are made of.
    robust: Option<RobustSums<T>>,
    /// Further sums over all responses, computed when first needed; but at once where ranks have to make them together.
    totals: OnceLock<Totals<T>>,
    warnings: Vec<Warning>,
}

impl<'a, T: Real> FittedCurve<'a, T> {
    /// The fit where a solve has ended. Collective.
    pub(super) fn new(checked: CheckedFit<'a, T>, report: Report<T>) -> Result<Self, CurveError> {
        let squares = Squares::at(&checked, &report.x)?;
        let (robust, covariance) = match RobustSums::at(&checked, &report.x) {
            Ok(robust) => (robust, checked.covariance(&report.x, (&report.active, &report.relations), robust.as_ref())),
            Err(error) => (None, Err(CovarianceError::Evaluation(error))),
        };
        let (covariance, covariance_error) = match covariance {
            Ok(covariance) => (covariance, None),
            Err(error) => (checked.unknown_covariance(&report, squares.whitened), Some(Box::new(error))),
        };
        let errors = covariance.standard_errors();
        let parameters = (0..checked.map.count()).map(|index| FittedParameter {
            name: checked.map.name(index).to_owned(),
            value: report.x[index],
            standard_error: errors[index],
            state: checked.map.state(index, &report, &covariance),
        });
        let parameters = parameters.collect();
        let noise = ResponseNoise::of(&checked, &covariance, robust.as_ref())?;
        let (responses, points, totals) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let mut fit = FittedCurve {
            inference: Box::new(FitInference { parameters, covariance, noise }),
            checked,
            report,
            attempts: Attempts::default(),
            covariance_error,
            squares,
            responses,
            points,
            robust,
            totals,
            warnings: Vec::new(),
        };
        if fit.checked.data.is_shared() {
            fit.totals = OnceLock::from(Totals::of(&fit)?);
        }
        fit.warnings = fit.find_warnings();
        Ok(fit)
    }

    inference_methods!();

    /// Report of the solve: its status, cost and counts of evaluations.
    pub fn report(&self) -> &Report<T> {
        &self.report
    }

    /// Number of attempts, and the attempt that gave this result; see [`CurveFit::retry`](super::CurveFit::retry).
    pub fn attempts(&self) -> Attempts {
        self.attempts
    }

    /// Reason why the covariance could not be computed, such as a derivative that is not finite at the end of the solve; the
    /// report prints it. `None` for nearly all fits.
    pub fn covariance_error(&self) -> Option<&CovarianceError> {
        self.covariance_error.as_deref()
    }

    /// Indices of the rows of this rank that were masked or had a missing value, counted from 0 in the data as given.
    pub fn omitted_rows(&self) -> &[usize] {
        self.checked.data.omitted()
    }

    /// The responses observed, without those of omitted rows; this rank's.
    pub fn observed(&self) -> ArrayView1<'_, T> {
        ArrayView1::from(self.checked.data.y())
    }

    /// The responses of the curve to the predictors it was fitted to, this rank's; with [errors in x](super::CurveFit::sigma_x), to
    /// [`fitted_x`](Self::fitted_x). The first call evaluates them, and later calls return the same values; they are infinite if the curve
    /// returns an error although it was evaluated at these parameters before.
    pub fn fitted(&self) -> ArrayView1<'_, T> {
        ArrayView1::from(self.points().map_or_else(|| self.responses(), |points| &points.y))
    }

    pub(super) fn responses(&self) -> &[T] {
        let lost = |_| vec![T::INFINITY; self.checked.data.y().len()];
        self.responses.get_or_init(|| self.checked.responses(&self.report.x).unwrap_or_else(lost))
    }

    /// Least and greatest predictor of the data, of curves that have one.
    fn predictor_range(&self) -> Option<RangeInclusive<T>> {
        let data = &self.checked.data;
        let mut x = data.x().iter().step_by(data.width().max(1)).copied();
        let first = x.next().filter(|_| data.predictors_in_row() == 1)?;
        let (low, high) = x.fold((first, first), |(low, high), x| (low.min(x), high.max(x)));
        Some(low..=high)
    }

    /// The curve with its statistics.
    fn uncertain_curve(&self) -> Evaluated<UncertainCurve<'_, T>> {
        let (curve, width) = (&self.checked.curve, self.checked.data.predictors_in_row());
        Ok(UncertainCurve { curve, width, inference: &self.inference })
    }
}

impl<T: Real> fmt::Debug for FittedCurve<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FittedCurve { inference, report, .. } = self;
        f.debug_struct("FittedCurve").field("inference", inference).field("report", report).finish_non_exhaustive()
    }
}

impl<T: Real> FittedCurve<'_, T> {
    fn totals(&self) -> &Totals<T> {
        self.totals.get_or_init(|| Totals::of(self).expect("a rank alone waits for no other"))
    }

    /// The scale `C` of the [robust](super::CurveFit::robust) loss, if there was one.
    pub fn robust_scale(&self) -> Option<T> {
        if let Likelihood::Robust(_, scale) = self.checked.likelihood { Some(scale) } else { None }
    }
}

impl<T: Real> fmt::Display for FittedCurve<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.summary().fmt(f)
    }
}
