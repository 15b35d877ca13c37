//! Plots of joint regions.

use super::Plot;
use crate::curve::Series;
use crate::curve::{Contour, FittedCurve, ProfileError};
use crate::real::Real;

/// Points of a border that is drawn.
const POINTS: usize = 96;

impl<T: Real> Contour<T> {
    /// The border as a closed line, named by its level, for a [`Plot`]. Where the region is open, the line is interrupted. Feature `plot`.
    pub fn plot_series(&self) -> Series {
        let line =
            self.points.iter().chain(self.points.first()).map(|point| (point.at[0].to_f64(), point.at[1].to_f64()));
        Series::new().name(format!("{} %", (self.level * 1e4).round() / 100.0)).curve(line)
    }
}

impl<T: Real> FittedCurve<'_, T> {
    /// The plot of the joint regions of two parameters: the borders at some levels, such as 0.683 and 0.95, around the estimate. Feature
    /// `plot`.
    ///
    /// # Errors
    ///
    /// As for [`contour`](Self::contour).
    ///
    /// ```
    /// let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0_f64];
    /// let y = [9.8, 6.3, 3.5, 2.4, 1.2, 0.9];
    /// let fit = marquardt::curve_fit(|x, [a, k]| a * (-k * x).exp(), &x, &y, [5.0, 1.0])?;
    /// let svg = fit.contour_plot("b1", "b2", &[0.683, 0.95]).unwrap().to_svg();
    /// assert!(svg.contains("68.3 %") && svg.contains("95 %"));
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn contour_plot(&self, first: &str, second: &str, levels: &[f64]) -> Result<Plot, ProfileError> {
        let contours = levels.iter().map(|&level| self.contour(first, second, level, POINTS));
        let borders = contours.map(|contour| Ok(contour?.plot_series())).collect::<Result<Vec<_>, ProfileError>>()?;
        let value = |name| self.parameter(name).map_or(f64::NAN, |parameter| parameter.value.to_f64());
        let estimate = Series::new().name("estimate").points([(value(first), value(second))]);
        let plot = Plot::new().x_label(first).y_label(second);
        Ok(borders.into_iter().chain([estimate]).fold(plot, Plot::series))
    }
}
