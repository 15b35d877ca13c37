//! Profile likelihoods: the increase of the cost as a parameter or a derived quantity moves away from its optimum, and the intervals that
//! follow.

use thiserror::Error;

use super::FittedCurve;
use super::ray::{Ray, RayPoint};
use crate::curve::StatisticsError;
use crate::curve::estimate::quantile;
use crate::real::Real;
use crate::solver::{SolveError, Status};

/// Reason why a profile or a contour ends where it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntervalEnd {
    /// The level is reached.
    Level,
    /// A bound of the parameter comes first.
    Bound,
    /// The interval ends at the last value at which the curve can be fitted, known to rounding; the level is not reached there. Beyond it,
    /// the curve or a derivative is not finite, or relations leave no values for the other parameters, or bounds leave none for the
    /// parameters of the quantity.
    Edge,
    /// The level is never reached: the data do not limit the parameter on this side.
    Open,
}

/// A profile-likelihood interval.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileInterval<T> {
    /// The lower end; `-∞` where it is [open](IntervalEnd::Open).
    pub low: T,
    /// The upper end; `∞` where it is [open](IntervalEnd::Open).
    pub high: T,
    /// Nature of the lower end.
    pub low_end: IntervalEnd,
    /// Nature of the upper end.
    pub high_end: IntervalEnd,
}

/// The profile of a parameter or a derived quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile<T> {
    /// The parameter or the quantity.
    pub name: String,
    /// Confidence level, such as 0.95.
    pub level: f64,
    /// Interval within which the absolute value of the signed root is at most that of the level.
    pub interval: ProfileInterval<T>,
    /// Points of the profile, by ascending values; the optimum is among them.
    pub points: Vec<ProfilePoint<T>>,
}

/// One point of a profile.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfilePoint<T> {
    /// The value at which the parameter, or the quantity, is held.
    pub value: T,
    /// The signed root `τ = ±√((χ² − χ²_min) / s²)`, with the sign of the change; `s² = 1` where the noise is known. A
    /// straight line where the curve is linear.
    pub tau: T,
    /// All parameters of the curve, the others fitted again.
    pub parameters: Vec<T>,
}

/// Reasons why there is no profile, or no contour.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The name or the level is invalid, or the size of the noise is unknown.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
    /// The parameter was not fitted.
    #[error("{name:?} is {is}, and has no profile")]
    NotFree {
        /// The parameter.
        name: String,
        /// State of the parameter, such as `fixed`.
        is: &'static str,
    },
    /// Both names of a contour are the same.
    #[error("a contour needs two parameters, not {name:?} twice")]
    SameParameter {
        /// The parameter.
        name: String,
    },
    /// The data determine neither of the two parameters of a contour. Its region may then be so narrow that it lies between two
    /// neighbouring directions.
    #[error("the data determine neither {:?} nor {:?}", .names[0], .names[1])]
    Undetermined {
        /// The parameters.
        names: [String; 2],
    },
    /// The fit was not at the lowest minimum.
    #[error("the fit is not the best: χ² is {before}, but {chi_square} at {parameters:?}; fit again from there")]
    BetterMinimum {
        /// All parameters of the curve at the better minimum.
        parameters: Vec<f64>,
        /// `χ²` there, or the deviance.
        chi_square: f64,
        /// Cost of the fit itself.
        before: f64,
    },
    /// A direction is zero, or not finite.
    #[error("a direction must be finite and not zero, not [{}, {}]", .direction[0], .direction[1])]
    Direction {
        /// The direction, in units of the parameters.
        direction: [f64; 2],
    },
    /// The search ended before it reached the level, because fits failed or were stopped.
    #[error("followed to {reached}, where the signed root is {tau:.4} and not yet {level:.4}: {source}")]
    Unfinished {
        /// The last point that was fitted, by the parameters held there.
        reached: String,
        /// Absolute value of the signed root there.
        tau: f64,
        /// Absolute value of the signed root at the level.
        level: f64,
        /// Error that ended the search.
        source: Box<ProfileError>,
    },
    /// The other parameters could not be fitted.
    #[error("no convergence with {held}: {status}")]
    NotConverged {
        /// The parameters held, and where.
        held: String,
        /// Reason why the solve ended.
        status: Status,
    },
    /// The profile has a jump: on one side of it, the other parameters end in another minimum.
    #[error("the fit jumps with {held}: on one side it ends in another minimum")]
    Jump {
        /// The parameters held, and where.
        held: String,
    },
    /// The curve could not be fitted at all.
    #[error("no fit with {held}: {source}")]
    Solve {
        /// The parameters held, and where.
        held: String,
        /// Error of the solve.
        source: SolveError,
    },
}

impl ProfileError {
    /// Returns true if the error is of one point, so that others may be tried.
    pub(super) fn is_local(&self) -> bool {
        match self {
            ProfileError::NotConverged { status, .. } => !matches!(status, Status::Cancelled | Status::TimeLimit),
            ProfileError::Solve { source, .. } => !matches!(source, SolveError::Communicator(_)),
            _ => false,
        }
    }
}

impl<T: Real> FittedCurve<'_, T> {
    /// The values of a parameter, or of a [derived](crate::CurveFit::derive) quantity, that the data do not reject at a level, such as
    /// 0.95: those where the others, or the parameters that give the quantity this value, fitted again, bring `χ²` so low that `(χ² − χ²_min) / s²` is below the quantile of `F(1, n − p)`, or of `χ²₁` where the
    /// noise is known. It is exact for linear curves, does not depend on how the curve is parametrised, and needs not be
    /// symmetric (Bates & Watts 1988, *Nonlinear regression analysis and its applications*, 6.1).
    ///
    /// Each side takes about 5 fits, each of which starts from its neighbour; at most 300 points, of up to 3 fits each. For a derived
    /// quantity, each point takes up to 3 fits for each parameter of the quantity. At each point, one of these parameters is computed from
    /// the others and the held value by Newton's method, so that the interval is that of the curve parametrised by the quantity. The search
    /// moves outward from the optimum. The interval ends at the first crossing of the level, or at a bound or an edge before it; see
    /// [`IntervalEnd`]. Collective where ranks [share the rows](crate::CurveFit::communicator).
    ///
    /// The solver's limits hold for each fit; its [time limit](crate::LevenbergMarquardt::with_time_limit), once a fit has used
    /// it up, and its [cancel token](crate::LevenbergMarquardt::with_cancel_token) end the search.
    ///
    /// # Errors
    ///
    /// [`ProfileError`] for a parameter that is not free, for a quantity of fixed parameters alone or without a finite derivative, for a
    /// level that is not between 0 and 1, if the size of the noise is unknown, and if fits fail or are stopped:
    /// [`Unfinished`](ProfileError::Unfinished) contains the last point reached. If the search finds a better minimum, the error contains
    /// it.
    ///
    /// ```
    /// let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0_f64];
    /// let y = [9.8, 6.3, 3.5, 2.4, 1.2, 0.9];
    /// let fit = marquardt::curve_fit(|x, [a, k]| a * (-k * x).exp(), &x, &y, [5.0, 1.0])?;
    /// let rate = fit.profile_interval("b2", 0.95).unwrap();
    /// assert!(rate.low < 0.5 && rate.high > 0.5 && rate.high - rate.low < 0.2);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn profile_interval(&self, name: &str, level: f64) -> Result<ProfileInterval<T>, ProfileError> {
        Ok(self.profile(name, level, 0)?.interval)
    }

    /// The profile of a parameter or a derived quantity up to the ends of its [interval](Self::profile_interval), with `points` more on either
    /// side, evenly spread. Where an end is open, the points are those where the level was looked for.
    ///
    /// # Errors
    ///
    /// As [`profile_interval`](Self::profile_interval).
    pub fn profile(&self, name: &str, level: f64, points: usize) -> Result<Profile<T>, ProfileError> {
        let held = self.held(name)?;
        let root = quantile(level, self.covariance().freedom())?;
        let side = |direction: f64| -> Result<(T, IntervalEnd, Vec<ProfilePoint<T>>), ProfileError> {
            let held = held.along(direction);
            let mut ray = Ray::new(self, vec![held.clone()])?;
            let (way, end) = ray.extent(root)?;
            (1..=points).try_for_each(|k| ray.root_at(way * k as f64 / (points + 1) as f64).map(drop))?;
            let value = match end {
                IntervalEnd::Open => T::from_f64(direction) * T::INFINITY,
                _ => held.value_at(way),
            };
            let of_point = |point: RayPoint<T>| ProfilePoint {
                value: held.value_at(point.way),
                tau: T::from_f64(direction * point.root),
                parameters: point.parameters,
            };
            Ok((value, end, ray.into_visited().into_iter().filter(|point| point.way <= way).map(of_point).collect()))
        };
        let ((low, low_end, mut points), (high, high_end, above)) = (side(-1.0)?, side(1.0)?);
        points.reverse();
        points.extend(above.into_iter().skip(1));
        let interval = ProfileInterval { low, high, low_end, high_end };
        Ok(Profile { name: name.into(), level, interval, points })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distributed::CommunicatorError;

    #[test]
    fn only_a_fit_that_fails_by_itself_is_local() {
        let held = || "a = 1".to_owned();
        let stopped = |status| ProfileError::NotConverged { held: held(), status };
        let failed = |source| ProfileError::Solve { held: held(), source };
        for error in [stopped(Status::MaxIterations), stopped(Status::NoProgress), failed(SolveError::Overflow)] {
            assert!(error.is_local(), "{error}");
        }
        let gone = SolveError::Communicator(CommunicatorError::Disconnected { rank: 1 });
        for error in [stopped(Status::Cancelled), stopped(Status::TimeLimit), failed(gone)] {
            assert!(!error.is_local(), "{error}");
        }
        assert!(!ProfileError::Jump { held: held() }.is_local());
    }
}
