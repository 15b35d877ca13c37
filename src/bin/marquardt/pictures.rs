//! Plots, residuals and pages of fits, besides their reports.

use std::path::PathBuf;

use marquardt::FittedCurve;
use marquardt::curve::Plot;

use crate::arguments::FitArguments;
use crate::failure::Failure;
use crate::fit::residuals_of;
use crate::inference_pictures::InferencePictures;
use crate::output;
use crate::page::{FitOnPage, FitPage};
use crate::selected_data::SelectedData;
use crate::table::ResultTable;
use crate::terminal::note;

/// Draws a view of a complex curve.
type View = fn(&FittedCurve<'_, f64>) -> Result<Plot, marquardt::curve::PlotError>;

/// Plot, residuals and page of one fit, or of the fits of groups.
pub struct Pictures<'r> {
    arguments: &'r FitArguments,
    plot: Plot,
    /// Views of a complex curve, and their files.
    views: Vec<(&'r PathBuf, Plot)>,
    residuals: ResultTable,
    inference: InferencePictures,
    page: FitPage,
    /// Number of observations for which logarithmic axes of the plot have no place.
    lost: usize,
}

impl<'r> Pictures<'r> {
    /// Makes room for a number of fits.
    pub fn of(arguments: &'r FitArguments, fits: usize) -> Self {
        let page = FitPage::of(fits, [arguments.output.x_label.clone(), arguments.output.y_label.clone()]);
        let (residuals, inference) = (ResultTable::default(), InferencePictures::default());
        Pictures { arguments, plot: Plot::new(), views: Vec::new(), residuals, inference, page, lost: 0 }
    }

    /// Adds a fit: with its name as one of several, else alone. `by` is the column of the groups.
    pub fn add(&mut self, by: &str, shown: &FitOnPage<'_, '_>) -> Result<(), Failure> {
        let FitOnPage { name, fit, data, outliers, .. } = *shown;
        let output = &self.arguments.output;
        if output.plot.is_some() {
            self.lost += data.iter().map(|data| lost(data, [output.log_x, output.log_y])).sum::<usize>();
            self.plot = match name {
                Some(name) => {
                    let series = fit.plot_series()?.into_iter().map(|series| series.name(name));
                    let series = series.map(|series| series.omitted(outliers.iter().copied()));
                    series.fold(std::mem::take(&mut self.plot), Plot::series)
                }
                None => fit.plot()?.map_series(|series| series.omitted(outliers.iter().copied())),
            };
        }
        let views: [(_, View); 2] =
            [(&output.nyquist, |fit| fit.nyquist_plot()), (&output.bode, |fit| fit.bode_plot())];
        for (path, view) in views.into_iter().filter_map(|(path, view)| Some((path.as_ref()?, view))) {
            self.views.push((path, view(fit)?));
        }
        self.inference.add(by, name, &shown.report.inference);
        if output.residuals.is_some() {
            self.residuals.append(residuals_of(shown, by)?);
        }
        if output.report.is_some() {
            self.page.add(shown)?;
        }
        Ok(())
    }

    /// Draws and writes all that is asked for, with the labels of these data unless others are given.
    /// The page has the `tests` of groups, and the reasons why some have `failed`.
    pub fn write(
        self,
        title: &str,
        data: &SelectedData,
        tests: Option<&ResultTable>,
        failed: &[Failure],
    ) -> Result<(), Failure> {
        let output = &self.arguments.output;
        if self.lost > 0 {
            let count = self.lost;
            note(format_args!(
                "note: {count} of the responses are not drawn: a logarithmic axis has no place for values of zero or less"
            ));
        }
        let [x, y] = [(&output.x_label, &data.labels[0]), (&output.y_label, &data.labels[1])]
            .map(|(given, own)| given.as_ref().unwrap_or(own));
        if let Some(path) = &output.plot {
            let plot = self.plot.title(title);
            let plot = match &data.x_names[..] {
                [first, second] => {
                    plot.x_label(output.x_label.as_ref().unwrap_or(first)).y_label(second).color_label(y)
                }
                _ => plot.x_label(x).y_label(y),
            };
            output::draw(plot, output, path)?;
        }
        for (path, view) in self.views {
            output::sized(view.title(title), output).save(path)?;
        }
        self.inference.write(self.arguments, title)?;
        if let Some(path) = &output.residuals {
            output::write(path, &self.residuals.to_csv()?)?;
        }
        match &output.report {
            Some(path) => self.page.write(path, self.arguments, title, tests, failed),
            None => Ok(()),
        }
    }
}

/// The number of responses for which logarithmic axes have no place.
fn lost(data: &SelectedData, [is_x_logarithmic, is_y_logarithmic]: [bool; 2]) -> usize {
    let is_lost = |(row, column): (usize, usize)| {
        is_x_logarithmic && data.x[[row, 0]] <= 0.0 || is_y_logarithmic && data.y[[row, column]] <= 0.0
    };
    ndarray::indices(data.y.dim()).into_iter().filter(|&at| is_lost(at)).count()
}
