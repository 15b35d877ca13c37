//! Plots of profiles.

use super::Plot;
use crate::curve::Series;
use crate::curve::{FittedCurve, ParameterState, Profile, ProfileError};
use crate::real::Real;

/// Points of a profile that is drawn, on either side.
const POINTS: usize = 10;

impl<T: Real> Profile<T> {
    /// The profile as a line for a [`Plot`]: signed roots over changes of the parameter, in standard errors (from the slope at the
    /// optimum). A straight line for a linear curve. Feature `plot`.
    pub fn plot_series(&self) -> Series {
        let points: Vec<(f64, f64)> =
            self.points.iter().map(|point| (point.value.to_f64(), point.tau.to_f64())).collect();
        let best = points.iter().position(|&(_, tau)| tau >= 0.0).unwrap_or_default();
        let at = |index: usize| points.get(index).or(points.get(best)).copied().unwrap_or_default();
        let (value, (below, above)) = (at(best).0, (at(best.saturating_sub(1)), at(best + 1)));
        let slope = (above.1 - below.1) / (above.0 - below.0);
        Series::new().name(&self.name).curve(points.iter().map(|&(at, tau)| ((at - value) * slope, tau)))
    }

    /// The plot of several profiles: signed roots over changes in standard errors, between lines at the level of the intervals. Feature
    /// `plot`.
    pub fn plot(profiles: &[Profile<T>]) -> Plot {
        let lines: Vec<Series> = profiles.iter().map(Profile::plot_series).collect();
        let ends = |of: fn(&(f64, f64)) -> f64| {
            let values = lines.iter().flat_map(|series| series.curve.iter()).map(of).filter(|value| value.is_finite());
            values.fold((0.0_f64, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)))
        };
        let ((left, right), (low, high)) = (ends(|at| at.0), ends(|at| at.1));
        let root = high.max(-low);
        let level = profiles.first().map_or(0.0, |profile| profile.level);
        let gap = (f64::NAN, f64::NAN);
        let level = Series::new().name(format!("{} %", (level * 1e4).round() / 100.0));
        let level = level.curve([(left, root), (right, root), gap, (left, -root), (right, -root)]);
        let plot = Plot::new().x_label("change / standard error").y_label("signed root of the increase of χ²");
        lines.into_iter().chain([level]).fold(plot, Plot::series)
    }
}

impl<T: Real> FittedCurve<'_, T> {
    /// The plot of the profiles of all free parameters up to the ends of their intervals at a level, such as 0.95. Feature `plot`.
    ///
    /// # Errors
    ///
    /// As for [`profile`](Self::profile).
    ///
    /// ```
    /// let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0_f64];
    /// let y = [9.8, 6.3, 3.5, 2.4, 1.2, 0.9];
    /// let fit = marquardt::curve_fit(|x, [a, k]| a * (-k * x).exp(), &x, &y, [5.0, 1.0])?;
    /// assert!(fit.profile_plot(0.95).unwrap().to_svg().contains("95 %"));
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn profile_plot(&self, level: f64) -> Result<Plot, ProfileError> {
        let is_held = |state| matches!(state, ParameterState::Fixed | ParameterState::Tied);
        let free = self.parameters().iter().filter(|parameter| !is_held(parameter.state));
        let profiles = free.map(|parameter| self.profile(&parameter.name, level, POINTS));
        Ok(Profile::plot(&profiles.collect::<Result<Vec<_>, _>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CurveFit;

    /// The profile of a line is the diagonal.
    #[test]
    fn profiles_are_drawn_in_standard_errors() {
        let (x, y) = ([0.0, 1.0, 2.0, 3.0, 4.0], [0.1, 1.2, 1.9, 3.1, 4.0]);
        let fit = CurveFit::new(|x, [a, b]| a + b * x, &x, &y, [0.0, 1.0]).fit().unwrap();
        let series = fit.profile("b2", 0.95, 5).unwrap().plot_series();
        assert!(series.curve.len() > 10);
        assert!(series.curve.iter().all(|(change, tau)| (change - tau).abs() < 1e-6), "{series:?}");
        assert!(Profile::<f64>::plot(&[]).to_svg().starts_with("<svg"));
    }
}
