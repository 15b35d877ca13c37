//! The page of one fit or of the fits of groups, which is kept small however many they are.

use std::path::Path;

use serde_json::{Value, json};

use super::{FitOnPage, write_page};
use crate::arguments::FitArguments;
use crate::failure::{Ending, Failure};
use crate::page::origin;
use crate::table::ResultTable;

/// Number of series that are drawn, at most, besides those of the first fit.
const SERIES: usize = 120;
/// Number of fits that did not end well and are drawn besides.
const BAD_FITS: usize = 20;
/// Number of fits that could not be made and are listed, at most.
const LISTED: usize = 200;

/// Bytes of the fits that are drawn, and of all fits.
const DRAWN_BYTES: usize = 1_300_000;
const BYTES: usize = 1_700_000;

/// Fits as JSON. Of many fits, some are drawn, spread evenly, and of the others there are results alone.
pub struct FitPage {
    /// Number of fits that are expected.
    expected: usize,
    added: usize,
    /// Numbers of fits that did not end well, and of those of the others that have warnings.
    bad: usize,
    warned: usize,
    bytes: usize,
    /// Labels of predictor and response in place of those of the data.
    labels: [Option<String>; 2],
    fits: Vec<String>,
}

impl FitPage {
    /// Makes room for a number of fits.
    pub fn of(expected: usize, labels: [Option<String>; 2]) -> Self {
        FitPage { expected, added: 0, bad: 0, warned: 0, bytes: 0, labels, fits: Vec::new() }
    }

    /// Adds a fit.
    pub fn add(&mut self, shown: &FitOnPage<'_, '_>) -> Result<(), Failure> {
        let series = shown.series();
        let step = (self.expected * series).div_ceil(SERIES).max(1);
        let summary = &shown.report.summary;
        let is_bad = !summary.is_converged || shown.report.ending() == Ending::Unusable;
        let is_drawn = self.added.is_multiple_of(step) || (is_bad && self.bad < BAD_FITS);
        self.added += 1;
        self.bad += usize::from(is_bad);
        self.warned += usize::from(!is_bad && !summary.warnings.is_empty());
        if is_drawn {
            let whole = shown.to_json(self.expected.min(SERIES) * series, &self.labels)?.to_string();
            if self.fits.is_empty() || self.bytes + whole.len() <= DRAWN_BYTES {
                self.keep(whole);
                return Ok(());
            }
        }
        let result = shown.result().to_string();
        if self.bytes + result.len() <= BYTES {
            self.keep(result);
        }
        Ok(())
    }

    fn keep(&mut self, fit: String) {
        self.bytes += fit.len();
        self.fits.push(fit);
    }

    /// Writes the page, with the tests of what differs between the fits, and the reasons why others could not be made.
    pub fn write(
        &self,
        path: &Path,
        arguments: &FitArguments,
        title: &str,
        tests: Option<&ResultTable>,
        failed: &[Failure],
    ) -> Result<(), Failure> {
        let batch = arguments.groups.batch.first().map(|_| "file");
        let file = arguments.data.file.as_deref();
        let data = json!({
            "origin": origin::of(file, batch.is_some(), &arguments.settings)?,
            "title": title,
            "group_by": batch.or(arguments.groups.group_by.as_deref()),
            "log": [arguments.output.log_x, arguments.output.log_y],
            "total": self.added,
            "bad": self.bad,
            "warned": self.warned,
            "missing_fits": self.added - self.fits.len(),
            "failed": failed.iter().take(LISTED).map(Failure::one_line).collect::<Vec<_>>(),
            "failed_total": failed.len(),
            "fits": Value::Null,
            "tests": tests.map(ResultTable::to_json_rows),
        });
        let fits = format!("\"fits\":[{}]", self.fits.join(","));
        write_page(path, &data.to_string().replacen("\"fits\":null", &fits, 1))
    }
}
