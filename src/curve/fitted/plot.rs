//! The series of a plot of a fit.

use super::FittedCurve;
use crate::curve::inference::{ComplexView, PlotPoint};
use crate::curve::{Curve, PlotError, Series};
use crate::real::Real;

impl<T: Real> FittedCurve<'_, T> {
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
        self.series_in(None)
    }

    /// The series, or those in a view of complex responses.
    pub(in crate::curve) fn series_in(&self, view: Option<ComplexView>) -> Result<Vec<Series>, PlotError> {
        let (sets, outputs) = (self.checked.curve.data_set_names(), self.checked.data.outputs());
        let predictors = self.own_predictors();
        let points = self.plot_points().ok_or(PlotError::NotOnePredictor { predictors })?;
        let curve = self.uncertain_curve().map_err(PlotError::Evaluation)?;
        let mut all = Vec::with_capacity(outputs * sets.len().max(1));
        for set in 0..sets.len().max(1) {
            let own: Vec<PlotPoint> = points.iter().filter(|point| point.set == set).cloned().collect();
            let series = curve.series(&own, (!sets.is_empty()).then_some(set), view)?;
            for (output, series) in series.into_iter().enumerate() {
                let response = view.is_none().then_some(output);
                all.push(match self.series_name(sets.get(set), response) {
                    Some(name) => series.name(name),
                    None => series,
                });
            }
        }
        Ok(all)
    }

    /// The names of the data set and of the response, as far as there are several.
    fn series_name(&self, set: Option<&String>, response: Option<usize>) -> Option<String> {
        let names = &self.checked.data.response_names;
        let numbered = |output| (self.checked.data.outputs() > 1).then(|| format!("y{}", output + 1));
        let response = response.and_then(|output| names.get(output).cloned().or_else(|| numbered(output)));
        let parts: Vec<String> = set.cloned().into_iter().chain(response).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }
}
