//! Joint regions of two parameters.

use std::f64::consts::TAU;

use super::FittedCurve;
use super::held::Held;
use super::profile::{IntervalEnd, ProfileError};
use super::ray::Ray;
use crate::curve::estimate::check_level;
use crate::real::Real;
use crate::statistics::distributions::pair_quantile;

/// The border of the joint region of two parameters.
#[derive(Debug)]
pub struct Contour<T> {
    /// The parameters.
    pub names: [String; 2],
    /// Confidence level, such as 0.95.
    pub level: f64,
    /// Points of the border, in order; the last is followed by the first.
    pub points: Vec<ContourPoint<T>>,
    /// Errors of the directions in which fits failed, far from the optimum; the border has no points there.
    pub failed: Vec<ProfileError>,
}

/// One point of a contour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContourPoint<T> {
    /// The values of the two parameters; infinite where the region is [open](IntervalEnd::Open) in this direction.
    pub at: [T; 2],
    /// Reason why the region ends there.
    pub end: IntervalEnd,
}

impl<T: Real> FittedCurve<'_, T> {
    /// Joint confidence region of two parameters at a level, such as 0.95. A pair of values belongs to it if the minimum of `χ²` over the
    /// other parameters satisfies `(χ² − χ²_min) / s² < 2 F`, with the quantile `F` of `F(2, n − p)`; if the noise is known, the limit is
    /// the quantile of `χ²` with 2 degrees of freedom.
    ///
    /// The border is searched in `points` directions from the optimum, which are evenly spaced on the ellipse of a linear curve. Only the
    /// first crossing in each direction is found, so that parts of a region that is not star-shaped are missed.
    ///
    /// Collective where ranks [share the rows](crate::CurveFit::communicator).
    ///
    /// # Errors
    ///
    /// As [`profile_interval`](Self::profile_interval); but fits that fail in one direction do not affect the others.
    /// [`ProfileError::Undetermined`] if the data determine neither parameter.
    ///
    /// ```
    /// let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0_f64];
    /// let y = [9.8, 6.3, 3.5, 2.4, 1.2, 0.9];
    /// let fit = marquardt::curve_fit(|x, [a, k]| a * (-k * x).exp(), &x, &y, [5.0, 1.0])?;
    /// let region = fit.contour("b1", "b2", 0.95, 16).unwrap();
    /// assert_eq!(region.points.len(), 16);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn contour(&self, first: &str, second: &str, level: f64, points: usize) -> Result<Contour<T>, ProfileError> {
        let [i, j] = [self.held_parameter(first)?, self.held_parameter(second)?].map(|held| held.gradient[0].0);
        let correlation = self.covariance().correlation()[[i, j]].to_f64();
        let correlation = if correlation.is_finite() { correlation.clamp(-1.0, 1.0) } else { 0.0 };
        let across = (1.0 - correlation * correlation).sqrt();
        let direction = |k: usize| {
            let (sine, cosine) = (TAU * k as f64 / points as f64).sin_cos();
            [cosine, correlation * cosine + across * sine]
        };
        self.contour_towards(first, second, level, &(0..points).map(direction).collect::<Vec<_>>())
    }

    /// Border of the joint region in given directions, in units of the standard errors: `[1, 0]` is a step of one standard error of the
    /// first parameter, and `[0, 1]` of the second.
    ///
    /// # Errors
    ///
    /// As [`contour`](Self::contour); [`ProfileError::Direction`] for a direction that is not finite, or zero.
    pub fn contour_towards(
        &self,
        first: &str,
        second: &str,
        level: f64,
        directions: &[[f64; 2]],
    ) -> Result<Contour<T>, ProfileError> {
        let (one, other) = (self.held_parameter(first)?, self.held_parameter(second)?);
        if first == second {
            return Err(ProfileError::SameParameter { name: first.into() });
        }
        check_level(level)?;
        let undetermined = self.covariance().undetermined();
        if [first, second].iter().all(|name| undetermined.iter().any(|other| other == name)) {
            return Err(ProfileError::Undetermined { names: [first, second].map(String::from) });
        }
        // The signed root that two parameters keep to with this probability.
        let root = pair_quantile(level, self.covariance().freedom()).sqrt();
        let lines: Vec<[Held<T>; 2]> =
            directions.iter().map(|[along, across]| [one.along(*along), other.along(*across)]).collect();
        let mut steps = lines.iter().map(|line| line.each_ref().map(|held| held.step));
        let leads_nowhere = |step: &[f64; 2]| !step.iter().all(|step| step.is_finite()) || *step == [0.0; 2];
        if let Some(direction) = steps.find(leads_nowhere) {
            return Err(ProfileError::Direction { direction });
        }
        let trace = |k: usize| self.border_point(&lines[k], root);
        let (mut points, mut failed) = (Vec::with_capacity(lines.len()), Vec::new());
        for point in self.checked.for_each_solve(lines.len(), trace) {
            match point {
                Ok(point) => points.push(point),
                Err(error @ (ProfileError::BetterMinimum { .. } | ProfileError::Statistics(_))) => return Err(error),
                Err(error) => failed.push(error),
            }
        }
        Ok(Contour { names: [first, second].map(String::from), level, points, failed })
    }

    fn border_point(&self, held: &[Held<T>; 2], root: f64) -> Result<ContourPoint<T>, ProfileError> {
        let mut ray = Ray::new(self, held.to_vec())?;
        let (way, end) = ray.extent(root)?;
        let at = |held: &Held<T>| match held.step {
            step if step != 0.0 && way.is_infinite() => T::from_f64(step.signum()) * T::INFINITY,
            0.0 => held.value,
            _ => held.value_at(way),
        };
        Ok(ContourPoint { at: held.each_ref().map(at), end })
    }
}
