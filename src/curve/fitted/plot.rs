//! A plot of a fit, from one call.

use super::FittedCurve;
use super::drawing::Drawing;
use super::plot_points::PlotPoint;
use crate::curve::{Curve, Plot, PlotError, Series};
use crate::real::Real;

impl<T: Real> FittedCurve<'_, T> {
    /// A plot of the data, the curve with its bands at 95 %, and the residuals, to be labelled further and saved. Feature
    /// `plot`.
    ///
    /// - Each response of several, by its [name](crate::CurveFit::response_names), and each data set of a [`GlobalFit`](crate::GlobalFit), is a series of its own. Rows that
    ///   were left out of the fit are not drawn.
    /// - Data have error bars where they have a sigma. A relative one is multiplied by its size as the residuals judge it.
    /// - The [confidence](Self::confidence_band) and the [prediction band](Self::prediction_band) are drawn where they exist:
    ///   the former not without degrees of freedom, the latter not where sigma differs from row to row.
    /// - Residuals are divided by sigma where there is one, and of counts by the root of the mean; a strip is one standard
    ///   deviation of the noise to either side.
    /// - Data that a robust loss gives less than a tenth of their weight are drawn as outliers, without residuals.
    /// - Of rows that ranks [share](crate::CurveFit::communicator), this rank's are drawn.
    ///
    /// # Errors
    ///
    /// [`PlotError`] for a curve of several predictors, and where the curve cannot be evaluated.
    ///
    /// ```
    /// let x = [0.0, 1.0, 2.0, 3.0, 4.0_f64];
    /// let y = [10.1, 6.1, 3.6, 2.2, 1.4];
    /// let fit = marquardt::curve_fit(|x, [a, k]| a * (-k * x).exp(), &x, &y, [5.0, 1.0])?;
    /// let plot = fit.plot()?.title("A decay").x_label("time (h)").y_label("dose (mg)");
    /// assert!(plot.to_svg().contains("95 % confidence band"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plot(&self) -> Result<Plot, PlotError> {
        let plot = self.drawing().empty_plot();
        Ok(self.plot_series()?.into_iter().fold(plot, Plot::series))
    }

    /// The series of the [plot](Self::plot), to name them, or to draw several fits in one.
    ///
    /// # Errors
    ///
    /// As for [`plot`](Self::plot).
    ///
    /// ```
    /// use marquardt::CurveFit;
    /// use marquardt::curve::Plot;
    /// use marquardt::models::Linear;
    ///
    /// let x = [0.0, 1.0, 2.0, 3.0, 4.0];
    /// let mut plot = Plot::new();
    /// for (name, y) in [("before", [0.1, 1.2, 1.9, 3.1, 4.0]), ("after", [0.9, 2.1, 3.1, 3.9, 5.1])]
    /// {
    ///     let fit = CurveFit::guessed(Linear, &x, &y).fit()?;
    ///     plot = fit
    ///         .plot_series()?
    ///         .into_iter()
    ///         .fold(plot, |plot, series| plot.series(series.name(name)));
    /// }
    /// assert!(plot.to_svg().contains("before"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plot_series(&self) -> Result<Vec<Series>, PlotError> {
        let (sets, outputs) = (self.checked.curve.data_set_names(), self.checked.data.outputs());
        let predictors = self.own_predictors();
        let points = self.plot_points().ok_or(PlotError::NotOnePredictor { predictors })?;
        let drawing = self.drawing();
        let mut all = Vec::with_capacity(outputs * sets.len().max(1));
        for set in 0..sets.len().max(1) {
            let own: Vec<PlotPoint> = points.iter().filter(|point| point.set == set).cloned().collect();
            let series = drawing.series(&own, (!sets.is_empty()).then_some(set))?;
            for (output, series) in series.into_iter().enumerate() {
                all.push(match self.series_name(sets.get(set), output) {
                    Some(name) => series.name(name),
                    None => series,
                });
            }
        }
        Ok(all)
    }

    /// The names of the data set and of the response, as far as there are several.
    fn series_name(&self, set: Option<&String>, output: usize) -> Option<String> {
        let names = &self.checked.data.response_names;
        let numbered = || (self.checked.data.outputs() > 1).then(|| format!("y{}", output + 1));
        let response = names.get(output).cloned().or_else(numbered);
        let parts: Vec<String> = set.cloned().into_iter().chain(response).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    fn drawing(&self) -> Drawing<'_, T> {
        Drawing { curve: self.uncertain_curve(), noise: self.response_noise() }
    }
}
