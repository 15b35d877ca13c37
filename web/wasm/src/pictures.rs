//! Pictures of fits, as the data of a page, and the rows with their residuals.

use crate::arguments::FitArguments;
use crate::failure::Failure;
use crate::fit::residuals_of;
use crate::output;
use crate::page::{FitOnPage, FitPage};
use crate::selected_data::SelectedData;
use crate::table::ResultTable;
use std::path::Path;

/// Page and residuals of one fit, or of the fits of groups.
pub struct Pictures<'r> {
    arguments: &'r FitArguments,
    residuals: ResultTable,
    page: FitPage,
}

impl<'r> Pictures<'r> {
    /// Makes room for a number of fits.
    pub fn of(arguments: &'r FitArguments, fits: usize) -> Self {
        let page = FitPage::of(fits, [arguments.output.x_label.clone(), arguments.output.y_label.clone()]);
        Pictures { arguments, residuals: ResultTable::default(), page }
    }

    /// Adds a fit: with its name as one of several, else alone. `by` is the column of the groups.
    pub fn add(&mut self, by: &str, shown: &FitOnPage<'_, '_>) -> Result<(), Failure> {
        if self.arguments.output.residuals {
            self.residuals.append(residuals_of(shown, by)?);
        }
        self.page.add(shown)
    }

    /// Adds the page and the residuals to the answer.
    pub fn write(
        self,
        title: &str,
        _: &SelectedData,
        tests: Option<&ResultTable>,
        failed: &[Failure],
    ) -> Result<(), Failure> {
        if self.arguments.output.residuals {
            output::put("residuals", self.residuals.to_csv()?.into());
        }
        self.page.write(Path::new("page"), self.arguments, title, tests, failed)
    }
}
